"""The emitted module: valid, formatted, sorted, and nothing of the event in it as code."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from builders import event_of, frame_at, recovery_of
from reproof.domain.event import IssueInfo
from reproof.reproducer.plan import Plan, plans_for
from reproof.reproducer.synthesize import synthesize
from reproof.reproducer.wording import file_name
from reproof.reproducer.wording import test_name as name_of_test

if TYPE_CHECKING:
    from pathlib import Path

    from reproof.domain.event import JSON, Event

SHOP = """\
class Cart:
    def total(self, k, **extra):
        return 1 / k  # @total


def rate(total, count=1, *args, **kw):
    return total / count  # @rate


def numbers(list, total=0):
    yield 1 / total  # @numbers
"""
FILES = {"shop/rates.py": SHOP, "shop/__init__.py": ""}


def _first(
    marker: str, function: str, variables: dict[str, JSON], **raised: str | None
) -> tuple[Plan, Event]:
    frame = frame_at(FILES, "shop/rates.py", "@" + marker, function, variables)
    event = event_of(frame, **raised)  # type: ignore[arg-type]  # texts only
    return next(plans_for(recovery_of(FILES, event), 0)), event


RATE, EVENT = _first("rate", "rate", {"total": "10", "count": "0"}, kind="ZeroDivisionError")

HOSTILE = [
    "",
    " ",
    '"',
    '"""',
    "'''",
    "\\",
    '\\"""',
    "x\\",
    "\n",
    '"""\nimport os\nos.system("x")\n"""',
    "\0",
    "\ud800",
    "\u202ereversed",
    "\x1b[31m",
    "{}",
    "{0.__class__}",
    "%s",
    "\u2028",
    "\x85",
    "é\u0301",
    "a" * 100_000,
    " padded ",
    "ends with space ",
    "os.system",
    "#",
    "# type: ignore",
    "\t",
    "class",
    "\N{FULLWIDTH DIGIT ONE}",
    "../../etc",
    "\N{ZERO WIDTH SPACE}",
]


def _with(event: Event, field: str, text: str) -> Event:
    raised, frame = event.raised, event.raised.frames[0]
    match field:
        case "type":
            raised = replace(raised, type=text)
        case "module":
            raised = replace(raised, module=text)
        case "message":
            raised = replace(raised, message=text)
        case "issue":
            return replace(event, issue=IssueInfo(id=text))
        case "event_id":
            return replace(event, event_id=text)
        case "filename":
            raised = replace(raised, frames=(replace(frame, filename=text),))
        case "context_line":
            raised = replace(raised, frames=(replace(frame, context_line=text),))
        case _:
            raise AssertionError(field)
    return replace(event, exceptions=(raised,))


FIELDS = ["type", "module", "message", "issue", "event_id", "filename", "context_line"]


def _is_only_the_call(text: str, *, call: str = "rate(10, count=0)") -> bool:
    """Say whether a module holds a docstring, an import and one function with one call."""
    module = ast.parse(text)
    docstring, imported, function = module.body
    return (
        isinstance(docstring, ast.Expr)
        and isinstance(docstring.value, ast.Constant)
        and ast.unparse(imported) == "from shop.rates import rate"
        and isinstance(function, ast.FunctionDef)
        and len(function.body) == 2
        and ast.unparse(function.body[1]) == call
    )


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("text", HOSTILE, ids=[ascii(t[:12]) for t in HOSTILE])
def test_nothing_of_the_event_becomes_code(field: str, text: str) -> None:
    event = _with(EVENT, field, text)
    made = synthesize(RATE, event)

    assert _is_only_the_call(made.text)
    assert made.text.isascii()
    assert made.text.replace("\n", "").isprintable()
    assert len(made.text) < 3000
    compile(made.control, "control.py", "exec")
    assert re.fullmatch(r"[A-Za-z0-9_]{1,130}\.py", file_name(RATE, event))
    assert re.fullmatch(r"test_[A-Za-z0-9_]{1,130}", name_of_test(RATE, event))


