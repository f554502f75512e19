"""Event payloads from a file, from every event file of a folder, or from standard input."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from reproof.domain.text import shown
from reproof.errors import InputError
from reproof.sources.decode import MAX_BYTES
from reproof.sources.interface import EventSource, RawPayload

if TYPE_CHECKING:
    from collections.abc import Sequence

STDIN = "-"
SUFFIXES = (".json", ".envelope")
"""What counts as an event file in a folder; a file named outright may have any name."""

_PATH_SHOWN = 200


class FileSource(EventSource):
    """Reads a file, the `SUFFIXES` files of a folder (not of its subfolders), or `-`."""

    def __init__(self, stdin: BinaryIO | None = None) -> None:
        """Take the stream that `-` reads; by default the process's own."""
        self._stdin = stdin

    def fetch(self, ref: str) -> Sequence[RawPayload]:
        """Return the payloads in the order of their names."""
        if ref == STDIN:
            return (_read(self._stdin or sys.stdin.buffer, "standard input"),)
        if not ref or "\0" in ref:
            raise InputError("the crash's path is empty or holds a NUL", hint=_HINT)
        path = Path(ref)
        try:
            if path.is_dir():
                return self._folder(path)
            return (_read_file(path),)
        except FileNotFoundError:
            raise InputError(f"no such file: {_name(path)}", hint=_HINT) from None
        except OSError as error:
            raise InputError(
                f"cannot read {_name(path)}: {error.strerror or error}",
                hint="check the path and its permissions",
            ) from error

    def _folder(self, folder: Path) -> Sequence[RawPayload]:
        found = sorted(
            entry
            for entry in folder.iterdir()
            if entry.suffix.lower() in SUFFIXES and entry.is_file()
        )
        if not found:
            raise InputError(
                f"no event file in {_name(folder)}",
                hint=f"event files are those named {' or '.join('*' + s for s in SUFFIXES)}",
            )
        return tuple(_read_file(entry) for entry in found)


_HINT = "give an event's JSON file, a folder of them, or `-` for standard input"


def _read_file(path: Path) -> RawPayload:
    with path.open("rb") as stream:
        return _read(stream, str(path))


def _read(stream: BinaryIO, origin: str) -> RawPayload:
    # Not `stat`: pipes and devices have no size, and are read up to the same bound.
    content = stream.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise InputError(
            f"{shown(origin, _PATH_SHOWN)} has more than {MAX_BYTES // 2**20} MiB",
            hint="a real event is under one megabyte: check that this is the right file",
        )
    return RawPayload(content, origin)


def _name(path: Path) -> str:
    return shown(str(path), _PATH_SHOWN)
