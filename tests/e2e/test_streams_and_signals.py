"""Output that cannot be written, and a run that is told to end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.integration
COMMAND = [sys.executable, "-m", "reproof.cli.main"]


@pytest.mark.parametrize("options", [[], ["--json"]], ids=["text", "json"])
@pytest.mark.parametrize("target", [">&-", ">/dev/full"])
def test_a_result_that_cannot_be_written_is_an_error(
    tmp_path: Path, options: list[str], target: str
) -> None:
    event = tmp_path / "event.json"
    event.write_text("{}")
    words = [*COMMAND, "repro", str(event), "--repo", str(tmp_path), *options]

    done = subprocess.run(
        ["sh", "-c", '"$@" ' + target, "sh", *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 2
    assert "cannot be written to standard output" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_told_to_end_leaves_nothing(tmp_path: Path, number: int) -> None:
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "svc.py").write_text("import time\n\n\ndef wait(n):\n    time.sleep(n)\n    1 / 0\n")
    frame = (
        '{"filename": "svc.py", "abs_path": "/srv/app/svc.py", "module": "svc", "function": "wait",'
        ' "lineno": 6, "context_line": "    1 / 0", "vars": {"n": "30"}, "in_app": true}'
    )
    event = tmp_path / "event.json"
    event.write_text(
        '{"platform": "python", "exception": {"values": [{"type": "ZeroDivisionError",'
        ' "value": "division by zero", "stacktrace": {"frames": [' + frame + "]}}]}}"
    )
    running = subprocess.Popen(
        [*COMMAND, "repro", str(event), "--repo", str(tree), "--env", sys.executable],
        env={**os.environ, "TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 30
    while not list(scratch.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1.0)

    running.send_signal(number)
    running.communicate(timeout=20)

    assert running.returncode == 128 + number
    assert list(scratch.iterdir()) == []
