"""The one interface behind which everything runs that this product did not write.

A backend opens a `Session`: the wall is built once, the target's interpreter is started once with
pytest imported, and each `run` is a fork with its own overlay of the tree, nonce, limits and
process tree. Nothing that one run does is seen by the next.

What is not here: deciding what to run (`reproducer`), and what a run means (`verdict`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, Self

from reproof.domain.run import Limits

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from reproof.domain.run import Isolation, Job, RunRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """The target's Python, described from files alone: it is never started outside a wall."""

    executable: Path
    """Absolute path as the user names it (a venv's `bin/python`)."""
    version: tuple[int, int]
    prefix: Path
    """The environment's root (`sys.prefix`)."""
    base_prefix: Path
    """The installation it rests on; equals `prefix` outside a venv."""
    real_executable: Path
    """`executable` with all symbolic links resolved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSpec:
    """What a session shows the code inside it."""

    tree: Path
    """The source tree; visible at the same absolute path through a throw-away overlay."""
    interpreter: Interpreter
    guest_path: Path
    """Folder with pytest and what it needs for that Python; put last on `sys.path`."""
    import_roots: tuple[str, ...] = ("",)
    """Tree-relative folders put first on `sys.path`, in this order."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Beside the allow-list (`PATH HOME LANG LC_ALL TMPDIR TZ PYTHONHASHSEED ...`)."""
    hash_seed: int = 0
    limits: Limits = field(default_factory=Limits)
    """Of the session as a whole where a limit cannot be set per run; jobs carry their own."""
    hidden: tuple[str, ...] = (".git", ".env")
    """Tree-relative names that the code inside must not see."""


class Session(Protocol):
    """An open wall with a warm interpreter; to be used from the thread that opened it."""

    @property
    def isolation(self) -> Isolation:
        """What was really achieved, measured inside and outside once the session is up."""
        ...

    def run(self, job: Job) -> RunRecord:
        """Run one job in a fork and return when its whole process tree is dead.

        Raises `SandboxBrokenError` when the session, not the job, is at fault.
        """
        ...

    def close(self) -> None:
        """Kill whatever is left and remove every trace from the host. Idempotent."""
        ...

    def __enter__(self) -> Self:
        """Return the session itself."""
        ...

    def __exit__(self, *exc: object) -> None:
        """Close the session."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Availability:
    """Whether a backend is usable here, found by trying it."""

    usable: bool
    detail: str
    """What was found (version, path), or what failed."""
    hint: str = ""
    """What would enable it."""


class Backend(ABC):
    """One kind of wall. Stateless; `open` may be called any number of times."""

    name: str
    level: str

    @abstractmethod
    def probe(self) -> Availability:
        """Say whether this machine offers the wall; never raises."""

    @abstractmethod
    def open(self, spec: SessionSpec) -> Session:
        """Open a session and return at once: the guest may still be warming up.

        Raises `SandboxUnavailableError` when the wall cannot be built. An error found later, while
        the guest warms up, is raised by the first `run` or `isolation`.
        """
