"""Control groups: memory, processor and process limits for everything in a run, measured outside.

The supervisor is put into the session's group once, so that every fork is born there; a limit is
set before each run and counters are read as differences. Version 1 is tested where this was
written; version 2 is written from its documentation.
"""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reproof.domain.run import Limits

_PERIOD_US = 1_000_000
_OWN_PROCESSES = 2
"""The supervisor and the keeper are in the group too."""
_REMOVED_WITHIN_S = 1.0
_PREFIX = "reproof-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What one run used, as far as the group says."""

    cpu_s: float | None = None
    peak_memory_bytes: int | None = None
    memory_hit: bool = False
    processes_hit: bool = False


class Meter(ABC):
    """A control group that everything in a session's runs is in."""

    by: str
    covers: frozenset[str]
    """Names of the `Limits` fields it enforces."""

    @abstractmethod
    def attach(self, pid: int) -> None:
        """Put a process, and so all its later children, into the group."""

    @abstractmethod
    def begin(self, limits: Limits) -> None:
        """Set the limits of one run and start counting."""

    @abstractmethod
    def lift_cpu(self) -> None:
        """Stop slowing the group down."""

    @abstractmethod
    def end(self) -> Usage:
        """Return what the run used."""

    @abstractmethod
    def remove(self) -> None:
        """Remove the group; everything in it must be gone."""


def open_meter() -> Meter | None:
    """Make a group by the best means this process may use, or return None."""
    groups = _own_groups()
    mounts = _mounts()
    covers: dict[str, Path] = {}
    for controller in ("memory", "cpu", "pids", "cpuacct"):
        if controller in groups and controller in mounts:
            parent = mounts[controller] / groups[controller].lstrip("/")
            path = _make_group(parent)
            if path is not None:
                covers[controller] = path
    if covers:
        return _Version1(covers)
    if "" in groups and "" in mounts:
        own = mounts[""] / groups[""].lstrip("/")
        for parent in (own, own.parent):
            if parent.is_relative_to(mounts[""]) and {"memory", "pids"} <= _enabled(parent):
                path = _make_group(parent)
                if path is not None:
                    return _Version2(path, _enabled(parent))
    return None


def _own_groups() -> dict[str, str]:
    """Return controller -> path of this process's group; the empty name is version 2."""
    groups = {}
    for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
        _number, controllers, path = line.split(":", 2)
        for name in controllers.split(","):
            groups[name] = path
    return groups


def _mounts() -> dict[str, Path]:
    """Return controller -> mount point; the empty name is version 2."""
    mounts = {}
    for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines():
        _source, point, kind, options, *_rest = line.split(" ")
        if kind == "cgroup":
            for name in options.split(","):
                mounts[name] = Path(point)
        elif kind == "cgroup2":
            mounts[""] = Path(point)
    return mounts


def _enabled(group: Path) -> set[str]:
    try:
        return set((group / "cgroup.subtree_control").read_text(encoding="ascii").split())
    except OSError:
        return set()


def _make_group(parent: Path) -> Path | None:
    if not os.access(parent, os.W_OK):
        return None
    _sweep(parent)
    path = parent / f"{_PREFIX}{os.getpid()}-{time.monotonic_ns():x}"
    try:
        path.mkdir()
    except OSError:
        return None
    return path


def _sweep(parent: Path) -> None:
    """Remove empty groups of processes that were killed before they could."""
    for path in parent.glob(f"{_PREFIX}*"):
        owner = path.name.removeprefix(_PREFIX).partition("-")[0]
        if owner.isdigit() and not Path("/proc", owner).exists():
            _remove_group(path, within_s=0.0)


def _remove_group(path: Path, within_s: float) -> None:
    deadline = time.monotonic() + within_s
    while True:
        try:
            path.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            if time.monotonic() >= deadline:
                return  # still busy: the next session sweeps it
            time.sleep(0.002)
        else:
            return


def _write(path: Path, value: object) -> None:
    # One write(2): these files take a value whole.
    number = os.open(path, os.O_WRONLY)
    try:
        os.write(number, str(value).encode())
    finally:
        os.close(number)


def _read_counter(path: Path, name: str) -> int:
    """Return the number behind `name` in a flat file; 0 where it is not."""
    try:
        text = path.read_text(encoding="ascii")
    except OSError:
        return 0
    for line in text.splitlines():
        key, _space, value = line.partition(" ")
        if key == name:
            return int(value)
    return 0