@pytest.mark.parametrize("text", HOSTILE, ids=[ascii(t[:12]) for t in HOSTILE])
def test_captured_text_is_a_value_or_a_stand_in(text: str) -> None:
    captures: list[JSON] = [text, [text], {text: text}, {"k": text}]
    for captured in captures:
        event = event_of(
            frame_at(FILES, "shop/rates.py", "@rate", "rate", {"total": captured, "count": "0"})
        )
        for plan in plans_for(recovery_of(FILES, event), 0):
            made = synthesize(plan, event)
            compile(made.text, "t.py", "exec")
            compile(made.control, "c.py", "exec")
            assert "system" not in {
                n.attr for n in ast.walk(ast.parse(made.text)) if isinstance(n, ast.Attribute)
            }


@pytest.mark.parametrize(
    "captured",
    [
        "os.system('x')",
        "__import__('os').system('x')",
        "eval('1')",
        "(lambda: 1)()",
        "[].__class__",
        "open('/etc/passwd')",
        "print(1) or 1",
        "[x for x in (1,)]",
    ],
)
def test_a_captured_call_is_never_made(captured: str) -> None:
    event = event_of(
        frame_at(FILES, "shop/rates.py", "@rate", "rate", {"total": captured, "count": "0"})
    )
    for plan in plans_for(recovery_of(FILES, event), 0):
        calls = [
            n for n in ast.walk(ast.parse(synthesize(plan, event).text)) if type(n) is ast.Call
        ]
        assert [ast.unparse(c.func) for c in calls] == ["rate"]


@pytest.mark.parametrize(
    "kw",
    [
        {"total": "2"},
        {"class": "2"},
        {"a b": "2"},
        {"__debug__": "2"},
        {"\ufb01": "1", "fi": "2"},
        {"x=1) or evil(": "2"},
    ],
    ids=ascii,
)
def test_captured_keyword_names_cannot_break_the_call(kw: dict[str, JSON]) -> None:
    plan, event = _first("rate", "rate", {"total": "10", "count": "0", "args": [], "kw": kw})

    compile(synthesize(plan, event).text, "t.py", "exec")


@pytest.mark.parametrize("attribute", ["class", "__debug__", "a b", "x = 1; y", "None"])
def test_captured_attribute_names_cannot_break_the_set_up(attribute: str) -> None:
    variables: dict[str, JSON] = {
        "self": "<shop.rates.Cart object at 0x1>",
        f"self.{attribute}": "1",
        "k": "0",
    }
    event = event_of(frame_at(FILES, "shop/rates.py", "@total", "total", variables))
    for plan in plans_for(recovery_of(FILES, event), 0):
        compile(synthesize(plan, event).text, "t.py", "exec")


def test_a_name_of_the_set_up_hides_no_builtin_that_the_test_needs() -> None:
    long: list[JSON] = [repr("x" * 40)] * 3
    plan, event = _first("numbers", "numbers", {"list": long, "total": "0"})
    function = ast.parse(synthesize(plan, event).text).body[-1]
    assert isinstance(function, ast.FunctionDef)
    stored = {
        n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }

    assert "list" not in stored


@pytest.mark.parametrize("path", ["bin/run-job.py", "bin/2024.py", "bin/class.py", "a-b/c.py"])
def test_a_file_that_no_import_statement_can_name_gives_no_broken_test(path: str) -> None:
    files = {path: "def go(a):\n    return 1 / a  # @go\n"}
    event = event_of(frame_at(files, path, "@go", "go", {"a": "0"}))
    for plan in plans_for(recovery_of(files, event), 0):
        compile(synthesize(plan, event).text, "t.py", "exec")


