"""Compile the system call policy to the bytes that the kernel's filter machine takes.

The policy is `policies/seccomp.toml`, for a person to read; nothing here decides what is in it.
"""

from __future__ import annotations

import errno
import struct
import tomllib
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from pathlib import Path
from typing import Any

from reproof.errors import SandboxUnavailableError

POLICY = Path(__file__).with_name("policies") / "seccomp.toml"

_KILL_PROCESS = 0x80000000
_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000
_NUMBER_AT = 0
_ARCHITECTURE_AT = 4
_ARGUMENTS_AT = 16
_X32_BIT = 0x40000000


class _Code(IntEnum):
    """The six instructions used, of the machine's many."""

    LOAD = 0x20
    JUMP_EQUAL = 0x15
    JUMP_AT_LEAST = 0x35
    JUMP_ANY_BIT = 0x45
    RETURN = 0x06


@dataclass(frozen=True, slots=True, kw_only=True)
class _Architecture:
    audit: int
    """AUDIT_ARCH_*, what the kernel calls it."""
    column: int
    """Its place in the policy's pairs of numbers."""
    clone: int
    ioctl: int
    socket: int
    has_x32: bool


_ARCHITECTURES = {
    "x86_64": _Architecture(
        audit=0xC000003E, column=0, clone=56, ioctl=16, socket=41, has_x32=True
    ),
    "aarch64": _Architecture(
        audit=0xC00000B7, column=1, clone=220, ioctl=29, socket=198, has_x32=False
    ),
}


def _step(code: _Code, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _refuse(number: int) -> bytes:
    return _step(_Code.RETURN, _ERRNO | number)


def _on_call(number: int, block: list[bytes]) -> list[bytes]:
    """Return code that runs `block`, which ends in a return, for this call only."""
    return [_step(_Code.JUMP_EQUAL, number, 0, len(block)), *block]


def _load_argument(index: int) -> bytes:
    return _step(_Code.LOAD, _ARGUMENTS_AT + 8 * index)


def _allow_only(values: list[int], otherwise: int) -> list[bytes]:
    """Return code that allows when the loaded value is one of `values`."""
    last = len(values)
    tests = [
        _step(_Code.JUMP_EQUAL, value, last - position, 0) for position, value in enumerate(values)
    ]
    return [*tests, _refuse(otherwise), _step(_Code.RETURN, _ALLOW)]


def _forbid(values: list[int]) -> list[bytes]:
    """Return code that refuses when the loaded value is one of `values`."""
    last = len(values)
    tests = [
        _step(_Code.JUMP_EQUAL, value, last - position, 0) for position, value in enumerate(values)
    ]
    return [*tests, _step(_Code.RETURN, _ALLOW), _refuse(errno.EPERM)]


def assemble(policy: dict[str, Any], machine: str) -> bytes:
    """Return the filter for `machine`; raises `SandboxUnavailableError` where there is none."""
    architecture = _ARCHITECTURES.get(machine)
    if architecture is None:
        known = ", ".join(sorted(_ARCHITECTURES))
        raise SandboxUnavailableError(
            f"no system call filter is written for the machine type {machine!r}",
            hint=f"run on one of: {known}",
        )
    code = [
        _step(_Code.LOAD, _ARCHITECTURE_AT),
        _step(_Code.JUMP_EQUAL, architecture.audit, 1, 0),
        _step(_Code.RETURN, _KILL_PROCESS),
        _step(_Code.LOAD, _NUMBER_AT),
    ]
    if architecture.has_x32:
        code += [_step(_Code.JUMP_AT_LEAST, _X32_BIT, 0, 1), _refuse(errno.ENOSYS)]
    for name in ("ENOSYS", "EPERM"):
        for numbers in policy[name].values():
            number = numbers[architecture.column]
            if number:
                code += _on_call(number, [_refuse(getattr(errno, name))])
    families = list(policy["families"]["allowed"].values())
    code += _on_call(
        architecture.socket, [_load_argument(0), *_allow_only(families, errno.EAFNOSUPPORT)]
    )
    requests = list(policy["ioctl"]["forbidden"].values())
    code += _on_call(architecture.ioctl, [_load_argument(1), *_forbid(requests)])
    code += _on_call(
        architecture.clone,
        [
            _load_argument(0),
            _step(_Code.JUMP_ANY_BIT, policy["clone"]["forbidden_flags"], 0, 1),
            _refuse(errno.EPERM),
            _step(_Code.RETURN, _ALLOW),
        ],
    )
    code.append(_step(_Code.RETURN, _ALLOW))
    return b"".join(code)


@lru_cache(maxsize=1)
def compiled_policy(machine: str) -> bytes:
    """Return the shipped policy, compiled for `machine`."""
    return assemble(tomllib.loads(POLICY.read_text(encoding="utf-8")), machine)
