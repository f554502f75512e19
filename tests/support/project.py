"""The checkout that the tests belong to."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
SOURCE = ROOT / "src" / "reproof"
DATA = SOURCE / "demo" / "app"
"""Shipped as data: an application of the demo, not part of the product."""
SCRIPTS = {"reproof.sandbox._guest.bootstrap"}
"""Given to another interpreter as a file; not there to be imported."""


def modules() -> list[str]:
    """Return the dotted name of every module of the product that can be imported."""
    names = []
    for path in sorted(SOURCE.rglob("*.py")):
        if not path.is_relative_to(DATA):
            parts = path.relative_to(SOURCE.parent).with_suffix("").parts
            names.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return [name for name in names if name not in SCRIPTS]


def tracked_files() -> list[Path]:
    """Return every file that git would commit, or in an export without git, every file."""
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        check=False,
    )
    if listed.returncode == 0:
        paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    else:
        paths = [path for path in ROOT.rglob("*") if ".venv" not in path.parts]
    return [path for path in paths if path.is_file()]
