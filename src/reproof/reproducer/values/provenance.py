"""Where a recovered value comes from, and why one could not be recovered."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reproof.reproducer.values.expression import Expression


class Provenance(StrEnum):
    """The kinds of origin, strongest first (`rank` 0)."""

    SNAPSHOT = "snapshot"
    LITERAL = "literal"
    CONSTRUCTED = "constructed"
    CALLER = "caller"
    ALIAS = "alias"
    BUILT = "built"
    DEDUCED = "deduced"
    PARTIAL = "partial"
    SENTINEL = "sentinel"
    USER = "user"

    @property
    def rank(self) -> int:
        """Position in the order of strength; 0 is the strongest."""
        return _RANKS[self]


_RANKS = {kind: position for position, kind in enumerate(Provenance)}


def weakest(kinds: Iterable[Provenance]) -> Provenance:
    """Return the weakest of the kinds; `snapshot` when there are none."""
    return max(kinds, key=lambda kind: kind.rank, default=Provenance.SNAPSHOT)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One value that the captured text may stand for."""

    expression: Expression
    provenance: Provenance
    note: str = ""
    """What a reader should know and cannot see: an assumption, something the capture left out."""
    ambiguous: bool = False
    """The text and the hints also allow another value or type, listed beside this one or not."""


class UnknownCause(StrEnum):
    """Why captured text gives no value."""

    OPAQUE = "opaque"
    """A repr that says nothing about the content: `<Cart object at 0x..>`."""
    REDACTED = "redacted"
    TRUNCATED = "truncated"
    BROKEN_REPR = "broken_repr"
    CYCLIC = "cyclic"
    MISSING = "missing"
    """A needed part (a required field) is not in the text."""
    UNPARSABLE = "unparsable"
    FAILED_TO_SERIALIZE = "failed_to_serialize"
    TOO_LARGE = "too_large"
    UNRESOLVED_CLASS = "unresolved_class"
    """The text names a class that the lookup does not know, or knows differently."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """No value, and the reason."""

    cause: UnknownCause
    text: str = ""
    """The captured text at fault, at most 200 characters of it. Hostile: escape before printing."""
    class_name: str | None = None
    """The class the text names, as it spells it (bare or dotted)."""
    path: str = ""
    """Where in the captured value the fault lies (`['user'][0].name`); empty for all of it."""


Decoded: TypeAlias = "tuple[Candidate, ...] | Unknown"

_TEXT_LIMIT = 200


def unknown(cause: UnknownCause, text: str, class_name: str | None = None) -> Unknown:
    """Return an `Unknown` that keeps no more of the text than a message needs."""
    return Unknown(cause, text[:_TEXT_LIMIT], class_name)
