from __future__ import annotations

import json
import os
import socket
import struct
from typing import TYPE_CHECKING

import pytest

from reproof.errors import SandboxBrokenError
from reproof.sandbox.channel import Channel, parse_object, split_frames

if TYPE_CHECKING:
    from collections.abc import Iterator


def framed(body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + body


@pytest.fixture
def ends() -> Iterator[tuple[Channel, socket.socket]]:
    ours, far = socket.socketpair()
    channel = Channel(ours)
    with far:
        yield channel, far
    channel.close()


def test_message_arrives_with_the_pid_the_kernel_knows(
    ends: tuple[Channel, socket.socket],
) -> None:
    channel, far = ends
    far.sendall(framed(b'{"event": "ready"}'))
    message = channel.receive(1)
    assert message.body == {"event": "ready"}
    assert message.pid == os.getpid()


def test_two_messages_in_one_packet_are_told_apart(ends: tuple[Channel, socket.socket]) -> None:
    channel, far = ends
    far.sendall(framed(b'{"a": 1}') + framed(b'{"b": 2}'))
    assert [channel.receive(1).body, channel.receive(1).body] == [{"a": 1}, {"b": 2}]


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(struct.pack(">I", 1 << 31) + b"x", id="too-long"),
        pytest.param(framed(b"not json"), id="no-json"),
        pytest.param(framed(b"[1]"), id="no-object"),
        pytest.param(framed(b"\xff\xfe"), id="no-text"),
        pytest.param(framed(b"[" * 60000), id="too-deep"),
        pytest.param(framed(b'{"a": NaN}'), id="no-number"),
        pytest.param(b"\x00\x00", id="cut-off"),
    ],
)
def test_anything_else_is_a_broken_session(
    ends: tuple[Channel, socket.socket], data: bytes
) -> None:
    channel, far = ends
    far.sendall(data)
    far.shutdown(socket.SHUT_WR)
    with pytest.raises(SandboxBrokenError):
        channel.receive(0.5)


def test_silence_is_a_broken_session_after_the_deadline(
    ends: tuple[Channel, socket.socket],
) -> None:
    with pytest.raises(SandboxBrokenError, match="in time"):
        ends[0].receive(0.01)


def test_sending_to_nobody_is_a_broken_session(ends: tuple[Channel, socket.socket]) -> None:
    channel, far = ends
    far.close()
    with pytest.raises(SandboxBrokenError, match="listen"):
        channel.send({"a": 1})


def test_sent_message_is_length_and_json(ends: tuple[Channel, socket.socket]) -> None:
    channel, far = ends
    channel.send({"a": "\u00e4"})
    data = far.recv(100)
    assert struct.unpack(">I", data[:4])[0] == len(data) - 4
    assert json.loads(data[4:]) == {"a": "\u00e4"}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(b"", [], id="nothing"),
        pytest.param(framed(b"a") + framed(b""), [b"a", b""], id="two"),
        pytest.param(framed(b"a")[:-1], None, id="short-body"),
        pytest.param(b"\0\0\0", None, id="short-length"),
        pytest.param(b"\xff" * 40, None, id="absurd-length"),
    ],
)
def test_split_frames(data: bytes, expected: list[bytes] | None) -> None:
    assert split_frames(data) == expected


def test_huge_integer_is_no_object() -> None:
    assert parse_object(b'{"a": ' + b"9" * 10000 + b"}") is None
