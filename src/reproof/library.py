"""The main job for Python programs: one call, no environment read, nothing printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from reproof import pipeline
from reproof.domain.event import Event
from reproof.sources.interface import RawPayload

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reproof.domain.event import JSON
    from reproof.search import Progress
    from reproof.verdict.judgement import Verdict

DEFAULT_CACHE = "~/.cache/reproof"


def reproduce(  # noqa: PLR0913 - one keyword for each option of the command line
    event: Event | Mapping[str, JSON] | bytes,
    repo: Path | str,
    *,
    ref: str | None = None,
    env: str = "auto",
    sandbox: str = "auto",
    out_dir: Path | None = None,
    timeout_s: float = 60.0,
    test_timeout_s: float = 15.0,
    memory_mib: int | None = None,
    source_map: Mapping[str, str] | None = None,
    params: Mapping[str, str] | None = None,
    expect_raises: bool = False,
    cache_dir: Path | None = None,
    virtual_env: str | None = None,
    uv_environment: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> Verdict:
    """Judge one event on the tree in `repo`, and write its test if it is reproduced.

    `event` is an event's JSON (bytes, or decoded) or an `Event`. The keywords are the options of
    `reproof repro`; `uv_environment` is what `uv` needs to reach a package index (proxies,
    certificates) when pytest for the target's Python is fetched for the first time.

    Raises `ReproofError` when nothing can be said about the event at all.
    """
    options = pipeline.Options(
        repo=Path(repo),
        ref=ref,
        timeout_s=timeout_s,
        test_timeout_s=test_timeout_s,
        memory_mib=memory_mib,
        out_dir=out_dir,
        sandbox=sandbox,
        env=env,
        source_map=source_map or {},
        params=params or {},
        expect_raises=expect_raises,
        cache_root=cache_dir or Path(DEFAULT_CACHE).expanduser(),
        virtual_env=virtual_env,
        passthrough_env=uv_environment or {},
    )
    return pipeline.reproduce(_payload(event), options, progress)


def _payload(event: Event | Mapping[str, JSON] | bytes) -> RawPayload | Event:
    if isinstance(event, Event):
        return event
    if isinstance(event, bytes):
        return RawPayload(event, "the caller")
    return RawPayload(json.dumps(event).encode(), "the caller")