class _Version1(Meter):
    by = "cgroup1"

    def __init__(self, groups: dict[str, Path]) -> None:
        self._groups = groups
        fields = {"memory": "memory_bytes", "cpu": "cpu_share", "pids": "processes"}
        self.covers = frozenset(fields[name] for name in groups if name in fields)
        self._killed = self._refused = self._cpu_ns = 0

    def attach(self, pid: int) -> None:
        # The first write of several waits for the kernel's grace period, the rest do not.
        for path in self._groups.values():
            _write(path / "cgroup.procs", pid)

    def begin(self, limits: Limits) -> None:
        if memory := self._groups.get("memory"):
            self._limit_memory(memory, limits.memory_bytes)
            _write(memory / "memory.max_usage_in_bytes", 0)
            self._killed = _read_counter(memory / "memory.oom_control", "oom_kill")
        if pids := self._groups.get("pids"):
            _write(pids / "pids.max", limits.processes + _OWN_PROCESSES)
            self._refused = _read_counter(pids / "pids.events", "max")
        if cpu := self._groups.get("cpu"):
            _write(cpu / "cpu.cfs_period_us", _PERIOD_US)
            _write(cpu / "cpu.cfs_quota_us", max(int(limits.cpu_share * _PERIOD_US), 10_000))
        if accounts := self._groups.get("cpuacct"):
            self._cpu_ns = int((accounts / "cpuacct.usage").read_text(encoding="ascii"))

    def _limit_memory(self, group: Path, limit: int) -> None:
        plain, with_swap = group / "memory.limit_in_bytes", group / "memory.memsw.limit_in_bytes"
        if not with_swap.exists():
            _write(plain, limit)
            return
        # With swap must never be the smaller one, so the order depends on the direction.
        growing = limit > int(plain.read_text(encoding="ascii"))
        for path in (with_swap, plain) if growing else (plain, with_swap):
            _write(path, limit)

    def lift_cpu(self) -> None:
        if cpu := self._groups.get("cpu"):
            _write(cpu / "cpu.cfs_quota_us", -1)

    def end(self) -> Usage:
        self.lift_cpu()
        cpu_s = peak = None
        memory_hit = processes_hit = False
        if accounts := self._groups.get("cpuacct"):
            used = int((accounts / "cpuacct.usage").read_text(encoding="ascii")) - self._cpu_ns
            cpu_s = used / 1e9
        if memory := self._groups.get("memory"):
            peak = int((memory / "memory.max_usage_in_bytes").read_text(encoding="ascii"))
            killed = _read_counter(memory / "memory.oom_control", "oom_kill")
            memory_hit = killed > self._killed
        if pids := self._groups.get("pids"):
            processes_hit = _read_counter(pids / "pids.events", "max") > self._refused
        return Usage(
            cpu_s=cpu_s,
            peak_memory_bytes=peak,
            memory_hit=memory_hit,
            processes_hit=processes_hit,
        )

    def remove(self) -> None:
        for path in self._groups.values():
            _remove_group(path, _REMOVED_WITHIN_S)


class _Version2(Meter):
    by = "cgroup2"

    def __init__(self, group: Path, controllers: set[str]) -> None:
        self._group = group
        self._has_cpu = "cpu" in controllers
        self.covers = frozenset(
            {"memory_bytes", "processes"} | ({"cpu_share"} if self._has_cpu else set())
        )
        self._killed = self._refused = self._cpu_us = 0
        self._runs = 0

    def attach(self, pid: int) -> None:
        _write(self._group / "cgroup.procs", pid)

    def begin(self, limits: Limits) -> None:
        _write(self._group / "memory.max", limits.memory_bytes)
        swap = self._group / "memory.swap.max"
        if swap.exists():
            _write(swap, 0)
        _write(self._group / "pids.max", limits.processes + _OWN_PROCESSES)
        if self._has_cpu:
            quota = max(int(limits.cpu_share * _PERIOD_US), 10_000)
            _write(self._group / "cpu.max", f"{quota} {_PERIOD_US}")
        self._killed = _read_counter(self._group / "memory.events", "oom_kill")
        self._refused = _read_counter(self._group / "pids.events", "max")
        self._cpu_us = _read_counter(self._group / "cpu.stat", "usage_usec")
        self._runs += 1

    def lift_cpu(self) -> None:
        if self._has_cpu:
            _write(self._group / "cpu.max", f"max {_PERIOD_US}")

    def end(self) -> Usage:
        self.lift_cpu()
        peak = None
        file = self._group / "memory.peak"
        # It cannot be reset on every kernel: after the first run it may be an earlier one's.
        if self._runs == 1 and file.exists():
            peak = int(file.read_text(encoding="ascii"))
        used = _read_counter(self._group / "cpu.stat", "usage_usec") - self._cpu_us
        return Usage(
            cpu_s=used / 1e6,
            peak_memory_bytes=peak,
            memory_hit=_read_counter(self._group / "memory.events", "oom_kill") > self._killed,
            processes_hit=_read_counter(self._group / "pids.events", "max") > self._refused,
        )

    def remove(self) -> None:
        _remove_group(self._group, _REMOVED_WITHIN_S)
