"""pytest for the inside of the sandbox: one read-only folder per Python minor version.

Made once by `uv` from the pinned, hashed lists in `guest-locks/`, and found again for the price of
a few directory listings. No code of these packages runs here.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from reproof.errors import InterpreterError
from reproof.provision.interpreter import NEWEST, OLDEST

if TYPE_CHECKING:
    from collections.abc import Mapping

_LOCKS = Path(__file__).parent / "guest-locks"
_MARKER = ".complete.json"
_FORMAT = 1
"""Raise when what is built from the same list changes, so that old folders are left alone."""
_BYTECODE = "__pycache__"


def guest_path(
    version: tuple[int, int],
    cache_root: Path,
    *,
    environment: Mapping[str, str] | None = None,
    timeout_s: float = 120.0,
) -> Path:
    """Return a folder with pytest, its dependencies and time-machine for that Python.

    Made if missing or damaged: built aside and renamed, so that it is complete or absent whoever
    else is building it. Of `environment` only what an installer needs is passed on (proxy, package
    index, certificates).

    Raises `InterpreterError` for an unsupported version, and when it has to be made and cannot be.
    """
    if not OLDEST <= version <= NEWEST:
        raise InterpreterError(
            f"Python {version[0]}.{version[1]} is not supported",
            hint=f"supported are {OLDEST[0]}.{OLDEST[1]} to {NEWEST[0]}.{NEWEST[1]}",
        )
    lock = _LOCKS / f"py{version[0]}.{version[1]}.txt"
    key = sha256(lock.read_bytes() + bytes([_FORMAT])).hexdigest()[:16]
    final = Path(os.path.abspath(cache_root)) / f"guest-py{version[0]}.{version[1]}-{key}"  # noqa: PTH100
    if _is_complete(final):
        return final
    try:
        final.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryDirectory(
            prefix=".building-", dir=final.parent, ignore_cleanup_errors=True
        ) as work:
            built = Path(work) / "guest"
            _build(version, lock, built, environment or {}, timeout_s)
            return _publish(built, final)
    except OSError as error:
        raise InterpreterError(
            f"pytest for the sandbox cannot be stored in the cache: {error}",
            hint="check the cache folder's permissions and the free space of its disk",
        ) from error


def _build(
    version: tuple[int, int],
    lock: Path,
    target: Path,
    environment: Mapping[str, str],
    timeout_s: float,
) -> None:
    # Only here, where a process is started anyway: the everyday path must stay quick to import.
    from reproof.provision.installer import install  # noqa: PLC0415

    install(version, lock, target, environment=environment, timeout_s=timeout_s)
    # Entry points that start this program's own interpreter: of no use inside.
    shutil.rmtree(target / "bin", ignore_errors=True)
    (target / _MARKER).write_text(json.dumps(_census(target)), encoding="utf-8")


def _publish(built: Path, final: Path) -> Path:
    """Rename `built` to `final`; what is there is kept if it is complete, else moved away."""
    aside = built.with_name("replaced")
    for _ in range(3):
        try:
            built.rename(final)
        except OSError:
            if not final.exists():
                raise
            if _is_complete(final):
                return final
            # The damaged one may be renamed by another process just now: then look again.
            try:
                final.rename(aside)
            except FileNotFoundError:
                continue
            shutil.rmtree(aside, ignore_errors=True)
        else:
            return final
    raise InterpreterError(
        f"{final} keeps being changed by another process",
        hint="wait for the other runs to end, then remove that folder",
    )


def _is_complete(folder: Path) -> bool:
    """Whether the folder's packages hold as many entries as when they were made."""
    try:
        expected = json.loads((folder / _MARKER).read_bytes())
        return isinstance(expected, dict) and expected == _census(folder)
    except (OSError, ValueError):
        # Missing, cut short or unreadable: to be made (again).
        return False


def _census(root: Path) -> dict[str, int]:
    """Return the number of entries of the root and of each package, byte code and marker apart.

    Looks one level deep and not into metadata: this runs at every start.
    """
    counts = {"": 0}
    with os.scandir(root) as entries:
        for entry in entries:
            if entry.name in {_BYTECODE, _MARKER}:
                continue
            counts[""] += 1
            if not entry.name.endswith(".dist-info") and entry.is_dir(follow_symlinks=False):
                names = os.listdir(entry.path)  # noqa: PTH208
                counts[entry.name] = len(names) - (_BYTECODE in names)
    return counts
