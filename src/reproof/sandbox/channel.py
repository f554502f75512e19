"""The host's end of the talk with a supervisor: bounded, with deadlines, never trusting.

Whatever comes is bytes of somebody else: too long, cut off or no JSON at all is a broken session.
"""

from __future__ import annotations

import json
import socket
import struct
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reproof.errors import SandboxBrokenError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_LENGTH = struct.Struct(">I")
_CREDENTIALS = struct.Struct("3i")
_CHUNK = 1 << 16
_SMALL = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of the supervisor and the process that the kernel says it came from."""

    body: Mapping[str, Any]
    pid: int | None = None


class Channel:
    """A stream of length-prefixed JSON in both directions."""

    def __init__(self, ours: socket.socket) -> None:
        self._socket = ours
        self._buffer = bytearray()
        self._pid: int | None = None
        if hasattr(socket, "SO_PASSCRED"):
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)

    def fileno(self) -> int:
        """Return the descriptor, for polling."""
        return self._socket.fileno()

    def send(
        self, body: Mapping[str, Any], descriptors: Sequence[int] = (), *, within_s: float = 5.0
    ) -> None:
        """Send one message whole, with descriptors."""
        data = json.dumps(body).encode()
        data = _LENGTH.pack(len(data)) + data
        self._socket.settimeout(within_s)
        try:
            sent = socket.send_fds(self._socket, [data], descriptors) if descriptors else 0
            self._socket.sendall(data[sent:])
        except OSError as error:
            raise SandboxBrokenError(f"the sandbox does not listen any more: {error}") from error

    def receive(self, within_s: float) -> Message:
        """Wait for one message; raises `SandboxBrokenError` when none comes or it is none."""
        deadline = time.monotonic() + within_s
        while (message := self._take()) is None:
            self._fill(max(deadline - time.monotonic(), 0.0))
        return message

    def poll(self) -> Message | None:
        """Return a message if one is here in full; call when the descriptor is readable."""
        self._fill(0.001)
        return self._take()

    def _fill(self, within_s: float) -> None:
        self._socket.settimeout(max(within_s, 0.001))
        try:
            data, ancillary, _flags, _address = self._socket.recvmsg(
                _CHUNK, socket.CMSG_SPACE(_CREDENTIALS.size)
            )
        except TimeoutError as error:
            raise SandboxBrokenError("the sandbox did not answer in time") from error
        except OSError as error:
            raise SandboxBrokenError(f"the sandbox cannot be heard: {error}") from error
        if not data:
            raise SandboxBrokenError("the sandbox is gone")
        for level, kind, payload in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, getattr(socket, "SCM_CREDENTIALS", None)):
                self._pid = _CREDENTIALS.unpack(payload[: _CREDENTIALS.size])[0]
        self._buffer += data

    def _take(self) -> Message | None:
        if len(self._buffer) < _LENGTH.size:
            return None
        size = _LENGTH.unpack_from(self._buffer)[0]
        if size > _SMALL:
            raise SandboxBrokenError(f"the sandbox announced a message of {size} bytes")
        end = _LENGTH.size + size
        if len(self._buffer) < end:
            return None
        body = parse_object(bytes(self._buffer[_LENGTH.size : end]))
        if body is None:
            raise SandboxBrokenError("the sandbox sent something that is no message")
        del self._buffer[:end]
        return Message(body=body, pid=self._pid)

    def close(self) -> None:
        """Hang up."""
        self._socket.close()


def parse_object(data: bytes) -> dict[str, Any] | None:
    """Return the JSON object in `data`, or None; hostile input included."""
    try:
        value = json.loads(data.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def split_frames(data: bytes) -> list[bytes] | None:
    """Return the length-prefixed parts of `data`, or None when it does not end with one."""
    frames: list[bytes] = []
    position = 0
    while position < len(data):
        if position + _LENGTH.size > len(data):
            return None
        size = _LENGTH.unpack_from(data, position)[0]
        position += _LENGTH.size
        if position + size > len(data):
            return None
        frames.append(data[position : position + size])
        position += size
    return frames
