"""The target's Python, found and described from files alone: nothing of it is ever started here."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reproof.domain.text import shown
from reproof.errors import InputError, InterpreterError
from reproof.sandbox.interface import Interpreter

if TYPE_CHECKING:
    from collections.abc import Iterator

OLDEST = (3, 8)
NEWEST = (3, 14)
USUAL_FOLDERS = (".venv", "venv", "env")
"""Where a repository keeps its environment, in the order they are looked at."""

_PATH_SHOWN = 200
_CONFIG_BYTES = 64 * 1024
_VERSION = re.compile(r"\s*(\d+)\.(\d+)")
_PYTHON_NAME = re.compile(r"python(\d+)\.(\d+)[a-z]*")
_LIBRARY = re.compile(r"python(3)\.(\d+)[a-z]*")
_RANGE = f"{OLDEST[0]}.{OLDEST[1]} to {NEWEST[0]}.{NEWEST[1]}"
_MAKE_ONE = "make one with `python3 -m venv .venv` and install the project into it"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundInterpreter:
    """The interpreter to use, and how it came to be that one."""

    interpreter: Interpreter
    kind: str
    """`path` (named by the user), `active` (an activated venv), `repository` or `own`."""
    notes: tuple[str, ...] = ()
    """Sentences that the user should see; paths in them are escaped."""


def find_interpreter(choice: str, *, repo: Path, virtual_env: str | None) -> FoundInterpreter:
    """Return the interpreter for `--env CHOICE`.

    `auto` and `current` take the activated environment (`virtual_env`), else the repository's own,
    else, with a note, the one this program runs in. Anything else is the path of an environment or
    of a Python executable.

    Raises `InterpreterError` when what was found cannot be used; it never falls through to the
    next candidate, since that would run the crash in an environment nobody asked for.
    """
    if choice == "snapshot":
        raise InputError(
            "`--env snapshot` is not available yet in this version",
            hint="give the environment's path, or `current`",
        )
    if choice not in {"auto", "current"}:
        return FoundInterpreter(interpreter=describe(Path(choice)), kind="path")
    if virtual_env:
        return FoundInterpreter(interpreter=describe(Path(virtual_env)), kind="active")
    for name in USUAL_FOLDERS:
        folder = repo / name
        # `env` may as well be a folder of settings: only what says it is an environment counts.
        if (folder / "pyvenv.cfg").is_file() or (folder / "conda-meta").is_dir():
            return FoundInterpreter(interpreter=describe(folder), kind="repository")
    own = describe(Path(sys.executable))
    note = (
        f"no environment is active and the repository has none of {', '.join(USUAL_FOLDERS)}: "
        f"using the one this program runs in, {_shown(own.prefix)}"
    )
    return FoundInterpreter(interpreter=own, kind="own", notes=(note,))


def describe(path: Path) -> Interpreter:
    """Describe an environment's folder or a Python executable.

    Raises `InterpreterError` when it is missing, broken, no CPython, or of an unsupported version.
    """
    executable = _executable(path)
    real = Path(os.path.realpath(executable))
    if real.name.lower().startswith(("pypy", "graalpy", "jython")):
        raise InterpreterError(
            f"{_shown(executable)} is not CPython but {shown(real.name)}",
            hint=f"CPython {_RANGE} is supported",
        )
    _check_binary(executable)
    config_path = _config_path(executable)
    config = {} if config_path is None else read_config(config_path)
    version = _version(executable, real, config_path, config)
    if not OLDEST <= version <= NEWEST:
        raise InterpreterError(
            f"{_shown(executable)} is Python {version[0]}.{version[1]}",
            hint=f"supported are {_RANGE}",
        )
    base = _base_prefix(real, config.get("home"), version)
    if base is None:
        raise InterpreterError(
            f"the standard library of {_shown(executable)} is not where it should be",
            hint="the installation this environment was made from may be gone; make it again",
        )
    return Interpreter(
        executable=executable,
        version=version,
        prefix=base if config_path is None else config_path.parent,
        base_prefix=base,
        real_executable=real,
    )


def read_config(path: Path) -> dict[str, str]:
    """Return the `key = value` lines of a `pyvenv.cfg`, keys in lower case."""
    with path.open("rb") as stream:
        text = stream.read(_CONFIG_BYTES).decode("utf-8", "replace")
    lines = (line.partition("=") for line in text.splitlines())
    return {key.strip().lower(): value.strip() for key, equals, value in lines if equals}


def library_folders(prefix: Path, version: tuple[int, int]) -> Iterator[Path]:
    """Yield the existing `lib/pythonX.Y` folders of a prefix, the free-threaded spelling too."""
    for name in ("lib", "lib64"):
        for suffix in ("", "t", "d", "td"):
            folder = prefix / name / f"python{version[0]}.{version[1]}{suffix}"
            if folder.is_dir():
                yield folder


def _executable(path: Path) -> Path:
    # Not resolved: through which name a venv's Python is started decides which venv it is.
    absolute = Path(os.path.abspath(path.expanduser()))  # noqa: PTH100
    if absolute.is_dir():
        candidates = [absolute / "bin" / name for name in ("python", "python3")]
        found = next((c for c in candidates if c.is_file()), None)
        if found is not None:
            return found
        dangling = next((c for c in candidates if c.is_symlink()), None)
        if dangling is not None:
            raise _dangling(dangling)
        raise InterpreterError(
            f"{_shown(absolute)} holds no bin/python, so it is no environment", hint=_MAKE_ONE
        )
    if absolute.is_file():
        return absolute
    if absolute.is_symlink():
        raise _dangling(absolute)
    raise InterpreterError(
        f"no such environment: {_shown(absolute)}",
        hint="give an environment's folder, a Python executable, `auto` or `current`",
    )


def _dangling(link: Path) -> InterpreterError:
    return InterpreterError(
        f"{_shown(link)} points to {_shown(link.readlink())}, which is gone",
        hint="the Python this environment was made from was removed; make the environment again",
    )


def _check_binary(executable: Path) -> None:
    try:
        with executable.open("rb") as stream:
            head = stream.read(2)
    except OSError as error:
        raise InterpreterError(f"cannot read {_shown(executable)}: {error.strerror}") from error
    if head == b"#!":
        raise InterpreterError(
            f"{_shown(executable)} is a script that starts a Python, not one itself",
            hint='give what `python -c "import sys; print(sys.executable)"` prints',
        )
    if not os.access(executable, os.X_OK):
        raise InterpreterError(f"{_shown(executable)} may not be executed")


def _config_path(executable: Path) -> Path | None:
    """Return the venv's `pyvenv.cfg`, looked for where CPython looks."""
    for folder in (executable.parent, executable.parent.parent):
        config = folder / "pyvenv.cfg"
        if config.is_file():
            # CPython also accepts it beside the executable; the prefix is then still one above.
            return folder.parent / "pyvenv.cfg" if folder.name == "bin" else config
    return None


