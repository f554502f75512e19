"""Which files of the host are seen inside, at which path; the rest does not exist there.

Paths inside are those of the host, because virtual environments, run paths of libraries and
tracebacks depend on them. Decided from the file system alone; nothing is started.
"""

from __future__ import annotations

import os
import pwd
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reproof.errors import InputError, InterpreterError

if TYPE_CHECKING:
    from reproof.sandbox.interface import SessionSpec

WALL = Path("/.reproof/wall")
SOURCE = WALL / "src"
SCRATCH = WALL / "scratch"
GUEST_SITE = Path("/.reproof/site")
GUEST_PARENT = Path("/.reproof/guest")
GUEST_PACKAGE = GUEST_PARENT / "_reproof_guest"
HOME = Path("/tmp/home")  # noqa: S108 - inside: a fresh file system in each run

_PACKAGE = Path(__file__).parent
_ROOT_NAMES = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_ETC_OF_HOST = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "alternatives")
_ETC_OF_OURS = ("passwd", "group", "hosts", "nsswitch.conf", "resolv.conf")
_MOST_LINKS = 40
_SYSTEM = Path("/usr")
TMP = Path("/tmp")  # noqa: S108


@dataclass(frozen=True, slots=True, kw_only=True)
class Bind:
    """A file or folder of the host and where it is seen, read-only."""

    source: Path
    target: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """All that is seen inside, parents before what is below them."""

    binds: tuple[Bind, ...]
    links: tuple[tuple[Path, str], ...]
    """Symbolic links to make: path, and what it points to."""
    tree: Path
    """The tree's real path, where each run mounts its own copy."""
    below_tmp: tuple[Path, ...]
    """Targets of binds in /tmp, to be shown again after each run's own /tmp is mounted."""


def plan_view(spec: SessionSpec) -> View:
    """Return what the session shows; refuses to show a home directory or everything."""
    tree = Path(os.path.realpath(spec.tree))
    home = _home_folder()
    if not tree.is_dir():
        raise InputError(f"the source tree {spec.tree} is not a folder")
    if tree == home or tree in (Path("/"), _SYSTEM, TMP):
        raise InputError(
            f"the source tree {tree} holds more than a project",
            hint="name the project's own folder",
        )
    python = spec.interpreter
    folders: list[Path] = []
    for name in (python.prefix, python.base_prefix, python.real_executable.parent.parent):
        folder = Path(os.path.realpath(name))
        if folder == Path("/") or (home.is_relative_to(folder) and home != Path("/")):
            raise InterpreterError(
                f"showing the interpreter's folder {folder} would show {home} too",
                hint="use a virtual environment in a folder of its own",
            )
        covered = [_SYSTEM, *folders]
        if folder != python.base_prefix:
            covered.append(tree)
        if not any(folder.is_relative_to(known) for known in covered):
            folders.append(folder)
    binds = [*_system_binds(), *(Bind(source=folder, target=folder) for folder in folders)]
    ours = [
        Bind(source=tree, target=SOURCE),
        Bind(source=Path(os.path.realpath(spec.guest_path)), target=GUEST_SITE),
        Bind(source=_PACKAGE / "_guest", target=GUEST_PACKAGE),
    ]
    seen = [bind.target for bind in binds] + [tree]
    links = dict(system_links())
    for path in (python.executable, python.prefix, python.base_prefix, spec.tree):
        for link, target in links_on(path):
            if not any(link.is_relative_to(known) for known in seen):
                links.setdefault(link, target)
    binds.sort(key=lambda bind: len(bind.target.parts))
    return View(
        binds=(*binds, *ours),
        links=tuple(sorted(links.items(), key=lambda item: len(item[0].parts))),
        tree=tree,
        below_tmp=tuple(bind.target for bind in binds if bind.target.is_relative_to(TMP)),
    )


def _home_folder() -> Path:
    """Return the caller's home by the user database; the environment could say anything."""
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        return Path("/nonexistent")


def _system_binds() -> list[Bind]:
    binds = [Bind(source=_SYSTEM, target=_SYSTEM)]
    for name in _ROOT_NAMES:
        path = Path("/") / name
        if path.is_dir() and not path.is_symlink():
            binds.append(Bind(source=path, target=path))
    for name in _ETC_OF_HOST:
        path = Path("/etc") / name
        if path.exists():
            binds.append(Bind(source=Path(os.path.realpath(path)), target=path))
    binds += [
        Bind(source=_PACKAGE / "etc" / name, target=Path("/etc") / name) for name in _ETC_OF_OURS
    ]
    return binds


def system_links() -> tuple[tuple[Path, str], ...]:
    """Return the links at the root of the host (`/bin`, `/lib` ...), which programs rely on."""
    paths = [Path("/") / name for name in _ROOT_NAMES]
    return tuple((path, str(path.readlink())) for path in paths if path.is_symlink())


def links_on(path: Path) -> list[tuple[Path, str]]:
    """Return every symbolic link passed on the way to `path`, each at its real place."""
    found: list[tuple[Path, str]] = []
    current = Path("/")
    rest = list(path.absolute().parts[1:])
    while rest and len(found) < _MOST_LINKS:
        part = rest.pop(0)
        if part == "..":
            current = current.parent
            continue
        step = current / part
        if not step.is_symlink():
            current = step
            continue
        target = step.readlink()
        found.append((step, str(target)))
        if target.is_absolute():
            current = Path("/")
            rest = [*target.parts[1:], *rest]
        else:
            rest = [*target.parts, *rest]
    return found
