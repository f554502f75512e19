"""Crashes that depend on what is around the call: the clock, and the order of a set."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from builders import event_of, frame_at
from reproof.domain.refusal import RefusalReason
from support.judged import judge

if TYPE_CHECKING:
    from pathlib import Path

    from reproof.domain.event import Event

pytestmark = pytest.mark.integration

EVEN = """\
import time


def slot(n):
    return n // (int(time.time()) % 2)  # @crash
"""
ORDER = """\
def first(names):
    start = next(iter({"ada", "bob", "cyd", "dan", "eve", "fay", "gil"}))
    return 1 // (len(names) - (start == "EXPECTED"))  # @crash
"""


def _event(source: str, function: str, variables: dict[str, object], message: str) -> Event:
    frame = frame_at({"svc.py": source}, "svc.py", "@crash", function, variables)  # type: ignore[arg-type]
    return event_of(frame, kind="ZeroDivisionError", message=message)


@pytest.mark.parametrize("second", [10, 58])
def test_the_clock_is_held_where_it_decides(tmp_path: Path, second: int) -> None:
    event = replace(
        _event(EVEN, "slot", {"n": "5"}, "integer division or modulo by zero"),
        timestamp=f"2026-03-01T12:00:{second}.250000Z",
    )

    verdict = judge(tmp_path / "tree", EVEN, event, tmp_path / "out")

    assert verdict.reason is None
    assert verdict.to_json()["surroundings"]["time"] == event.timestamp  # type: ignore[index,call-overload]
    held = f'@time_machine.travel("2026-03-01T12:00:{second}.250000+00:00", tick=False)'
    assert held in verdict.test_text


def test_a_clock_that_never_crashes_is_no_reproduction(tmp_path: Path) -> None:
    # the event's moment is an odd second, at which the function returns
    event = replace(
        _event(EVEN, "slot", {"n": "5"}, "integer division or modulo by zero"),
        timestamp="2026-03-01T12:00:11.250000Z",
    )

    verdict = judge(tmp_path / "tree", EVEN, event, tmp_path / "out")

    assert verdict.reason is not None
    assert not (tmp_path / "out").exists()


def test_a_crash_that_needs_one_order_of_a_set_is_not_called_reproduced(tmp_path: Path) -> None:
    program = 'print(next(iter({"ada", "bob", "cyd", "dan", "eve", "fay", "gil"})))'
    firsts = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("0", "1")
    ]
    assert firsts[0] != firsts[1], "the two seeds must differ for this test to say anything"
    source = ORDER.replace("EXPECTED", firsts[0])
    event = _event(
        source,
        "first",
        {"names": ["'x'"], "start": repr(firsts[0])},
        "integer division or modulo by zero",
    )

    verdict = judge(tmp_path / "tree", source, event, tmp_path / "out")

    assert verdict.reason is RefusalReason.NONDETERMINISTIC
    assert not (tmp_path / "out").exists()


def test_the_order_in_which_a_set_is_shown_decides_nothing(tmp_path: Path) -> None:
    source = "def rate(names: frozenset[str]):\n    return 1 // (len(names) - 3)  # @crash\n"
    event = _event(
        source, "rate", {"names": ["'a'", "'b'", "'c'"]}, "integer division or modulo by zero"
    )

    verdict = judge(tmp_path / "tree", source, event, tmp_path / "out")

    assert verdict.reason is None
    assert 'frozenset({"a", "b", "c"})' in verdict.test_text


def test_a_crash_that_hangs_on_the_command_line_is_not_called_reproduced(tmp_path: Path) -> None:
    source = "import sys\n\n\ndef rate(n):\n    return n // (len(sys.argv) - 1)  # @crash\n"
    event = _event(source, "rate", {"n": "5"}, "integer division or modulo by zero")

    verdict = judge(tmp_path / "tree", source, event, tmp_path / "out")

    assert verdict.reason is not None
    assert not (tmp_path / "out").exists()
