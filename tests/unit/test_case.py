"""One event held against one tree."""

from __future__ import annotations

from dataclasses import replace

import pytest

from builders import DictTree, case_of, event_of, frame_at
from reproof.case import Case, build_case
from reproof.domain.event import Event, ExceptionValue, Frame
from reproof.domain.refusal import Refusal, RefusalReason
from reproof.verdict.expectation import Below

FILES = {
    "src/shop/__init__.py": "",
    "src/shop/desk.py": (
        "def quote(order):\n    return rate(order.total, 0)  # @quote\n\n\n"
        "class Cart:\n    def rate(self, total):\n        return total / 0  # @rate\n"
    ),
}
OUTER = frame_at(
    FILES,
    "src/shop/desk.py",
    "@quote",
    "quote",
    {"order": "<shop.Order object at 0x1>"},
    module="shop.desk",
)
CRASH = frame_at(
    FILES,
    "src/shop/desk.py",
    "@rate",
    "rate",
    {"self": "<shop.desk.Cart object at 0x1>", "total": "Decimal('1')"},
    module="shop.desk",
)
LIBRARY = Frame(
    abs_path="/env/lib/python3.12/site-packages/x/y.py",
    function="divide",
    lineno=3,
    context_line="    return a / b",
    in_app=False,
)


def _refused(event: Event, files: dict[str, str] | None = None) -> Refusal:
    found = build_case(event, DictTree(files or FILES), {})
    assert isinstance(found, Refusal)
    return found


def test_the_stack_and_the_crash_point_are_the_in_app_frames() -> None:
    case = case_of(FILES, event_of(LIBRARY, OUTER, LIBRARY, CRASH))

    assert [(v.site.name, v.place.index) for v in case.views] == [("quote", 1), ("rate", 3)]
    assert case.crash.index == 3
    assert [f.index for f in case.expected.stack] == [1, 3]
    assert case.expected.crash.statement == "7: return total / 0"
    assert not case.expected.crash.moved
    assert case.expected.below is None


def test_the_library_function_below_the_crash_point_is_expected() -> None:
    assert case_of(FILES, event_of(CRASH, LIBRARY)).expected.below == Below("divide", "y.py")


def test_earlier_exceptions_are_expected_causes() -> None:
    event = event_of(CRASH, earlier=[ExceptionValue(type="KeyError")])

    assert case_of(FILES, event).expected.causes == (("KeyError", None),)


def test_import_roots_end_with_the_tree_itself() -> None:
    assert case_of(FILES, event_of(OUTER, CRASH)).import_roots == ("src", "")


def test_what_the_target_is_asked_for() -> None:
    asked = case_of(FILES, event_of(OUTER, CRASH)).names()

    assert asked["imports"] == ["shop.desk"]
    assert isinstance(asked["names"], list)
    assert {"Decimal", "shop.Order", "shop.desk.Cart"} <= set(map(str, asked["names"]))
    assert asked["instances"] == ["shop.Order", "shop.desk.Cart"]


@pytest.mark.parametrize(
    ("frames", "reason"),
    [
        ([], RefusalReason.NO_APP_FRAME),
        ([LIBRARY], RefusalReason.NO_APP_FRAME),
        ([replace(CRASH, function="gone")], RefusalReason.SOURCE_DRIFT),
        ([replace(CRASH, function=None)], RefusalReason.SOURCE_DRIFT),
        ([replace(CRASH, context_line="nothing like it")], RefusalReason.SOURCE_DRIFT),
        ([OUTER, replace(CRASH, function="gone")], RefusalReason.SOURCE_DRIFT),
    ],
)
def test_a_crash_point_that_is_not_there_is_a_refusal(
    frames: list[Frame], reason: RefusalReason
) -> None:
    assert _refused(event_of(*frames)).reason is reason


def test_a_file_that_does_not_parse_is_a_refusal() -> None:
    files = {path: text + "\ndef broken(:\n" for path, text in FILES.items()}

    refusal = _refused(event_of(CRASH), files)
    assert refusal.reason is RefusalReason.SOURCE_DRIFT
    assert "parsed" in refusal.summary


def test_an_outer_frame_that_changed_is_left_out() -> None:
    found = build_case(
        event_of(replace(OUTER, context_line="changed since"), CRASH), DictTree(FILES), {}
    )

    assert isinstance(found, Case)
    assert [v.site.name for v in found.views] == ["rate"]


def test_hostile_names_are_escaped_in_a_refusal() -> None:
    refusal = _refused(event_of(replace(CRASH, function="gone\x1b[2J\u202e\n")))

    assert refusal.summary.isprintable()