def _version(
    executable: Path, real: Path, config_path: Path | None, config: dict[str, str]
) -> tuple[int, int]:
    """Return major and minor, from the strongest witness there is.

    A venv's `pyvenv.cfg` is written once and its base may have been upgraded since, but then its
    `lib/pythonX.Y` is of the old minor as well, and it is broken.
    """
    named = _PYTHON_NAME.fullmatch(real.name)
    real_version = (int(named[1]), int(named[2])) if named else _only_library(real.parent.parent)
    if config_path is None:
        if real_version is None:
            raise _unknown_version(executable)
        return real_version
    stated = _VERSION.match(config.get("version_info") or config.get("version") or "")
    own = (int(stated[1]), int(stated[2])) if stated else _only_library(config_path.parent)
    version = own or real_version
    if version is None:
        raise _unknown_version(executable)
    if real_version is not None and real_version != version:
        raise InterpreterError(
            f"{_shown(config_path.parent)} was made for Python {version[0]}.{version[1]}, "
            f"but its bin/python is now {real_version[0]}.{real_version[1]}",
            hint="make the environment again",
        )
    return version


def _unknown_version(executable: Path) -> InterpreterError:
    return InterpreterError(
        f"the version of {_shown(executable)} cannot be told from its files",
        hint="give an environment made by venv, virtualenv, uv or conda",
    )


def _only_library(prefix: Path) -> tuple[int, int] | None:
    """Return the version of the one `lib/python3.X` (or `include/python3.X`) in a prefix."""
    for folder in ("lib", "include"):
        try:
            names = os.listdir(prefix / folder)  # noqa: PTH208
        except OSError:
            # A folder that is not there is no witness; the other may be.
            continue
        found = {(int(m[1]), int(m[2])) for m in map(_LIBRARY.fullmatch, names) if m}
        if len(found) == 1:
            return found.pop()
    return None


def _base_prefix(real: Path, home: str | None, version: tuple[int, int]) -> Path | None:
    """Return the folder above the executable whose `lib/pythonX.Y` holds the standard library."""
    starts = [real.parent]
    if home and os.path.isabs(home):  # noqa: PTH117
        starts.insert(0, Path(os.path.realpath(home)))
    for start in starts:
        for folder in (start, *start.parents):
            # The root itself never: showing it to the code under test would show everything.
            if folder != folder.parent and any(
                (library / "os.py").is_file() for library in library_folders(folder, version)
            ):
                return folder
    return None


def _shown(path: Path) -> str:
    return shown(str(path), _PATH_SHOWN)
