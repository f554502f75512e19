"""One process a run: the first of the run's process tree, which reaps, measures and reports.

It is not the process that runs the target's code, has other rights and cannot be signalled or
looked into by it. When it ends, the kernel ends everything else in the run.
"""

from __future__ import annotations

import base64
import contextlib
import os
import select
import signal
import socket
import sys
import time
import traceback
from typing import Any, NoReturn

from . import isolate, syscalls, watchdog, wire, worker

_REPORT_BYTES = 8 << 20
_CHUNK = 1 << 16
_KILLED_STRAYS_FOR_S = 2.0


def main(setup: dict[str, Any], run: dict[str, Any], descriptors: list[int], life: int) -> NoReturn:
    """Run the worker, wait for its end, send the host what was measured, and end everything."""
    output, errors, results_number = descriptors
    results = socket.socket(fileno=results_number)
    try:
        outcome = _keep(setup, run, (output, errors), (results_number, life))
    except BaseException:  # noqa: BLE001 - a broken wall must be told
        outcome = {"refused": traceback.format_exc()[-4000:]}
    try:
        wire.send(results, outcome)
    finally:
        os._exit(0)


def _keep(
    setup: dict[str, Any], run: dict[str, Any], outputs: tuple[int, int], ours: tuple[int, int]
) -> dict[str, Any]:
    walled = setup["namespaces"]
    means: dict[str, Any] = {}
    if walled:
        isolate.hide_process()
        means = isolate.build(setup, run)
    else:
        if sys.platform == "linux":
            syscalls.die_with_parent(signal.SIGKILL)
            syscalls.adopt_orphans()
        isolate.put_files(run["tree"], run["tree"], run["files"])
    strays = _count_unroutable() if walled else 0
    reader, writer = os.pipe()
    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        scratch = (means["scratch"],) if walled else ()
        worker.main(setup, run, outputs, writer, (reader, woken, wakes, *ours, *scratch))
    for number in (writer, *outputs):
        os.close(number)
    if not walled:
        signal.signal(signal.SIGTERM, lambda _number, _frame: _give_up(child))
    dog = _start_watchdog(setup, run, means)
    status, usage, said = _watch(child, reader, woken, dog)
    outcome: dict[str, Any] = {
        "status": status,
        "seconds": time.monotonic() - started,
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "peak_kib": usage.ru_maxrss,
        "said": base64.b64encode(said.data).decode("ascii"),
        "whole": said.whole,
        "means": {"tree": means.get("tree"), "proc": means.get("proc")},
    }
    if dog is not None:
        outcome["memory_hit"] = dog.hit
        outcome["peak_bytes"] = dog.peak
    if walled:
        outcome["unroutable"] = _count_unroutable() - strays
        room = os.fstatvfs(means["scratch"])
        outcome["disk_full"] = room.f_bavail == 0
        outcome["inodes_full"] = room.f_favail == 0
    else:
        _kill_strays(child)
    return outcome


def _start_watchdog(
    setup: dict[str, Any], run: dict[str, Any], means: dict[str, Any]
) -> watchdog.Watchdog | None:
    """Watch memory where the host could not have the kernel do it."""
    if not run["watch_memory"]:
        return None
    places = [os.open(setup[name], os.O_PATH) for name in ("tmp", "shared_memory")]
    return watchdog.Watchdog(run["watch_memory"], [means["scratch"], *places])


class _Said:
    """What the worker wrote to its channel, up to a cap."""

    def __init__(self, reader: int) -> None:
        os.set_blocking(reader, False)
        self._reader = reader
        self.data = bytearray()
        self.whole = True
        self.open = True

    def drain(self) -> None:
        """Take all there is now; beyond the cap it is read and dropped."""
        while self.open:
            try:
                chunk = os.read(self._reader, _CHUNK)
            except BlockingIOError:
                return
            self.open = bool(chunk)
            if len(self.data) + len(chunk) > _REPORT_BYTES:
                self.whole = False
            else:
                self.data += chunk


def _watch(
    child: int, reader: int, woken: int, dog: watchdog.Watchdog | None
) -> tuple[int, Any, _Said]:
    """Collect what the worker says until it ends; reap every orphan on the way."""
    os.set_blocking(woken, False)
    said = _Said(reader)
    poll = select.poll()
    poll.register(reader, select.POLLIN)
    poll.register(woken, select.POLLIN)
    while True:
        for number, _event in poll.poll(None if dog is None else dog.rest_s * 1000):
            if number == woken:
                os.read(woken, _CHUNK)
        if dog is not None and not dog.hit and dog.look():
            os.kill(-1, signal.SIGKILL)  # everything in this process namespace but ourselves
        if said.open:
            said.drain()
            if not said.open:
                poll.unregister(reader)
        while True:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
            if pid == 0:
                break
            if pid == child:
                said.drain()
                return status, usage, said


def _count_unroutable() -> int:
    """Count the packets the kernel had no way for: the trace of an attempt to leave the box."""
    total = 0
    with open("/proc/self/net/snmp", encoding="ascii") as file:
        names, values = [line.split() for line in file if line.startswith("Ip:")]
        total += int(values[names.index("OutNoRoutes")])
    try:
        with open("/proc/self/net/snmp6", encoding="ascii") as file:
            for line in file:
                if line.startswith("Ip6OutNoRoutes"):
                    total += int(line.split()[1])
    except FileNotFoundError:
        return total  # a kernel without IPv6
    return total


def _give_up(child: int) -> NoReturn:
    _kill_strays(child)
    os._exit(0)


def _kill_strays(child: int) -> None:
    """Without a process namespace: kill what the run left behind, as far as it can be found."""
    with contextlib.suppress(ProcessLookupError):  # the group went with its leader, mostly
        os.killpg(child, signal.SIGKILL)
    listing = f"/proc/self/task/{os.getpid()}/children"
    deadline = time.monotonic() + _KILLED_STRAYS_FOR_S
    while os.path.exists(listing) and time.monotonic() < deadline:
        with open(listing, encoding="ascii") as file:
            for pid in file.read().split():
                os.kill(int(pid), signal.SIGKILL)
        try:
            os.wait4(-1, 0)
        except ChildProcessError:
            return
