from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest

from reproof.cli import doctor
from reproof.cli.console import Console
from reproof.cli.doctor import Finding, is_ready, lines, look
from reproof.cli.main import main
from reproof.sandbox.interface import Availability
from reproof.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

WALL = Availability(usable=True, detail="0.11")
NO_WALL = Availability(usable=False, detail="no namespaces", hint="sysctl ...")


def finding(section: str, *, usable: bool, needed: bool = True) -> Finding:
    return Finding(section=section, name="x", usable=usable, detail="d", hint="h", needed=needed)


@pytest.mark.parametrize(
    ("findings", "ready"),
    [
        pytest.param([finding("sandbox", usable=True)], True, id="all-there"),
        pytest.param([finding("sandbox", usable=False)], False, id="needed-and-missing"),
        pytest.param(
            [finding("sandbox", usable=False), finding("sandbox", usable=True)],
            True,
            id="one-will-do",
        ),
        pytest.param(
            [finding("sandbox", usable=True), finding("git", usable=False, needed=False)],
            True,
            id="missing-but-not-needed",
        ),
        pytest.param(
            [finding("sandbox", usable=True), finding("uv", usable=False)], False, id="half-there"
        ),
    ],
)
def test_ready_means_that_every_needed_section_has_something(
    findings: list[Finding], *, ready: bool
) -> None:
    assert is_ready(findings) is ready


@pytest.mark.parametrize(
    ("wall", "code"), [pytest.param(WALL, 0, id="wall"), pytest.param(NO_WALL, 2, id="no-wall")]
)
def test_no_wall_at_all_never_makes_a_machine_ready(
    wall: Availability,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(doctor, "probe_all", lambda: {"bubblewrap": wall, "process": WALL})
    assert main(["doctor", "--json"]) == code
    document = json.loads(capsys.readouterr().out)
    assert document["ready"] is (code == 0)


def test_a_missing_thing_comes_with_what_would_enable_it() -> None:
    console = Console(stdout=io.StringIO(), stderr=io.StringIO())
    text = "\n".join(lines([finding("sandbox", usable=False)], console))
    assert text.splitlines() == ["sandbox", f"  no  {'x':<14} d", f"      {'':<14} h"]
    assert "h" not in "\n".join(lines([finding("sandbox", usable=True)], console)).split()


def test_an_interpreter_that_does_not_start_is_not_called_usable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, script in (("python3.9", "exit 127"), ("python3.10", "echo Python 3.10.4")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setattr(doctor, "probe_all", lambda: {"bubblewrap": WALL})
    found = look(Settings(cache_dir=tmp_path / "cache", search_path=str(tmp_path)))
    usable = {each.name: each.usable for each in found}
    assert (usable["python3.9"], usable["python3.10"], usable["python3.11"]) == (False, True, False)
    assert usable["folder"] is True
