"""JSON objects: what the keys were, and which mapping it was.

A sender writes `str(key)`, so `3`, `"3"` and an `IntEnum` of 3 look alike. The annotation decides;
without one all keys are taken for strings first, and for what they look like second.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from reproof.reproducer.values import expression as make
from reproof.reproducer.values.annotations import Spec, alternatives
from reproof.reproducer.values.classes import ClassKind
from reproof.reproducer.values.containers import is_hashable
from reproof.reproducer.values.literals import decode_node
from reproof.reproducer.values.place import Hints, Place
from reproof.reproducer.values.provenance import Provenance, Unknown
from reproof.reproducer.values.records import decode_member, known_facts
from reproof.reproducer.values.text import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reproof.reproducer.values.expression import Expression
    from reproof.reproducer.values.provenance import Decoded

_PLAIN = re.compile(r"[^\W\d][\w -]*")
_NAMES = frozenset({"None", "True", "False", "nan", "inf", "Ellipsis", "NotImplemented"})
_MEMBER = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_LITERAL_NAMES = frozenset(
    {"int", "float", "complex", "bool", "bytes", "tuple", "frozenset", "None"}
)
_ISO = re.compile(
    r"(?P<date>\d{4}-\d\d-\d\d)(?: (?P<time>\d\d:\d\d:\d\d)(?:\.(?P<fraction>\d{6}))?)?"
)
_TEXT_KEYS = {
    "Decimal": ("decimal", re.compile(r"-?\d+(?:\.\d+)?(?:E[-+]?\d+)?")),
    "UUID": ("uuid", re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")),
    "Path": ("pathlib", re.compile(r".+", re.DOTALL)),
    "PurePath": ("pathlib", re.compile(r".+", re.DOTALL)),
    "PurePosixPath": ("pathlib", re.compile(r".+", re.DOTALL)),
    "IPv4Address": ("ipaddress", re.compile(r"[\d.]{7,15}")),
    "IPv6Address": ("ipaddress", re.compile(r"[\da-f:.]{2,45}")),
}
_FRACTION = re.compile(r"(-?\d+)(?:/(\d+))?")
_FACTORIES = frozenset({"int", "list", "dict", "set", "str", "float", "bool", "tuple"})


class KeyReading(NamedTuple):
    """One reading of all keys of an object."""

    keys: list[Expression]
    certain: bool
    provenance: Provenance = Provenance.LITERAL


class MappingReading(NamedTuple):
    """One reading of the mapping's type."""

    build: Callable[[Expression], Expression]
    certain: bool
    provenance: Provenance = Provenance.LITERAL
    note: str = ""


def key_readings(keys: Sequence[str], place: Place) -> list[KeyReading]:
    """Return the readings of an object's keys, likeliest first."""
    specs = alternatives(_key_annotation(place))
    readings: list[KeyReading] = []
    for spec in specs:
        read = [_annotated_key(key, spec, place) for key in keys]
        whole = [one for one in read if one is not None]
        if len(whole) == len(keys) and whole:
            origin = Provenance.LITERAL if _is_literal(spec) else Provenance.CONSTRUCTED
            readings.append(KeyReading(whole, len(specs) == 1, origin))
    as_text = [make.constant(key) for key in keys]
    literal = [_literal_key(key) or text for key, text in zip(keys, as_text, strict=True)]
    members = [_member_key(key, place) or text for key, text in zip(keys, literal, strict=True)]
    # Without a word from the source only plain words are certainly text.
    certain = not specs and all(_PLAIN.fullmatch(key) and key not in _NAMES for key in keys)
    guesses = [KeyReading(as_text, certain), KeyReading(literal, certain=False)]
    if any(use.endswith(":int") for use in place.uses):
        guesses.reverse()
    guesses.append(KeyReading(members, certain=False, provenance=Provenance.CONSTRUCTED))
    for guess in guesses:
        if all(guess.keys != reading.keys for reading in readings):
            readings.append(guess)
    return readings


def _is_literal(spec: Spec) -> bool:
    return spec.name in _LITERAL_NAMES or spec.name == "str"


def _key_annotation(place: Place) -> ast.expr | None:
    for spec in alternatives(place.annotation):
        if spec.name not in {"None", "tuple", "list", "set"} and spec.arguments:
            return spec.argument(0)
    return None


def value_annotation(place: Place) -> ast.expr | None:
    """Return the annotation of the mapping's values."""
    for spec in alternatives(place.annotation):
        if spec.name == "Counter":
            return ast.Name("int", ast.Load())
        if spec.name != "None" and len(spec.arguments) == 2:  # noqa: PLR2004
            return spec.arguments[1]
    return None


def _annotated_key(key: str, spec: Spec, place: Place) -> Expression | None:
    if spec.name == "str":
        return make.constant(key)
    if spec.name in _LITERAL_NAMES:
        return _literal_of(key, spec)
    if spec.name in _TEXT_KEYS:
        module, pattern = _TEXT_KEYS[spec.name]
        if pattern.fullmatch(key) is None:
            return None
        return make.call(make.reference(module, spec.name), [make.constant(key)])
    if spec.name in {"date", "datetime"}:
        return _date_key(key, spec.name)
    if spec.name == "Fraction" and (found := _FRACTION.fullmatch(key)):
        parts = [make.constant(int(part)) for part in found.groups() if part]
        return make.call(make.reference("fractions", "Fraction"), parts)
    return _enum_key(key, spec, place)


