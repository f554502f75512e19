"""What one run of the main job was asked to do, once options and settings are settled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The fields of `pipeline.Options` that the command line can set."""

    repo: Path
    ref: str | None
    timeout_s: float
    test_timeout_s: float
    memory_mib: int | None
    out_dir: Path | None
    sandbox: str
    env: str
    source_map: Mapping[str, str]
    params: Mapping[str, str]
    expect_raises: bool
    cache_root: Path
    virtual_env: str | None
    passthrough_env: Mapping[str, str]
