"""The one place where the command line meets the product."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reproof.pipeline import Options, reproduce
from reproof.sources.select import choose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reproof.cli.progress import CliProgress
    from reproof.cli.request import Request
    from reproof.domain.event import JSON
    from reproof.sources.interface import RawPayload


class Pipeline:
    """Runs the main job as the library does; decides nothing."""

    def payloads(self, crash: str) -> Sequence[RawPayload]:
        """Return the events that `crash` names."""
        return choose(crash).fetch(crash)

    def reproduce(
        self, payload: RawPayload, request: Request, progress: CliProgress
    ) -> dict[str, JSON]:
        """Return the verdict on one event as a document."""
        options = Options(
            repo=request.repo,
            ref=request.ref,
            timeout_s=request.timeout_s,
            test_timeout_s=request.test_timeout_s,
            memory_mib=request.memory_mib,
            out_dir=request.out_dir,
            sandbox=request.sandbox,
            env=request.env,
            source_map=request.source_map,
            params=request.params,
            expect_raises=request.expect_raises,
            cache_root=request.cache_root,
            virtual_env=request.virtual_env,
            passthrough_env=request.passthrough_env,
        )
        return reproduce(payload, options, progress).to_json()
