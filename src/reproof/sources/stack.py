"""Exceptions and frames: one reader for both spellings (`abs_path` and `absPath`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reproof.domain.event import ExceptionValue, Frame
from reproof.sources.fields import (
    boolean,
    descend,
    integer,
    items,
    mapping,
    positive,
    scalar_text,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reproof.domain.event import JSON

MAX_FRAMES = 2500
"""Kept of one stack, half from either end. Sentry keeps 250, SDKs send up to 2 000."""

MAX_EXCEPTIONS = 1000
"""Kept of one event, from the end: the one that escaped is the last."""


@dataclass(frozen=True, slots=True)
class RawExceptions:
    """Where an event keeps its exceptions, and the `_meta` tree that annotates them."""

    values: list[JSON]
    meta: Mapping[str, JSON]


def read_exceptions(raw: RawExceptions) -> tuple[ExceptionValue, ...]:
    """Read what is an object; the order and the ids stay as sent."""
    first = max(0, len(raw.values) - MAX_EXCEPTIONS)
    return tuple(
        _exception(mapping(value), descend(raw.meta, str(index)))
        for index, value in enumerate(raw.values[first:], first)
        if isinstance(value, dict)
    )


def _exception(raw: Mapping[str, JSON], meta: Mapping[str, JSON]) -> ExceptionValue:
    mechanism = mapping(raw.get("mechanism"))
    frames, omitted = _frames(raw, meta)
    return ExceptionValue(
        type=text(raw.get("type")) or "",
        module=text(raw.get("module")),
        message=_message(raw.get("value")),
        frames=frames,
        frames_omitted=omitted,
        mechanism=text(mechanism.get("type")),
        handled=boolean(mechanism.get("handled")),
        exception_id=integer(mechanism.get("exception_id"), mechanism.get("exceptionId")),
        parent_id=integer(mechanism.get("parent_id"), mechanism.get("parentId")),
        source=text(mechanism.get("source")),
        is_group=boolean(mechanism.get("is_exception_group"), mechanism.get("isExceptionGroup"))
        is True,
    )


def _message(value: JSON) -> str | None:
    """Return the message; an empty one was sent as such, and is not the same as none."""
    return value if isinstance(value, str) else scalar_text(value) or None


def _frames(raw: Mapping[str, JSON], meta: Mapping[str, JSON]) -> tuple[tuple[Frame, ...], int]:
    for key in ("stacktrace", "rawStacktrace", "raw_stacktrace"):
        stack = mapping(raw.get(key))
        frames = items(stack.get("frames"))
        if frames:
            break
    else:
        return (), 0
    notes = descend(meta, key, "frames")
    half = MAX_FRAMES // 2
    kept = [
        index
        for index in range(len(frames))
        if len(frames) <= MAX_FRAMES or index < half or index >= len(frames) - half
    ]
    read = tuple(
        _frame(mapping(frames[index]), descend(notes, str(index), "vars"))
        for index in kept
        if isinstance(frames[index], dict)
    )
    return read, len(frames) - len(kept) + _omitted_by_sender(stack, notes, len(frames))


def _omitted_by_sender(stack: Mapping[str, JSON], notes: Mapping[str, JSON], sent: int) -> int:
    match stack.get("frames_omitted", stack.get("framesOmitted")):
        case [int(first), int(last)] if 0 <= first < last:
            return last - first
        case _:
            pass
    total = integer(mapping(notes.get("")).get("len"))
    return max(0, total - sent) if total is not None else 0


def _frame(raw: Mapping[str, JSON], meta: Mapping[str, JSON]) -> Frame:
    lineno = positive(raw.get("lineno"), raw.get("lineNo"))
    before, line, after = _context(raw, lineno)
    variables = raw.get("vars")
    return Frame(
        filename=text(raw.get("filename")),
        abs_path=text(raw.get("abs_path"), raw.get("absPath")),
        module=text(raw.get("module")),
        function=text(raw.get("function")),
        lineno=lineno,
        context_line=line,
        pre_context=before,
        post_context=after,
        in_app=boolean(raw.get("in_app"), raw.get("inApp")),
        variables=variables if isinstance(variables, dict) else None,
        variables_total=positive(mapping(meta.get("")).get("len")),
        meta=meta,
    )


def _context(
    raw: Mapping[str, JSON], lineno: int | None
) -> tuple[tuple[str, ...], str | None, tuple[str, ...]]:
    """Return the lines before, the line, and the lines after it."""
    numbered = _numbered(raw.get("context"))
    if lineno is not None and lineno in numbered:
        return _run(numbered, lineno, -1)[::-1], numbered[lineno], _run(numbered, lineno, 1)
    line = raw.get("context_line", raw.get("contextLine"))
    if not isinstance(line, str):
        return (), None, ()
    before = _lines(raw.get("pre_context", raw.get("preContext")))
    after = _lines(raw.get("post_context", raw.get("postContext")))
    return before, line, after


def _numbered(context: JSON) -> dict[int, str]:
    found: dict[int, str] = {}
    for item in items(context):
        match item:
            case [number, str(line)]:
                place = positive(number)
                if place is not None:
                    found[place] = line
            case _:
                pass
    return found


def _run(numbered: Mapping[int, str], lineno: int, step: int) -> tuple[str, ...]:
    """Return the unbroken run of lines next to `lineno`, nearest first: position is meaning."""
    found: list[str] = []
    place = lineno + step
    while place in numbered:
        found.append(numbered[place])
        place += step
    return tuple(found)


def _lines(value: JSON) -> tuple[str, ...]:
    """Return the lines if all are text; a hole would shift every line after it."""
    lines = items(value)
    read = tuple(line for line in lines if isinstance(line, str))
    return read if len(read) == len(lines) else ()
