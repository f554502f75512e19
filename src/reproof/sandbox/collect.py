"""Take in everything one run sends, with caps and a deadline, until its process tree is dead."""

from __future__ import annotations

import os
import select
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from reproof.errors import SandboxBrokenError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reproof.sandbox.channel import Channel

_CHUNK = 1 << 16
_RESULT_BYTES = 12 << 20
_EOF_WITHIN_S = 0.5
"""After the end: with a process namespace EOF is immediate, without one a daemon may hold on."""
_KILLED_WITHIN_S = 5.0


@dataclass(slots=True)
class Stream:
    """One pipe of the run: what was kept and how much there was."""

    descriptor: int
    cap: int
    kept: bytearray = field(default_factory=bytearray)
    size: int = 0
    open: bool = True

    def drain(self) -> None:
        """Read once; keep what is below the cap and count the rest."""
        try:
            data = os.read(self.descriptor, _CHUNK)
        except BlockingIOError:
            return
        except ConnectionResetError:
            data = b""
        if not data:
            self.open = False
            return
        self.size += len(data)
        self.kept += data[: max(self.cap - len(self.kept), 0)]


@dataclass(slots=True)
class Collected:
    """What came until the end."""

    output: Stream
    errors: Stream
    results: Stream
    ended: Mapping[str, Any] | None = None
    """The supervisor's word that the run's keeper is dead; None when it never came."""
    timed_out: bool = False
    wall_s: float = 0.0


def collect(
    channel: Channel,
    number: int,
    descriptors: tuple[int, int, int],
    *,
    output_bytes: int,
    wall_s: float,
    kill: Callable[[], None],
) -> Collected:
    """Return when run `number` is over; call `kill` once if it lasts longer than `wall_s`."""
    output, errors, results = descriptors
    got = Collected(
        Stream(output, output_bytes), Stream(errors, output_bytes), Stream(results, _RESULT_BYTES)
    )
    streams = {stream.descriptor: stream for stream in (got.output, got.errors, got.results)}
    poll = select.poll()
    for descriptor in streams:
        os.set_blocking(descriptor, False)
        poll.register(descriptor, select.POLLIN)
    poll.register(channel.fileno(), select.POLLIN)
    started = time.monotonic()
    deadline = started + wall_s
    while got.ended is None or streams:
        left = deadline - time.monotonic()
        if left <= 0:
            if got.ended is not None:
                return got
            if got.timed_out:
                got.wall_s = time.monotonic() - started
                return got
            got.timed_out = True
            kill()
            deadline = time.monotonic() + _KILLED_WITHIN_S
            continue
        for descriptor, _event in poll.poll(max(left * 1000, 1)):
            if descriptor == channel.fileno():
                if _hear_end(channel, number, got):
                    poll.unregister(descriptor)
                    got.wall_s = time.monotonic() - started
                    deadline = time.monotonic() + _EOF_WITHIN_S
                continue
            stream = streams[descriptor]
            stream.drain()
            if not stream.open:
                poll.unregister(descriptor)
                del streams[descriptor]
    return got


def _hear_end(channel: Channel, number: int, got: Collected) -> bool:
    message = channel.poll()
    if message is None:
        return False
    if message.body.get("event") != "ended" or message.body.get("run") != number:
        raise SandboxBrokenError("the sandbox spoke out of turn")
    got.ended = message.body
    return True
