"""An open wall: one warm supervisor on the other side of a channel, and runs one after another.

What kind of wall it is was decided by the backend that made it; see `Wall`.
"""

from __future__ import annotations

import base64
import math
import os
import signal
import socket
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Self

from reproof.domain.run import HostFacts, Isolation, RunEnd, RunRecord
from reproof.errors import InputError, SandboxBrokenError, SandboxUnavailableError
from reproof.sandbox.channel import parse_object, split_frames
from reproof.sandbox.collect import Collected, collect

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reproof.domain.event import JSON
    from reproof.domain.run import Job, Limits
    from reproof.sandbox.cgroups import Meter, Usage
    from reproof.sandbox.channel import Channel
    from reproof.sandbox.interface import SessionSpec
    from reproof.sandbox.launch import Launched

_HELLO_WITHIN_S = 20.0
_READY_WITHIN_S = 60.0
_CLOSED_WITHIN_S = 1.0
_BROKEN_WALL = 71
"""The worker's exit code when it could not give up its rights."""
_ADDRESS_SPACE = 1 << 30
"""RLIMIT_AS counts reservations, not memory: a backstop, never the memory limit."""
_STACK_BYTES = 8 << 20
_OWN_PROCESSES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Wall:
    """What a backend built, and how to prove it."""

    backend: str
    level: str
    network: str
    walled: bool
    """Whether runs have namespaces, a filter and no rights; False only for `process`."""
    explain: Callable[[str], SandboxUnavailableError]
    """Turn what the start said before it died into an error with a hint."""
    prepare_run: Callable[[dict[str, Any]], dict[str, Any]] = lambda message: message
    """Last change to a run's message (a copy of the tree, where there is no overlay)."""
    clean_run: Callable[[], None] = lambda: None
    clean_session: Callable[[], None] = lambda: None


