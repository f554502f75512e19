"""Which calls could bring the crash back: a frame to enter and a value for everything it takes.

Plans are listed per frame, best first; the search (`reproof.search`) decides in which order they
run and when to stop.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reproof.domain.event import EMPTY
from reproof.reproducer.deduce import path_of
from reproof.reproducer.source import (
    EntryKind,
    Parameter,
    change_before,
    own_nodes,
    statement_at,
)
from reproof.reproducer.values.expression import Expression, attribute, is_dotted, reference
from reproof.reproducer.values.provenance import Provenance, UnknownCause

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
class StandIn:
    """A class of which the test makes an object without all of its state."""

    module: str
    qualname: str
    partial: bool
    """Made without `__init__`."""
    known: tuple[str, ...] = ()
    """What it was made from."""
    given: tuple[str, ...] = ()
    """Attributes that the test sets."""
    shown: bool = False
    """The event shows its content, as that of a list or a dict."""


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

    @property
    def opaque(self) -> tuple[str, ...]:
        """Return the stand-ins of which the event shows that they were some object, not None."""
        return tuple(
            n
            for n, v in self.values
            if v.provenance is Provenance.SENTINEL
            and v.unknown is not None
            and v.unknown.cause is UnknownCause.OPAQUE
        )

    @property
    def stand_ins(self) -> tuple[StandIn, ...]:
        """Return the classes of the objects that are made without all of their state."""
        found = [
            _stand_in(v, self.view.variables.get(name))
            for name, v in self.values
            if v.unknown is not None
        ]
        return tuple(dict.fromkeys(one for one in found if one is not None))

    @property
    def left_open(self) -> str | None:
        """Return a parameter left out without knowing that it was, if the outcome may hang on it.

        That is a `*args` or `**kwargs` that the code reads at all, and any other that is read at
        the very line.
        """
        site = self.view.site
        if site.node is None:
            return None
        line = statement_at(site.node, site.line) or site.node
        guessed = [
            g.parameter
            for g in self.arguments
            if g.value.expression is None and g.value.unknown is not None
        ]
        for parameter in guessed:
            nodes = ast.walk(site.node if parameter.kind.startswith("var_") else line)
            if any(isinstance(n, ast.Name) and n.id == parameter.name for n in nodes):
                return parameter.name
        return None


def _stand_in(value: Recovered, captured: JSON) -> StandIn | None:
    """Read `Cls.__new__(Cls)` and `Cls(rate=0)`: an object and what of its state is known."""
    made = value.expression
    if made is None or not isinstance(made.node, ast.Call):
        return None
    node = made.node
    partial = isinstance(node.func, ast.Attribute) and node.func.attr == "__new__"
    path = path_of(node.args[0] if partial else node.func)
    found = next((i for i in made.imports if path and i.bound == path[0]), None)
    if path is None or found is None or found.name is None:
        return None
    return StandIn(
        module=found.module,
        qualname=".".join((found.name, *path[1:])),
        partial=partial,
        known=tuple(k.arg for k in node.keywords if k.arg),
        given=tuple(name for name, _ in value.attributes),
        shown=isinstance(captured, list | dict),
    )


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
