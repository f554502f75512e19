"""Choose a wall by name; the only place that names the concrete backends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reproof.errors import InputError

if TYPE_CHECKING:
    from reproof.sandbox.interface import Availability, Backend

NAMES = ("auto", "bubblewrap", "process")


def choose(name: str) -> Backend:
    """Return the backend called `name`; `auto` is the strongest that is cheap, never no wall.

    Raises `InputError` for a name that is none, `SandboxUnavailableError` where `auto` finds none.
    """
    if name in ("auto", "bubblewrap"):
        from reproof.sandbox.bubblewrap import BubblewrapBackend, find_engine  # noqa: PLC0415

        find_engine()
        return BubblewrapBackend()
    if name == "process":
        from reproof.sandbox.process import ProcessBackend  # noqa: PLC0415

        return ProcessBackend()
    raise InputError(f"there is no sandbox called {name!r}", hint=f"use one of {', '.join(NAMES)}")


def probe_all() -> dict[str, Availability]:
    """Try every backend and say what was found, by name."""
    from reproof.sandbox.bubblewrap import BubblewrapBackend  # noqa: PLC0415
    from reproof.sandbox.process import ProcessBackend  # noqa: PLC0415

    backends: tuple[Backend, ...] = (BubblewrapBackend(), ProcessBackend())
    return {backend.name: backend.probe() for backend in backends}