class WarmSession:
    """The `Session` of every backend that speaks to our supervisor."""

    def __init__(
        self,
        wall: Wall,
        spec: SessionSpec,
        launched: Launched,
        channel: Channel,
        meter: Meter | None,
    ) -> None:
        self._wall = wall
        self._spec = spec
        self._launched = launched
        self._channel = channel
        self._meter = meter
        self._environment = base_environment(spec)
        self._runs = 0
        self._ready = False
        self._broken = False
        self._closed = False
        self._supervisor: int | None = None
        self._metered: frozenset[str] = frozenset()
        self._isolation: Isolation | None = None

    def send_setup(self, setup: Mapping[str, Any]) -> None:
        """Tell the supervisor what it needs; it reads it when it is up."""
        try:
            self._channel.send(setup)
        except SandboxBrokenError:
            return  # it died at once; the first run finds that out and says why

    @property
    def isolation(self) -> Isolation:
        """What the first run measured; makes a run of nothing when there was none."""
        if self._isolation is None:
            self._run("selfcheck", {}, {}, {}, self._spec.limits)
        if self._isolation is None:
            raise SandboxBrokenError("the sandbox could not be measured")
        return self._isolation

    def run(self, job: Job) -> RunRecord:
        """Run one job in a fork and return when its whole process tree is dead."""
        return self._run(str(job.kind), job.request, job.files, job.environment, job.limits)

    def _run(
        self,
        kind: str,
        request: Mapping[str, JSON],
        files: Mapping[str, bytes],
        environment: Mapping[str, str],
        limits: Limits,
    ) -> RunRecord:
        self._become_ready()
        self._runs += 1
        nonce = os.urandom(16).hex()
        message = {
            "run": self._runs,
            "kind": kind,
            "request": dict(request),
            "files": {check_name(name): _text(content) for name, content in files.items()},
            "environment": {**self._environment, **environment},
            "limits": asdict(limits),
            "rlimits": resource_limits(limits, self._metered, walled=self._wall.walled),
            "nonce": nonce,
            "watch_memory": limits.memory_bytes if self._must_watch_memory() else 0,
        }
        try:
            if self._meter is not None:
                self._meter.begin(limits)
            got = self._exchange(self._wall.prepare_run(message), limits)
            usage = self._meter.end() if self._meter is not None else None
        except OSError as error:
            self._broken = True
            raise SandboxBrokenError(f"a run could not be limited or started: {error}") from error
        except BaseException:
            self._broken = True  # whatever is still running in there must not answer the next run
            raise
        finally:
            self._wall.clean_run()
        return self._record(got, usage, nonce, limits)

    def _must_watch_memory(self) -> bool:
        return self._wall.walled and "memory_bytes" not in self._metered

    def _exchange(self, message: dict[str, Any], limits: Limits) -> Collected:
        """Hand over a run with its pipes and collect what comes back."""
        out, out_far = os.pipe()
        err, err_far = os.pipe()
        ours, far = socket.socketpair()
        try:
            try:
                self._channel.send(message, (out_far, err_far, far.fileno()))
            finally:
                os.close(out_far)
                os.close(err_far)
                far.close()
            got = collect(
                self._channel,
                self._runs,
                (out, err, ours.fileno()),
                output_bytes=limits.output_bytes,
                wall_s=limits.wall_s,
                kill=self._kill_run,
            )
        finally:
            os.close(out)
            os.close(err)
            ours.close()
        if got.ended is None:
            # Not even the supervisor answers: nothing inside may live on.
            self._broken = True
            self._launched.end(0.0)
        return got

    def _kill_run(self) -> None:
        if self._meter is not None:
            self._meter.lift_cpu()
        self._channel.send({"kill": self._runs})

    def _become_ready(self) -> None:
        """Hear that the supervisor is there and warm; raise what went wrong if it is not."""
        if self._closed or self._broken:
            raise SandboxBrokenError("the session is over", hint="open a new one")
        if self._ready:
            return
        try:
            hello = self._channel.receive(_HELLO_WITHIN_S)
            self._supervisor = hello.pid
            self._attach()
            ready = self._channel.receive(_READY_WITHIN_S)
        except SandboxBrokenError as error:
            self._broken = True
            self._launched.end(0.2)
            said = self._launched.read_diagnostics()
            raise self._wall.explain(said or error.message) from error
        if ready.body.get("event") != "ready":
            self._broken = True
            raise SandboxUnavailableError(
                "the target's interpreter cannot load what a run needs:\n"
                + str(ready.body.get("reason", ready.body))[-2000:],
                hint="check that the interpreter works and that pytest supports its version",
            )
        self._ready = True

    def _attach(self) -> None:
        """Put the supervisor, and so every run, into the control group."""
        if self._meter is None or self._supervisor is None:
            return
        try:
            self._meter.attach(self._supervisor)
        except ProcessLookupError:
            return  # it is gone already; its next message says why
        except OSError as error:
            self._broken = True
            raise SandboxUnavailableError(f"the control group refused: {error}") from error
        self._metered = self._meter.covers

    def _record(self, got: Collected, usage: Usage | None, nonce: str, limits: Limits) -> RunRecord:
        outcome = self._read_outcome(got, usage)
        said = base64.b64decode(outcome.get("said", ""))
        frames = split_frames(said) if outcome.get("whole", False) else None
        status = outcome.get("status")
        if frames:
            self._confirm(parse_object(frames[0]), outcome)
        elif status is not None and os.waitstatus_to_exitcode(status) == _BROKEN_WALL:
            self._broken = True
            tail = got.errors.kept[-2000:].decode("utf-8", "replace")
            raise SandboxBrokenError(f"a run could not give up its rights:\n{tail}")
        claim = parse_object(frames[1]) if frames is not None and len(frames) == 2 else None  # noqa: PLR2004
        nonce_ok = claim is not None and claim.get("nonce") == nonce
        report = claim.get("report") if claim is not None and nonce_ok else None
        host = _measure(got, usage, outcome, limits, nonce_ok=nonce_ok)
        return RunRecord(host=host, report=report if isinstance(report, dict) else None)

    def _read_outcome(self, got: Collected, usage: Usage | None) -> dict[str, Any]:
        """Return what the keeper measured; empty when it was killed with the run."""
        frames = split_frames(bytes(got.results.kept))
        outcome = parse_object(frames[0]) if frames else None
        refused = (got.ended or {}).get("refused") or (outcome or {}).get("refused")
        if refused:
            raise SandboxBrokenError(f"the wall around a run could not be built:\n{refused}")
        if outcome is None and not got.timed_out and not (usage and usage.memory_hit):
            self._broken = True
            raise SandboxBrokenError("a run vanished without a trace")
        return outcome or {}

    def _confirm(self, status: dict[str, Any] | None, outcome: Mapping[str, Any]) -> None:
        """Compare what the run's process read of itself with what the wall promises, once."""
        if self._isolation is not None:
            return
        from reproof.sandbox.measure import measure_isolation  # noqa: PLC0415 - once a session

        try:
            self._isolation = measure_isolation(
                self._wall,
                status or {},
                outcome.get("means", {}),
                supervisor=self._supervisor,
                meter=self._meter,
                limits=self._spec.limits,
            )
        except SandboxBrokenError:
            self._broken = True
            raise

    def close(self) -> None:
        """Kill whatever is left and remove every trace from the host. Idempotent."""
        if self._closed:
            return
        self._closed = True
        self._channel.close()
        self._launched.end(_CLOSED_WITHIN_S)
        os.close(self._launched.diagnostics)
        if self._meter is not None:
            self._meter.remove()
        self._wall.clean_session()

    def __enter__(self) -> Self:
        """Return the session itself."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Close it."""
        self.close()


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def check_name(name: str) -> str:
    """Return `name` if it is a plain path below the tree, else raise `InputError`."""
    path = PurePosixPath(name)
    if not name or path.is_absolute() or ".." in path.parts or "\0" in name or name.endswith("/"):
        raise InputError(f"{name!r} is not a file name below the tree")
    return str(path)