def test_the_module_says_issue_exception_and_crash_point() -> None:
    event = replace(EVENT, issue=IssueInfo(id="SHOP-12"), event_id="ab12")
    made = synthesize(RATE, event)

    assert made.text == (
        '"""ZeroDivisionError in shop.rates.rate (issue SHOP-12).\n\n'
        "Crash point: shop/rates.py:7: return total / count  # @rate\n"
        'Event: ab12\n"""\n\n'
        "from shop.rates import rate\n\n\n"
        "def test_rate_zero_division_error() -> None:\n"
        '    """It raised ZeroDivisionError: bad"""\n'
        "    rate(10, count=0)\n"
    )
    assert made.call == "rate(10, count=0)"
    assert file_name(RATE, event) == "test_SHOP_12_rate.py"


def test_the_test_asks_for_no_exception_unless_told_to() -> None:
    assert "pytest" not in synthesize(RATE, EVENT).text
    text = synthesize(RATE, EVENT, expect_raises=True).text

    assert "import pytest\n" in text
    assert "    with pytest.raises(ZeroDivisionError):\n        rate(10, count=0)\n" in text


@pytest.mark.parametrize(
    ("kind", "module", "wanted"),
    [
        ("RateError", "shop.errors", "RateError"),
        ("RateError", None, "Exception"),
        ("RateError", "__main__", None),
        ("exit", None, "Exception"),
        ("a b", None, "Exception"),
    ],
)
def test_the_expected_class_is_one_that_the_test_can_name(
    kind: str, module: str | None, wanted: str | None
) -> None:
    raised = replace(EVENT.raised, type=kind, module=module)
    text = synthesize(RATE, replace(EVENT, exceptions=(raised,)), expect_raises=True).text

    assert "from __main__" not in text
    if wanted is not None:
        assert f"pytest.raises({wanted})" in text


def test_the_control_makes_the_values_and_not_the_call() -> None:
    control = synthesize(RATE, EVENT).control

    assert "return {'total': 10, 'count': 0}" in control
    assert not [n for n in ast.walk(ast.parse(control)) if isinstance(n, ast.Call)]


def test_same_plan_same_bytes() -> None:
    assert synthesize(RATE, EVENT) == synthesize(RATE, EVENT)


VALUES: list[dict[str, JSON]] = [
    {"total": "10", "count": "0"},
    {"total": {"a": ["1", "2"], "b": {"c": repr("x" * 90)}}, "count": "0"},
    {
        "total": "Decimal('1.5')",
        "count": "datetime.date(2024, 1, 2)",
        "args": ["UUID('%s')" % ("1" * 32)],
    },
    {"total": repr("quo'te \" \\ \n é \x1b"), "count": repr(b"\x00\xff")},
    {"total": [repr("y" * 30)] * 9, "count": "0", "args": ["1"], "kw": {"z": "2", "a-b": "3"}},
    {"total": "<Odd object at 0x1>", "count": "0"},
    {"total": "-1", "count": "nan", "kw": {"w" * 30: repr("v" * 60)}},
    {"total": "OrderedDict([('a', 1)])", "count": "Fraction(1, 2)"},
]


def _ruff(folder: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "ruff", *arguments, "--isolated", "--config", "line-length=88"]
    done = subprocess.run([*command, str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[:3000]


def test_samples_are_as_ruff_would_format_and_sort_them(tmp_path: Path) -> None:
    count = 0
    for variables in VALUES:
        event = event_of(frame_at(FILES, "shop/rates.py", "@rate", "rate", variables))
        for plan in plans_for(recovery_of(FILES, event), 0):
            for raises in (False, True):
                made = synthesize(plan, event, expect_raises=raises)
                (tmp_path / f"test_{count}.py").write_text(made.text)
                count += 1
    assert count >= 2 * len(VALUES)
    _ruff(tmp_path, "format", "--diff")
    own = "lint.isort.known-first-party=['shop']"
    _ruff(tmp_path, "check", "--select", "I,F", "--no-cache", "--config", own)


def test_hostile_text_leaves_the_module_formatted(tmp_path: Path) -> None:
    for i, text in enumerate(HOSTILE):
        for field in FIELDS:
            made = synthesize(RATE, _with(EVENT, field, text))
            (tmp_path / f"test_{i}_{field}.py").write_text(made.text)
    _ruff(tmp_path, "format", "--diff")
