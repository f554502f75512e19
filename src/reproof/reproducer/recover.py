"""Recover the value of a name in a frame, with where it came from; several, best first.

The order of means follows the spec: what the text itself says, what the caller's expression says,
what the source built it from, what the exception proves, an object made without `__init__` that
holds only what is known, and last a sentinel.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from reproof.domain.event import EMPTY
from reproof.reproducer.deduce import deduce, path_of
from reproof.reproducer.evaluate import Scope, evaluate, module_globals
from reproof.reproducer.facts import opaque_class
from reproof.reproducer.source import (
    CallSite,
    Change,
    EntryKind,
    FunctionSite,
    Parameter,
    call_site,
    change_before,
    own_nodes,
    statement_at,
)
from reproof.reproducer.usage import uses_of
from reproof.reproducer.values.classes import ClassFact, ClassKind
from reproof.reproducer.values.decode import decode
from reproof.reproducer.values.expression import (
    Expression,
    attribute,
    call,
    member,
    reference,
)
from reproof.reproducer.values.place import Hints
from reproof.reproducer.values.provenance import Candidate, Provenance, Unknown, UnknownCause

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reproof.domain.event import JSON, Event
    from reproof.reproducer.facts import Facts
    from reproof.reproducer.locate import Place
    from reproof.reproducer.source import SourceIndex

MAX_DEPTH = 6
MAX_VALUES = 6


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
            return [Recovered(expression=None, provenance=Provenance.CALLER, unknown=unknown,
                              note="not captured; left empty")]
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
                found.append(_sentinel(parameter.name, unknown))
        return _unique(found)[:MAX_VALUES]

    def receiver(self, position: int) -> list[Recovered]:
        """Return the ways to make the object a method of `views[position]` is called on."""
        view = self.views[position]
        name = view.site.receiver or "self"
        captured = view.variables.get(name)
        found: list[Recovered] = []
        if name in view.variables:
            decoded = decode(captured, self._hints(view, None, name))
            if not isinstance(decoded, Unknown):
                found += [_from_candidate(c, captured) for c in decoded]
        found += self._from_caller(position, None)
        cause = Unknown(UnknownCause.OPAQUE, str(captured)[:200], opaque_class(captured))
        found += self._unknown_object(position, name, cause)
        return _unique(found)[: MAX_VALUES + 2]

    def _known(self, position: int, parameter: Parameter) -> Iterator[Recovered]:
        view = self.views[position]
        change = change_before(view.site, parameter.name)
        captured = list(self._from_capture(view, parameter, change))
        caller = self._from_caller(position, parameter)
        doubtful = change in (Change.REBOUND, Change.MUTATED)
        if doubtful or any(r.ambiguous for r in captured[:1]):
            yield from caller
            yield from captured
        else:
            yield from captured
            yield from caller

    def _from_capture(
        self, view: FrameView, parameter: Parameter, change: Change
    ) -> Iterator[Recovered]:
        if parameter.name not in view.variables:
            return
        captured = view.variables[parameter.name]
        decoded = decode(captured, self._hints(view, parameter, parameter.name))
        if isinstance(decoded, Unknown):
            return
        note = (
            "as it was at the crash; it may have been changed since the call"
            if change in (Change.REBOUND, Change.MUTATED)
            else ""
        )
        yield from self._named_tuples(view, parameter, captured)
        for candidate in decoded:
            made = _from_candidate(candidate, captured)
            if parameter.default is not None and _equal(candidate.expression, parameter.default):
                yield replace(made, expression=None, note="its default")
            else:
                yield replace(made, note=made.note or note, stale=bool(note))

    def _named_tuples(
        self, view: FrameView, parameter: Parameter, captured: JSON
    ) -> Iterator[Recovered]:
        """A list whose items the source reads by name is a named tuple; the sender drops names."""
        if not isinstance(captured, list) or not captured:
            return
        uses = {use for use in uses_of(view.site, parameter.name) if use.isidentifier()}
        for fact in self.facts.tuples:
            names = [f.name for f in fact.fields]
            if len(names) != len(captured) or not uses & set(names):
                continue
            items = [decode(item, self._hints(view, None, "")) for item in captured]
            values = [item[0].expression for item in items if not isinstance(item, Unknown)]
            if len(values) == len(names):
                yield Recovered(
                    expression=call(reference(fact.module, fact.qualname), (),
                                    list(zip(names, values, strict=True))),
                    provenance=Provenance.CONSTRUCTED, captured=captured, checkable=True,
                    note="a named tuple by its use", ambiguous=True)

    def _captured_unknown(self, position: int, parameter: Parameter) -> Unknown:
        view = self.views[position]
        if parameter.name not in view.variables:
            return Unknown(UnknownCause.MISSING, parameter.name)
        decoded = decode(
            view.variables[parameter.name], self._hints(view, parameter, parameter.name)
        )
        return decoded if isinstance(decoded, Unknown) else Unknown(UnknownCause.MISSING, "")

    def _hints(self, view: FrameView, parameter: Parameter | None, name: str) -> Hints:
        return Hints(
            annotation=parameter.annotation if parameter else None,
            default=parameter.default if parameter else None,
            uses=uses_of(view.site, name),
            sdk_version=_version(self.event.sdk_version),
            python=_minor(self.event.runtime_version),
            lookup=self.facts,
        )

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
        built = any(isinstance(n, ast.Call) for n in ast.walk(expr)) or parameter is None
        return [
            Recovered(
                expression=value,
                note="as the caller wrote it",
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
            decoded = decode(view.variables[name], self._hints(view, None, name))
            if not isinstance(decoded, Unknown):
                return decoded[0].expression
        assigned = _assigned_once(view.site, name)
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
        direct = self._deduced(position, (name,))
        if direct is not None:
            return [
                Recovered(
                    expression=direct,
                    provenance=Provenance.DEDUCED,
                    note="what the exception proves",
                    unknown=unknown,
                )
            ]
        if _assigned_once(view.site, name) is not None:
            value = self._local(position, name, 1)
            if value is not None:
                return [Recovered(expression=value, provenance=Provenance.BUILT)]
        fact = self._class_of(view, name, unknown)
        state = self.attributes_of(position, name)
        if fact is not None:
            return list(self._instances(fact, state, unknown))
        if not state:
            return []
        stand_in = call(reference("types", "SimpleNamespace"), (), list(state.items()))
        return [Recovered(expression=stand_in, provenance=Provenance.PARTIAL, unknown=unknown,
                          note="its class is not in this tree; it holds only what is known")]

    def _instances(
        self, fact: ClassFact, state: Mapping[str, Expression], unknown: Unknown
    ) -> Iterator[Recovered]:
        cls = reference(fact.module, fact.qualname)
        state = {name: value for name, value in state.items() if name not in fact.properties}
        if fact.kind is ClassKind.FUNCTION:
            yield Recovered(expression=cls, provenance=Provenance.CONSTRUCTED)
            return
        if state:
            keywords = self._constructor(fact, state)
            if keywords is not None:
                yield Recovered(
                    expression=call(cls, (), keywords),
                    provenance=Provenance.BUILT,
                    note="built from the attributes that are known",
                    unknown=unknown,
                )
            yield _partial(cls, state, unknown)
        for module, name in self.facts.instances.get(f"{fact.module}.{fact.qualname}", ()):
            yield Recovered(
                expression=reference(module, name),
                provenance=Provenance.BUILT,
                note="the module's own instance",
                unknown=unknown,
            )
        required = [p for p in fact.parameters or () if not p.has_default]
        if not required and fact.kind is not ClassKind.ENUM:
            yield Recovered(
                expression=call(cls),
                provenance=Provenance.BUILT,
                unknown=unknown,
                note="its state was not captured; made with defaults",
            )
        if not state:
            yield _partial(cls, {}, unknown)

    def _constructor(
        self, fact: ClassFact, state: Mapping[str, Expression]
    ) -> list[tuple[str, Expression]] | None:
        if fact.parameters is None:
            return None
        names = {p.name for p in fact.parameters}
        required = {p.name for p in fact.parameters if not p.has_default}
        given = {name.lstrip("_"): value for name, value in state.items()}
        if not required <= set(given) or not set(given) <= names:
            return None
        return [(p.name, given[p.name]) for p in fact.parameters if p.name in given]

    def _class_of(self, view: FrameView, name: str, unknown: Unknown) -> ClassFact | None:
        captured = view.variables.get(name)
        named = unknown.class_name or opaque_class(captured)
        if named:
            found = self.facts.find(named)
            if found:
                return found[0]
        if name == view.site.receiver and view.site.classes:
            own = ".".join(view.site.classes)
            known = self.facts.find(f"{view.site.module}.{own}") or self.facts.find(own)
            return known[0] if known else ClassFact(view.site.module, own, ClassKind.PLAIN)
        return None

    def attributes_of(self, position: int, name: str) -> dict[str, Expression]:
        """Return the attributes of a local object that something in the stack tells."""
        view = self.views[position]
        found: dict[str, Expression] = {}
        for attr, value in self._aliases(view, name):
            found.setdefault(attr, value)
        for attr, value in self._handed_down(position, name):
            found.setdefault(attr, value)
        if position == len(self.views) - 1:
            for attr in (
                {
                    n.attr
                    for n in own_nodes(view.site.node)
                    if view.site.node is not None and isinstance(n, ast.Attribute)
                }
                if view.site.node is not None
                else ()
            ):
                value = self._deduced(position, (name, attr))
                if value is not None:
                    found.setdefault(attr, value)
        return dict(sorted(found.items()))

    def _aliases(self, view: FrameView, name: str) -> Iterator[tuple[str, Expression]]:
        """`rate = self.rate` ran, and `rate` was captured; or the sender named `self.rate` itself."""
        for key, captured in view.variables.items():
            if (
                key.startswith(f"{name}.")
                and key.count(".") == 1
                and key.split(".")[1].isidentifier()
            ):
                decoded = decode(captured, self._hints(view, None, key))
                if not isinstance(decoded, Unknown):
                    yield key.split(".")[1], decoded[0].expression
        if view.site.node is None:
            return
        crash = statement_at(view.site.node, view.site.line)
        for node in own_nodes(view.site.node):
            if not (
                isinstance(node, ast.Assign)
                and len(node.targets) == 1
                and isinstance(node.targets[0], ast.Name)
                and path_of(node.value) is not None
            ):
                continue
            path, target = path_of(node.value), node.targets[0].id
            if path is None or len(path) != 2 or path[0] != name:  # noqa: PLR2004 -- name.attr
                continue
            if crash is None or node.lineno >= crash.lineno or target not in view.variables:
                continue
            if _assigned_once(view.site, target) is None:
                continue
            decoded = decode(view.variables[target], self._hints(view, None, target))
            if not isinstance(decoded, Unknown):
                yield path[1], decoded[0].expression

    def _handed_down(self, position: int, name: str) -> Iterator[tuple[str, Expression]]:
        """`inner(self.rate)` was called, and the inner frame shows its parameter."""
        if position + 1 >= len(self.views):
            return
        below = self.caller_of(position + 1)
        if below is None:
            return
        inner = self.views[position + 1]
        for parameter in inner.site.parameters:
            path = (
                path_of(below[1].arguments[parameter.name])
                if (parameter.name in below[1].arguments)
                else None
            )
            if path is None or len(path) != 2 or path[0] != name:  # noqa: PLR2004 -- name.attr
                continue
            if change_before(inner.site, parameter.name) in (Change.REBOUND, Change.MUTATED):
                continue
            for made in self._from_capture(inner, replace(parameter, default=None), Change.NONE):
                if made.expression is not None:
                    yield path[1], made.expression
                    break

    def _deduced(self, position: int, path: tuple[str, ...]) -> Expression | None:
        """Return what the exception proves about a name or attribute of the crash frame."""
        if position != len(self.views) - 1:
            return None
        site = self.views[position].site
        statement = None if site.node is None else statement_at(site.node, site.line)
        if statement is None:
            return None
        raised = self.event.raised
        for where, value in deduce(raised.type, raised.message or "", statement):
            if path_of(where) == path:
                return Expression(value)
        return None


def _assigned_once(site: FunctionSite, name: str) -> ast.expr | None:
    """Return the expression of the only assignment to a local, if it surely ran before the line."""
    if site.node is None or isinstance(site.node, ast.Lambda):
        return None
    if name in {p.name for p in site.parameters}:
        return None
    bindings = [
        n
        for n in own_nodes(site.node)
        if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)
    ]
    if len(bindings) != 1:
        return None
    for node in own_nodes(site.node):
        if (
            isinstance(node, ast.Assign)
            and len(node.targets) == 1
            and node.targets[0] is bindings[0]
            and node.lineno < site.line
        ):
            return node.value
        if (
            isinstance(node, ast.AnnAssign)
            and node.target is bindings[0]
            and node.value is not None
            and node.lineno < site.line
        ):
            return node.value
    return None


def _from_candidate(candidate: Candidate, captured: JSON) -> Recovered:
    return Recovered(
        expression=candidate.expression,
        provenance=candidate.provenance,
        note=candidate.note,
        ambiguous=candidate.ambiguous,
        captured=captured,
        checkable=True,
    )


def _partial(cls: Expression, state: Mapping[str, Expression], unknown: Unknown) -> Recovered:
    return Recovered(
        expression=call(attribute(cls, "__new__"), [cls]),
        provenance=Provenance.PARTIAL,
        attributes=tuple(state.items()),
        note="made without __init__; it holds only what is known",
        unknown=unknown,
    )


def _sentinel(name: str, unknown: Unknown) -> Recovered:
    sentinel = attribute(member("unittest.mock", "sentinel"), name)
    sentinel = Expression(
        ast.Attribute(ast.Name("sentinel", ast.Load()), name, ast.Load()),
        reference("unittest.mock", "sentinel").imports,
    )
    return Recovered(
        expression=sentinel,
        provenance=Provenance.SENTINEL,
        unknown=unknown,
        note="not captured; nothing may look at it",
    )


def _equal(value: Expression, default: ast.expr) -> bool:
    return ast.dump(value.node) == ast.dump(default)


def _unique(found: Sequence[Recovered]) -> list[Recovered]:
    kept: list[Recovered] = []
    for one in found:
        if not any(one.expression == k.expression and one.attributes == k.attributes for k in kept):
            kept.append(one)
    return kept


def _version(text: str | None) -> tuple[int, ...] | None:
    parts = (text or "").split(".")[:3]
    numbers = [int(p) for p in parts if p.isdigit() and len(p) < 6]  # noqa: PLR2004 -- sane parts
    return tuple(numbers) or None


def _minor(text: str | None) -> tuple[int, int] | None:
    found = _version(text)
    return (found[0], found[1]) if found and len(found) > 1 else None


def view_of(place: Place, index: SourceIndex) -> FrameView | None:
    """Return the view of a located frame, or `None` when its function is not in the file."""
    frame = place.frame
    if place.path is None or place.line is None or not frame.function:
        return None
    site = index.site(place.path, place.line, frame.function, frame.module)
    if site is None:
        return None
    return FrameView(place=place, site=site,
                     variables=_as_written(frame.variables or EMPTY, site))


def _as_written(variables: Mapping[str, JSON], site: FunctionSite) -> Mapping[str, JSON]:
    """Return the locals by the names of the source: inside a class `__x` is `_Class__x` at run time."""
    prefix = f"_{site.classes[-1].lstrip('_')}__" if site.classes else ""
    if not prefix or not any(name.startswith(prefix) for name in variables):
        return variables
    return {f"__{name[len(prefix):]}" if name.startswith(prefix) else name: value
            for name, value in variables.items()}


__all__ = ["EntryKind", "FrameView", "Recovered", "Recovery", "view_of"]
