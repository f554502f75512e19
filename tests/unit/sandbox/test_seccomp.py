"""The filter is run here by a small machine of the test's own: what does it answer to a call?"""

from __future__ import annotations

import errno
import struct
import tomllib

import pytest

from reproof.errors import SandboxUnavailableError
from reproof.sandbox.seccomp import POLICY, assemble

X86, ARM = 0xC000003E, 0xC00000B7
ALLOW, KILL = 0x7FFF0000, 0x80000000


def refuse(name: str) -> int:
    return 0x00050000 | int(getattr(errno, name))


def answer(program: bytes, architecture: int, number: int, *arguments: int) -> int:
    """Interpret the program as the kernel would."""
    padded = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("=IIQ6Q", number, architecture, 0, *padded)
    steps = list(struct.iter_unpack("=HBBI", program))
    loaded = position = 0
    for _ in range(len(steps) + 1):
        code, if_true, if_false, value = steps[position]
        position += 1
        if code == 0x20:
            loaded = struct.unpack_from("=I", data, value)[0]
        elif code == 0x06:
            return int(value)
        else:
            holds = {0x15: loaded == value, 0x35: loaded >= value, 0x45: bool(loaded & value)}[code]
            position += if_true if holds else if_false
    raise AssertionError("the program does not end")


@pytest.fixture(scope="module")
def programs() -> dict[int, bytes]:
    policy = tomllib.loads(POLICY.read_text(encoding="utf-8"))
    return {X86: assemble(policy, "x86_64"), ARM: assemble(policy, "aarch64")}


@pytest.mark.parametrize(
    ("architecture", "number", "arguments", "expected"),
    [
        pytest.param(X86, 0, (), ALLOW, id="read"),
        pytest.param(X86, 165, (), refuse("EPERM"), id="mount"),
        pytest.param(X86, 101, (), refuse("EPERM"), id="ptrace"),
        pytest.param(X86, 435, (), refuse("ENOSYS"), id="clone3"),
        pytest.param(X86, 425, (), refuse("ENOSYS"), id="io_uring_setup"),
        pytest.param(X86, 0x40000000, (), refuse("ENOSYS"), id="x32-read"),
        pytest.param(0x40000003, 102, (), KILL, id="i386-socketcall"),
        pytest.param(X86, 41, (1, 1), ALLOW, id="unix-socket"),
        pytest.param(X86, 41, (2, 1), ALLOW, id="inet-socket"),
        pytest.param(X86, 41, (10, 1), ALLOW, id="inet6-socket"),
        pytest.param(X86, 41, (40, 1), refuse("EAFNOSUPPORT"), id="vsock"),
        pytest.param(X86, 41, (38, 5), refuse("EAFNOSUPPORT"), id="af-alg"),
        pytest.param(X86, 56, (0x01200011,), ALLOW, id="fork"),
        pytest.param(X86, 56, (0x003D0F00,), ALLOW, id="thread"),
        pytest.param(X86, 56, (0x10000011,), refuse("EPERM"), id="clone-new-user"),
        pytest.param(X86, 56, (0x00020011,), refuse("EPERM"), id="clone-new-mounts"),
        pytest.param(X86, 56, (0x40000011,), refuse("EPERM"), id="clone-new-net"),
        pytest.param(X86, 16, (0, 0x5401), ALLOW, id="ioctl-tcgets"),
        pytest.param(X86, 16, (0, 0x5412), refuse("EPERM"), id="ioctl-tiocsti"),
        pytest.param(X86, 16, (0, 0xFFFFFFFF00005412), refuse("EPERM"), id="ioctl-high-bits"),
        pytest.param(ARM, 63, (), ALLOW, id="arm-read"),
        pytest.param(ARM, 40, (), refuse("EPERM"), id="arm-mount"),
        pytest.param(ARM, 198, (40, 1), refuse("EAFNOSUPPORT"), id="arm-vsock"),
        pytest.param(ARM, 220, (0x10000011,), refuse("EPERM"), id="arm-clone-new-user"),
    ],
)
def test_filter_answers(
    programs: dict[int, bytes],
    architecture: int,
    number: int,
    arguments: tuple[int, ...],
    expected: int,
) -> None:
    program = programs.get(architecture, programs[X86])
    assert answer(program, architecture, number, *arguments) == expected


def test_filter_kills_the_calls_of_another_architecture(programs: dict[int, bytes]) -> None:
    assert answer(programs[ARM], X86, 0) == KILL


def test_filter_is_short_enough_for_the_kernel(programs: dict[int, bytes]) -> None:
    assert all(len(program) % 8 == 0 and len(program) // 8 < 4096 for program in programs.values())


def test_unknown_machine_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SandboxUnavailableError, match="riscv64") as caught:
        assemble({}, "riscv64")
    assert "aarch64" in caught.value.hint
