"""Memory of a whole run without a control group: measured every few hundredths of a second.

It can be outrun for one interval; the address space limit of each process bounds by how much.
"""

from __future__ import annotations

import os
import time

_INTERVAL_S = 0.03
_SHARE = 10
"""Rest this many times as long as a look took, however many processes there are."""


class Watchdog:
    """Adds up what every process of this process namespace, and the run's own folders, hold."""

    def __init__(self, limit: int, folders: list[int]) -> None:
        self._limit = limit
        self._folders = folders
        self._me = os.getpid()
        self.peak = 0
        self.hit = False
        self.rest_s = _INTERVAL_S

    def look(self) -> bool:
        """Measure once; say whether the limit is passed."""
        started = time.monotonic()
        total = sum(_held_in(folder) for folder in self._folders)
        for name in os.listdir("/proc"):
            if name.isdigit() and int(name) != self._me:
                total += _held_by(name)
        self.peak = max(self.peak, total)
        self.hit = self.hit or total > self._limit
        self.rest_s = max(_INTERVAL_S, _SHARE * (time.monotonic() - started))
        return self.hit


def _held_by(process: str) -> int:
    """Return the process's proportional share of memory, which counts shared pages once."""
    try:
        with open(f"/proc/{process}/smaps_rollup", "rb") as file:
            for line in file:
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        return 0  # it ended in between
    return 0


def _held_in(folder: int) -> int:
    room = os.fstatvfs(folder)
    return (room.f_blocks - room.f_bfree) * room.f_frsize
