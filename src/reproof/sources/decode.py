"""Bytes that claim to be an event -> JSON. Pure; total: any bytes give a value or a refusal."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from reproof.domain.refusal import Refusal, RefusalReason
from reproof.domain.text import shown
from reproof.sources.fields import MAX_DEPTH, mapping, too_deep

if TYPE_CHECKING:
    from reproof.domain.event import JSON

MAX_BYTES = 64 * 1024 * 1024

_HEADER_BYTES = 64 * 1024
_EVENT_HINT = "give the event's JSON as the SDK sent it or as the server's API returns it"

_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})"
    r"|.)",
    re.DOTALL,
)
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


def malformed(summary: str, hint: str = _EVENT_HINT) -> Refusal:
    """Return the refusal for input that is not an event at all."""
    return Refusal(reason=RefusalReason.MALFORMED_EVENT, summary=summary, hint=hint)


def decode(raw: bytes) -> JSON | Refusal:
    r"""Read one JSON document, or the event of an SDK envelope.

    UTF-8 with or without a byte order mark, UTF-16 and UTF-32. Control characters inside strings
    are let through, and `NaN` and `Infinity` are floats, as Python's own writer makes them; of a
    key given twice the last counts. A lone surrogate becomes the six characters `\udXXX`: inside
    captured `repr` text that is what `repr` itself would have written, and the result can be
    encoded everywhere. A whole number of over 4 300 digits stays text.

    Refused: more than `MAX_BYTES`, more than `MAX_DEPTH` levels, anything that is not JSON.
    """
    if len(raw) > MAX_BYTES:
        return malformed(
            f"the event has {len(raw):,} bytes; at most {MAX_BYTES:,} are read",
            "a real event is under one megabyte: check that this is the right file",
        )
    if not raw.strip(b" \t\r\n\0"):
        return malformed("the event is empty")
    if raw.startswith(b"\x1f\x8b"):
        return malformed("the event is gzip-compressed", "unpack it first (gunzip)")
    enveloped = _envelope_event(raw)
    if isinstance(enveloped, Refusal):
        return enveloped
    return _load(raw if enveloped is None else enveloped)


def _load(raw: bytes) -> JSON | Refusal:
    try:
        text = raw.decode(json.detect_encoding(raw), "strict")
    except UnicodeDecodeError as error:
        return malformed(
            f"the event is not text: byte {error.start} cannot be read as {error.encoding}"
        )
    text = text.removeprefix("\ufeff")
    if _SURROGATE_ESCAPE.search(text):
        text = _ESCAPE.sub(_escape_lone, text)
    try:
        value = _loads(text)
    except json.JSONDecodeError as error:
        return _not_json(text, error)
    except RecursionError:
        return _deep()
    return _deep() if too_deep(value) else value


def _loads(text: str) -> JSON:
    value: JSON
    try:
        value = json.loads(text, strict=False)
    except json.JSONDecodeError:
        raise
    except ValueError:
        # An integer longer than the interpreter converts. Rare enough to read twice for.
        value = json.loads(text, strict=False, parse_int=_int_or_text)
    return value


def _int_or_text(digits: str) -> int | str:
    try:
        return int(digits)
    except ValueError:
        return digits


def _escape_lone(match: re.Match[str]) -> str:
    lone = match["lone"]
    return match[0] if lone is None else f"\\\\{lone}"


def _deep() -> Refusal:
    return malformed(
        f"the event is nested more than {MAX_DEPTH} levels deep",
        "no SDK sends such an event; if yours does, please report it",
    )


def _not_json(text: str, error: json.JSONDecodeError) -> Refusal:
    if text.lstrip()[:1] == "<":
        return malformed(
            "the event is an HTML or XML page, not JSON",
            "a saved login or error page looks like this; download the event's JSON instead",
        )
    return malformed(
        f"the event is not JSON: {shown(error.msg)} at line {error.lineno}, column {error.colno}"
    )


def _envelope_event(raw: bytes) -> bytes | Refusal | None:
    """Return the event item of an SDK envelope; `None` if the bytes are no envelope.

    An envelope is a line of headers, then for each item a line of headers with `type` and often
    `length`, and the item's bytes. Attachments between them may be anything.
    """
    position = _line_end(raw, 0)
    if position is None or not _is_object(raw[:position]):
        return None
    position += 1
    kinds: list[str] = []
    while position < len(raw):
        end = _line_end(raw, position)
        header = _object(raw[position : len(raw) if end is None else end])
        kind = mapping(header).get("type")
        if not isinstance(kind, str):
            # Blank lines may follow an item; otherwise this was a JSON file of some other kind.
            if kinds and end is not None and not raw[position:end].strip():
                position = end + 1
                continue
            break
        start = len(raw) if end is None else end + 1
        stop = _item_end(raw, start, mapping(header).get("length"))
        if kind == "event":
            return raw[start:stop]
        kinds.append(kind)
        position = stop + 1
    if not kinds:
        return None
    return malformed(
        f"the envelope holds no event, only: {shown(', '.join(dict.fromkeys(kinds)))}",
        "give the envelope or the JSON of an error event",
    )


def _item_end(raw: bytes, start: int, length: JSON) -> int:
    if isinstance(length, int) and not isinstance(length, bool) and length >= 0:
        end = start + length
        # In a file that somebody edited the length is off; then the item ends with its line.
        if end == len(raw) or raw[end : end + 1] == b"\n":
            return end
    end = raw.find(b"\n", start)
    return len(raw) if end < 0 else end


def _line_end(raw: bytes, start: int) -> int | None:
    end = raw.find(b"\n", start, start + _HEADER_BYTES)
    return None if end < 0 else end


def _is_object(line: bytes) -> bool:
    return _object(line) is not None


def _object(line: bytes) -> dict[str, JSON] | None:
    if len(line) > _HEADER_BYTES or not line.lstrip(b" \xef\xbb\xbf").startswith(b"{"):
        return None
    try:
        value = _loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        # Not a header line; the whole is then read as plain JSON, which reports what is wrong.
        return None
    return value if isinstance(value, dict) else None
