"""One event held against one tree: where its frames stand, and what a replay must show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reproof.domain.event import EMPTY
from reproof.domain.refusal import Refusal, RefusalReason
from reproof.domain.text import shown
from reproof.reproducer.facts import names_in, opaque_class
from reproof.reproducer.frames import FrameView, view_of
from reproof.reproducer.locate import Agreement, Place, crash_place, locate, refuse_unplaced
from reproof.reproducer.source import SourceIndex
from reproof.verdict.expectation import Below, Expectation, ExpectedFrame, causes_of, group_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reproof.domain.event import JSON, Event, Frame
    from reproof.reproducer.locate import SourceTree


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Everything that is known before anything runs."""

    event: Event
    index: SourceIndex
    places: tuple[Place, ...]
    views: tuple[FrameView, ...]
    """Located in-app frames whose function was found, outermost first; never empty."""
    expected: Expectation

    @property
    def crash(self) -> Place:
        """The crash point's place."""
        found = crash_place(self.places)
        if found is None:
            raise AssertionError("a case has a crash point")
        return found

    @property
    def import_roots(self) -> tuple[str, ...]:
        """Return the tree-relative folders that make the frames' modules importable."""
        roots = dict.fromkeys(view.site.root for view in reversed(self.views))
        return tuple(dict.fromkeys([*roots, ""]))

    def names(self) -> dict[str, JSON]:
        """Return the guest's inspection request: modules, names, classes of opaque objects."""
        variables = [view.variables for view in self.views]
        names = list(names_in(variables))
        opaque = {
            name
            for mapping in variables
            for value in mapping.values()
            if (name := opaque_class(value)) is not None
        }
        own = [
            ".".join((view.site.module, *view.site.classes))
            for view in self.views
            if view.site.classes and not view.site.nested_in
        ]
        names = list(dict.fromkeys([*names, *sorted(opaque), *own]))
        modules = list(dict.fromkeys(view.site.module for view in reversed(self.views)))
        return {"imports": [*modules], "names": [*names], "instances": [*sorted(opaque | set(own))]}


def build_case(event: Event, tree: SourceTree, source_map: Mapping[str, str]) -> Case | Refusal:
    """Locate the frames and state the expectation, or say why that cannot be done."""
    places = locate(event, tree, source_map)
    refusal = refuse_unplaced(places)
    if refusal is not None:
        return refusal
    index = SourceIndex(tree)
    in_app = [
        p
        for p in places
        if p.in_app
        and p.path is not None
        and p.agreement is not Agreement.DRIFT
        and not p.candidates
    ]
    views = tuple(v for p in in_app if (v := view_of(p, index)) is not None)
    crash = crash_place(places)
    if not views or crash is None or views[-1].place is not crash:
        function = shown(crash.frame.function or "?") if crash else "?"
        where = shown(crash.path or "?") if crash else "?"
        return Refusal(
            reason=RefusalReason.SOURCE_DRIFT,
            summary=f"{where} has no function {function} around the captured line, or it "
            "cannot be parsed",
            hint="check out the revision that crashed, or tag it with the event's release",
        )
    return Case(
        event=event,
        index=index,
        places=places,
        views=views,
        expected=_expectation(event, index, places, views),
    )


def _expectation(
    event: Event, index: SourceIndex, places: Sequence[Place], views: Sequence[FrameView]
) -> Expectation:
    crash = views[-1].place
    last = places[-1]
    return Expectation(
        exception=event.raised,
        causes=causes_of(event.exceptions),
        group=group_of(event.exceptions),
        stack=tuple(_expected(index, view) for view in views),
        below=None if last is crash else Below(last.frame.function, _base(last.frame)),
    )


def _base(frame: Frame) -> str:
    """Return the bare file name of a frame, the part that is alike on every machine."""
    return (frame.abs_path or frame.filename or "").replace("\\", "/").rpartition("/")[2]


def _expected(index: SourceIndex, view: FrameView) -> ExpectedFrame:
    place = view.place
    line = place.line or 0
    return ExpectedFrame(
        index=place.index,
        path=view.site.path,
        function=view.site.name,
        line=line,
        statement=index.statement(view.site.path, line),
        moved=place.agreement is not Agreement.EXACT,
        variables=place.frame.variables or EMPTY,
        meta=place.frame.meta,
    )
