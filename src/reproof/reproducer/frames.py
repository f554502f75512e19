"""One frame of the stack as recovery sees it, and one way to give a value its place in a test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reproof.domain.event import EMPTY
from reproof.reproducer.usage import uses_of
from reproof.reproducer.values.place import Hints
from reproof.reproducer.values.provenance import Provenance

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reproof.domain.event import JSON, Event
    from reproof.reproducer.facts import Facts
    from reproof.reproducer.locate import Place
    from reproof.reproducer.source import FunctionSite, Parameter, SourceIndex
    from reproof.reproducer.values.expression import Expression
    from reproof.reproducer.values.provenance import Candidate, Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """One way to give a parameter its value."""

    expression: Expression | None
    """`None` leaves the argument out: the parameter's default is meant."""
    provenance: Provenance
    note: str = ""
    ambiguous: bool = False
    attributes: tuple[tuple[str, Expression], ...] = ()
    """Set on the object after it was made (a `partial` instance)."""
    unknown: Unknown | None = None
    """For a sentinel: why nothing better is known."""
    captured: JSON = None
    checkable: bool = False
    """Serialising it again must give `captured`."""
    stale: bool = False
    """The captured text is the value at the crash, and the code may have changed it since entry."""

    @property
    def weak(self) -> bool:
        """Say whether it rests on a guess that only a replay can support."""
        return self.unknown is not None or self.provenance in (
            Provenance.PARTIAL,
            Provenance.SENTINEL,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameView:
    """One located in-app frame with the function it was running."""

    place: Place
    site: FunctionSite
    variables: Mapping[str, JSON]


def view_of(place: Place, index: SourceIndex) -> FrameView | None:
    """Return the view of a located frame, or `None` when its function is not in the file."""
    frame = place.frame
    if place.path is None or place.line is None or not frame.function:
        return None
    site = index.site(place.path, place.line, frame.function, frame.module)
    if site is None:
        return None
    return FrameView(place=place, site=site, variables=_as_written(frame.variables or EMPTY, site))


def _as_written(variables: Mapping[str, JSON], site: FunctionSite) -> Mapping[str, JSON]:
    """Return the locals by the names of the source: `__x` of a class is `_Class__x` at run time."""
    prefix = f"_{site.classes[-1].lstrip('_')}__" if site.classes else ""
    if not prefix or not any(name.startswith(prefix) for name in variables):
        return variables
    return {
        f"__{name[len(prefix) :]}" if name.startswith(prefix) else name: value
        for name, value in variables.items()
    }


def hints_for(
    event: Event, facts: Facts, view: FrameView, name: str, parameter: Parameter | None = None
) -> Hints:
    """Return what the source and the sender say about a local beside its text."""
    return Hints(
        annotation=parameter.annotation if parameter else None,
        default=parameter.default if parameter else None,
        uses=uses_of(view.site, name),
        sdk_version=version_of(event.sdk_version),
        python=_minor(event.runtime_version),
        lookup=facts,
    )


def from_candidate(candidate: Candidate, captured: JSON) -> Recovered:
    """Return a decoded value as it stands in a plan; it must serialise to `captured` again."""
    return Recovered(
        expression=candidate.expression,
        provenance=candidate.provenance,
        note=candidate.note,
        ambiguous=candidate.ambiguous,
        captured=captured,
        checkable=True,
    )


def version_of(text: str | None) -> tuple[int, ...] | None:
    """Return `(2, 75, 0)` for `2.75.0`; `None` when it says nothing of the kind."""
    parts = (text or "").split(".")[:3]
    numbers = [int(p) for p in parts if p.isdigit() and len(p) < 6]  # noqa: PLR2004 -- sane parts
    return tuple(numbers) or None


def _minor(text: str | None) -> tuple[int, int] | None:
    found = version_of(text)
    return (found[0], found[1]) if found and len(found) > 1 else None
