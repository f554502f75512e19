"""Which means recovers a value, in which order, and with what doubt."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from builders import event_of, frame_at, recovery_of
from reproof.reproducer.facts import Facts
from reproof.reproducer.frames import Recovered, view_of
from reproof.reproducer.source import Parameter
from reproof.reproducer.values.classes import ClassFact, ClassKind, ParameterFact
from reproof.reproducer.values.provenance import Provenance

if TYPE_CHECKING:
    from reproof.domain.event import JSON

LIMIT = "from shop.parts import Part\n\nLIMIT = 3\n"
OPAQUE = "<shop.Box object at 0x1>"


def _ways(
    caller: str,
    callee: str,
    outer: dict[str, JSON],
    inner: dict[str, JSON],
    *,
    name: str = "x",
    facts: Facts | None = None,
) -> list[Recovered]:
    """Recover parameter `name` of `f`, which `go` called."""
    text = f"{LIMIT}\n\ndef go(a, b=None):\n{caller}  # @go\n\n\n{callee}  # @f\n"
    files = {"shop.py": text}
    event = event_of(
        frame_at(files, "shop.py", "@go", "go", outer, module="shop"),
        frame_at(files, "shop.py", "@f", "f", inner, module="shop"),
    )
    recovery = recovery_of(files, event, facts=facts)
    (parameter,) = [p for p in recovery.views[1].site.parameters if p.name == name]
    return recovery.parameter(1, parameter)


def _shown(ways: list[Recovered]) -> list[tuple[str, str | None]]:
    return [
        (str(w.provenance), None if w.expression is None else ast.unparse(w.expression.node))
        for w in ways
    ]


PLAIN = "def f(x):\n    return 1 / 0"


@pytest.mark.parametrize(
    ("caller", "callee", "outer", "inner", "best"),
    [
        # what the text says is the value where nothing can have changed it
        ("    f(a)", PLAIN, {"a": "1"}, {"x": "2"}, ("literal", "2")),
        # after a rebinding the caller knows better
        ("    f(a)", "def f(x):\n    x = 9\n    1 / 0", {"a": "1"}, {"x": "9"}, ("caller", "1")),
        ("    f(a + 1)", PLAIN, {"a": "1"}, {}, ("caller", "1 + 1")),
        ("    f(LIMIT)", PLAIN, {}, {}, ("caller", "LIMIT")),
        ("    f(x=a)", PLAIN, {"a": "1"}, {}, ("caller", "1")),
        ("    f(Part(a))", PLAIN, {"a": "1"}, {"x": OPAQUE}, ("built", "Part(1)")),
        ("    c = Part(a)\n    f(c)", PLAIN, {"a": "1"}, {"x": OPAQUE}, ("caller", "Part(1)")),
        ("    f()", "def f(x=5):\n    1 / 0", {}, {}, ("caller", None)),
        ("    f()", "def f(x=5):\n    1 / 0", {}, {"x": "5"}, ("literal", None)),
        ("    f(a)", PLAIN, {"a": "[Filtered]"}, {"x": "[Filtered]"}, ("sentinel", "sentinel.x")),
        ("    f(a)", PLAIN, {}, {}, ("sentinel", "sentinel.x")),
        ("    f(*a)", PLAIN, {"a": ["1"]}, {}, ("sentinel", "sentinel.x")),
        ("    f(unknown)", PLAIN, {}, {}, ("sentinel", "sentinel.x")),
    ],
)
def test_the_best_way(
    caller: str,
    callee: str,
    outer: dict[str, JSON],
    inner: dict[str, JSON],
    best: tuple[str, str | None],
) -> None:
    assert _shown(_ways(caller, callee, outer, inner))[0] == best


def test_a_captured_value_that_may_have_changed_says_so_and_comes_second() -> None:
    ways = _ways("    f(a)", "def f(x):\n    x += 1\n    1 / 0", {"a": "1"}, {"x": "2"})

    assert _shown(ways) == [("caller", "1"), ("literal", "2")]
    assert "may have been changed" in ways[1].note


def test_only_what_comes_from_the_capture_is_checked_against_it() -> None:
    ways = _ways("    f(a)", PLAIN, {"a": "1"}, {"x": "2"})

    assert [(w.checkable, w.captured) for w in ways] == [(True, "2"), (False, None)]


def test_a_frame_between_breaks_the_link_to_the_caller() -> None:
    text = "def go(a):\n    f(a)  # @go\n\n\ndef f(x):\n    1 / 0  # @f\n"
    files = {"shop.py": text}
    library = frame_at({"l.py": "g()  # @g\n"}, "l.py", "@g", "g", prefix="/e/site-packages/")
    event = event_of(
        frame_at(files, "shop.py", "@go", "go", {"a": "1"}),
        library,
        frame_at(files, "shop.py", "@f", "f", {}),
    )
    recovery = recovery_of(files, event)

    assert recovery.caller_of(1) is None
    assert recovery.caller_of(0) is None


PART = ClassFact("shop.parts", "Part", ClassKind.PLAIN, parameters=(ParameterFact("size"),))
BARE = ClassFact("shop.parts", "Part", ClassKind.PLAIN, parameters=())
HIDDEN = ClassFact("shop.parts", "Part", ClassKind.PLAIN, parameters=None)
CAPTURED = "<shop.parts.Part object at 0x1>"


@pytest.mark.parametrize(
    ("fact", "first"),
    [
        (PART, ("partial", "Part.__new__(Part)")),
        (BARE, ("built", "Part()")),
        # nothing is known of its constructor, so nothing may be claimed of it
        (HIDDEN, ("partial", "Part.__new__(Part)")),
    ],
)
def test_an_opaque_object_of_a_known_class(fact: ClassFact, first: tuple[str, str]) -> None:
    facts = Facts(names={"shop.parts.Part": (fact,)})
    ways = _ways("    f(unknown)", PLAIN, {}, {"x": CAPTURED}, facts=facts)

    assert _shown(ways)[0] == first
    assert _shown(ways)[-1][0] == "sentinel"
    assert all(w.weak for w in ways)


def test_attributes_that_the_constructor_takes_build_the_object() -> None:
    facts = Facts(names={"shop.parts.Part": (PART,)})
    ways = _ways("    f(unknown)", PLAIN, {}, {"x": CAPTURED, "x.size": "3"}, facts=facts)

    assert _shown(ways)[0] == ("built", "Part(size=3)")
    assert ways[1].provenance is Provenance.PARTIAL
    assert [name for name, _ in ways[1].attributes] == ["size"]


def test_the_modules_own_instance_is_a_way() -> None:
    facts = Facts(
        names={"shop.parts.Part": (PART,)}, instances={"shop.parts.Part": (("shop", "PART"),)}
    )

    assert ("built", "PART") in _shown(
        _ways("    f(unknown)", PLAIN, {}, {"x": CAPTURED}, facts=facts)
    )


@pytest.mark.parametrize("kind", ["var_positional", "var_keyword"])
def test_what_was_not_captured_of_a_variable_parameter_is_left_out(kind: str) -> None:
    files = {"shop.py": "def f(*x, **y):\n    1 / 0  # @f\n"}
    event = event_of(frame_at(files, "shop.py", "@f", "f", {}))
    ways = recovery_of(files, event).parameter(0, Parameter(name="x", kind=kind))

    assert ways[0].expression is None


def test_a_circle_of_assignments_ends() -> None:
    caller = "    p = q\n    q = p\n    f(p)"

    assert _shown(_ways(caller, PLAIN, {}, {}))[-1][0] == "sentinel"


def test_a_place_without_a_function_has_no_view() -> None:
    files = {"shop.py": "def f(x):\n    1 / 0  # @f\n"}
    event = event_of(frame_at(files, "shop.py", "@f", "f", {}))
    recovery = recovery_of(files, event)

    place = recovery.views[0].place
    assert view_of(place, recovery.index) is not None
    assert view_of(replace(place, path=None), recovery.index) is None
    assert view_of(replace(place, line=None), recovery.index) is None
    assert view_of(replace(place, frame=replace(place.frame, function="g")), recovery.index) is None


def test_an_assignment_is_not_computed_again_from_a_name_that_changed_since() -> None:
    caller = "    c = a + 1\n    a = 9\n    f(c)"

    assert ("caller", "9 + 1") not in _shown(_ways(caller, PLAIN, {"a": "9"}, {}))


def test_a_call_through_the_class_binds_the_object_to_self() -> None:
    callee = "class C:\n    def f(self, x, y=0):\n        x = 9\n        1 / 0"
    ways = _ways("    C.f(b, a)", callee, {"a": "1", "b": "7"}, {"x": "9"})

    assert ("caller", "7") not in _shown(ways)
