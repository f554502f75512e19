"""Where the test goes, and writing it: never over a file that somebody else wrote."""

from __future__ import annotations

import os
import tomllib
from configparser import ConfigParser
from configparser import Error as ConfigError
from typing import TYPE_CHECKING

from reproof.errors import OutputError
from reproof.reproducer.wording import data_name

if TYPE_CHECKING:
    from pathlib import Path

MAX_CONFIG_BYTES = 1_000_000
MAX_VARIANTS = 100


def test_folder(repo: Path) -> Path:
    """Return the tree's test folder: as its pytest configuration says, else `tests`."""
    for name in _configured(repo):
        folder = repo / name
        try:
            inside = folder.resolve().is_relative_to(repo.resolve())
        except (OSError, RuntimeError, ValueError):
            # a loop of links, a NUL: nothing that a test could be put into
            continue
        if inside:
            return folder
    return repo / "tests"


def _configured(repo: Path) -> list[str]:
    """Return the folders of the first file that pytest would take its configuration from."""
    for name in ("pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg"):
        found = (
            _toml_testpaths(repo / name)
            if name.endswith(".toml")
            else _ini_testpaths(repo / name, "tool:pytest" if name == "setup.cfg" else "pytest")
        )
        if found is not None:
            return [
                word
                for word in found
                if word
                and not word.startswith(("/", "-"))
                and not set(word) & set("*?[")
                and not word.endswith(".py")
            ]
    return []


def _text(path: Path) -> str:
    try:
        if not path.is_file() or path.stat().st_size > MAX_CONFIG_BYTES:
            return ""
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def _toml_testpaths(path: Path) -> list[str] | None:
    """Return what the file says; `None` when it does not configure pytest."""
    try:
        value: object = tomllib.loads(_text(path))
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    for key in ("tool", "pytest", "ini_options"):
        value = value.get(key) if isinstance(value, dict) else None
    if not isinstance(value, dict):
        return None
    words = value.get("testpaths", [])
    if isinstance(words, str):
        return words.split()
    return [w for w in words if isinstance(w, str)] if isinstance(words, list) else []


def _ini_testpaths(path: Path, section: str) -> list[str] | None:
    """Return what the file says; `None` when it does not configure pytest."""
    parser = ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(_text(path))
    except ConfigError:
        return None
    if not parser.has_section(section):
        return None
    return parser.get(section, "testpaths", fallback="").split()


def free_path(folder: Path, name: str, content: bytes, data: bytes | None = None) -> Path:
    """Return a path in the folder that is free, or that already holds exactly this content.

    With `data`, the same holds for the data file beside it.
    """
    stem = name.removesuffix(".py")
    for number in range(1, MAX_VARIANTS):
        path = folder / (name if number == 1 else f"{stem}_{number}.py")
        if _is_ours(path, content) and (data is None or _is_ours(_data_path(path), data)):
            return path
    raise OutputError(
        f"{folder / name} and {MAX_VARIANTS - 1} variants of it exist already",
        hint="remove old ones, or choose another folder with --out",
    )


def _is_ours(path: Path, content: bytes) -> bool:
    if not os.path.lexists(path):
        return True
    return path.is_file() and not path.is_symlink() and path.read_bytes() == content


def _data_path(test: Path) -> Path:
    return test.with_name(data_name(test.name))


def write_test(folder: Path, name: str, content: bytes, data: bytes | None = None) -> Path:
    """Write the test (and its data file), each whole or not at all; return the test's path.

    Raises `OutputError` when it cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path = free_path(folder, name, content, data)
        if data is not None:
            _place(_data_path(path), data)
        _place(path, content)
    except FileExistsError as error:
        raise OutputError(
            f"{folder / name} appeared while it was being written", hint="run again"
        ) from error
    except OSError as error:
        raise OutputError(
            f"cannot write {folder / name}: {error.strerror or error}",
            hint="choose a folder that can be written with --out",
        ) from error
    return path


def _place(path: Path, content: bytes) -> None:
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("xb") as file:
            file.write(content)
        # a link fails where a rename would silently replace what appeared meanwhile
        if not (path.is_file() and path.read_bytes() == content):
            os.link(partial, path)
    finally:
        partial.unlink(missing_ok=True)
