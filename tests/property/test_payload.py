"""Whatever is sent, the parser answers with an event or with a reason."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from reproof.domain.refusal import Refusal
from reproof.sources.payload import decode, parse

if TYPE_CHECKING:
    from reproof.domain.event import JSON, Event, Frame

KEYS = [
    "exception", "values", "stacktrace", "frames", "entries", "type", "data", "event", "value",
    "mechanism", "vars", "context", "lineNo", "lineno", "_meta", "platform", "event_id", "tags",
    "request", "headers", "query_string", "extra", "sys.argv", "release", "timestamp", "results",
    "contexts", "runtime", "frames_omitted", "len", "", "0", "pre_context", "context_line", "sdk",
]  # fmt: skip
FRAME_KEYS = ["lineno", "lineNo", "context", "vars", "in_app", "pre_context", "context_line"]
EVENT_KEYS = [
    "tags", "extra", "request", "release", "timestamp", "_meta", "modules", "contexts", "sdk",
    "platform",
]  # fmt: skip
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["python", "exception", "request", "a.py", "2026-01-01", "10"]),
)


def containers(inner: st.SearchStrategy[JSON]) -> st.SearchStrategy[JSON]:
    keys = st.sampled_from(KEYS) | st.text(max_size=4)
    return st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=6)


ANY_JSON: st.SearchStrategy[JSON] = st.recursive(SCALARS, containers, max_leaves=40)


@st.composite
def near_events(draw: st.DrawFn) -> JSON:
    """Draw what is nearly an event: the right skeleton with anything at all in its places."""
    anything = ANY_JSON
    frame = st.fixed_dictionaries(
        {"filename": st.just("a.py")},
        optional=dict.fromkeys(FRAME_KEYS, anything),
    )
    value = st.fixed_dictionaries(
        {"type": st.text(min_size=1, max_size=4)},
        optional={
            "stacktrace": st.fixed_dictionaries(
                {"frames": st.lists(frame | anything, min_size=1, max_size=3)},
                optional={"frames_omitted": anything},
            ),
            "mechanism": anything,
            "value": anything,
        },
    )
    values = draw(st.lists(value | anything, max_size=3))
    rest = dict.fromkeys(EVENT_KEYS, anything)
    body = draw(st.fixed_dictionaries({}, optional=rest))
    if draw(st.booleans()):
        return {**body, "exception": {"values": values}}
    entries: list[JSON] = [{"type": "exception", "data": {"values": values}}, draw(anything)]
    return {**body, "entries": entries}


def check(answer: Event | Refusal) -> None:
    if isinstance(answer, Refusal):
        assert answer.summary.isprintable()
        return
    assert answer.raised.type
    assert any(exception.frames for exception in answer.exceptions)
    for exception in answer.exceptions:
        for frame in exception.frames:
            check_frame(frame)


def check_frame(frame: Frame) -> None:
    for field in fields(frame):
        value = getattr(frame, field.name)
        match field.name:
            case "lineno" | "variables_total":
                assert value is None or (type(value) is int and value > 0)
            case "filename" | "abs_path" | "module" | "function" | "context_line":
                assert value is None or isinstance(value, str)
            case "pre_context" | "post_context":
                assert all(isinstance(line, str) for line in value)
            case "variables":
                assert value is None or isinstance(value, dict)
            case "in_app":
                assert value in {None, True, False}
            case _:
                assert field.name == "meta"


@given(ANY_JSON)
def test_any_json(payload: JSON) -> None:
    check(parse(payload))


@given(near_events())
def test_nearly_an_event(payload: JSON) -> None:
    answer = parse(payload)
    check(answer)
    assert answer == parse(payload) or "nan" in repr(payload)


@given(st.binary(max_size=200))
def test_any_bytes(raw: bytes) -> None:
    value = decode(raw)
    if not isinstance(value, Refusal):
        check(parse(value))


@given(st.text(max_size=40), st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]))
def test_text_survives_in_every_encoding(text: str, encoding: str) -> None:
    assert decode(json.dumps([text], ensure_ascii=False).encode(encoding)) == [text]
    assert decode(json.dumps([text]).encode(encoding)) == [text]


@given(st.text(st.characters(min_codepoint=0xD7F0, max_codepoint=0xE010) | st.just("\\")))
def test_decoded_text_can_always_be_encoded(text: str) -> None:
    value = decode(json.dumps({text: text}).encode())
    json.dumps(value, ensure_ascii=False).encode()
