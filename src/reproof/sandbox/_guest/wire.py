"""Length-prefixed JSON over a stream socket, with file descriptors where a message has some."""

from __future__ import annotations

import array
import json
import socket
import struct
from typing import Any

_LENGTH = struct.Struct(">I")
_MAX_DESCRIPTORS = 8


def frame(message: dict[str, Any]) -> bytes:
    """Return the message as it stands on the wire."""
    body = json.dumps(message, allow_nan=False).encode("utf-8")
    return _LENGTH.pack(len(body)) + body


def send(channel: socket.socket, message: dict[str, Any]) -> None:
    """Send one message whole."""
    channel.sendall(frame(message))


def receive(channel: socket.socket) -> tuple[dict[str, Any] | None, list[int]]:
    """Wait for one message and the descriptors that came with it; None when the peer is gone."""
    descriptors = array.array("i")
    space = socket.CMSG_SPACE(_MAX_DESCRIPTORS * descriptors.itemsize)
    data = b""
    need = _LENGTH.size
    while len(data) < need:
        chunk, ancillary, _flags, _address = channel.recvmsg(min(need - len(data), 1 << 20), space)
        for level, kind, payload in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                whole = len(payload) - len(payload) % descriptors.itemsize
                descriptors.frombytes(payload[:whole])
        if not chunk:
            return None, list(descriptors)
        data += chunk
        if need == _LENGTH.size and len(data) == need:
            need += _LENGTH.unpack(data)[0]
    message: dict[str, Any] = json.loads(data[_LENGTH.size :].decode("utf-8"))
    return message, list(descriptors)
