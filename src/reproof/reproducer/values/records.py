"""Classes of the code under test by their repr: records, exceptions, enum members, functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reproof.reproducer.values import expression as make
from reproof.reproducer.values.classes import ClassKind, is_standard
from reproof.reproducer.values.place import ranked, single
from reproof.reproducer.values.provenance import (
    Decoded,
    Provenance,
    UnknownCause,
    unknown,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reproof.reproducer.values.call import Call, Keywords
    from reproof.reproducer.values.classes import ClassFact, FieldFact, ParameterFact
    from reproof.reproducer.values.expression import Expression
    from reproof.reproducer.values.place import Place

_RECORDS = frozenset(
    {ClassKind.DATACLASS, ClassKind.NAMEDTUPLE, ClassKind.ATTRS, ClassKind.PYDANTIC}
)
_STDLIB_ENUMS = {"HTTPStatus": "http", "HTTPMethod": "http", "RegexFlag": "re", "Signals": "signal"}


def known_facts(name: str, place: Place) -> list[ClassFact]:
    """Return the usable facts for a name: those whose own names may stand in source."""
    return [
        fact
        for fact in place.hints.lookup.find(name)
        if make.is_dotted(fact.module) and make.is_dotted(fact.qualname)
    ]


def decode_record(call: Call, place: Place) -> Decoded:
    """Return the instance that a `Name(...)` repr describes, for each class of that name."""
    readings = [_instance(call, fact) for fact in known_facts(call.name, place)]
    if not readings:
        return unknown(UnknownCause.UNRESOLVED_CLASS, call.text, call.name)
    return ranked(readings, place.limit, call.text)


def _instance(call: Call, fact: ClassFact) -> Decoded:
    target = make.reference(fact.module, fact.qualname)
    if fact.kind in _RECORDS:
        return _record(call, fact, target)
    if fact.kind is ClassKind.EXCEPTION:
        own = bool(fact.parameters)
        note = "rebuilt from its args" if own else ""
        return _bound(call, fact, target, note, ambiguous=own)
    # An event must not have a test call, say, `Popen` with arguments of its choice.
    own = not is_standard(fact.module)
    if fact.kind is ClassKind.PLAIN and fact.parameters is not None and own:
        return _bound(call, fact, target, "rebuilt from its repr", ambiguous=True)
    return unknown(UnknownCause.UNRESOLVED_CLASS, call.text, call.name)


def _record(call: Call, fact: ClassFact, target: Expression) -> Decoded:
    """Map a record's shown fields to its constructor."""
    fields = {one.name: one for one in fact.fields}
    shown = [name for name, _ in call.keywords]
    if call.positional or len(set(shown)) != len(shown):
        return _bound(call, fact, target, "rebuilt from its repr", ambiguous=True)
    foreign = [name for name in shown if name not in fields]
    if foreign and fact.kind is not ClassKind.PYDANTIC:
        return unknown(UnknownCause.UNRESOLVED_CLASS, call.text, call.name)
    hidden = [one for one in fact.fields if one.init and one.name not in shown]
    if any(not one.has_default for one in hidden):
        return unknown(UnknownCause.MISSING, call.text, call.name)
    derived = [name for name in shown if name in fields and not fields[name].init]
    notes = [
        *(f"{name} is set by {call.name} itself" for name in derived),
        *(f"{one.name} is not in the repr; its default is used" for one in hidden),
        *(f"{name} is not a declared field" for name in foreign),
    ]
    if not fact.repr_is_generated:
        notes.append("rebuilt from a hand-written repr")

    def build(_: Sequence[Expression], keywords: Keywords) -> Expression:
        kept = [
            (_parameter(name, fields), value) for name, value in keywords if name not in derived
        ]
        return make.call(target, [], kept)

    return call.build(build, note="; ".join(notes), ambiguous=bool(notes))


def _parameter(name: str, fields: dict[str, FieldFact]) -> str:
    fact = fields.get(name)
    return (fact.init_name if fact else None) or name


def _bound(
    call: Call, fact: ClassFact, target: Expression, note: str, *, ambiguous: bool
) -> Decoded:
    """Pass the shown arguments on when the signature takes them."""
    shown = [name for name, _ in call.keywords]
    parameters = fact.parameters
    if parameters is not None and not _accepts(parameters, len(call.positional), shown):
        return unknown(UnknownCause.UNRESOLVED_CLASS, call.text, call.name)
    return call.build(
        lambda given, keywords: make.call(target, given, keywords), note=note, ambiguous=ambiguous
    )


def _accepts(parameters: Sequence[ParameterFact], positional: int, keywords: Sequence[str]) -> bool:
    """Tell whether a call with so many positional and these keyword arguments binds."""
    kinds = {one.kind for one in parameters}
    ordered = [one for one in parameters if one.kind.startswith("positional")]
    if positional > len(ordered) and "var_positional" not in kinds:
        return False
    filled = {one.name for one in ordered[:positional]}
    named = {
        one.name for one in parameters if one.kind in {"positional_or_keyword", "keyword_only"}
    }
    if filled & set(keywords) or ("var_keyword" not in kinds and not set(keywords) <= named):
        return False
    required = {one.name for one in parameters if not one.has_default}
    variadic = {one.name for one in parameters if one.kind.startswith("var_")}
    return required - variadic <= filled | set(keywords)


def decode_member(class_name: str, names: Sequence[str], shown: str, place: Place) -> Decoded:
    """Return an enum member (several names: a flag's parts) for each enum class of that name.

    `shown` is the value's repr, or empty when the text did not give it.
    """
    text = f"{class_name}.{'|'.join(names)}"
    facts = [one for one in known_facts(class_name, place) if one.kind is ClassKind.ENUM]
    readings: list[Decoded] = []
    for fact in facts:
        members = dict(fact.members)
        if not names or not all(name in members for name in names):
            continue
        if shown and len(names) == 1 and members[names[0]] != shown:
            continue
        owner = make.reference(fact.module, fact.qualname)
        parts = [make.attribute(owner, name) for name in names]
        readings.append(single(make.either(parts), Provenance.CONSTRUCTED))
    bare = class_name.rpartition(".")[2]
    if not facts and bare in _STDLIB_ENUMS and all(make.is_identifier(name) for name in names):
        owner = make.reference(_STDLIB_ENUMS[bare], bare)
        parts = [make.attribute(owner, name) for name in names]
        readings.append(single(make.either(parts), Provenance.CONSTRUCTED))
    if not readings:
        return unknown(UnknownCause.UNRESOLVED_CLASS, text, class_name)
    return ranked(readings, place.limit, text)


def decode_enum_value(class_name: str, value: int, place: Place) -> Decoded:
    """Return `Flags(3)` for a flag value that no member names spell."""
    facts = [one for one in known_facts(class_name, place) if one.kind is ClassKind.ENUM]
    readings = [
        single(
            make.call(make.reference(fact.module, fact.qualname), [make.constant(value)]),
            Provenance.CONSTRUCTED,
        )
        for fact in facts
    ]
    if not readings:
        return unknown(UnknownCause.UNRESOLVED_CLASS, class_name, class_name)
    return ranked(readings, place.limit, class_name)