def base_environment(spec: SessionSpec) -> dict[str, str]:
    """Return the allow-listed environment: nothing of the caller's is passed on."""
    return {
        "PATH": f"{spec.interpreter.prefix}/bin:/usr/local/bin:/usr/bin:/bin",
        "HOME": "/tmp/home",  # noqa: S108 - inside
        "TMPDIR": "/tmp",  # noqa: S108 - inside
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": str(spec.hash_seed),
        "PYTHONDONTWRITEBYTECODE": "1",
        **spec.environment,
    }


def resource_limits(limits: Limits, metered: frozenset[str], *, walled: bool) -> dict[str, int]:
    """Return the rlimits of a run, beside or instead of a control group."""
    values = {
        "NOFILE": limits.open_files,
        "FSIZE": limits.file_bytes,
        "CORE": 0,
        "STACK": _STACK_BYTES,
    }
    if walled:
        # Counted in the run's user namespace; elsewhere it would count all of the user's.
        values["NPROC"] = limits.processes + _OWN_PROCESSES
    if "memory_bytes" not in metered:
        values["AS"] = max(_ADDRESS_SPACE, 2 * limits.memory_bytes)
    if "cpu_share" not in metered:
        values["CPU"] = max(math.ceil(limits.cpu_share * limits.wall_s), 1)
    return values


def _measure(
    got: Collected,
    usage: Usage | None,
    outcome: Mapping[str, Any],
    limits: Limits,
    *,
    nonce_ok: bool,
) -> HostFacts:
    status = outcome.get("status")
    code = None if status is None else os.waitstatus_to_exitcode(status)
    memory_hit = (usage is not None and usage.memory_hit) or bool(outcome.get("memory_hit"))
    if memory_hit:
        end = RunEnd.MEMORY
    elif got.timed_out:
        end = RunEnd.TIMEOUT
    elif code is not None and code >= 0:
        end = RunEnd.EXITED
    else:
        end = RunEnd.SIGNALED
    hits = {
        "wall_s": got.timed_out,
        "memory_bytes": memory_hit,
        "processes": usage is not None and usage.processes_hit,
        "cpu_share": code == -signal.SIGXCPU,
        "disk_bytes": bool(outcome.get("disk_full")),
        "inodes": bool(outcome.get("inodes_full")),
        "output_bytes": max(got.output.size, got.errors.size) > limits.output_bytes,
        "network": bool(outcome.get("unroutable")),
    }
    cpu = usage.cpu_s if usage is not None and usage.cpu_s is not None else outcome.get("cpu_s")
    peak = usage.peak_memory_bytes if usage is not None else None
    if peak is None and "peak_bytes" in outcome:
        peak = outcome["peak_bytes"]
    elif peak is None and "peak_kib" in outcome:
        peak = outcome["peak_kib"] * 1024
    return HostFacts(
        end=end,
        exit_code=code if code is not None and code >= 0 else None,
        signal=-code if code is not None and code < 0 else None,
        wall_s=got.wall_s,
        cpu_s=cpu,
        peak_memory_bytes=peak,
        stdout=bytes(got.output.kept),
        stderr=bytes(got.errors.kept),
        stdout_size=got.output.size,
        stderr_size=got.errors.size,
        limits_hit=tuple(name for name, hit in hits.items() if hit),
        nonce_ok=nonce_ok,
    )


def executable_file(path: Path) -> bool:
    """Say whether `path` is a file that may be started."""
    return path.is_file() and os.access(path, os.X_OK)
