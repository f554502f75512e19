"""Start one process with exactly the descriptors, environment and death that were asked for.

Not `subprocess`: steps between fork and exec must be able to fail with words, and the caller must
not wait for them.
"""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_DIAGNOSTICS_BYTES = 8192


@dataclass(slots=True)
class Launched:
    """A child process of ours and the pipe that says why it could not start."""

    pid: int
    diagnostics: int
    """Read end: errors before exec, and what the program says on stderr."""
    status: int | None = field(default=None)

    def poll(self) -> int | None:
        """Return the wait status once it has ended, else None."""
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = status
        return self.status

    def end(self, patience_s: float) -> None:
        """Wait for it, then kill it; it is gone and reaped on return."""
        deadline = time.monotonic() + patience_s
        pause = 0.0005
        while self.poll() is None:
            if time.monotonic() > deadline:
                os.kill(self.pid, signal.SIGKILL)
                self.status = os.waitpid(self.pid, 0)[1]
                return
            time.sleep(pause)
            pause = min(pause * 2, 0.01)

    def read_diagnostics(self) -> str:
        """Return what was said so far, cut to a few lines."""
        os.set_blocking(self.diagnostics, False)
        try:
            data = os.read(self.diagnostics, _DIAGNOSTICS_BYTES)
        except BlockingIOError:
            return ""
        return data.decode("utf-8", "replace").strip()


def start(
    command: Sequence[str],
    environment: Mapping[str, str],
    keep: Sequence[int],
    prepare: Callable[[], None] | None = None,
) -> Launched:
    """Fork, call `prepare` in the child and exec; return at once.

    The child leads a session of its own (a terminal's Ctrl-C is for us to handle), has no
    descriptors but `keep`, /dev/null on 0 and 1 and the diagnostics pipe on 2.
    """
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            _become(command, environment, (*keep, writer), prepare)
        except BaseException as error:  # noqa: BLE001 - the child must never return into the parent
            os.write(writer, f"{type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(127)
    os.close(writer)
    return Launched(pid, reader)


def _become(
    command: Sequence[str],
    environment: Mapping[str, str],
    keep: Sequence[int],
    prepare: Callable[[], None] | None,
) -> None:
    os.setsid()
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.dup2(keep[-1], 2)
    for number in _open_descriptors():
        if number in keep[:-1]:
            os.set_inheritable(number, True)
        elif number > 2:  # noqa: PLR2004
            os.set_inheritable(number, False)
    if prepare is not None:
        prepare()
    os.execve(command[0], list(command), dict(environment))  # noqa: S606 - that is the point


def _open_descriptors() -> list[int]:
    if not os.path.isdir("/proc/self/fd"):  # noqa: PTH112 - no pathlib between fork and exec
        return list(range(256))
    numbers = []
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208
        try:
            os.fstat(int(name))
        except OSError:
            continue  # the listing's own descriptor
        numbers.append(int(name))
    return numbers
