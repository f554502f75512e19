"""A report is a claim: each field has its type, or a harmless value of that type."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from builders import report_of, seen_exception, seen_frame
from reproof.verdict.seen import read_exception, read_replay

if TYPE_CHECKING:
    from reproof.domain.event import JSON


def test_a_well_formed_report_is_read_whole() -> None:
    frame = seen_frame(variables={"a": "1"})
    told = report_of(
        seen_exception(frame, chain=[("KeyError", "builtins")], members=[seen_exception()]),
        uses=[("db", ".execute")],
    )
    seen = read_replay(told)

    assert seen is not None
    assert (seen.exit, seen.collected, seen.python) == (1, 1, "3.12.1")
    assert seen.sentinel_uses == (("db", ".execute"),)
    call = seen.phase("call")
    assert call is not None
    assert call.exception is not None
    assert call.exception.chain == (("KeyError", "builtins"),)
    assert call.exception.members is not None
    assert call.exception.frames[0].variables == {"a": "1"}
    assert call.exception.frames[0].in_tree
    assert seen.phase("nothing") is None


@pytest.mark.parametrize("report", [None, {}, {"phases": None}, {"phases": {}}, {"phases": "call"}])
def test_what_is_no_report_is_none(report: dict[str, object] | None) -> None:
    assert read_replay(report) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("told", [None, [], "x", 3, True])
def test_what_is_no_exception_is_none(told: object) -> None:
    assert read_exception(told) is None  # type: ignore[arg-type]


def test_fields_of_the_wrong_type_read_as_nothing() -> None:
    frame: dict[str, JSON] = {
        "file": 3,
        "in_tree": "yes",
        "is_test": 1,
        "function": None,
        "line": "12",
        "locals": [],
    }
    found = read_exception({"type": 1, "frames": [frame, 7], "chain": "x", "members": "y"})

    assert found is not None
    assert (found.type, found.chain, found.members) == ("", (), None)
    (read,) = found.frames
    assert (read.file, read.in_tree, read.is_test, read.function) == ("", False, False, "")
    assert (read.line, read.variables) == (-1, None)


def test_the_count_of_tests_is_no_truth_value() -> None:
    seen = read_replay({"phases": [], "collected": True})

    assert seen is not None
    assert seen.collected == -1


def test_a_use_of_a_stand_in_that_cannot_be_read_still_counts() -> None:
    # otherwise a mangled claim would pass where a clear one is refused
    seen = read_replay({"phases": [], "sentinel_uses": [["db"]]})

    assert seen is not None
    assert seen.sentinel_uses


def test_members_without_end_are_no_end_of_the_host() -> None:
    told = seen_exception()
    for _ in range(5000):
        told = seen_exception(members=[told])
    read_replay(report_of(told))


def test_the_last_phase_of_a_name_counts() -> None:
    phases = [
        {"when": "call", "outcome": "passed"},
        {"when": "call", "outcome": "failed", "exception": seen_exception()},
    ]
    seen = read_replay({"phases": phases})  # type: ignore[dict-item]

    assert seen is not None
    call = seen.phase("call")
    assert call is not None
    assert call.outcome == "failed"
