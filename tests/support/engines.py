"""A stand-in for the product behind the command line: answers what it is told to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reproof.sources.interface import RawPayload
from support import documents

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reproof.cli.progress import CliProgress
    from reproof.domain.event import JSON
    from reproof.pipeline import Options


class FakeEngine:
    """Has one answer for each event, in order; an exception in the list is raised."""

    def __init__(self, *answers: dict[str, JSON] | BaseException) -> None:
        self.answers = list(answers)
        self.asked: list[Options] = []
        self.before: Callable[[CliProgress], None] = lambda _progress: None
        """Called before each answer, with the run's progress."""

    def payloads(self, crash: str) -> Sequence[RawPayload]:
        """Return one payload an answer."""
        return [RawPayload(b"{}", f"{crash}#{n}") for n in range(len(self.answers))]

    def reproduce(
        self, payload: RawPayload, options: Options, progress: CliProgress
    ) -> dict[str, JSON]:
        """Return or raise the answer for this payload."""
        self.asked.append(options)
        self.before(progress)
        answer = self.answers[int(payload.origin.rpartition("#")[2])]
        if isinstance(answer, BaseException):
            raise answer
        return answer


def reproducing() -> FakeEngine:
    """Return an engine that reproduces its one event."""
    return FakeEngine(documents.reproduced())
