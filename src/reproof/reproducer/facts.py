"""What to ask the target's interpreter about an event's names, and its answer as a lookup.

The answer is a claim by untrusted code; it can only make a plan fail, never pass: what decides is
the replay.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reproof.reproducer.values.classes import ClassFact, ClassKind, FieldFact, ParameterFact
from reproof.reproducer.values.expression import is_dotted, is_identifier

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reproof.domain.event import JSON

_WIDTH = 4
"""A field's row: name, init, default, keyword-only; an alias may follow."""
MAX_NAMES = 200
MAX_TEXT = 20_000
_NAME = r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*"
_CALLED = re.compile(rf"(?<![\w.'\"])({_NAME})\(")
_ANGLED = re.compile(rf"<(?:class '|function |bound method |built-in function )?({_NAME})")
_OPAQUE = re.compile(rf"^<({_NAME}) object at 0x[0-9a-fA-F]+>$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the names stand for in the target; implements `ClassLookup`."""

    names: Mapping[str, Sequence[ClassFact]] = field(default_factory=dict)
    instances: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    """Dotted class name -> (module, global) pairs that hold an instance of exactly that class."""
    errors: Mapping[str, str] = field(default_factory=dict)
    """Module of a frame -> why it could not be imported."""
    tuples: Sequence[ClassFact] = ()
    """Named tuple classes that the frames' modules hold: events show them as plain lists."""

    def find(self, name: str) -> Sequence[ClassFact]:
        """Return what goes by a bare or dotted name, the likeliest first."""
        return self.names.get(name, ())


def opaque_class(captured: JSON) -> str | None:
    """Return `pkg.Cls` for the text `<pkg.Cls object at 0x..>`."""
    match = _OPAQUE.match(captured) if isinstance(captured, str) else None
    return match[1] if match else None


def names_in(variables: Iterable[Mapping[str, JSON]]) -> tuple[str, ...]:
    """Return the class and function names that captured text mentions, in order of appearance."""
    found: dict[str, None] = {}
    for mapping in variables:
        for text in _texts(list(mapping.values())):
            for pattern in (_ANGLED, _CALLED):
                for match in pattern.finditer(text[:MAX_TEXT]):
                    if is_dotted(match[1]) and len(match[1]) < MAX_TEXT // 100:
                        found.setdefault(match[1])
                        owner = match[1].rpartition(".")[0]
                        if pattern is _ANGLED and owner:
                            # `<State.VOID: 'void'>` names a member: its class is what is asked
                            found.setdefault(owner)
            if len(found) >= MAX_NAMES:
                return tuple(found)[:MAX_NAMES]
    return tuple(found)


def _texts(values: list[JSON]) -> Iterator[str]:
    seen = 0
    while values and seen < MAX_TEXT:
        value = values.pop()
        seen += 1
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            values.extend(value)
        elif isinstance(value, dict):
            yield from value
            values.extend(value.values())


def read_facts(report: Mapping[str, JSON] | None) -> Facts:
    """Read the guest's answer; whatever has the wrong shape is left out."""
    if report is None:
        return Facts()
    names = report.get("names")
    instances = report.get("instances")
    errors = report.get("errors")
    tuples = report.get("tuples")
    return Facts(
        tuples=tuple(
            fact
            for item in (tuples if isinstance(tuples, list) else [])
            if (fact := _fact(item)) is not None
        ),
        names={
            name: tuple(fact for item in told if (fact := _fact(item)) is not None)
            for name, told in (names.items() if isinstance(names, dict) else ())
            if isinstance(told, list)
        },
        instances={
            name: tuple(
                (str(p[0]), str(p[1]))
                for p in told
                if isinstance(p, list)
                and len(p) == 2  # noqa: PLR2004 -- module, name
                and is_dotted(str(p[0]))
                and is_dotted(str(p[1]))
            )
            for name, told in (instances.items() if isinstance(instances, dict) else ())
            if isinstance(told, list)
        },
        errors={
            str(k): str(v)[:400] for k, v in (errors.items() if isinstance(errors, dict) else ())
        },
    )


def _fact(told: JSON) -> ClassFact | None:
    if not isinstance(told, dict):
        return None
    module, qualname, kind = told.get("module"), told.get("qualname"), told.get("kind")
    if not isinstance(module, str) or not isinstance(qualname, str) or not isinstance(kind, str):
        return None
    if not (is_dotted(module) and is_dotted(qualname)) or kind not in {k.value for k in ClassKind}:
        return None
    parameters = told.get("parameters")
    return ClassFact(
        module=module,
        qualname=qualname,
        kind=ClassKind(kind),
        fields=tuple(
            FieldFact(
                str(f[0]),
                f[1] is True,
                f[2] is True,
                f[3] is True,
                str(f[4]) if len(f) > _WIDTH and isinstance(f[4], str) else None,
            )
            for f in _rows(told.get("fields"), 4)
            if is_identifier(str(f[0]))
        ),
        members=tuple(
            (str(m[0]), str(m[1]))
            for m in _rows(told.get("members"), 2)
            if is_identifier(str(m[0]))
        ),
        parameters=tuple(
            ParameterFact(str(p[0]), str(p[1]), p[2] is True)
            for p in _rows(parameters, 3)
            if is_identifier(str(p[0]).strip("*") or "args")
        )
        if isinstance(parameters, list)
        else None,
        properties=tuple(n for n in _items(told.get("properties")) if isinstance(n, str)),
        repr_is_generated=told.get("repr_is_generated") is True,
    )


def _items(value: JSON | None) -> list[JSON]:
    return value if isinstance(value, list) else []


def _rows(value: JSON | None, width: int) -> list[list[JSON]]:
    if not isinstance(value, list):
        return []
    return [row for row in value if isinstance(row, list) and len(row) >= width]
