"""The system calls that Python 3.8 does not offer, by ctypes; every failure is an `OSError`."""

from __future__ import annotations

import ctypes
import os

NEW_MOUNTS = 0x00020000
NEW_USER = 0x10000000
NEW_IPC = 0x08000000
NEW_PROCESSES = 0x20000000

READ_ONLY = 1
NO_SETUID = 2
NO_DEVICES = 4
NO_EXECUTE = 8
BIND = 4096
RECURSIVE = 16384
PRIVATE = 1 << 18

_PARENT_DEATH_SIGNAL = 1
_SET_DUMPABLE = 4
_SET_SECCOMP = 22
_SECCOMP_FILTER = 2
_DROP_BOUNDING = 24
_SET_SUBREAPER = 36
_NO_NEW_PRIVILEGES = 38
_AMBIENT = 47
_AMBIENT_CLEAR_ALL = 4

_OPEN_TREE = 428
_MOVE_MOUNT = 429
_MOUNT_SETATTR = 442
_HERE = -100
_EMPTY_PATH = 0x1000
_WHOLE_TREE = 0x8000
_CLONE_TREE = 1
_CLOSE_ON_EXEC = 0o2000000
_FROM_EMPTY_PATH = 4
_MAPPED_IDS = 0x00100000

_CAPABILITY_VERSION = 0x20080522
_LAST_CAPABILITY = "/proc/sys/kernel/cap_last_cap"

_libc = ctypes.CDLL(None, use_errno=True)


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def _check(result: int, what: str) -> None:
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def mount(source: str, target: str, kind: str, flags: int, data: str | None = None) -> None:
    """Mount `source` on `target`."""
    options = None if data is None else os.fsencode(data)
    result = _libc.mount(
        os.fsencode(source),
        os.fsencode(target),
        os.fsencode(kind),
        ctypes.c_ulong(flags),
        options,
    )
    _check(result, f"mount {kind or source} on {target}")


def clone_mount(path: str) -> int:
    """Return a descriptor of a detached copy of the mount at `path`."""
    flags = _CLONE_TREE | _CLOSE_ON_EXEC | _WHOLE_TREE
    number: int = _libc.syscall(_OPEN_TREE, _HERE, os.fsencode(path), flags)
    _check(number, f"open_tree {path}")
    return number


def map_owners(mount: int, namespace: int) -> None:
    """Have the detached `mount` show owners as the user namespace maps them."""
    attributes = (ctypes.c_uint64 * 4)(_MAPPED_IDS, 0, 0, namespace)
    flags = _EMPTY_PATH | _WHOLE_TREE
    result = _libc.syscall(_MOUNT_SETATTR, mount, b"", flags, attributes, ctypes.sizeof(attributes))
    _check(result, "mount_setattr")


def place_mount(mount: int, path: str) -> None:
    """Attach the detached `mount` at `path`."""
    target = os.fsencode(path)
    result = _libc.syscall(_MOVE_MOUNT, mount, b"", _HERE, target, _FROM_EMPTY_PATH)
    _check(result, f"move_mount {path}")


def unshare(flags: int) -> None:
    """Leave the namespaces named by `flags` for fresh ones."""
    _check(_libc.unshare(flags), "unshare")


def enter_namespace(descriptor: int, kind: int) -> None:
    """Enter (or, for processes, have children born in) the namespace behind `descriptor`."""
    _check(_libc.setns(descriptor, kind), "setns")


def _prctl(option: int, argument: int = 0) -> int:
    unsigned = ctypes.c_ulong
    result: int = _libc.prctl(option, unsigned(argument), unsigned(0), unsigned(0), unsigned(0))
    return result


def die_with_parent(signal: int) -> None:
    """Have the kernel send `signal` to this process when the thread that made it ends."""
    _check(_prctl(_PARENT_DEATH_SIGNAL, signal), "prctl(PDEATHSIG)")


def set_dumpable(allowed: bool) -> None:  # noqa: FBT001
    """Let others with the same user id look into this process through /proc, or not."""
    _check(_prctl(_SET_DUMPABLE, int(allowed)), "prctl(DUMPABLE)")


def adopt_orphans() -> None:
    """Become the parent of every orphan below this process."""
    _check(_prctl(_SET_SUBREAPER, 1), "prctl(SUBREAPER)")


def forbid_new_privileges() -> None:
    """Make setuid files and file capabilities harmless for this process and its children."""
    _check(_prctl(_NO_NEW_PRIVILEGES, 1), "prctl(NO_NEW_PRIVS)")


def drop_capabilities() -> None:
    """Give up every capability, the bounding set first, so that none can come back."""
    with open(_LAST_CAPABILITY, encoding="ascii") as file:
        last = int(file.read())
    for capability in range(last + 1):
        _check(_prctl(_DROP_BOUNDING, capability), "prctl(CAPBSET_DROP)")
    _check(_prctl(_AMBIENT, _AMBIENT_CLEAR_ALL), "prctl(CAP_AMBIENT)")
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    _check(_libc.capset(header, (ctypes.c_uint32 * 6)()), "capset")


def install_filter(program: bytes) -> None:
    """Install a seccomp filter (an array of `struct sock_filter`); needs no-new-privileges."""
    header = _Program(len(program) // 8, program)
    result = _libc.prctl(
        _SET_SECCOMP,
        ctypes.c_ulong(_SECCOMP_FILTER),
        ctypes.byref(header),
        ctypes.c_ulong(0),
        ctypes.c_ulong(0),
    )
    _check(result, "prctl(SECCOMP)")
