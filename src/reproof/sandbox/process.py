"""No wall: the same supervisor without namespaces, for machines where nothing else is possible.

Code of the target can read and write whatever the caller can. It is used only when asked for by
name, and the isolation it reports says so. Each run works on its own copy of the tree, at another
path: strings in a request that name the tree are changed to name the copy.
"""

from __future__ import annotations

import os
import shutil
import socket
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reproof.errors import InputError, SandboxUnavailableError
from reproof.sandbox import launch
from reproof.sandbox.channel import Channel
from reproof.sandbox.interface import Availability, Backend
from reproof.sandbox.session import Wall, WarmSession, base_environment, check_name

if TYPE_CHECKING:
    from reproof.sandbox.interface import Session, SessionSpec

_PACKAGE = Path(__file__).parent / "_guest"


class ProcessBackend(Backend):
    """Resource limits, a process group and a copy of the tree; nothing that keeps anyone out."""

    name = "process"
    level = "none"

    def probe(self) -> Availability:
        """Say whether this system has what the supervisor needs."""
        usable = os.name == "posix"
        return Availability(usable=usable, detail="no isolation" if usable else "needs POSIX")

    def open(self, spec: SessionSpec) -> Session:
        """Start the supervisor beside a folder for the copies and return at once."""
        if os.name != "posix":
            raise SandboxUnavailableError("the process backend needs a POSIX system")
        if not spec.tree.is_dir():
            raise InputError(f"the source tree {spec.tree} is not a folder")
        hidden = frozenset(check_name(name) for name in spec.hidden)
        folder = Path(tempfile.mkdtemp(prefix="reproof-"))
        copies = _Copies(spec.tree.absolute(), folder, hidden)
        (folder / "guest").mkdir()
        (folder / "guest" / "_reproof_guest").symlink_to(_PACKAGE)
        ours, far = socket.socketpair()
        guest = folder / "guest"
        command = [
            str(spec.interpreter.real_executable),
            "-s",
            "-S",
            "-B",
            str(guest / "_reproof_guest" / "bootstrap.py"),
            str(guest),
            str(far.fileno()),
        ]
        try:
            launched = launch.start(command, base_environment(spec), [far.fileno()])
        finally:
            far.close()
        wall = Wall(
            backend=self.name,
            level=self.level,
            network="host",
            walled=False,
            explain=_explain,
            prepare_run=copies.prepare,
            clean_run=copies.clean,
            clean_session=copies.remove,
        )
        session = WarmSession(wall, spec, launched, Channel(ours), None)
        session.send_setup(
            {
                "namespaces": False,
                "shown_tree": str(spec.tree.absolute()),
                "guest_site": str(spec.guest_path.absolute()),
                "guest_parent": str(guest),
                "roots": list(spec.import_roots),
                "executable": str(spec.interpreter.executable),
                "prefix": str(spec.interpreter.prefix),
            }
        )
        return session


@dataclass(slots=True)
class _Copies:
    """One copy of the tree, a home and a folder for temporary files for each run."""

    tree: Path
    folder: Path
    hidden: frozenset[str]
    current: Path | None = field(default=None)

    def prepare(self, message: dict[str, Any]) -> dict[str, Any]:
        """Make the run's folders and name them in its message."""
        self.current = self.folder / f"run-{message['run']}"
        copy = self.current / "tree" / self.tree.name
        shutil.copytree(self.tree, copy, symlinks=True, ignore=self._skip)
        (self.current / "home").mkdir()
        (self.current / "tmp").mkdir()
        environment = {
            **message["environment"],
            "HOME": str(self.current / "home"),
            "TMPDIR": str(self.current / "tmp"),
        }
        request = _rename(message["request"], str(self.tree), str(copy))
        return {**message, "tree": str(copy), "environment": environment, "request": request}

    def _skip(self, folder: str, names: list[str]) -> list[str]:
        skipped = []
        for name in names:
            path = Path(folder, name)
            special = not (path.is_symlink() or path.is_file() or path.is_dir())
            if special or str(path.relative_to(self.tree)) in self.hidden:
                skipped.append(name)
        return skipped

    def clean(self) -> None:
        """Remove the run's folders."""
        if self.current is not None:
            _remove(self.current)
            self.current = None

    def remove(self) -> None:
        """Remove everything."""
        _remove(self.folder)


def _remove(folder: Path) -> None:
    """Remove a folder whose modes a run may have changed."""
    for path, _names, _files in os.walk(folder):
        if not Path(path).is_symlink():
            Path(path).chmod(0o700)
    shutil.rmtree(folder)


def _rename(value: Any, old: str, new: str) -> Any:  # noqa: ANN401 - any JSON
    """Return `value` with every string that names the tree naming the copy."""
    match value:
        case str():
            inside = value == old or value.startswith(old + os.sep)
            return new + value.removeprefix(old) if inside else value
        case list():
            return [_rename(item, old, new) for item in value]
        case dict():
            return {key: _rename(item, old, new) for key, item in value.items()}
        case _:
            return value


def _explain(said: str) -> SandboxUnavailableError:
    return SandboxUnavailableError(
        f"the target's interpreter did not start: {said}",
        hint=f"check that it runs by itself on {sys.platform}",
    )
