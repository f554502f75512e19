"""Whatever an event says, the emitted module is one docstring, imports and one function."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from builders import event_of, frame_at, recovery_of
from reproof.domain.event import IssueInfo
from reproof.reproducer.plan import plans_for
from reproof.reproducer.synthesize import synthesize
from reproof.reproducer.wording import file_name

if TYPE_CHECKING:
    from reproof.domain.event import JSON

FILES = {"shop/rates.py": "def rate(total, count=1):\n    return total / count  # @rate\n"}
FRAME = frame_at(FILES, "shop/rates.py", "@rate", "rate", {"total": "10"}, module="shop.rates")
EVENT = event_of(FRAME)
PLAN = next(plans_for(recovery_of(FILES, EVENT), 0))

ANY_TEXT = st.text(st.characters(categories=None), max_size=60) | st.text(
    "\"'\\\n{}#%() \x1b\u202e\ud800", max_size=20
)


@given(
    st.fixed_dictionaries(
        dict.fromkeys(
            ["type", "module", "message", "issue", "event_id", "filename", "line"], ANY_TEXT
        )
    )
)
@settings(deadline=None)
def test_text_of_the_event_stays_text(told: dict[str, str]) -> None:
    frame = replace(FRAME, filename=told["filename"], context_line=told["line"])
    raised = replace(
        EVENT.raised,
        type=told["type"],
        module=told["module"],
        message=told["message"],
        frames=(frame,),
    )
    event = replace(
        EVENT, exceptions=(raised,), issue=IssueInfo(id=told["issue"]), event_id=told["event_id"]
    )
    made = synthesize(PLAN, event)
    docstring, imported, function = ast.parse(made.text).body

    assert isinstance(docstring, ast.Expr)
    assert isinstance(docstring.value, ast.Constant)
    assert ast.unparse(imported) == "from shop.rates import rate"
    assert isinstance(function, ast.FunctionDef)
    assert [ast.unparse(s) for s in function.body[1:]] == ["rate(10)"]
    assert re.fullmatch(r"[A-Za-z0-9_]{1,130}\.py", file_name(PLAN, event))


CAPTURED = st.recursive(
    ANY_TEXT | st.sampled_from(["1", "'a'", "None", "[1, 2]", "os.system('x')", "f(1)", "X.Y"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=6,
)


@given(CAPTURED, CAPTURED)
@settings(deadline=None)
def test_captured_locals_become_values_and_calls_no_one_wrote_are_not_made(
    total: JSON, count: JSON
) -> None:
    frame = replace(FRAME, variables={"total": total, "count": count})
    event = event_of(frame)
    for plan in plans_for(recovery_of(FILES, event), 0):
        made = synthesize(plan, event)
        module = ast.parse(made.text)
        compile(made.control, "control.py", "exec")

        assert "system" not in {n.attr for n in ast.walk(module) if isinstance(n, ast.Attribute)}
        called = {ast.unparse(n.func) for n in ast.walk(module) if isinstance(n, ast.Call)}
        assert called <= {"rate", "float", "complex", "set", "frozenset", "Decimal", "bytearray"}
