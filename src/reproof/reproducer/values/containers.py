"""JSON arrays: which Python container each was.

A sender writes list, tuple, set, frozenset, named tuple and array as one JSON array. The type comes
from the annotation, the default, and what the source does with the variable, in this order; after
these come list, tuple, set.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeAlias

from reproof.reproducer.values import expression as make
from reproof.reproducer.values.annotations import Spec, alternatives
from reproof.reproducer.values.classes import ClassKind
from reproof.reproducer.values.provenance import Provenance
from reproof.reproducer.values.records import known_facts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reproof.reproducer.values.classes import ClassFact
    from reproof.reproducer.values.expression import Expression
    from reproof.reproducer.values.place import Place

ListBuilder: TypeAlias = "Callable[[Sequence[Expression]], Expression | None]"

WIDTH = 10
"""How many items a sender keeps."""
_SEQUENCES_WALKED_UNTIL = (2, 61)
_ORDER = ("list", "tuple", "set", "frozenset")
_CONCRETE = frozenset({*_ORDER, "deque", "array", "range"})
_ABSTRACT = {
    "Sequence": ("list", "tuple"),
    "Iterable": ("list", "tuple", "set", "frozenset"),
    "Set": ("set", "frozenset"),
    "Hashable": ("tuple", "frozenset"),
}
_LIST_USES = frozenset(
    {"append", "extend", "insert", "sort", "reverse", "__setitem__:int", "__setitem__",
     "__delitem__:int"}
)  # fmt: skip
_SET_USES = frozenset(
    {"add", "discard", "union", "intersection", "difference", "issubset", "issuperset",
     "isdisjoint", "symmetric_difference", "difference_update", "intersection_update"}
)  # fmt: skip
_DEQUE_USES = frozenset({"appendleft", "popleft", "extendleft", "rotate", "maxlen"})
_UNHASHABLE_CALLS = frozenset(
    {"set", "bytearray", "deque", "defaultdict", "OrderedDict", "Counter", "ChainMap", "array",
     "SimpleNamespace", "MappingProxyType", "slice", "list", "dict"}
)  # fmt: skip
_HASHABLE_CALLS = frozenset(
    {"float", "complex", "frozenset", "range", "type", "Decimal", "Fraction", "UUID", "datetime",
     "date", "time", "timedelta", "timezone", "ZoneInfo", "Path", "PurePosixPath",
     "PureWindowsPath", "IPv4Address", "IPv6Address", "IPv4Network", "IPv6Network", "compile",
     "Timestamp", "Timedelta"}
)  # fmt: skip


def is_hashable(node: ast.expr, *, surely: bool = False) -> bool:
    """Tell whether a decoded value can be in a set or be a key.

    Whether a repository's class can is not known; `surely` leaves its instances out.
    """
    match node:
        case ast.List() | ast.Set() | ast.Dict():
            return False
        case ast.Tuple(elts=items):
            return all(is_hashable(item, surely=surely) for item in items)
        case ast.Call(args=[ast.Constant(value=str() as text)]) if "snan" in text.lower():
            # a signalling NaN refuses to be hashed
            return False
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in _HASHABLE_CALLS if surely else name not in _UNHASHABLE_CALLS
        case _:
            return True


class ListReading:
    """One reading of a JSON array: its type, what the annotation says of its items, its builder."""

    __slots__ = ("build", "certain", "items", "kind", "note", "provenance")

    def __init__(
        self,
        kind: str,
        items: Callable[[int], ast.expr | None],
        build: ListBuilder,
        *,
        certain: bool,
        note: str = "",
        provenance: Provenance = Provenance.LITERAL,
    ) -> None:
        self.kind = kind
        self.items = items
        self.build = build
        self.certain = certain
        self.note = note
        self.provenance = provenance


def list_readings(place: Place, length: int) -> list[ListReading]:
    """Return the readings of a JSON array of that length, likeliest first."""
    specs = [spec for spec in alternatives(place.annotation) if spec.name != "None"]
    readings: list[ListReading] = []
    for spec in specs:
        readings += _annotated(spec, place, length, alone=len(specs) == 1)
    for kind in (*_by_default(place.default), *_by_uses(place.uses), *_ORDER):
        if all(reading.kind != kind for reading in readings):
            readings.append(_reading(kind, _same(_items_of(specs)), certain=False, guess=True))
    return readings


def _annotated(spec: Spec, place: Place, length: int, *, alone: bool) -> list[ListReading]:
    if spec.name == "tuple":
        return [_reading("tuple", _tuple_items(spec, length), certain=alone)]
    if spec.name in _CONCRETE:
        walked = place.hints.sdk_version is None or (
            place.hints.sdk_version < _SEQUENCES_WALKED_UNTIL
        )
        if spec.name in {"deque", "range"} and not walked:
            return []
        certain = alone and spec.name in _ORDER
        return [_reading(spec.name, _same(spec.argument(0)), certain=certain)]
    if spec.name in _ABSTRACT:
        kinds = _ABSTRACT[spec.name]
        preferred = [*_by_default(place.default), *_by_uses(place.uses)]
        ordered = sorted(kinds, key=lambda kind: kind not in preferred)
        return [_reading(kind, _same(spec.argument(0)), certain=False) for kind in ordered]
    if not make.is_dotted(spec.dotted):
        return []
    return [
        _named_tuple(fact, certain=alone)
        for fact in known_facts(spec.dotted, place)
        if fact.kind is ClassKind.NAMEDTUPLE and len(fact.fields) == length
    ]


def _items_of(specs: Sequence[Spec]) -> ast.expr | None:
    """Return an item annotation that holds whatever the container turns out to be."""
    inner = [spec.argument(0) for spec in specs if spec.name != "tuple" and spec.arguments]
    return inner[0] if len(inner) == 1 else None


def _same(annotation: ast.expr | None) -> Callable[[int], ast.expr | None]:
    return lambda _: annotation


def _tuple_items(spec: Spec, length: int) -> Callable[[int], ast.expr | None]:
    inner = spec.arguments
    if len(inner) == 2 and isinstance(inner[1], ast.Constant) and inner[1].value is Ellipsis:  # noqa: PLR2004
        return _same(inner[0])
    if len(inner) == length:
        return lambda index: inner[index]
    return _same(None)


def _by_default(default: ast.expr | None) -> tuple[str, ...]:
    match default:
        case ast.Tuple():
            return ("tuple",)
        case ast.List() | ast.ListComp():
            return ("list",)
        case ast.Set() | ast.Call(func=ast.Name(id="set")):
            return ("set",)
        case ast.Call(func=ast.Name(id="frozenset")):
            return ("frozenset",)
        case _:
            return ()


def _by_uses(uses: frozenset[str]) -> tuple[str, ...]:
    kinds: list[str] = []
    if uses & _DEQUE_USES:
        kinds.append("deque")
    if uses & _LIST_USES:
        kinds.append("list")
    if uses & _SET_USES:
        kinds.append("set")
    if any(use.startswith("__getitem__") for use in uses):
        kinds += ["list", "tuple"]
    return tuple(kinds)


def _reading(
    kind: str, items: Callable[[int], ast.expr | None], *, certain: bool, guess: bool = False
) -> ListReading:
    note = "the type code is assumed" if kind == "array" else ""
    origin = Provenance.LITERAL if kind in _ORDER else Provenance.CONSTRUCTED
    build = _GUESSES.get(kind, _BUILDERS[kind]) if guess else _BUILDERS[kind]
    return ListReading(kind, items, build, certain=certain, note=note, provenance=origin)


def _named_tuple(fact: ClassFact, *, certain: bool) -> ListReading:
    def build(items: Sequence[Expression]) -> Expression:
        names = [one.init_name or one.name for one in fact.fields]
        target = make.reference(fact.module, fact.qualname)
        return make.call(target, [], list(zip(names, items, strict=True)))

    return ListReading(
        fact.qualname, _same(None), build, certain=certain, provenance=Provenance.CONSTRUCTED
    )


def _distinct(items: Sequence[Expression], *, surely: bool = False) -> bool:
    """Tell whether the items can be exactly the members of a set."""
    if not all(is_hashable(item.node, surely=surely) for item in items):
        return False
    return len({ast.dump(item.node) for item in items}) == len(items)


def _likely_set(items: Sequence[Expression]) -> Expression | None:
    return make.set_of(items) if _distinct(items, surely=True) else None


def _likely_frozenset(items: Sequence[Expression]) -> Expression | None:
    return make.frozenset_of(items) if _distinct(items, surely=True) else None


def _set(items: Sequence[Expression]) -> Expression | None:
    return make.set_of(items) if _distinct(items) else None


def _frozenset(items: Sequence[Expression]) -> Expression | None:
    return make.frozenset_of(items) if _distinct(items) else None


def _deque(items: Sequence[Expression]) -> Expression:
    return make.call(make.reference("collections", "deque"), [make.list_of(items)])


def _array(items: Sequence[Expression]) -> Expression | None:
    numbers = [_number(item.node) for item in items]
    if any(number is None for number in numbers):
        return None
    code = "d" if any(isinstance(number, float) for number in numbers) else "q"
    return make.call(make.reference("array", "array"), [make.constant(code), make.list_of(items)])


def _range(items: Sequence[Expression]) -> Expression | None:
    numbers = [_number(item.node) for item in items]
    whole = [number for number in numbers if isinstance(number, int)]
    if len(whole) != len(items):
        return None
    step = whole[1] - whole[0] if len(whole) > 1 else 1
    start = whole[0] if whole else 0
    if step == 0:
        return None
    found = range(start, start + step * len(whole), step)
    if list(found) != whole:
        return None
    bounds = [found.start, found.stop] if step == 1 else [found.start, found.stop, step]
    return make.call(make.builtin("range"), [make.constant(bound) for bound in bounds])


def _number(node: ast.expr) -> int | float | None:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _number(operand)
            return None if inner is None else -inner
        case _:
            return None


_BUILDERS: dict[str, ListBuilder] = {
    "list": make.list_of,
    "tuple": make.tuple_of,
    "set": _set,
    "frozenset": _frozenset,
    "deque": _deque,
    "array": _array,
    "range": _range,
}
_GUESSES: dict[str, ListBuilder] = {"set": _likely_set, "frozenset": _likely_frozenset}
