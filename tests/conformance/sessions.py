"""Specs for tests of sandboxes: the interpreter that runs the tests is the target's too."""

from __future__ import annotations

import shutil
import sys
from importlib.metadata import distribution
from pathlib import Path
from typing import TYPE_CHECKING

from reproof.domain.run import Limits, RunRecord
from reproof.sandbox.interface import Interpreter, SessionSpec

if TYPE_CHECKING:
    from reproof.sandbox.session import WarmSession

_NEEDED = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")


def make_guest_path(folder: Path) -> Path:
    """Copy pytest and what it needs out of the environment of the tests."""
    for name in _NEEDED:
        found = distribution(name)
        for file in found.files or ():
            if file.parts[0] not in ("..", "/") and "__pycache__" not in file.parts:
                target = folder / Path(*file.parts)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(str(found.locate_file(file)), target)
    return folder


def make_tree(folder: Path) -> Path:
    """Make a small repository with secrets in it, and a canary beside it."""
    tree = folder / "tree"
    (tree / ".git").mkdir(parents=True)
    (tree / ".git" / "config").write_text("secret")
    (tree / ".env").write_text("TOKEN=secret")
    (tree / "kept.txt").write_text("kept")
    (tree / "below").mkdir()
    (tree / "below" / "kept.txt").write_text("kept")
    (folder / "canary.txt").write_text("secret")
    return tree


def own_interpreter() -> Interpreter:
    """Describe the interpreter that runs the tests."""
    executable = Path(sys.executable)
    return Interpreter(
        executable=executable,
        version=sys.version_info[:2],
        prefix=Path(sys.prefix),
        base_prefix=Path(sys.base_prefix),
        real_executable=executable.resolve(),
    )


def make_spec(tree: Path, guest: Path, **more: object) -> SessionSpec:
    """Return a spec for `tree` and the interpreter of the tests."""
    return SessionSpec(tree=tree, interpreter=own_interpreter(), guest_path=guest, **more)  # type: ignore[arg-type]


def run_script(
    session: WarmSession, tree: Path, script: str, limits: Limits | None = None
) -> RunRecord:
    """Run `script` as a file of the tree; its `RESULT` is in the report."""
    path = str(tree.absolute() / "attempt.py")
    files = {"attempt.py": script.encode()}
    return session._run("script", {"path": path}, files, {}, limits or Limits())
