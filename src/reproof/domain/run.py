"""One run behind a wall: what was asked, what the host measured, what the guest claims.

`HostFacts` are measured outside the wall. `GuestReport` is said by a process that shares an
interpreter with the code under test, so it is a claim; the rules say which of the two each check
uses, and evidence keeps them apart.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reproof.domain.event import JSON

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one run may use. Sealed with the result."""

    wall_s: float = 15.0
    cpu_share: float = 0.5
    """Share of one core, averaged over one second or, without cgroups, over `wall_s`."""
    memory_bytes: int = 128 * MIB
    """The whole process tree of the run."""
    processes: int = 50
    open_files: int = 256
    file_bytes: int = 16 * MIB
    """The largest single file."""
    disk_bytes: int = 32 * MIB
    """Everything written to the tree's overlay; /tmp has as much again."""
    inodes: int = 4096
    output_bytes: int = 1 * MIB
    """Kept per stream; the rest is counted and dropped."""


class JobKind(StrEnum):
    """What the guest is to do: each names a module of `reproof.sandbox._guest` with a `run`."""

    REPLAY = "replay"
    CONTROL = "control"
    INSPECT = "inspect"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One run's work: files put into the throw-away tree, then one request to the guest."""

    kind: JobKind
    request: Mapping[str, JSON]
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Tree-relative POSIX path -> content; parents are made, existing files are replaced."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Added to the session's allow-listed environment for this run (`TZ`, names a test sets)."""
    limits: Limits = field(default_factory=Limits)


class RunEnd(StrEnum):
    """How the run's main process ended, as seen from outside."""

    EXITED = "exited"
    SIGNALED = "signaled"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    """The memory limit was hit, whatever the exit code says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFacts:
    """Measured outside the wall."""

    end: RunEnd
    exit_code: int | None = None
    signal: int | None = None
    wall_s: float = 0.0
    cpu_s: float | None = None
    peak_memory_bytes: int | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    stdout_size: int = 0
    """True size, before the cap."""
    stderr_size: int = 0
    limits_hit: tuple[str, ...] = ()
    """Names of `Limits` fields that stopped something."""
    nonce_ok: bool = False
    """Exactly one report came, over the run's own channel, with the run's own nonce."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """Host facts and, if it said anything well-formed, the guest's claim."""

    host: HostFacts
    report: Mapping[str, JSON] | None = None
    """The dict that the guest module's `run` returned; `None` when none came or it was invalid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Isolation:
    """The wall a session really had. `not_achieved` is never empty by default: it is measured."""

    backend: str
    level: str
    """`namespaces`, `container`, `kernel`, `vm`, `vm-emulated` or `none`."""
    network: str
    """`none` or `host`."""
    uid: int
    """The real user id outside the wall of the code that ran."""
    limits: Mapping[str, JSON]
    achieved: Mapping[str, JSON]
    """Property -> by what means (`cgroup1`, `rlimit`, `overlay`, `seccomp`, ...)."""
    not_achieved: tuple[str, ...] = ()
