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


def stage_and_drop(place: Path, sources: Sequence[Path]) -> None:
    """Bind `sources` below `place` in a private mount namespace and become nobody."""
    # Only here: loading ctypes costs some milliseconds, and the parent need not pay them.
    from reproof.sandbox._guest import syscalls  # noqa: PLC0415

    syscalls.unshare(syscalls.NEW_MOUNTS)
    syscalls.mount("none", "/", "", syscalls.RECURSIVE | syscalls.PRIVATE)
    opened = [os.open(source, os.O_PATH) for source in sources]
    syscalls.mount("tmpfs", str(place), "tmpfs", syscalls.NO_DEVICES, "size=256k,mode=0755")
    for position, (source, number) in enumerate(zip(sources, opened, strict=True)):
        target = staged_path(place, position, source)
        target.parent.mkdir(mode=0o755)
        if stat.S_ISDIR(os.fstat(number).st_mode):
            target.mkdir(mode=0o755)
        else:
            target.touch()
        flags = syscalls.BIND | syscalls.RECURSIVE
        syscalls.mount(f"/proc/self/fd/{number}", str(target), "", flags)
        os.close(number)
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    # A change of user clears it, so it comes after; bubblewrap sets its own again.
    syscalls.die_with_parent(signal.SIGKILL)
