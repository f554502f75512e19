"""Say what wall there really was, from what the kernel says; raise when it is not one.

Both sides are read: `/proc` of the supervisor from outside, and what the run's own process read of
itself after it gave up its rights and before any code of the target.
"""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reproof.domain.run import Isolation
from reproof.errors import SandboxBrokenError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reproof.domain.event import JSON
    from reproof.domain.run import Limits
    from reproof.sandbox.cgroups import Meter
    from reproof.sandbox.session import Wall

_CAPABILITIES = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
_LOOPBACK = ["lo"]


def measure_isolation(
    wall: Wall,
    status: Mapping[str, Any],
    means: Mapping[str, Any],
    *,
    supervisor: int | None,
    meter: Meter | None,
    limits: Limits,
) -> Isolation:
    """Return the measured isolation; raises `SandboxBrokenError` where a wall has a hole."""
    if not wall.walled:
        return _unwalled(wall, limits)
    uid = _require_wall(status, supervisor)
    achieved: dict[str, JSON] = {
        "user": "user namespace",
        "capabilities": "none",
        "privileges": "no-new-privileges",
        "system_calls": "seccomp",
        "network": "network namespace",
        "process_tree": "pid namespace",
        "end": "pid namespace",
        "tree": str(means.get("tree")),
        "root": "read-only",
        "disk_bytes": "tmpfs",
        "inodes": "tmpfs",
        "file_bytes": "rlimit",
        "open_files": "rlimit",
        "output_bytes": "host",
        "wall_s": "host",
    }
    missing: list[str] = []
    for name in ("memory_bytes", "cpu_share", "processes"):
        if meter is not None and name in meter.covers:
            achieved[name] = meter.by
        elif name == "processes":
            achieved[name] = "rlimit"
        elif name == "memory_bytes":
            achieved[name] = "watchdog"
        else:
            missing.append(name)
    if means.get("tree") != "overlay":
        missing.append("overlay")
    if not means.get("proc"):
        missing.append("private /proc")
    return Isolation(
        backend=wall.backend,
        level=wall.level,
        network=wall.network,
        uid=uid,
        limits=asdict(limits),
        achieved=achieved,
        not_achieved=tuple(missing),
    )


def _require_wall(status: Mapping[str, Any], supervisor: int | None) -> int:
    """Return the real user id; raise when any part of the wall was not confirmed."""
    wrong = [name for name in _CAPABILITIES if str(status.get(name, "?")).strip("0")]
    if status.get("NoNewPrivs") != "1":
        wrong.append("NoNewPrivs")
    if status.get("Seccomp") != "2":
        wrong.append("Seccomp")
    if status.get("interfaces") != _LOOPBACK:
        wrong.append("network")
    if supervisor is None:
        raise SandboxBrokenError("the kernel did not name the process inside the sandbox")
    proc = Path("/proc", str(supervisor))
    rows = [line.split() for line in (proc / "uid_map").read_text(encoding="ascii").splitlines()]
    owners = [int(outside) for _inside, outside, count in rows if int(count) == 1]
    if len(rows) != 1 or len(owners) != 1 or owners[0] == 0:
        wrong.append("uid_map")
    if _same_namespace(proc, "user"):
        wrong.append("user namespace")
    if _same_namespace(proc, "net"):
        wrong.append("network namespace")
    if wrong:
        raise SandboxBrokenError(f"the wall was not confirmed by the kernel: {', '.join(wrong)}")
    return owners[0]


def _same_namespace(proc: Path, kind: str) -> bool:
    return (proc / "ns" / kind).readlink() == Path("/proc/self/ns", kind).readlink()


def _unwalled(wall: Wall, limits: Limits) -> Isolation:
    enforced = ("wall_s", "output_bytes", "file_bytes", "open_files")
    achieved: dict[str, JSON] = dict.fromkeys(enforced, "rlimit")
    achieved.update(wall_s="host", output_bytes="host", tree="copy")
    return Isolation(
        backend=wall.backend,
        level=wall.level,
        network=wall.network,
        uid=os.getuid(),
        limits=asdict(limits),
        achieved=achieved,
        not_achieved=(
            "network",
            "user",
            "capabilities",
            "privileges",
            "system_calls",
            "root",
            "processes",
            "memory_bytes",
            "cpu_share",
            "disk_bytes",
            "inodes",
            "end",
        ),
    )
