"""JSON in any of the dialects that servers and SDKs speak -> `Event`, or a reasoned refusal.

The one parser of events. Pure, and total: no JSON makes it raise. Dialects are told apart by their
keys (`EventShape`). Missing and ill-typed keys are normal; a list of frames, exceptions or context
lines keeps its order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from reproof.domain.event import EMPTY, Event, EventShape, IssueInfo
from reproof.domain.refusal import Refusal, RefusalReason
from reproof.domain.text import shown
from reproof.sources.decode import decode, malformed
from reproof.sources.fields import (
    MAX_DEPTH,
    descend,
    instant,
    integer,
    items,
    mapping,
    pairs,
    scalar_text,
    text,
    text_mapping,
    too_deep,
)
from reproof.sources.stack import RawExceptions, read_exceptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reproof.domain.event import JSON, ExceptionValue

__all__ = ["decode", "parse", "split"]

_MAYBE_CUT = 10
"""SDKs keep ten items of a list and do not always say that there were more."""

_MARKS = frozenset(
    {
        "event_id", "eventID", "platform", "timestamp", "dateCreated", "level", "logentry",
        "entries", "exception", "contexts", "sdk", "breadcrumbs", "culprit", "transaction",
    }
)  # fmt: skip
_ENOUGH_MARKS = 2

_ISSUE_KEYS = frozenset({"shortId", "friendly_id", "digested_event_count"})
_SUMMARY_KEYS = frozenset({"digest_order", "ingested_at", "digested_at"})
"""Bugsink's words around an event; without `data` they are all there is."""


@dataclass(frozen=True, slots=True)
class _Unwrapped:
    """The event proper, and what was around it."""

    shape: EventShape
    body: Mapping[str, JSON]
    outer: Mapping[str, JSON]


def split(payload: JSON) -> Sequence[JSON]:
    """Return the single payloads of an answer that lists several (an array, or `results`)."""
    if isinstance(payload, list):
        return payload
    if isinstance(payload, dict) and isinstance(payload.get("results"), list):
        return items(payload["results"])
    return [payload]


def parse(payload: JSON) -> Event | Refusal:
    """Read one event; a list of one counts as that one.

    Refusals: `malformed_event` (no event at all), `unsupported_platform` (not Python) and
    `no_app_frame` (an event, but without an exception or without a single frame).
    """
    if too_deep(payload):
        return malformed(f"the event is nested more than {MAX_DEPTH} levels deep")
    parts = split(payload)
    if len(parts) != 1:
        return malformed(
            f"this is a list of {len(parts)} events, not one event" if parts else "an empty list",
            "give one event per file, or a folder of such files",
        )
    if not isinstance(parts[0], dict):
        return malformed(f"the event is a JSON {_kind(parts[0])}, not an object")
    unwrapped = _unwrap(parts[0])
    if unwrapped is None:
        return malformed(_not_an_event(parts[0]))
    raw = _raw_exceptions(unwrapped.body)
    exceptions = read_exceptions(raw)
    refusal = _platform_refusal(unwrapped.body, exceptions) or _stack_refusal(
        unwrapped.body, raw.values, exceptions
    )
    return refusal or _event(unwrapped, exceptions)


def _kind(value: JSON) -> str:
    if value is None or isinstance(value, bool):
        return "constant"
    if isinstance(value, int | float):
        return "number"
    return "string" if isinstance(value, str) else "array"


def _unwrap(payload: Mapping[str, JSON]) -> _Unwrapped | None:
    """Find the event by its keys: itself, `data.event`, `event`, or `data`."""
    if "entries" in payload and isinstance(payload["entries"], list):
        return _Unwrapped(EventShape.API, payload, EMPTY)
    if "exception" in payload:
        return _Unwrapped(EventShape.SDK, payload, EMPTY)
    data = mapping(payload.get("data"))
    for wrapped, outer in ((data.get("event"), data), (payload.get("event"), payload)):
        if isinstance(wrapped, dict) and _is_event(wrapped):
            return _Unwrapped(EventShape.WEBHOOK, wrapped, outer)
    if _is_event(data):
        return _Unwrapped(EventShape.BUGSINK, data, payload)
    if _is_event(payload) and not _SUMMARY_KEYS & payload.keys():
        return _Unwrapped(EventShape.SDK, payload, EMPTY)
    return None


