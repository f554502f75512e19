"""Which frame a test enters at."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from builders import event_of, frame_at
from support.judged import judge

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.integration

SCRIPT = """\
def rate(total, count):
    return total / count  # @crash


if __name__ == "__main__":
    rate(5, 0)  # @call
"""


def test_a_whole_script_is_run_only_where_no_function_can_be_entered(tmp_path: Path) -> None:
    main = frame_at({"svc.py": SCRIPT}, "svc.py", "@call", "<module>", {}, module="__main__")
    crash = frame_at({"svc.py": SCRIPT}, "svc.py", "@crash", "rate", {"total": "5", "count": "0"})
    event = event_of(
        main,
        replace(crash, module="__main__"),
        kind="ZeroDivisionError",
        message="division by zero",
    )

    verdict = judge(tmp_path / "tree", SCRIPT, event, tmp_path / "out")

    assert verdict.reason is None
    assert "rate(5, 0)" in verdict.test_text
    assert "runpy" not in verdict.test_text
    assert verdict.entry is not None
    assert verdict.entry.bypassed == ("<module>",)


def test_a_crash_of_the_script_itself_is_run_as_a_script(tmp_path: Path) -> None:
    source = 'if __name__ == "__main__":\n    1 / 0  # @crash\n'
    frame = frame_at({"svc.py": source}, "svc.py", "@crash", "<module>", {}, module="__main__")
    event = event_of(frame, kind="ZeroDivisionError", message="division by zero")

    verdict = judge(tmp_path / "tree", source, event, tmp_path / "out")

    assert verdict.reason is None
    assert 'runpy.run_module("svc", run_name="__main__")' in verdict.test_text
