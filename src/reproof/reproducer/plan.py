"""Which calls could bring the crash back: a frame to enter and a value for everything it takes.

Plans are listed per frame, best first; the search (`reproof.search`) decides in which order they
run and when to stop.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reproof.domain.event import EMPTY
from reproof.reproducer.source import EntryKind, Parameter, change_before, own_nodes
from reproof.reproducer.values.expression import Expression, attribute, is_dotted, reference
from reproof.reproducer.values.provenance import Provenance

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reproof.domain.event import JSON
    from reproof.reproducer.frames import FrameView, Recovered
    from reproof.reproducer.recover import Recovery

MAX_PLANS_PER_ENTRY = 10
_UNREACHABLE = frozenset({EntryKind.LAMBDA, EntryKind.COMPREHENSION})


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """One argument of the call."""

    parameter: Parameter
    value: Recovered


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One entry with a value for each parameter."""

    position: int
    """Index into the recovery's views, outermost 0."""
    view: FrameView
    arguments: tuple[Given, ...]
    receiver: Recovered | None = None
    callee: Expression | None = None
    """What is called, where it is not found by the site's own name (a wrapped function)."""
    owner: Expression | None = None
    """For a class method: the class the frame shows in `cls`, where that is known."""
    main: bool = False
    """For module-level code: it ran as a script."""

    @property
    def values(self) -> tuple[tuple[str, Recovered], ...]:
        """Return every value with its name, the receiver first."""
        first = (
            () if self.receiver is None else ((self.view.site.receiver or "self", self.receiver),)
        )
        return first + tuple((g.parameter.name, g.value) for g in self.arguments)

    @property
    def strength(self) -> int:
        """Return the rank of the weakest value; 0 is the strongest."""
        return max((v.provenance.rank for _, v in self.values), default=0)

    @property
    def sentinels(self) -> tuple[str, ...]:
        """Return the names whose values are stand-ins."""
        return tuple(n for n, v in self.values if v.provenance is Provenance.SENTINEL)


def plans_for(recovery: Recovery, position: int) -> Iterator[Plan]:
    """Yield the plans that enter `views[position]`, best first."""
    view = recovery.views[position]
    site = view.site
    if site.kind is EntryKind.MODULE and is_dotted(site.module):
        yield Plan(
            position=position, view=view, arguments=(), main=view.place.frame.module == "__main__"
        )
        return
    if site.kind in _UNREACHABLE or not is_dotted(site.module):
        # a file such as bin/run-job.py has no name that an import statement could say
        return
    callee = None
    if site.kind is EntryKind.NESTED:
        callee = _wrapped(recovery, view)
        if callee is None:
            return
    parameters = list(site.parameters)
    receivers: list[Recovered | None] = [None]
    if site.receiver is not None:
        parameters.pop(0)
        if site.kind in (EntryKind.METHOD, EntryKind.PROPERTY):
            receivers = list(recovery.receiver(position))
    elif site.name == "__new__":
        parameters.pop(0)
    owner = recovery.owner(position) if site.kind is EntryKind.CLASSMETHOD else None
    choices = [recovery.parameter(position, p) for p in parameters]
    for receiver, values in _combinations(receivers, choices):
        yield Plan(
            position=position,
            view=view,
            receiver=receiver,
            callee=callee,
            owner=owner,
            arguments=tuple(
                Given(parameter=p, value=v) for p, v in zip(parameters, values, strict=True)
            ),
        )


def _combinations(
    receivers: Sequence[Recovered | None], choices: Sequence[Sequence[Recovered]]
) -> Iterator[tuple[Recovered | None, tuple[Recovered, ...]]]:
    """Yield all-best first, then one departure at a time: a full product would drown the search."""
    if not receivers:
        return
    best = tuple(c[0] for c in choices)
    count = 0
    for receiver in receivers:
        yield receiver, best
        count += 1
        if count >= MAX_PLANS_PER_ENTRY:
            return
    for rank in range(1, max((len(c) for c in choices), default=0)):
        for at, options in enumerate(choices):
            if rank < len(options):
                yield receivers[0], (*best[:at], options[rank], *best[at + 1 :])
                count += 1
                if count >= MAX_PLANS_PER_ENTRY:
                    return


def _wrapped(recovery: Recovery, view: FrameView) -> Expression | None:
    """Return the public function that a decorator's inner function stands for.

    The wrapper's frame shows what it wraps (`<function rate at 0x..>`): calling that by its public
    name runs through the wrapper.
    """
    for value in view.variables.values():
        if not isinstance(value, str) or not value.startswith("<function "):
            continue
        name = value[len("<function ") :].partition(" ")[0]
        facts = [f for f in recovery.facts.find(name) if f.qualname == name]
        if facts and view.site.nested_in:
            return reference(facts[0].module, facts[0].qualname)
    return None


def entry_call(plan: Plan) -> Expression | None:
    """Return what is called, for an entry that needs no receiver."""
    site = plan.view.site
    if plan.callee is not None:
        return plan.callee
    if site.classes:
        cls = _class_of(plan)
        if site.kind is EntryKind.INIT or site.name == "__new__":
            return cls
        return attribute(cls, mangled(site.name, site.classes))
    return reference(site.module, site.name)


def _class_of(plan: Plan) -> Expression:
    site = plan.view.site
    return plan.owner or reference(site.module, ".".join(site.classes))


def mangled(name: str, classes: Sequence[str]) -> str:
    """Return a private method's name as it must be written outside the class."""
    if name.startswith("__") and not name.endswith("__") and classes:
        return f"_{classes[-1].lstrip('_')}{name}"
    return name


def bypassed(recovery: Recovery, position: int) -> tuple[FrameView, ...]:
    """Return the in-app frames that an entry at `position` leaves out."""
    return tuple(recovery.views[:position])


def unchanged_parameters(view: FrameView) -> Mapping[str, JSON]:
    """Return the captured parameters that surely still hold what was passed."""
    if view.site.node is None:
        return EMPTY
    return {
        p.name: view.variables[p.name]
        for p in view.site.parameters
        if p.name in view.variables and change_before(view.site, p.name) == "none"
    }


__all__ = ["Given", "Plan", "bypassed", "entry_call", "mangled", "own_nodes", "plans_for"]