def _is_event(candidate: Mapping[str, JSON]) -> bool:
    if "exception" in candidate or isinstance(candidate.get("entries"), list):
        return True
    # An issue has `platform` and `level` too.
    return not _ISSUE_KEYS & candidate.keys() and len(_MARKS & candidate.keys()) >= _ENOUGH_MARKS


def _not_an_event(payload: Mapping[str, JSON]) -> str:
    if _ISSUE_KEYS & payload.keys():
        return "this is an issue, which holds no stack; one of its events is needed"
    if _SUMMARY_KEYS & payload.keys():
        return "this is an event's summary without its `data`"
    detail = text(payload.get("detail"))
    if detail is not None:
        return f"this is a server's error answer, not an event: {shown(detail)}"
    keys = ", ".join(sorted(payload)[:5])
    return f"this JSON object is no event (its keys: {shown(keys) or 'none'})"


def _entry(body: Mapping[str, JSON], kind: str) -> tuple[Mapping[str, JSON], int]:
    """Return the `data` of the first API entry of that type, and the entry's position."""
    for position, entry in enumerate(items(body.get("entries"))):
        if isinstance(entry, dict) and entry.get("type") == kind:
            return mapping(entry.get("data")), position
    return EMPTY, -1


def _raw_exceptions(body: Mapping[str, JSON]) -> RawExceptions:
    meta = mapping(body.get("_meta"))
    data, position = _entry(body, "exception")
    if position >= 0:
        notes = descend(meta, "entries", str(position), "data", "values")
        return RawExceptions(items(data.get("values")), notes)
    held = body.get("exception")
    notes = descend(meta, "exception")
    if isinstance(held, list):
        return RawExceptions(held, notes)
    values = mapping(held).get("values")
    if isinstance(values, list):
        return RawExceptions(values, descend(notes, "values"))
    if text(mapping(held).get("type")) is not None:
        # Very old senders: the only exception, not in a list.
        return RawExceptions([held], {"0": dict(notes)})
    return RawExceptions([], EMPTY)


def _platform_refusal(
    body: Mapping[str, JSON], exceptions: tuple[ExceptionValue, ...]
) -> Refusal | None:
    platform = text(body.get("platform"))
    if platform is None:
        sender = text(mapping(body.get("sdk")).get("name")) or ""
        if sender.startswith("sentry.python") or _has_python_frame(exceptions):
            return None
        found = "the event names no platform and has no Python frame"
    elif platform.lower() == "python":
        return None
    else:
        found = f"the event's platform is {shown(platform, 40)}"
    return Refusal(
        reason=RefusalReason.UNSUPPORTED_PLATFORM,
        summary=f"{found}; only Python crashes can be reproduced",
    )


def _has_python_frame(exceptions: tuple[ExceptionValue, ...]) -> bool:
    return any(
        name is not None and name.endswith((".py", ".pyx"))
        for exception in exceptions
        for frame in exception.frames
        for name in (frame.filename, frame.abs_path)
    )


def _stack_refusal(
    body: Mapping[str, JSON], values: list[JSON], exceptions: tuple[ExceptionValue, ...]
) -> Refusal | None:
    if not values:
        return _no_exception(body)
    if not isinstance(values[-1], dict) or not exceptions[-1].type:
        # Falling back to its cause would reproduce another crash than the one that escaped.
        return malformed("the exception that escaped (the last of the event) has no type")
    if not any(exception.frames for exception in exceptions):
        return Refusal(
            reason=RefusalReason.NO_APP_FRAME,
            summary=f"the event's {shown(exceptions[-1].type, 40)} has no stack frames",
            hint="send events with their stack trace; events shared publicly leave it out",
        )
    return None


def _no_exception(body: Mapping[str, JSON]) -> Refusal:
    data, position = _entry(body, "message")
    if position < 0:
        data = mapping(body.get("logentry"))
    message = text(
        data.get("formatted"), data.get("message"), body.get("message"), body.get("title")
    )
    said = f", only the message: {shown(message, 60)}" if message is not None else ""
    return Refusal(
        reason=RefusalReason.NO_APP_FRAME,
        summary=f"the event holds no exception{said}",
        hint="capture the exception itself (`capture_exception`, or `exc_info=True` when logging)",
    )


