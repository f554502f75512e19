"""The door: captured JSON and hints in, candidate values out."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING

from reproof.reproducer.values import expression as make
from reproof.reproducer.values.angles import class_name_of, decode_angle
from reproof.reproducer.values.containers import WIDTH, list_readings
from reproof.reproducer.values.literals import decode_node
from reproof.reproducer.values.mappings import key_readings, mapping_readings, value_annotation
from reproof.reproducer.values.markers import annotated, marked
from reproof.reproducer.values.place import (
    MAX_DEPTH,
    MAX_NODES,
    MAX_TEXT,
    Hints,
    Place,
    combine,
    single,
)
from reproof.reproducer.values.provenance import (
    Candidate,
    Decoded,
    Unknown,
    UnknownCause,
    unknown,
    weakest,
)
from reproof.reproducer.values.text import parse

if TYPE_CHECKING:
    import ast
    from collections.abc import Sequence

    from reproof.domain.event import JSON
    from reproof.reproducer.values.expression import Expression
    from reproof.reproducer.values.mappings import KeyReading, MappingReading

_SILENT_SINCE = (2, 13)
_NO_HINTS = Hints()


def decode(
    captured: JSON, hints: Hints = _NO_HINTS, *, limit: int = 8, meta: JSON = None
) -> Decoded:
    """Return the values that a captured local may have had, likeliest first, or why none is known.

    `meta` is the `_meta` tree of this variable, where the event has one.
    """
    if _is_too_large(captured):
        return unknown(UnknownCause.TOO_LARGE, captured if isinstance(captured, str) else "")
    place = Place(hints, max(limit, 1), hints.annotation)
    return _json(captured, meta, place)


def _is_too_large(captured: JSON) -> bool:
    """Count nodes, levels and characters without recursion."""
    nodes = characters = 0
    level: list[JSON] = [captured]
    depth = 0
    while level:
        depth += 1
        below: list[JSON] = []
        for one in level:
            nodes += 1
            if isinstance(one, str):
                characters += len(one)
            elif isinstance(one, list):
                below += one
            elif isinstance(one, dict):
                characters += sum(map(len, one))
                below += one.values()
        if nodes > MAX_NODES or characters > MAX_TEXT or depth > MAX_DEPTH:
            return True
        level = below
    return False


def _json(captured: JSON, meta: JSON, place: Place) -> Decoded:
    reason = annotated(captured, meta)
    if place.depth > MAX_DEPTH:
        reason = unknown(UnknownCause.TOO_LARGE, "")
    if reason is not None:
        return reason
    match captured:
        case str():
            return _leaf(captured, place)
        case list():
            return _array(captured, meta, place)
        case dict():
            return _object(captured, meta, place)
        case None:
            # A null where `repr` text belongs is what a scrubber leaves of a container.
            return unknown(UnknownCause.REDACTED, "null")
        case _:
            # Senders of other dialects keep JSON's own numbers and booleans.
            return single(make.constant(captured))


def _leaf(text: str, place: Place) -> Decoded:
    reason = marked(text)
    if reason is not None:
        return reason
    nested = _nested_json(text)
    if nested is not None:
        decoded = _json(nested, None, place)
        if not isinstance(decoded, Unknown) or decoded.cause is not UnknownCause.UNPARSABLE:
            return decoded
    if text.startswith("<") and text.endswith(">"):
        return decode_angle(text, place)
    parsed = parse(text, place.depth)
    if isinstance(parsed, Unknown):
        return _named_class(parsed, text)
    return _named_class(decode_node(parsed.node, parsed, replace(place, trimmed=False)), text)


def _named_class(decoded: Decoded, text: str) -> Decoded:
    """Add the class that an opaque text names, where the failure did not say one."""
    if isinstance(decoded, Unknown) and decoded.class_name is None:
        return replace(decoded, class_name=class_name_of(text))
    return decoded


def _nested_json(text: str) -> JSON:
    """Return what a server wrote as JSON text because it lay too deep; `None` for anything else.

    Its leaves are captured reprs, so all are strings; a Python list of numbers is no such text.
    """
    if not text.startswith(('{"', "[")) or not text.endswith(("}", "]")):
        return None
    try:
        value: JSON = json.loads(text)
    except (ValueError, RecursionError):
        return None
    compact = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    if not isinstance(value, list | dict) or compact != text or not value:
        return None
    return value if not _is_too_large(value) and _holds_text_only(value) else None


def _holds_text_only(value: JSON) -> bool:
    level: list[JSON] = [value]
    while level:
        one = level.pop()
        if isinstance(one, list):
            level += one
        elif isinstance(one, dict):
            level += one.values()
        elif not isinstance(one, str):
            return False
    return True


def _cut_note(length: int, place: Place) -> str:
    """Return the note for a container that is exactly as long as a sender lets it be."""
    version = place.hints.sdk_version
    silent = version is None or version >= _SILENT_SINCE
    if length != WIDTH or not place.trimmed or not silent:
        return ""
    return f"{place.path or 'it'} may have been cut at {WIDTH} items"


def _array(captured: list[JSON], meta: JSON, place: Place) -> Decoded:
    note = _cut_note(len(captured), place)
    known: dict[tuple[int, ...], list[Decoded]] = {}
    groups: list[Decoded] = []
    for reading in list_readings(place, len(captured)):
        annotations = [reading.items(index) for index in range(len(captured))]
        key = tuple(map(id, annotations))
        if key not in known:
            known[key] = _array_parts(captured, meta, place, annotations)
        groups.append(
            combine(
                known[key],
                reading.build,
                limit=place.limit,
                provenance=reading.provenance,
                note="; ".join(filter(None, (note, reading.note))),
                ambiguous=not reading.certain or bool(note),
            )
        )
    return _interleaved(groups, place.limit)


def _array_parts(
    captured: list[JSON], meta: JSON, place: Place, annotations: Sequence[ast.expr | None]
) -> list[Decoded]:
    parts = []
    for index, (item, annotation) in enumerate(zip(captured, annotations, strict=True)):
        part = place.part(f"[{index}]", annotation)
        parts.append(part.fill(_json(item, _below(meta, str(index)), part)))
    return parts


def _below(meta: JSON, key: str) -> JSON:
    return meta.get(key) if isinstance(meta, dict) and key else None


def _object(captured: dict[str, JSON], meta: JSON, place: Place) -> Decoded:
    note = _cut_note(len(captured), place)
    inner = value_annotation(place)
    values = []
    for key, value in captured.items():
        part = place.part(f"[{key[:40]!r}]", inner)
        values.append(part.fill(_json(value, _below(meta, key), part)))
    groups = [
        _mapping(values, mapping, keys, note, place.limit)
        for mapping in mapping_readings(place)
        for keys in key_readings(list(captured), place)
    ]
    return _interleaved(groups, place.limit)


def _mapping(
    values: Sequence[Decoded], mapping: MappingReading, keys: KeyReading, note: str, limit: int
) -> Decoded:
    def build(parts: Sequence[Expression]) -> Expression:
        return mapping.build(make.dict_of(keys.keys, parts))

    return combine(
        values,
        build,
        limit=limit,
        provenance=weakest([mapping.provenance, keys.provenance]),
        note="; ".join(filter(None, (note, mapping.note))),
        ambiguous=not (mapping.certain and keys.certain) or bool(note),
    )


def _interleaved(groups: Sequence[Decoded], limit: int) -> Decoded:
    """Return the best of each reading, then the second best of each, and so on."""
    readings = [group for group in groups if not isinstance(group, Unknown)]
    if not readings:
        return next(group for group in groups if isinstance(group, Unknown))
    found: list[Candidate] = []
    for row in zip_longest(*readings):
        for candidate in row:
            if candidate is not None:
                found.append(candidate)
            if len(found) == limit:
                return tuple(found)
    return tuple(found)
