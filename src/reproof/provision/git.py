"""Runs `git` so that nothing in the repository or its configuration can run anything else.

A repository's own `.git/config` may name programs (filters, pagers, hooks, monitors, signature
checkers, transports). Only commands that read objects and references are used here; none of them
touches the working tree or the index, so filters never run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from functools import cache
from typing import TYPE_CHECKING, BinaryIO

from reproof.errors import RepositoryError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

TIMEOUT_S = 30.0

_SAFE_OPTIONS = (
    "--no-pager",
    "--literal-pathspecs",
    # The owner's identity matters for running configured programs; nothing here does.
    "-c", "safe.directory=*",
    "-c", "core.fsmonitor=false",
    "-c", "core.hooksPath=/dev/null",
    "-c", "protocol.allow=never",
    "-c", "core.quotePath=false",
)  # fmt: skip
_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
    "PATH": os.defpath,
}


def run_git(repo: Path, *arguments: str, timeout_s: float = TIMEOUT_S) -> bytes | None:
    """Return what git printed, or `None` if it failed, is missing, or `repo` is no folder.

    Callers pass data (release names, paths) only in places where it cannot be an option.
    Raises `RepositoryError` when git does not answer in time.
    """
    command = _command(repo)
    if command is None:
        return None
    try:
        done = subprocess.run(
            [*command, *arguments],
            env=_ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise _too_slow(timeout_s) from error
    return done.stdout if done.returncode == 0 else None


def read_objects(
    repo: Path, names: Sequence[str], *, timeout_s: float = TIMEOUT_S
) -> Iterator[bytes | None]:
    """Yield the content of each object, in order; `None` for what is missing.

    One process for all; nothing is held but the object at hand. Names hold no line break.
    """
    command = _command(repo)
    if command is None or not names:
        yield from [None] * len(names)
        return
    with tempfile.TemporaryFile() as wanted, tempfile.TemporaryFile() as answers:
        # Files on both sides: with two pipes, either process may wait for the other for ever.
        wanted.write("".join(f"{name}\n" for name in names).encode("utf-8", "surrogateescape"))
        wanted.seek(0)
        try:
            subprocess.run(
                [*command, "cat-file", "--batch", "--buffer"],
                env=_ENVIRONMENT,
                stdin=wanted,
                stdout=answers,
                stderr=subprocess.DEVNULL,
                timeout=timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise _too_slow(timeout_s) from error
        answers.seek(0)
        for _ in names:
            yield _answer(answers)


def _answer(stream: BinaryIO) -> bytes | None:
    """Read `<id> <kind> <size>`, the content and a line end; or `<name> missing`."""
    fields = stream.readline().split()
    if len(fields) != 3 or not fields[2].isdigit():  # noqa: PLR2004
        return None
    content = stream.read(int(fields[2]))
    stream.read(1)
    return content


def _command(repo: Path) -> list[str] | None:
    program = _program()
    if program is None or not repo.is_dir():
        return None
    return [program, "-C", str(repo.absolute()), *_SAFE_OPTIONS]


@cache
def _program() -> str | None:
    return shutil.which("git")


def _too_slow(timeout_s: float) -> RepositoryError:
    return RepositoryError(
        f"git gave no answer within {timeout_s:g} s",
        hint="check that the repository's disk is reachable and no other git process holds it",
    )
