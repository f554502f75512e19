"""The one place where the command line meets the product."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reproof.pipeline import reproduce
from reproof.sources.select import choose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reproof.cli.progress import CliProgress
    from reproof.domain.event import JSON
    from reproof.pipeline import Options
    from reproof.sources.interface import RawPayload


class Pipeline:
    """Runs the main job as the library does; decides nothing."""

    def payloads(self, crash: str) -> Sequence[RawPayload]:
        """Return the events that `crash` names."""
        return choose(crash).fetch(crash)

    def reproduce(
        self, payload: RawPayload, options: Options, progress: CliProgress
    ) -> dict[str, JSON]:
        """Return the verdict on one event as a document."""
        return reproduce(payload, options, progress).to_json()
