"""Objects of which only the class, or only some state, is known."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from reproof.reproducer.facts import opaque_class
from reproof.reproducer.frames import FrameView, Recovered
from reproof.reproducer.values.classes import ClassFact, ClassKind, is_standard
from reproof.reproducer.values.expression import Expression, attribute, call, reference
from reproof.reproducer.values.provenance import Provenance, Unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reproof.reproducer.facts import Facts


def class_of(facts: Facts, view: FrameView, name: str, unknown: Unknown) -> ClassFact | None:
    """Return the class of a local: by its captured name, or for a receiver by its method."""
    captured = view.variables.get(name)
    named = unknown.class_name or opaque_class(captured)
    if named:
        found = facts.find(named)
        if found:
            return found[0]
    if name == view.site.receiver and view.site.classes:
        own = ".".join(view.site.classes)
        known = facts.find(f"{view.site.module}.{own}") or facts.find(own)
        return known[0] if known else ClassFact(view.site.module, own, ClassKind.PLAIN)
    return None


def instances(
    facts: Facts, fact: ClassFact, state: Mapping[str, Expression], unknown: Unknown
) -> Iterator[Recovered]:
    """Yield the ways to make an instance: from its state, the module's own, by default, bare."""
    if fact.kind is ClassKind.FUNCTION or (fact.module == "builtins" and fact.qualname != "object"):
        # a function has no instances, and a builtin's is a value, which would be another one
        return
    cls = reference(fact.module, fact.qualname)
    state = {name: value for name, value in state.items() if name not in fact.properties}
    if state:
        keywords = None if is_standard(fact.module) else _constructor(fact, state)
        if keywords is not None:
            yield Recovered(
                expression=call(cls, (), keywords),
                provenance=Provenance.BUILT,
                note="built from the attributes that are known",
                unknown=unknown,
            )
        yield _partial(cls, state, unknown)
    for module, name in facts.instances.get(f"{fact.module}.{fact.qualname}", ()):
        yield Recovered(
            expression=reference(module, name),
            provenance=Provenance.BUILT,
            note="the module's own instance",
            unknown=unknown,
        )
    required = [p for p in fact.parameters or () if not p.has_default]
    if fact.parameters is not None and not required and fact.kind is not ClassKind.ENUM:
        yield Recovered(
            expression=call(cls),
            provenance=Provenance.BUILT,
            unknown=unknown,
            note="its state was not captured; made with defaults",
        )
    if not state:
        yield _partial(cls, {}, unknown)


def _constructor(
    fact: ClassFact, state: Mapping[str, Expression]
) -> list[tuple[str, Expression]] | None:
    if fact.parameters is None:
        return None
    names = {p.name for p in fact.parameters}
    required = {p.name for p in fact.parameters if not p.has_default}
    given = {name.lstrip("_"): value for name, value in state.items()}
    if not required <= set(given) or not set(given) <= names:
        return None
    return [(p.name, given[p.name]) for p in fact.parameters if p.name in given]


def _partial(cls: Expression, state: Mapping[str, Expression], unknown: Unknown) -> Recovered:
    return Recovered(
        expression=call(attribute(cls, "__new__"), [cls]),
        provenance=Provenance.PARTIAL,
        attributes=tuple(state.items()),
        note="made without __init__; it holds only what is known",
        unknown=unknown,
    )


def stand_in(state: Mapping[str, Expression], unknown: Unknown) -> Recovered:
    """Return an object for a class that cannot be imported, with the attributes that are known."""
    return Recovered(
        expression=call(reference("types", "SimpleNamespace"), (), list(state.items())),
        provenance=Provenance.PARTIAL,
        unknown=unknown,
        note="its class is not in this tree; it holds only what is known",
    )


def sentinel(name: str, unknown: Unknown) -> Recovered:
    """Return a stand-in that nothing may look at."""
    owner = reference("unittest.mock", "sentinel")
    return Recovered(
        expression=Expression(ast.Attribute(owner.node, name, ast.Load()), owner.imports),
        provenance=Provenance.SENTINEL,
        unknown=unknown,
        note="not captured; nothing may look at it",
    )