def _literal_of(key: str, spec: Spec) -> Expression | None:
    found = _literal_key(key)
    if found is None:
        return None
    node = found.node
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    kind = type(inner.value).__name__ if isinstance(inner, ast.Constant) else ""
    if isinstance(node, ast.Call | ast.Tuple | ast.BinOp):
        # `float("nan")`, `frozenset({1})`, `(1, 2)` and `1 + 2j`
        called = node.func if isinstance(node, ast.Call) else None
        kind = called.id if isinstance(called, ast.Name) else ""
        kind = "tuple" if isinstance(node, ast.Tuple) else kind or "complex"
    return found if kind.replace("NoneType", "None") == spec.name else None


def _literal_key(key: str) -> Expression | None:
    """Return the value whose `str` the key is, when it is not a string."""
    if not key or len(key) > 1000:  # noqa: PLR2004
        return None
    decoded = _decode_plain(key)
    if decoded is None or isinstance(decoded, Unknown):
        return None
    first = decoded[0].expression
    is_text = isinstance(first.node, ast.Constant) and isinstance(first.node.value, str)
    return None if is_text or first.imports or not is_hashable(first.node) else first


def _decode_plain(key: str) -> Decoded | None:
    parsed = parse(key)
    if isinstance(parsed, Unknown) or parsed.angles:
        return None
    return decode_node(parsed.node, parsed, Place(Hints(), 1))


def _date_key(key: str, name: str) -> Expression | None:
    found = _ISO.fullmatch(key)
    if found is None or (found["time"] is None) != (name == "date"):
        return None
    numbers = [int(part) for part in found["date"].split("-")]
    if found["time"]:
        numbers += [int(part) for part in found["time"].split(":")]
    if found["fraction"]:
        numbers.append(int(found["fraction"]))
    while len(numbers) > 5 and numbers[-1] == 0:  # noqa: PLR2004 - as repr drops them
        numbers.pop()
    return make.call(make.reference("datetime", name), [make.constant(one) for one in numbers])


def _enum_key(key: str, spec: Spec, place: Place) -> Expression | None:
    """Return the member whose `str` is the key: `Status.NEW`, or its value for mixed-in enums."""
    if not make.is_dotted(spec.dotted):
        return None
    for fact in known_facts(spec.dotted, place):
        if fact.kind is not ClassKind.ENUM:
            continue
        owner, _, name = key.rpartition(".")
        for member, shown in fact.members:
            by_name = member == name and owner == fact.qualname.rpartition(".")[2]
            if by_name or shown in {key, repr(key)}:
                return make.attribute(make.reference(fact.module, fact.qualname), member)
    return None


def _member_key(key: str, place: Place) -> Expression | None:
    if _MEMBER.fullmatch(key) is None:
        return None
    owner, _, name = key.rpartition(".")
    decoded = decode_member(owner, [name], "", place)
    return None if isinstance(decoded, Unknown) else decoded[0].expression


def mapping_readings(place: Place) -> list[MappingReading]:
    """Return the readings of the mapping's type, likeliest first; a plain dict is always one."""
    specs = [spec for spec in alternatives(place.annotation) if spec.name != "None"]
    alone = len(specs) == 1
    readings = [
        reading for spec in specs if (reading := _annotated_mapping(spec, alone=alone)) is not None
    ]
    plain = MappingReading(lambda whole: whole, certain=False)
    if not any(spec.name == "dict" for spec in specs):
        readings.append(plain)
    return readings


def _annotated_mapping(spec: Spec, *, alone: bool) -> MappingReading | None:
    if spec.name == "dict":
        return MappingReading(lambda whole: whole, certain=alone)
    if spec.name in {"OrderedDict", "Counter"}:
        target = make.reference("collections", spec.name)
        return MappingReading(
            lambda whole: make.call(target, _unless_empty(whole)), alone, Provenance.CONSTRUCTED
        )
    if spec.name == "ChainMap":
        target = make.reference("collections", "ChainMap")
        note = "all in one map"
        return MappingReading(
            lambda whole: make.call(target, [whole]), False, Provenance.CONSTRUCTED, note
        )
    if spec.name == "MappingProxyType":
        target = make.reference("types", spec.name)
        return MappingReading(
            lambda whole: make.call(target, [whole]), alone, Provenance.CONSTRUCTED
        )
    if spec.name == "defaultdict":
        return _defaultdict(spec)
    return None


def _unless_empty(whole: Expression) -> list[Expression]:
    return [whole] if isinstance(whole.node, ast.Dict) and whole.node.keys else []


def _defaultdict(spec: Spec) -> MappingReading:
    values = alternatives(spec.argument(1))
    name = values[0].name if values else ""
    factory = make.builtin(name) if name in _FACTORIES else make.constant(None)
    note = f"the default factory is assumed: {name}" if name in _FACTORIES else "no default factory"
    target = make.reference("collections", "defaultdict")
    return MappingReading(
        lambda whole: make.call(target, [factory, *_unless_empty(whole)]),
        certain=False,
        provenance=Provenance.CONSTRUCTED,
        note=note,
    )
