"""Typed access to untrusted JSON: each function returns the type it names, or "not there".

Ill-typed is the same as missing here: servers null what they cannot read, old SDKs leave keys out,
and anybody can send anything. Nothing in this module raises for any JSON.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from reproof.domain.event import EMPTY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reproof.domain.event import JSON

MAX_DEPTH = 200
"""Containers inside containers. SDKs stop near ten; code that walks a payload may rely on this."""

_DIGITS = 9


def too_deep(value: JSON) -> bool:
    """Whether containers are nested more than `MAX_DEPTH` levels. Never recurses."""
    level: list[JSON] = [value]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for container in level
            for child in (
                container.values()
                if isinstance(container, dict)
                else container
                if isinstance(container, list)
                else ()
            )
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


def mapping(value: JSON | Mapping[str, JSON]) -> Mapping[str, JSON]:
    """Return the object, or an empty one."""
    return value if isinstance(value, dict) else EMPTY


def items(value: JSON) -> list[JSON]:
    """Return the array, or an empty one."""
    return value if isinstance(value, list) else []


def text(*candidates: JSON) -> str | None:
    """Return the first candidate that is a string with something in it."""
    return next((value for value in candidates if isinstance(value, str) and value), None)


def scalar_text(*candidates: JSON) -> str:
    """Return the first candidate that is a non-empty string or an integer, as text; else empty."""
    for value in candidates:
        if isinstance(value, str) and value:
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value) if -(10**18) < value < 10**18 else ""
    return ""


def integer(*candidates: JSON) -> int | None:
    """Return the first candidate that is a whole number, digits in a string included."""
    for value in candidates:
        if isinstance(value, bool):
            continue
        if isinstance(value, int):
            return value
        if isinstance(value, float) and value.is_integer() and abs(value) < 10**_DIGITS:
            return int(value)
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= _DIGITS:
            return int(value)
    return None


def positive(*candidates: JSON) -> int | None:
    """Return the first whole number if it can be a line number."""
    number = integer(*candidates)
    return number if number is not None and 0 < number < 10**_DIGITS else None


def boolean(*candidates: JSON) -> bool | None:
    """Return the first candidate that is a boolean."""
    return next((value for value in candidates if isinstance(value, bool)), None)


def pairs(value: JSON) -> list[tuple[str, JSON]]:
    """Return an object's items, or an array of `[key, value]` or `{key, value}` as such."""
    if isinstance(value, dict):
        return list(value.items())
    found: list[tuple[str, JSON]] = []
    for item in items(value):
        match item:
            case [str(key), content]:
                found.append((key, content))
            case {"key": str(key), "value": content}:
                found.append((key, content))
            case _:
                pass
    return found


def text_mapping(value: JSON) -> dict[str, str]:
    """Return the pairs of `pairs` whose values are text, numbers or booleans, as text."""
    found: dict[str, str] = {}
    for key, content in pairs(value):
        if isinstance(content, bool):
            found[key] = str(content).lower()
        elif isinstance(content, str):
            found[key] = content
        elif isinstance(content, int | float):
            found[key] = scalar_text(content) or repr(float(content))
    return found


def descend(tree: JSON | Mapping[str, JSON], *keys: str) -> Mapping[str, JSON]:
    """Follow keys down to an object; an empty one where the way ends.

    `_meta` trees index arrays by their positions as text.
    """
    for key in keys:
        tree = mapping(tree).get(key)
    return mapping(tree)


def instant(*candidates: JSON) -> str | None:
    """Return the first candidate that names a moment, as ISO 8601 in UTC.

    Text without an offset is taken as UTC, as servers take it; a number is seconds since 1970.
    """
    for value in candidates:
        moment = _moment(value)
        if moment is not None:
            return moment.isoformat().replace("+00:00", "Z")
    return None


def _moment(value: JSON) -> datetime | None:
    try:
        if isinstance(value, str):
            # Real ones are under 40 characters; a longer text is not worth reading.
            read = datetime.fromisoformat(value.strip()) if len(value) < 64 else None  # noqa: PLR2004
            if read is None:
                return None
            return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        # Not a date, or one no calendar holds: the same as missing.
        return None
    return None
