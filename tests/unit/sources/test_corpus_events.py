"""Every recorded event of the corpus is read, where the corpus is there."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from reproof.domain.event import Event, EventShape
from reproof.domain.refusal import Refusal
from reproof.sources.payload import decode, parse

CORPUS = Path(__file__).parents[4] / "shared" / "corpus"

pytestmark = pytest.mark.skipif(
    not CORPUS.is_dir(), reason="the corpus folder is not beside the checkout"
)


@pytest.mark.parametrize("kind", ["real", "kinds", "sdk-events"])
def test_every_event_is_read(kind: str) -> None:
    paths = sorted(
        p for p in (CORPUS / kind).rglob("*") if p.suffix in {".json", ".envelope"} and p.is_file()
    )
    unread: dict[str, str] = {}
    shapes: Counter[EventShape] = Counter()
    for path in paths:
        value = decode(path.read_bytes())
        answer = value if isinstance(value, Refusal) else parse(value)
        if isinstance(answer, Event):
            shapes[answer.shape] += 1
            assert answer.release is not None or kind == "sdk-events", path
            assert answer.raised.frames, path
        else:
            unread[path.name] = answer.summary

    # What is recorded there beside events: lists of issues, and envelopes of sessions.
    assert all("list of" in why or "no event" in why or "summary" in why for why in unread.values())
    assert sum(shapes.values()) > len(paths) * 0.95
    assert shapes[EventShape.SDK] > 50
    assert shapes[EventShape.API] > 50
