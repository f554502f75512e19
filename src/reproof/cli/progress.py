"""What a person sees while a run is under way; satisfies `pipeline.Progress`.

On a terminal one line is rewritten in place and each attempt leaves a line behind; off a terminal
nothing is said unless `--verbose`, because a log of stages is of no use to a script.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from reproof.cli.console import Console

GOOD_OUTCOMES = ("reproduced", "confirmed", "as_captured")


class CliProgress(Protocol):
    """The pipeline's progress, and the end that only the command line needs."""

    def stage(self, name: str) -> None:
        """Take note of the stage that begins."""
        ...

    def attempt(self, entry: str, outcome: str) -> None:
        """Take note of one plan and how it went."""
        ...

    def done(self) -> None:
        """Clean up; nothing more will come."""
        ...


class SilentProgress:
    """Says nothing."""

    def stage(self, name: str) -> None:
        """Drop it."""

    def attempt(self, entry: str, outcome: str) -> None:
        """Drop it."""

    def done(self) -> None:
        """Have nothing to take away."""


class LineProgress:
    """A line for every attempt, and the current stage with the seconds gone in the last line."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._started = monotonic()
        self._attempts = 0

    def stage(self, name: str) -> None:
        """Show the stage: in place on a terminal, else as a line."""
        if self._console.live:
            self._show(name)
        else:
            self._console.talk(f"{self._seconds()} {name}")

    def attempt(self, entry: str, outcome: str) -> None:
        """Leave a line behind for this attempt."""
        self._attempts += 1
        good = outcome in GOOD_OUTCOMES
        self._console.talk(
            f"  {'+' if good else '-'} {entry}: {outcome}", "green" if good else "dim"
        )
        if self._console.live:
            self._show(f"{self._attempts} tried")

    def done(self) -> None:
        """Take the line in place away."""
        self._console.clear_status()

    def _show(self, text: str) -> None:
        self._console.status(f"{self._seconds()} {text} ...")

    def _seconds(self) -> str:
        return f"{monotonic() - self._started:5.1f} s"


def progress_for(console: Console) -> CliProgress:
    """Return the progress that suits the streams and options."""
    if console.verbose or console.live:
        return LineProgress(console)
    return SilentProgress()
