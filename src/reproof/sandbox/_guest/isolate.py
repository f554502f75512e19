"""The run's own file system, built by the keeper, and the rights the worker gives up for good.

Every mount here is in the run's own mount namespace and is gone when the run is.
"""

from __future__ import annotations

import base64
import os
import resource
import shutil
import stat
import sys
from typing import TYPE_CHECKING, Any

from . import syscalls

if TYPE_CHECKING:
    from collections.abc import Iterable

_TMPFS = syscalls.NO_SETUID | syscalls.NO_DEVICES
_SHARED_MEMORY_ROOM = (8 << 20, 256)
_ROOM = "size={},nr_inodes={},mode={}"


def hide_process() -> None:
    """Keep this process's memory and descriptors out of reach of every later process."""
    syscalls.set_dumpable(False)


def build(setup: dict[str, Any], run: dict[str, Any]) -> dict[str, Any]:
    """Give the run its own tree, temporary folders and process list; say by which means."""
    syscalls.unshare(syscalls.NEW_MOUNTS | syscalls.NEW_IPC)
    syscalls.mount("none", "/", "", syscalls.RECURSIVE | syscalls.PRIVATE)
    limits = run["limits"]
    size, inodes = limits["disk_bytes"], limits["inodes"]
    exposed = [(path, os.open(path, os.O_PATH)) for path in setup["below_tmp"]]
    _mount_room(setup["tmp"], size, inodes)
    for path, number in exposed:
        os.makedirs(path, exist_ok=True)
        flags = syscalls.BIND | syscalls.RECURSIVE
        syscalls.mount(f"/proc/self/fd/{number}", path, "", flags)
        os.close(number)
    for link, target in setup["tmp_links"]:
        os.makedirs(os.path.dirname(link), exist_ok=True)
        os.symlink(target, link)
    _mount_room(setup["shared_memory"], *_SHARED_MEMORY_ROOM)
    os.makedirs(setup["home"], mode=0o700, exist_ok=True)
    means = _mount_tree(setup, run, _ROOM.format(size, inodes, "755"))
    scratch = os.open(setup["scratch"], os.O_PATH)
    covered = _TMPFS | syscalls.READ_ONLY
    syscalls.mount("tmpfs", setup["wall"], "tmpfs", covered, "size=4k,nr_inodes=2,mode=0")
    return {"tree": means, "proc": _mount_processes(), "scratch": scratch}


def _mount_room(path: str, size: int, inodes: int) -> None:
    syscalls.mount("tmpfs", path, "tmpfs", _TMPFS, _ROOM.format(size, inodes, "1777"))


def _mount_tree(setup: dict[str, Any], run: dict[str, Any], room: str) -> str:
    tree, source, scratch = setup["tree"], setup["source"], setup["scratch"]
    os.makedirs(tree, exist_ok=True)
    syscalls.mount("tmpfs", scratch, "tmpfs", _TMPFS, room)
    upper, work = scratch + "/upper", scratch + "/work"
    os.mkdir(upper, stat.S_IMODE(os.stat(source).st_mode) | 0o700)
    os.mkdir(work, 0o700)
    # Files and white-outs go into the upper layer before it is mounted: the directories made for
    # them are ours, where those of the tree may belong to a user that does not exist in here.
    put_files(upper, source, run["files"])
    for name in setup["hidden"]:
        if os.path.lexists(os.path.join(source, name)):
            _make_parents(upper, source, name)
            os.mknod(os.path.join(upper, name), stat.S_IFCHR, 0)
    layers = f"lowerdir={source},upperdir={upper},workdir={work}"
    for extra in (",userxattr", ""):
        try:
            syscalls.mount("overlay", tree, "overlay", _TMPFS, layers + extra)
        except OSError:
            continue
        return "overlay"
    copy = scratch + "/copy"
    shutil.rmtree(upper)
    copy_tree(source, copy, setup["hidden"])
    put_files(copy, copy, run["files"])
    syscalls.mount(copy, tree, "", syscalls.BIND)
    return "copy"


def copy_tree(source: str, target: str, hidden: Iterable[str]) -> None:
    """Copy regular files, folders and links; leave out hidden names and anything unreadable."""
    skip = {os.path.join(source, name) for name in hidden}

    def ignore(folder: str, names: list[str]) -> list[str]:
        left_out = []
        for name in names:
            path = os.path.join(folder, name)
            kind = stat.S_IFMT(os.lstat(path).st_mode)
            regular = kind in (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK)
            if (
                path in skip
                or not regular
                or (not os.access(path, os.R_OK) and kind != stat.S_IFLNK)
            ):
                left_out.append(name)
        return left_out

    shutil.copytree(source, target, symlinks=True, ignore=ignore)


def put_files(layer: str, below: str, files: dict[str, str]) -> None:
    """Write the job's files into `layer`, which lies over (or is) the tree at `below`."""
    for name, content in files.items():
        _make_parents(layer, below, name)
        path = os.path.join(layer, name)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        number = os.open(path, flags, 0o644)
        with os.fdopen(number, "wb") as file:
            file.write(base64.b64decode(content))


def _make_parents(layer: str, below: str, name: str) -> None:
    done = ""
    for part in name.split("/")[:-1]:
        done = os.path.join(done, part)
        shown, ours = os.path.join(below, done), os.path.join(layer, done)
        if os.path.islink(shown):
            raise OSError(f"{done} is a symbolic link in the tree; cannot put {name} there")
        if not os.path.isdir(ours):
            mode = stat.S_IMODE(os.stat(shown).st_mode) if os.path.isdir(shown) else 0o755
            os.mkdir(ours, mode | 0o700)


def _mount_processes() -> bool:
    flags = _TMPFS | syscalls.NO_EXECUTE
    try:
        syscalls.mount("proc", "/proc", "proc", flags)
    except OSError:
        return False
    return True


def limit_resources(limits: dict[str, int]) -> None:
    """Apply rlimits, never above what this process was given."""
    for name, wanted in limits.items():
        kind = getattr(resource, "RLIMIT_" + name)
        hard = resource.getrlimit(kind)[1]
        value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        # One second between the two, so that SIGXCPU can be told from a plain SIGKILL.
        top = value + 1 if name == "CPU" and hard == resource.RLIM_INFINITY else value
        resource.setrlimit(kind, (value, top))


def offer_to_oom_killer() -> None:
    """Make this process and its children the first to go when memory runs out."""
    if sys.platform != "linux":
        return
    syscalls.set_dumpable(True)  # or else the file is not ours
    with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("1000")


def give_up_rights(seccomp: bytes) -> None:
    """Drop all capabilities for good and install the system call filter."""
    syscalls.drop_capabilities()
    syscalls.forbid_new_privileges()
    syscalls.install_filter(seccomp)


def read_status() -> dict[str, Any]:
    """Say what the kernel says of this process: ids, capabilities, filter, interfaces."""
    wanted = (
        "Uid",
        "Groups",
        "CapInh",
        "CapPrm",
        "CapEff",
        "CapBnd",
        "CapAmb",
        "NoNewPrivs",
        "Seccomp",
    )
    facts: dict[str, Any] = {}
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        for line in file:
            name, _colon, value = line.partition(":")
            if name in wanted:
                facts[name] = " ".join(value.split())
    with open("/proc/self/uid_map", encoding="ascii") as file:
        facts["uid_map"] = [line.split() for line in file]
    with open("/proc/self/net/dev", encoding="ascii") as file:
        facts["interfaces"] = [line.split(":")[0].strip() for line in file if ":" in line]
    return facts
