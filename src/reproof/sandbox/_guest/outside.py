"""Note what a replay asked of the machine around it, and where the wall decided the answer.

Inside the wall most of the machine's files are missing, other users own the rest, and few variables
are set. Where the code under test ran into that, it may raise as captured for the wall's reason.
What is noted are the paths it did not find or may not use, the programs it started and the
variables it missed; whether they are there outside is for the host to see. (What it asks of the
network is noted by the wall itself.)
"""
# ruff: noqa: ANN401 - an audit event carries anything

from __future__ import annotations

import functools
import os
import pathlib
import sys
from typing import Any, Callable

MAX_NOTES = 200
_NEAR = 3
"""`Path.read_text` opens through one more function."""
_READS = frozenset(
    "open os.listdir os.scandir os.chdir os.remove os.rmdir os.truncate os.rename "  # noqa: SIM905
    "os.chmod os.chown os.utime os.link os.symlink os.mkdir sqlite3.connect ctypes.dlopen".split()
)
_STARTS = frozenset({"subprocess.Popen", "os.exec", "os.posix_spawn", "os.system"})
_QUESTIONS = ("exists", "lexists", "isfile", "isdir", "islink")
_METHODS = ("exists", "is_file", "is_dir", "is_symlink")
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class Outside:
    """The notes of one replay."""

    def __init__(self, root: str) -> None:
        self.root = root + os.sep
        self.paths: dict[tuple[str, str], None] = {}
        self.variables: list[str] = []
        self.programs: list[str] = []
        self.active = False
        self.importing = True
        self._busy = False

    def install(self) -> None:
        """Begin to listen; an audit hook stays for the life of the process."""
        sys.addaudithook(self._hear)
        for name in _QUESTIONS:
            setattr(os.path, name, self._asked(getattr(os.path, name)))
        environ: Any = os.environ
        environ._data = _Variables(environ._data, self)  # noqa: SLF001 - it has no other hook
        for name in _METHODS:
            setattr(pathlib.Path, name, self._asked(getattr(pathlib.Path, name)))

    def told(self) -> dict[str, Any]:
        """Return the notes as JSON."""
        return {
            "paths": [[path, what] for path, what in self.paths][:MAX_NOTES],
            "home": os.path.expanduser("~"),
            "programs": self.programs,
            "variables": self.variables,
        }

    def _asked(self, question: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(question)
        def ask(path: Any, *args: Any, **kwargs: Any) -> Any:
            self._note(path, writing=False)
            return question(path, *args, **kwargs)

        return ask

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if not self.active or self._busy:
            return
        if event in _READS:
            flags = args[2] if event == "open" and type(args[2]) is int else 0
            self._note(args[0], writing=bool(flags & _WRITES))
        elif event in _STARTS:
            self._add(self.programs, _text(args[0]) or "?")

    def _note(self, path: Any, *, writing: bool) -> None:
        text = _text(path)
        if not self.active or self._busy or text is None or len(self.paths) >= MAX_NOTES:
            return
        self._busy = True
        try:
            text = os.path.abspath(text)
            found = _wanting(text, writing=writing)
            if self.importing and os.path.basename(text) == ".git":
                return  # packages look for it to tell their version
            if found is not None and self._near(sys._getframe(2)):  # noqa: SLF001 - who asks
                self.paths[found] = None
        finally:
            self._busy = False

    def _near(self, frame: Any) -> bool:
        """Say whether the tree's own code asks, directly or by a helper or two of a library."""
        for _ in range(_NEAR):
            if frame is None:
                return False
            if frame.f_code.co_filename.startswith(self.root):
                return True
            frame = frame.f_back
        return False

    def miss(self, name: str) -> None:
        """Note a variable that was asked for with `os.environ[name]`."""
        frame: Any = sys._getframe(2)  # noqa: SLF001 - who asks; `get` asks from another file
        if self.active and frame.f_back.f_code.co_filename.startswith(self.root):
            self._add(self.variables, name)

    @staticmethod
    def _add(to: list[str], text: str) -> None:
        if len(to) < MAX_NOTES:
            to.append(text)


def _text(path: Any) -> str | None:
    """Return a path as text, without running code of a subclass."""
    if isinstance(path, pathlib.PurePath):
        path = str(path)
    if type(path) is bytes:
        return os.fsdecode(path)
    return path if type(path) is str else None


def _wanting(path: str, *, writing: bool) -> tuple[str, str] | None:
    """Return the path that is not there or not to be used, and which of the two."""
    if path.endswith(".pyc"):
        return None
    try:
        if not os.path.lexists(path):
            folder = os.path.dirname(path)
            if writing and os.access(folder, os.F_OK) and not os.access(folder, os.W_OK):
                return folder, "unwritable"
            return path, "missing"
        if not os.access(path, os.R_OK):
            return path, "unreadable"
        if writing and not os.access(path, os.W_OK):
            return path, "unwritable"
    except (OSError, ValueError):
        return None
    return None


class _Variables(dict):  # type: ignore[type-arg]  # subscripting it fails on Python 3.8
    """What `os.environ` holds, with an ear for what it does not."""

    def __init__(self, held: dict[Any, Any], outside: Outside) -> None:
        super().__init__(held)
        self.outside = outside

    def __missing__(self, key: Any) -> Any:
        if type(key) is bytes:
            self.outside.miss(os.fsdecode(key))
        raise KeyError(key)
