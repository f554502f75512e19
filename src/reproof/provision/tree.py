"""A folder as a source tree: text by tree-relative path, and never a byte from outside of it."""

from __future__ import annotations

import os
import stat
import tokenize
from io import BytesIO
from typing import TYPE_CHECKING

from reproof.errors import RepositoryError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

MAX_FILE_BYTES = 4 * 1024 * 1024
"""Larger Python files are generated tables; no person wrote the crashing line in one."""

SKIPPED_FOLDERS = frozenset(
    {
        ".eggs", ".git", ".hg", ".mypy_cache", ".nox", ".pytest_cache", ".ruff_cache", ".svn",
        ".tox", ".venv", "__pycache__", "node_modules", "venv",
    }
)  # fmt: skip
"""Never listed: not the project's own source. What is named outright can be read all the same."""


class DirectoryTree:
    """The Python source under `root`, as it is on the disk.

    Paths are relative to `root`, with `/`. A path that leaves it, by `..` or by a symbolic link, is
    treated as one that does not exist.
    """

    def __init__(self, root: Path) -> None:
        """Raise `RepositoryError` if `root` is no folder that can be listed."""
        self._root = os.path.realpath(root)
        self._files: tuple[str, ...] | None = None
        try:
            with os.scandir(self._root):
                pass
        except OSError as error:
            raise RepositoryError(
                f"cannot list the source folder {root}: {error.strerror}",
                hint="give the repository's folder with --repo",
            ) from error

    def exists(self, path: str) -> bool:
        """Whether a file or folder of that name is in the tree."""
        real = self._inside(path)
        return real is not None and os.path.exists(real)  # noqa: PTH110

    def read(self, path: str) -> str | None:
        r"""Return a file's text with `\n` line ends, or `None`.

        `None` stands for missing, outside of the tree, not a regular file, unreadable, or larger
        than `MAX_FILE_BYTES`.
        """
        real = self._inside(path)
        content = None if real is None else _regular_file(real)
        return None if content is None else source_text(content)

    def python_files(self) -> Sequence[str]:
        """Return the paths of all `*.py` files, sorted. Listed once, folder links not followed."""
        if self._files is None:
            self._files = tuple(sorted(self._listed()))
        return self._files

    def _inside(self, path: str) -> str | None:
        if not is_relative(path):
            return None
        real = os.path.realpath(os.path.join(self._root, path))  # noqa: PTH118
        return real if self._holds(real) else None

    def _holds(self, real: str) -> bool:
        return real == self._root or real.startswith(self._root.rstrip("/") + "/")

    def _listed(self) -> Iterator[str]:
        pending = [("", self._root)]
        while pending:
            prefix, folder = pending.pop()
            try:
                entries = list(os.scandir(folder))
            except OSError:
                # A folder that may not be read holds nothing that a test could import.
                continue
            if prefix and any(entry.name == "pyvenv.cfg" for entry in entries):
                continue
            for entry in entries:
                name = entry.name
                if entry.is_dir(follow_symlinks=False):
                    if name not in SKIPPED_FOLDERS:
                        pending.append((f"{prefix}{name}/", entry.path))
                elif name.endswith(".py") and self._is_listable(entry):
                    yield prefix + name

    def _is_listable(self, entry: os.DirEntry[str]) -> bool:
        if not entry.is_symlink():
            return entry.is_file(follow_symlinks=False)
        real = os.path.realpath(entry.path)
        return self._holds(real) and os.path.isfile(real)  # noqa: PTH113


def is_relative(path: str) -> bool:
    """Whether a path is of the form the tree takes: relative, `/` between, without `..` or NUL."""
    return bool(path) and not path.startswith("/") and "\0" not in path and _has_no_way_up(path)


def _has_no_way_up(path: str) -> bool:
    return ".." not in path.split("/")


def source_text(content: bytes) -> str:
    r"""Return source as text: encoding as PEP 263 finds it, line ends `\n`, never an error.

    Where the declared encoding is unknown or the bytes do not fit it, UTF-8 with replacement marks
    is good enough to find lines by their text; Python itself refuses such a file.
    """
    try:
        encoding, _ = tokenize.detect_encoding(BytesIO(content).readline)
        text = content.decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError):
        text = content.decode("utf-8", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _regular_file(real: str) -> bytes | None:
    try:
        # Non-blocking, so that a pipe in the tree cannot stop us; the path is already resolved.
        handle = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        # Missing or forbidden: for the reader of a tree it is not there.
        return None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        return None
    with os.fdopen(handle, "rb") as stream:
        content = stream.read(MAX_FILE_BYTES + 1)
    return content if len(content) <= MAX_FILE_BYTES else None