def _event(unwrapped: _Unwrapped, exceptions: tuple[ExceptionValue, ...]) -> Event:
    body, outer = unwrapped.body, unwrapped.outer
    meta = mapping(body.get("_meta"))
    tags = text_mapping(body.get("tags"))
    runtime = descend(body.get("contexts"), "runtime")
    sdk = mapping(body.get("sdk"))
    extra_key = "extra" if isinstance(body.get("extra"), dict) else "context"
    extra = mapping(body.get(extra_key))
    request, request_meta = _request(body)
    return Event(
        shape=unwrapped.shape,
        event_id=scalar_text(body.get("event_id"), body.get("eventID"), outer.get("event_id"))
        or scalar_text(body.get("id")),
        issue=_issue(body, outer),
        timestamp=instant(
            body.get("timestamp"), body.get("dateCreated"), body.get("datetime"),
            outer.get("timestamp"), body.get("dateReceived"),
        ),
        release=_release(body.get("release")) or tags.get("release"),
        environment=text(body.get("environment"), tags.get("environment")),
        transaction=text(body.get("transaction"), tags.get("transaction")),
        exceptions=exceptions,
        modules=text_mapping(body.get("modules")) or text_mapping(body.get("packages")),
        runtime_name=text(runtime.get("name")),
        runtime_version=text(runtime.get("version")),
        sdk_name=text(sdk.get("name")),
        sdk_version=text(sdk.get("version")),
        request=request,
        extra=extra,
        meta={"request": dict(request_meta), "extra": dict(descend(meta, extra_key))},
        tags=tags,
        argv=_argv(extra, descend(meta, extra_key)),
    )  # fmt: skip


def _release(value: JSON) -> str | None:
    return text(value, mapping(value).get("version"))


def _issue(body: Mapping[str, JSON], outer: Mapping[str, JSON]) -> IssueInfo:
    """Collect what the answer says of the issue; `outer` is Bugsink's event or the alert."""
    holders = (body, outer, mapping(outer.get("issue")), mapping(body.get("group")))

    def first(*keys: str) -> str:
        return scalar_text(*(holder.get(key) for key in keys for holder in holders))

    group = holders[2].get("id"), holders[3].get("id")
    count = integer(*(h.get(k) for k in ("count", "digested_event_count") for h in holders))
    return IssueInfo(
        id=first("groupID", "issue_id", "issue") or scalar_text(*group),
        url=first("web_url", "permalink", "issue_url"),
        first_seen=first("firstSeen", "first_seen"),
        last_seen=first("lastSeen", "last_seen"),
        count=max(0, count or 0),
    )


def _request(body: Mapping[str, JSON]) -> tuple[Mapping[str, JSON] | None, Mapping[str, JSON]]:
    """Return the request in the SDK's spelling, and its `_meta`."""
    meta = mapping(body.get("_meta"))
    raw, position = _entry(body, "request")
    notes = descend(meta, "entries", str(position), "data")
    if position < 0:
        raw, notes = mapping(body.get("request")), descend(meta, "request")
    if not raw:
        return None, EMPTY
    request: dict[str, JSON] = {}
    for key in ("url", "method", "data", "env"):
        if raw.get(key) is not None:
            request[key] = raw[key]
    query = raw.get("query_string", raw.get("query"))
    if isinstance(query, str):
        request["query_string"] = query
    elif query:
        request["query_string"] = urlencode(_text_pairs(query))
    for key in ("headers", "cookies"):
        held = {name: value for name, value in pairs(raw.get(key)) if isinstance(value, str)}
        if held:
            request[key] = dict(held)
    return request or None, notes


def _text_pairs(value: JSON) -> list[tuple[str, str]]:
    """Return key and value of each pair whose value is text; a key may come more than once."""
    return [(key, content) for key, content in pairs(value) if isinstance(content, str)]


def _argv(extra: Mapping[str, JSON], meta: Mapping[str, JSON]) -> tuple[str, ...] | None:
    """Return the program's arguments if they were captured whole."""
    raw = items(extra.get("sys.argv"))
    words = tuple(word for word in raw if isinstance(word, str))
    if not words or len(words) != len(raw) or len(words) >= _MAYBE_CUT:
        return None
    if meta.get("sys.argv") or any(word == "[Filtered]" for word in words):
        return None
    return words
