"""What is installed in the target's environment, by listing folders; nothing is imported."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from reproof.domain.text import shown
from reproof.provision.interpreter import library_folders, read_config

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from reproof.sandbox.interface import Interpreter

_SEPARATORS = re.compile(r"[-_.]+")
_TRAILING_ZEROS = re.compile(r"(?:\.0)+$")
_EGG = re.compile(r"(?P<name>[^-]+)-(?P<version>[^-]+)(?:-py\d[\d.]*)?(?:-[^-].*)?\.egg-info")
_NO_PART_OF_THE_APP = frozenset({"pip", "sentry-sdk", "setuptools", "wheel"})
"""Listed by every event, and never a reason for a crash to look different."""


def normalized(name: str) -> str:
    """Return a distribution's name in the form that names are compared in."""
    return _SEPARATORS.sub("-", name).lower()


def site_folders(interpreter: Interpreter) -> list[Path]:
    """Return the folders of installed packages, in the order the interpreter searches them."""
    found = list(_site_folders(interpreter.prefix, interpreter.version))
    if interpreter.prefix == interpreter.base_prefix:
        return found
    config = read_config(interpreter.prefix / "pyvenv.cfg")
    if config.get("include-system-site-packages", "").lower() == "true":
        found += _site_folders(interpreter.base_prefix, interpreter.version)
    return found


def _site_folders(prefix: Path, version: tuple[int, int]) -> Iterator[Path]:
    seen: set[str] = set()
    # Debian puts the system's own packages into folders of another name.
    debian = (
        prefix / "local" / "lib" / f"python{version[0]}.{version[1]}" / "dist-packages",
        prefix / "lib" / f"python{version[0]}" / "dist-packages",
    )
    for folder in (
        *(library / "site-packages" for library in library_folders(prefix, version)),
        *debian,
    ):
        real = os.path.realpath(folder)
        if real not in seen and folder.is_dir():
            seen.add(real)
            yield folder


def distributions(interpreter: Interpreter) -> dict[str, str]:
    """Return version by normalized name; of a name found twice, what an import would find."""
    found: dict[str, str] = {}
    for folder in site_folders(interpreter):
        for name in sorted(os.listdir(folder)):  # noqa: PTH208
            if name.endswith(".dist-info"):
                project, _, version = name.removesuffix(".dist-info").partition("-")
            else:
                egg = _EGG.fullmatch(name)
                if egg is None:
                    continue
                project, version = egg["name"], egg["version"]
            if version:
                found.setdefault(normalized(project), version)
    return found


def mismatches(modules: Mapping[str, str], installed: Mapping[str, str]) -> list[str]:
    """Return a sentence for each distribution of the event that is another one here, or missing."""
    sentences: list[str] = []
    for name, version in sorted(modules.items()):
        project = normalized(name)
        here = installed.get(project)
        if project in _NO_PART_OF_THE_APP or (here is not None and _same(version, here)):
            continue
        crashed_with = f"{shown(name, 60)} {shown(version, 40)} in the event"
        sentences.append(f"{crashed_with}, {'not installed' if here is None else here} here")
    return sentences


def _same(one: str, other: str) -> bool:
    return _comparable(one) == _comparable(other)


def _comparable(version: str) -> str:
    """Return a version with the differences in spelling that mean nothing taken out."""
    return _TRAILING_ZEROS.sub("", version.strip().lower().lstrip("v").replace("_", "-"))
