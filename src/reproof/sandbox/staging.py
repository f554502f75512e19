"""As root: show bubblewrap what it needs in a private place, then stop being root for good.

A namespace whose inner user is mapped to uid 0 is no wall (the kernel still sees root), so the
real user becomes nobody *before* any namespace is built. What lies below root's home is then out
of reach, unless it was bound elsewhere first. All of this is in a private mount namespace and in
the child: the host sees none of it.
"""

from __future__ import annotations

import os
import signal
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from reproof.errors import SandboxUnavailableError

if TYPE_CHECKING:
    from collections.abc import Sequence

NOBODY = 65534
_SHARED = (Path("/usr"), Path("/etc/alternatives"), Path("/etc/ld.so.conf.d"))
"""Readable by everyone as they are."""
_PLACES = ("/mnt", "/media", "/srv", "/opt", "/run", "/var")


def choose_place() -> Path:
    """Return an existing folder to cover; what is below it stays reachable through descriptors."""
    for name in _PLACES:
        place = Path(name)
        if place.is_dir() and not place.is_symlink():
            return place
    raise SandboxUnavailableError(
        f"none of {', '.join(_PLACES)} is a folder to stage the interpreter in",
        hint="make /mnt, or run as an ordinary user",
    )


def staged_path(place: Path, position: int, source: Path) -> Path:
    """Return where the source at `position` is found once staged; its name is kept."""
    return place / str(position) / source.name


def _map_owner(owner: int) -> int:
    """Return a user namespace in which what `owner` has on disk belongs to nobody.

    Without it a tree that only root may read could not be seen, nor one of root's be changed in
    the overlay. Nothing ever runs in this namespace.
    """
    from reproof.sandbox._guest import syscalls  # noqa: PLC0415

    ready, made = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            syscalls.unshare(syscalls.NEW_USER)
            os.write(made, b"x")
            signal.pause()
        finally:
            os._exit(1)
    try:
        os.close(made)
        if not os.read(ready, 1):
            return -1
        lines = [f"{owner} {NOBODY} 1"]
        if 0 < owner <= NOBODY:
            lines.append(f"0 0 {owner}")
        if owner < NOBODY - 1:
            lines.append(f"{owner + 1} {owner + 1} {NOBODY - owner - 1}")
        for name in ("uid_map", "gid_map"):
            number = os.open(f"/proc/{child}/{name}", os.O_WRONLY)
            os.write(number, "\n".join(lines).encode())
            os.close(number)
        return os.open(f"/proc/{child}/ns/user", os.O_RDONLY)
    except OSError:
        return -1  # a plain bind will do: what others may not read stays unseen
    finally:
        os.close(ready)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _show(source: str, target: str, owners: int) -> None:
    """Bind `source` at `target`, with owners mapped where kernel and file system can."""
    from reproof.sandbox._guest import syscalls  # noqa: PLC0415

    if owners < 0 or not _show_mapped(source, target, owners):
        syscalls.mount(source, target, "", syscalls.BIND | syscalls.RECURSIVE)


def _show_mapped(source: str, target: str, owners: int) -> bool:
    from reproof.sandbox._guest import syscalls  # noqa: PLC0415

    mount = -1
    try:
        mount = syscalls.clone_mount(source)
        syscalls.map_owners(mount, owners)
        syscalls.place_mount(mount, target)
    except OSError:
        return False  # an older kernel, or a file system that cannot
    finally:
        if mount >= 0:
            os.close(mount)
    return True


def stage_and_drop(place: Path, sources: Sequence[Path]) -> None:
    """Bind `sources` below `place` in a private mount namespace and become nobody."""
    # Only here: loading ctypes costs some milliseconds, and the parent need not pay them.
    from reproof.sandbox._guest import syscalls  # noqa: PLC0415

    syscalls.unshare(syscalls.NEW_MOUNTS)
    syscalls.mount("none", "/", "", syscalls.RECURSIVE | syscalls.PRIVATE)
    opened = [(source, os.open(source, os.O_PATH)) for source in sources]
    syscalls.mount("tmpfs", str(place), "tmpfs", syscalls.NO_DEVICES, "size=256k,mode=0755")
    owners: dict[int, int] = {}
    for position, (source, number) in enumerate(opened):
        target = staged_path(place, position, source)
        target.parent.mkdir(mode=0o755)
        status = os.fstat(number)
        if stat.S_ISDIR(status.st_mode):
            target.mkdir(mode=0o755)
        else:
            target.touch()
        if source not in _SHARED and status.st_uid not in owners:
            owners[status.st_uid] = _map_owner(status.st_uid)
        _show(f"/proc/self/fd/{number}", str(target), owners.get(status.st_uid, -1))
        os.close(number)
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    # A change of user clears it, so it comes after; bubblewrap sets its own again.
    syscalls.die_with_parent(signal.SIGKILL)
