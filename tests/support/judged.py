"""Judge an event on a one-file tree, through the whole product and a real sandbox."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from reproof.pipeline import Options, reproduce
from reproof.settings import load

if TYPE_CHECKING:
    from pathlib import Path

    from reproof.domain.event import Event
    from reproof.verdict.judgement import Verdict


def judge(tree: Path, source: str, event: Event, out: Path) -> Verdict:
    """Make the tree of `svc.py` alone and return the verdict."""
    tree.mkdir()
    (tree / "svc.py").write_text(source)
    settings = load(tree)
    return reproduce(
        event,
        Options(
            repo=tree,
            out_dir=out,
            cache_root=settings.cache_dir,
            passthrough_env=settings.for_uv,
            env=sys.executable,
        ),
    )
