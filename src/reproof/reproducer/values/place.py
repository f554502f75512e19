"""Where in a captured value the decoder stands, and how parts are put together to wholes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain, islice, product
from typing import TYPE_CHECKING, Protocol

from reproof.reproducer.values.classes import NOTHING_KNOWN, ClassLookup
from reproof.reproducer.values.provenance import (
    Candidate,
    Decoded,
    Provenance,
    Unknown,
    UnknownCause,
    unknown,
    weakest,
)

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterator, Sequence

    from reproof.reproducer.values.expression import Expression

MAX_DEPTH = 100
MAX_NODES = 20_000
MAX_TEXT = 1024 * 1024
_MAX_TRIES = 24
_FEWEST = 2
_MAX_NOTES = 3


class StandIn(Protocol):
    """Gives an expression to put where a part of a container is unknown, or `None`."""

    def __call__(self, missing: Unknown) -> Expression | None:
        """Answer for the part at `missing.path`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Hints:
    """What is known about the variable besides its captured text."""

    annotation: ast.expr | None = None
    default: ast.expr | None = None
    uses: frozenset[str] = frozenset()
    """Methods, attributes and operations that the source applies to the variable:
    `append`, `items`, `__getitem__:int`."""
    sdk_version: tuple[int, ...] | None = None
    python: tuple[int, int] | None = None
    lookup: ClassLookup = NOTHING_KNOWN
    stand_in: StandIn | None = None
    """Without it a container with an unknown part is unknown as a whole."""


@dataclass(frozen=True, slots=True)
class Place:
    """One position in the captured value, with the hints that hold there."""

    hints: Hints
    limit: int
    annotation: ast.expr | None = None
    depth: int = 0
    path: str = ""
    trimmed: bool = True
    """Items beyond the tenth would have been cut here: true for JSON, false inside a repr."""

    @property
    def default(self) -> ast.expr | None:
        """The parameter's default; it says nothing about parts."""
        return None if self.path else self.hints.default

    @property
    def uses(self) -> frozenset[str]:
        """The operations seen on the variable; they say nothing about parts."""
        return frozenset() if self.path else self.hints.uses

    def part(self, step: str, annotation: ast.expr | None = None) -> Place:
        """Return the place one level down."""
        # Alternatives multiply with each level, and the outer ones matter more.
        return replace(
            self,
            limit=min(self.limit, max(self.limit // 2, _FEWEST)),
            annotation=annotation,
            depth=self.depth + 1,
            path=f"{self.path}{step}"[:200],
        )

    def fill(self, decoded: Decoded) -> Decoded:
        """Return what stands at this place: what was decoded, or a stand-in for an unknown."""
        if not isinstance(decoded, Unknown):
            return decoded
        missing = decoded if decoded.path else replace(decoded, path=self.path)
        if self.hints.stand_in is None or missing.cause is UnknownCause.TOO_LARGE:
            return missing
        expression = self.hints.stand_in(missing)
        if expression is None:
            return missing
        note = f"{self.path} was not captured ({missing.cause})"
        return (Candidate(expression, Provenance.SENTINEL, note, ambiguous=True),)


def single(
    expression: Expression,
    provenance: Provenance = Provenance.LITERAL,
    note: str = "",
    *,
    ambiguous: bool = False,
) -> Decoded:
    """Return the one candidate."""
    return (Candidate(expression, provenance, note, ambiguous),)


def combine(  # noqa: PLR0913 - the facts about a whole that its parts do not carry
    parts: Sequence[Decoded],
    build: Callable[[Sequence[Expression]], Expression | None],
    *,
    limit: int,
    text: str = "",
    provenance: Provenance = Provenance.LITERAL,
    note: str = "",
    ambiguous: bool = False,
) -> Decoded:
    """Return the wholes that `build` makes of the parts, likeliest first.

    `build` returns `None` for parts that cannot form the whole (an unhashable key). One unknown
    part makes the whole unknown.
    """
    choices: list[tuple[Candidate, ...]] = []
    for part in parts:
        if isinstance(part, Unknown):
            return part
        choices.append(part)
    wholes: list[Candidate] = []
    for chosen in islice(_selections(choices), _MAX_TRIES):
        expression = build([one.expression for one in chosen])
        if expression is None:
            continue
        origin = weakest([provenance, *(one.provenance for one in chosen)])
        doubtful = ambiguous or any(one.ambiguous for one in chosen)
        whole = Candidate(expression, origin, _join(note, chosen), doubtful)
        wholes.append(whole)
        if len(wholes) == limit:
            break
    if not wholes:
        return unknown(UnknownCause.UNPARSABLE, text)
    return tuple(wholes)


def _selections(choices: Sequence[tuple[Candidate, ...]]) -> Iterator[tuple[Candidate, ...]]:
    """Yield one candidate per part, no selection twice: first all parts at one rank, then mixed.

    Parts of one container are mostly alike (a list of tuples), so the uniform selections are
    likelier than any mixture.
    """
    counts = [len(choice) for choice in choices]
    uniform = [
        tuple(min(rank, count - 1) for count in counts) for rank in range(max(counts, default=1))
    ]
    mixed = product(*map(range, counts)) if len(uniform) > 1 else ()
    for ranks in chain(uniform, (one for one in mixed if one not in uniform)):
        yield tuple(choice[rank] for choice, rank in zip(choices, ranks, strict=True))


def _join(note: str, chosen: Sequence[Candidate]) -> str:
    notes = list(dict.fromkeys(text for text in (note, *(one.note for one in chosen)) if text))
    return "; ".join(notes[:_MAX_NOTES])


def ranked(groups: Sequence[Decoded], limit: int, text: str = "") -> Decoded:
    """Return the candidates of several readings of one text, the first reading's first.

    With more than one candidate all are marked ambiguous. The first `Unknown` stands when no
    reading gave a candidate.
    """
    found: list[Candidate] = []
    for group in groups:
        if isinstance(group, Unknown):
            continue
        for candidate in group:
            if all(candidate.expression != other.expression for other in found):
                found.append(candidate)
    if not found:
        failed = [group for group in groups if isinstance(group, Unknown)]
        return failed[0] if failed else unknown(UnknownCause.UNPARSABLE, text)
    if len(found) > 1:
        found = [replace(one, ambiguous=True) for one in found]
    return tuple(found[:limit])
