"""`reproof doctor`: what is usable here, found by trying, and what would enable the rest."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reproof import settings as settings_module
from reproof.cli.exit_codes import ExitCode
from reproof.sandbox.select import probe_all

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from reproof.cli.console import Console
    from reproof.domain.event import JSON
    from reproof.settings import Settings

DOCTOR_SCHEMA = "reproof/doctor/1"
MINORS = range(8, 15)
"""Of the Python 3 versions whose code can be replayed."""
UNWALLED = "process"
"""The backend that is no wall: usable, and never a reason to call the machine ready."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing looked at."""

    section: str
    name: str
    usable: bool
    detail: str
    hint: str = ""
    """What would enable it."""
    needed: bool = False
    """Whether the main job cannot run when nothing needed of this section is usable."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add every option of the command."""
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    parser.add_argument("--verbose", action="store_true", help="tracebacks")


def execute(args: argparse.Namespace, console: Console) -> ExitCode:
    """Look at everything, tell it, and succeed if the main job can run."""
    found = settings_module.load(Path())
    console.configure(quiet=False, no_color=found.no_color, dumb=found.dumb_terminal)
    findings = list(look(found))
    ready = is_ready(findings)
    if args.json:
        console.document(as_document(findings, ready=ready))
    else:
        for line in lines(findings, console):
            console.result(line)
        console.result("")
        console.result("the main job can run here" if ready else "the main job cannot run here yet")
    return ExitCode.REPRODUCED if ready else ExitCode.ERROR


def look(found: Settings) -> Iterator[Finding]:
    """Yield one finding after another; slow ones (the sandboxes are really started) included."""
    for name, availability in probe_all().items():
        yield Finding(
            section="sandbox",
            name=name,
            usable=availability.usable,
            detail=availability.detail,
            hint=availability.hint,
            needed=name != UNWALLED,
        )
    yield from _interpreters(found)
    yield from _tools(found)
    yield _cache(found)


def is_ready(findings: Sequence[Finding]) -> bool:
    """Return whether each section that has something needed has it."""
    sections = {finding.section for finding in findings if finding.needed}
    usable = {finding.section for finding in findings if finding.needed and finding.usable}
    return sections == usable


def lines(findings: Sequence[Finding], console: Console) -> Iterator[str]:
    """Yield the findings in words, by section."""
    section = ""
    for finding in findings:
        if finding.section != section:
            section = finding.section
            yield section
        mark, color = ("ok", "green") if finding.usable else ("no", "yellow")
        mark = console.paint(mark, color, when=console.color_out)
        yield f"  {mark}  {finding.name:<14} {finding.detail}"
        if finding.hint and not finding.usable:
            yield f"      {'':<14} {finding.hint}"


def as_document(findings: Sequence[Finding], *, ready: bool) -> dict[str, JSON]:
    """Return the findings as a document."""
    return {
        "schema": DOCTOR_SCHEMA,
        "ready": ready,
        "findings": [
            {
                "section": finding.section,
                "name": finding.name,
                "usable": finding.usable,
                "detail": finding.detail,
                "hint": finding.hint,
            }
            for finding in findings
        ],
    }


def _interpreters(found: Settings) -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding(
        section="python", name="this one", usable=True, detail=f"{version}, {sys.executable}"
    )
    if found.virtual_env:
        yield Finding(
            section="python", name="active", usable=True, detail=f"{found.virtual_env} (--env auto)"
        )
    for minor in MINORS:
        path = shutil.which(f"python3.{minor}", path=found.search_path)
        # A version manager puts a stand-in on PATH that may refuse to start anything.
        answer = _version(path)
        yield Finding(
            section="python",
            name=f"python3.{minor}",
            usable=answer.startswith("Python "),
            detail=answer.removeprefix("Python "),
            hint=f"only needed for code that runs on 3.{minor}; --env takes a path as well",
        )


def _tools(found: Settings) -> Iterator[Finding]:
    beside = Path(sys.executable).parent / "uv"
    uv = str(beside) if beside.exists() else shutil.which("uv", path=found.search_path)
    yield Finding(
        section="pytest for the target",
        name="uv",
        usable=uv is not None,
        detail=_version(uv),
        hint="pip install uv, into the environment of reproof",
        needed=True,
    )
    git = shutil.which("git", path=found.search_path)
    yield Finding(
        section="revisions",
        name="git",
        usable=git is not None,
        detail=_version(git),
        hint="without git there is no --ref and no comparison with the revision that crashed",
    )


def _cache(found: Settings) -> Finding:
    """Look for the nearest folder that exists: the cache itself is made when first needed."""
    folder = found.cache_dir
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return Finding(
        section="cache",
        name="folder",
        usable=os.access(folder, os.W_OK),
        detail=str(found.cache_dir),
        hint="set REPROOF_CACHE_DIR to a folder that can be written",
        needed=True,
    )


def _version(program: str | None) -> str:
    """Return what `program` says it is, and where it stands."""
    if program is None:
        return "not found"
    try:
        answer = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{program}: {error}"
    if answer.returncode:
        return f"does not start, {program}"
    return f"{answer.stdout.strip() or 'no version told'}, {program}"
