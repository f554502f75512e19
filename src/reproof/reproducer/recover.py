"""Recover the value of a name in a frame, with where it came from; several, best first.

The order of means follows the spec: what the text itself says, what the caller's expression says,
what the source built it from, what the exception proves, an object made without `__init__` that
holds only what is known, and last a sentinel.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from reproof.reproducer.evaluate import Scope, evaluate, module_globals
from reproof.reproducer.facts import opaque_class
from reproof.reproducer.frames import FrameView, Recovered, from_candidate, hints_for
from reproof.reproducer.objects import class_of, instances, sentinel, stand_in
from reproof.reproducer.source import (
    CallSite,
    Change,
    Parameter,
    call_site,
    change_before,
    own_nodes,
)
from reproof.reproducer.state import assigned_once, attributes_of, proven
from reproof.reproducer.usage import uses_of
from reproof.reproducer.values.decode import decode
from reproof.reproducer.values.expression import Expression, call, reference
from reproof.reproducer.values.provenance import (
    Decoded,
    Provenance,
    Unknown,
    UnknownCause,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reproof.domain.event import JSON, Event
    from reproof.reproducer.facts import Facts
    from reproof.reproducer.source import SourceIndex
    from reproof.reproducer.values.place import Hints

MAX_DEPTH = 6
MAX_VALUES = 6


@dataclass(slots=True)
class Recovery:
    """Recovers values over one event's stack."""

    event: Event
    index: SourceIndex
    views: Sequence[FrameView]
    facts: Facts
    user: Mapping[str, Expression] = field(default_factory=dict)
    _globals: dict[str, dict[str, str]] = field(default_factory=dict)

    def parameter(self, position: int, parameter: Parameter) -> list[Recovered]:
        """Return the ways to give one parameter of `views[position]`, best first; never empty."""
        if parameter.name in self.user:
            return [
                Recovered(
                    expression=self.user[parameter.name],
                    provenance=Provenance.USER,
                    note="supplied by a person",
                )
            ]
        found = list(self._known(position, parameter))
        unknown = self._captured_unknown(position, parameter)
        if not found and parameter.kind.startswith("var_"):
            return [
                Recovered(
                    expression=None,
                    provenance=Provenance.CALLER,
                    unknown=unknown,
                    note="not captured; left empty",
                )
            ]
        if not found or all(r.weak for r in found):
            found += self._unknown_object(position, parameter.name, unknown)
            if parameter.default is not None:
                found.append(
                    Recovered(
                        expression=None,
                        provenance=Provenance.CALLER,
                        note="not captured; left to its default",
                        unknown=unknown,
                    )
                )
            if unknown.cause is UnknownCause.OPAQUE or not found:
                found.append(sentinel(parameter.name, unknown))
        return _unique(found)[:MAX_VALUES]

    def receiver(self, position: int) -> list[Recovered]:
        """Return the ways to make the object a method of `views[position]` is called on."""
        view = self.views[position]
        name = view.site.receiver or "self"
        captured = view.variables.get(name)
        found: list[Recovered] = []
        if name in view.variables:
            decoded = self.read(view, name)
            if not isinstance(decoded, Unknown):
                found += [from_candidate(c, captured) for c in decoded]
        found += self._from_caller(position, None)
        cause = Unknown(UnknownCause.OPAQUE, str(captured)[:200], opaque_class(captured))
        found += self._unknown_object(position, name, cause)
        return _unique(found)[: MAX_VALUES + 2]

    def owner(self, position: int) -> Expression | None:
        """Return the class that a class method's frame shows in its first parameter."""
        view = self.views[position]
        name = view.site.receiver or "cls"
        if name not in view.variables:
            return None
        decoded = self.read(view, name)
        return None if isinstance(decoded, Unknown) else decoded[0].expression

    def _known(self, position: int, parameter: Parameter) -> Iterator[Recovered]:
        view = self.views[position]
        change = change_before(view.site, parameter.name)
        captured = list(self.from_capture(view, parameter, change))
        caller = self._from_caller(position, parameter)
        doubtful = change in (Change.REBOUND, Change.MUTATED)
        if doubtful or any(r.ambiguous for r in captured[:1]):
            yield from caller
            yield from captured
        else:
            yield from captured
            yield from caller

    def from_capture(
        self, view: FrameView, parameter: Parameter, change: Change
    ) -> Iterator[Recovered]:
        """Yield the values that the captured text of a parameter allows, best first."""
        if parameter.name not in view.variables:
            return
        captured = view.variables[parameter.name]
        decoded = self.read(view, parameter.name, parameter)
        if isinstance(decoded, Unknown):
            return
        note = (
            "as it was at the crash; it may have been changed since the call"
            if change in (Change.REBOUND, Change.MUTATED)
            else ""
        )
        yield from self._named_tuples(view, parameter, captured)
        for candidate in decoded:
            if parameter.kind == "var_positional" and not isinstance(
                candidate.expression.node, ast.List
            ):
                # `*args` is spread into the call: which container it was says nothing
                continue
            made = from_candidate(candidate, captured)
            if parameter.default is not None and _equal(candidate.expression, parameter.default):
                yield replace(made, expression=None, note="its default")
            else:
                yield replace(made, note=made.note or note, stale=bool(note))

    def _named_tuples(
        self, view: FrameView, parameter: Parameter, captured: JSON
    ) -> Iterator[Recovered]:
        """Read a list whose items the source uses by name as a named tuple: senders drop names."""
        if not isinstance(captured, list) or not captured:
            return
        uses = {use for use in uses_of(view.site, parameter.name) if use.isidentifier()}
        for fact in self.facts.tuples:
            names = [f.name for f in fact.fields]
            if len(names) != len(captured) or not uses & set(names):
                continue
            items = [decode(item, self.hints(view, "")) for item in captured]
            values = [item[0].expression for item in items if not isinstance(item, Unknown)]
            if len(values) == len(names):
                yield Recovered(
                    expression=call(
                        reference(fact.module, fact.qualname),
                        (),
                        list(zip(names, values, strict=True)),
                    ),
                    provenance=Provenance.CONSTRUCTED,
                    captured=captured,
                    checkable=True,
                    note="a named tuple by its use",
                    ambiguous=True,
                )

    def _captured_unknown(self, position: int, parameter: Parameter) -> Unknown:
        view = self.views[position]
        if parameter.name not in view.variables:
            return Unknown(UnknownCause.MISSING, parameter.name)
        decoded = self.read(view, parameter.name, parameter)
        return decoded if isinstance(decoded, Unknown) else Unknown(UnknownCause.MISSING, "")

    def caller_of(self, position: int) -> tuple[int, CallSite] | None:
        """Return the view that called `views[position]` directly, and the call."""
        if position == 0:
            return None
        above, here = self.views[position - 1], self.views[position]
        if above.place.index != here.place.index - 1:
            return None
        found = call_site(above.site, here.site)
        return None if found is None else (position - 1, found)

    def _from_caller(self, position: int, parameter: Parameter | None) -> list[Recovered]:
        """Evaluate the argument (or, for `None`, the receiver) at the call site above."""
        above = self.caller_of(position)
        if above is None:
            return []
        at, site = above
        if parameter is not None and parameter.name in site.omitted:
            return [Recovered(expression=None, provenance=Provenance.CALLER, note="its default")]
        expr = site.receiver if parameter is None else site.arguments.get(parameter.name)
        if expr is None:
            return []
        value = evaluate(expr, self.scope(at, 0))
        if value is None:
            return []
        changed = parameter is not None and (
            change_before(self.views[position].site, parameter.name) is Change.MUTATED
        )
        built = any(isinstance(n, ast.Call) for n in ast.walk(expr)) or parameter is None
        return [
            Recovered(
                expression=value,
                note="as the caller wrote it",
                # the caller's own name for it shows the object as it was changed, too
                stale=changed and isinstance(expr, ast.Name | ast.Attribute | ast.Subscript),
                provenance=Provenance.BUILT if built else Provenance.CALLER,
            )
        ]

    def scope(self, position: int, depth: int) -> Scope:
        """Return what the names of `views[position]` mean in a test."""
        view = self.views[position]
        path = view.site.path
        if path not in self._globals:
            module = self.index.module(path)
            self._globals[path] = {} if module is None else module_globals(module)
        node = view.site.node
        local = {p.name for p in view.site.parameters} | set(view.variables)
        if node is not None:
            local |= {
                n.id
                for n in own_nodes(node)
                if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
            }
        return Scope(
            module=view.site.module,
            globals=self._globals[path],
            locals=frozenset(local),
            local=lambda name: self._local(position, name, depth + 1),
        )

    def _local(self, position: int, name: str, depth: int) -> Expression | None:
        if depth > MAX_DEPTH:
            return None
        view = self.views[position]
        if name in view.variables:
            decoded = self.read(view, name)
            if not isinstance(decoded, Unknown):
                return decoded[0].expression
        assigned = assigned_once(view.site, name)
        if assigned is not None:
            return evaluate(assigned, self.scope(position, depth))
        parameter = next((p for p in view.site.parameters if p.name == name), None)
        if parameter is not None and change_before(view.site, name) is not Change.REBOUND:
            if name == view.site.receiver:
                found = self._from_caller(position, None) or self._simple_receiver(position)
            else:
                found = self._from_caller(position, parameter)
            return next((r.expression for r in found if not r.attributes), None)
        return None

    def _simple_receiver(self, position: int) -> list[Recovered]:
        return [
            r
            for r in self._unknown_object(
                position,
                self.views[position].site.receiver or "self",
                Unknown(UnknownCause.OPAQUE, ""),
            )
            if not r.attributes and not r.weak
        ]

    def _unknown_object(self, position: int, name: str, unknown: Unknown) -> list[Recovered]:
        """Return ways to make an object of which only the class, or only some state, is known."""
        view = self.views[position]
        direct = proven(self, position, (name,))
        if direct is not None:
            return [
                Recovered(
                    expression=direct,
                    provenance=Provenance.DEDUCED,
                    note="what the exception proves",
                    unknown=unknown,
                )
            ]
        if assigned_once(view.site, name) is not None:
            value = self._local(position, name, 1)
            if value is not None:
                return [Recovered(expression=value, provenance=Provenance.BUILT)]
        fact = class_of(self.facts, view, name, unknown)
        state = attributes_of(self, position, name)
        if fact is not None:
            return list(instances(self.facts, fact, state, unknown))
        if not state:
            return []
        return [stand_in(state, unknown)]

    def read(self, view: FrameView, name: str, parameter: Parameter | None = None) -> Decoded:
        """Return what a captured local says by itself; the name must be among the captured."""
        meta = view.place.frame.meta.get(name)
        return decode(view.variables[name], self.hints(view, name, parameter), meta=meta)

    def hints(self, view: FrameView, name: str, parameter: Parameter | None = None) -> Hints:
        """Return what the source and the sender say about a local beside its text."""
        return hints_for(self.event, self.facts, view, name, parameter)


def _equal(value: Expression, default: ast.expr) -> bool:
    return ast.dump(value.node) == ast.dump(default)


def _unique(found: Sequence[Recovered]) -> list[Recovered]:
    kept: list[Recovered] = []
    for one in found:
        if not any(one.expression == k.expression and one.attributes == k.attributes for k in kept):
            kept.append(one)
    return kept
