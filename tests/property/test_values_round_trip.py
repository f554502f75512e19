"""Values through the real SDK serialiser and back: the text is never misread with confidence."""

from __future__ import annotations

import ast
import builtins
import enum
import importlib
import math
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass, field
from datetime import UTC, date, timedelta, timezone
from decimal import Decimal
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs
import pydantic
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sentry_sdk.serializer import serialize as sdk_serialize

from reproof.reproducer.printer import render
from reproof.reproducer.values.classes import ClassFact, ClassKind, DictLookup, FieldFact
from reproof.reproducer.values.decode import decode
from reproof.reproducer.values.place import Hints
from reproof.reproducer.values.provenance import Candidate, Unknown
from reproof.sandbox._guest.serialize import serialize

if TYPE_CHECKING:
    from collections.abc import Callable

    from reproof.domain.event import JSON

HERE = "the_app.models"
"""The module name under which the lookup knows the classes below."""

EXAMPLES = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


class State(enum.Enum):
    VOID = "void"
    PAID = 2


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 3


class Rights(enum.Flag):
    READ = 1
    WRITE = 2
    RUN = 4


class Point(NamedTuple):
    x: int
    y: int


@dataclass(frozen=True)
class Line:
    sku: str
    price: Decimal
    state: State = State.VOID
    tags: tuple[str, ...] = field(default=(), kw_only=True)


@attrs.frozen
class Span:
    start: int
    _end: int | None = None


class Item(pydantic.BaseModel):
    name: str
    meta: dict[str, int]


CLASSES: tuple[type, ...] = (State, Level, Rights, Point, Line, Span, Item)
LOOKUP = DictLookup.of(
    [
        *(
            ClassFact(
                HERE,
                cls.__name__,
                ClassKind.ENUM,
                members=tuple((name, repr(one.value)) for name, one in cls.__members__.items()),
            )
            for cls in (State, Level, Rights)
        ),
        ClassFact(
            HERE,
            "Point",
            ClassKind.NAMEDTUPLE,
            (FieldFact("x"), FieldFact("y")),
            repr_is_generated=True,
        ),
        ClassFact(
            HERE,
            "Line",
            ClassKind.DATACLASS,
            (
                FieldFact("sku"),
                FieldFact("price"),
                FieldFact("state", has_default=True),
                FieldFact("tags", has_default=True, keyword_only=True),
            ),
            repr_is_generated=True,
        ),
        ClassFact(
            HERE,
            "Span",
            ClassKind.ATTRS,
            (FieldFact("start"), FieldFact("_end", has_default=True, init_name="end")),
            repr_is_generated=True,
        ),
        ClassFact(
            HERE,
            "Item",
            ClassKind.PYDANTIC,
            (FieldFact("name"), FieldFact("meta")),
            repr_is_generated=True,
        ),
    ]
)


def evaluate(candidate: Candidate) -> object:
    """Render, parse and run a candidate; only ever for values that these tests made."""
    text = render(candidate.expression.node)
    assert ast.dump(ast.parse(text, mode="eval").body) == ast.dump(candidate.expression.node)
    names: dict[str, object] = {}
    for target in candidate.expression.imports:
        if target.module == HERE:
            assert target.name is not None
            names[target.bound] = globals()[target.name]
            continue
        module = importlib.import_module(target.module)
        names[target.bound] = getattr(module, target.name) if target.name else module
    return eval(text, {"__builtins__": builtins, **names})  # noqa: S307


def alike(left: object, right: object) -> bool:
    """Compare values and, all the way down, their types; nan is alike nan, 0.0 is not -0.0."""
    if type(left) is not type(right):
        return False
    match left, right:
        case float(), float():
            same_sign = math.copysign(1, left) == math.copysign(1, right)
            return (math.isnan(left) and math.isnan(right)) or (left == right and same_sign)
        case complex(), complex():
            return alike(left.real, right.real) and alike(left.imag, right.imag)
        case ((list() | tuple() | deque()), (list() | tuple() | deque())):
            return len(left) == len(right) and all(map(alike, left, right))
        case ((set() | frozenset()), (set() | frozenset())):
            return sorted(map(describe, left)) == sorted(map(describe, right))
        case dict(), dict():
            if isinstance(left, defaultdict) and isinstance(right, defaultdict):
                same = left.default_factory is right.default_factory
            else:
                same = True
            return same and alike(list(left.items()), list(right.items()))
        case _:
            return describe(left) == describe(right)


def describe(value: object) -> str:
    if isinstance(value, set | frozenset):
        return f"{type(value).__name__}{sorted(map(describe, value))}"
    return f"{type(value).__qualname__}:{value!r}"


text = st.text(max_size=12)
days = st.dates(min_value=date(1900, 1, 1))
zones = st.sampled_from([None, UTC, timezone(timedelta(hours=2)), timezone(timedelta(0), "Z")])
literals = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=10**40, max_value=10**60),
    st.floats(),
    st.complex_numbers(),
    text,
    st.text(alphabet="'\"\\\n\r\t\x00\x7f\u202e\ud800é日", max_size=8),
    st.binary(max_size=8),
    st.just(...),
    st.builds(range, st.integers(-9, 9), st.integers(-9, 9)),
    st.builds(slice, st.integers(), st.none() | st.integers(), st.none()),
    st.builds(bytearray, st.binary(max_size=4)),
)
built = st.one_of(
    st.decimals(),
    st.fractions(),
    st.uuids(),
    days,
    st.datetimes(timezones=zones),
    st.times(timezones=st.sampled_from([None, UTC])),
    st.timedeltas(),
    st.builds(Path, st.sampled_from(["/srv/x", "a'b", "."])),
    st.just(PurePosixPath("/x")),
    st.ip_addresses(),
    st.sampled_from([*State, *Level, Rights.READ, Rights.READ | Rights.RUN, Rights(0)]),
    st.builds(ValueError, text, st.integers()),
    st.sampled_from([int, ValueError, len, type(None)]),
)
records = st.one_of(
    st.builds(Line, text, st.decimals(), st.sampled_from(State), tags=st.tuples(text)),
    st.builds(Span, st.integers(), st.integers()),
    st.builds(Item, name=text, meta=st.dictionaries(text, st.integers(), max_size=3)),
)
reprs: st.SearchStrategy[Any] = st.one_of(
    st.builds(deque, st.lists(st.integers(), max_size=3), st.none() | st.just(3)),
    st.just(math.nan),
)
leaves = st.one_of(literals, built, records, reprs)
hashable = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), text,
    st.binary(max_size=3),
    st.sampled_from([*State, *Level]), st.dates(), st.tuples(st.integers(), text),
)  # fmt: skip
values = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.builds(Point, st.integers(), st.integers()),
        st.sets(hashable, max_size=4),
        st.frozensets(hashable, max_size=4),
        st.dictionaries(hashable, inner, max_size=4),
        st.dictionaries(text, inner, max_size=12),
        st.dictionaries(text, inner, max_size=3).map(OrderedDict),
        st.dictionaries(text, inner, max_size=3).map(lambda one: defaultdict(list, one)),
    ),
    max_leaves=20,
)


def captured_by_sdk(value: object) -> JSON:
    whole: dict[str, JSON] = sdk_serialize({"value": value}, is_vars=True)
    return whole["value"]


def captured_long_ago(value: object) -> JSON:
    """What an SDK before 2.13 sends: 1024 bytes a string, all sequences walked."""
    told: JSON = serialize(value, sdk=(2, 12, 0))
    return told


@pytest.mark.parametrize(
    ("capture", "sdk"),
    [
        pytest.param(captured_by_sdk, (2, 75, 0), id="newest"),
        pytest.param(captured_long_ago, (2, 12, 0), id="before-2.13"),
    ],
)
@EXAMPLES
@given(value=values)
@example(value={1: "x", "1": "y"})
@example(value=[[]])
@example(value=[Decimal("sNaN")])
@example(value=[1 - 0j, -0j, complex(-0.0, -0.0)])
@example(value={"None": 1})
@example(value=[..., [...]])
@example(value=complex(-0.0, math.inf))
@example(value={"a" * 2000: "b" * 2000})
def test_text_is_never_misread_with_confidence(
    capture: Callable[[object], JSON], sdk: tuple[int, ...], value: object
) -> None:
    decoded = decode(capture(value), Hints(sdk_version=sdk, lookup=LOOKUP))
    if isinstance(decoded, Unknown):
        return
    assert 1 <= len(decoded) <= 8
    for candidate in decoded:
        evaluate(candidate)
    if len(decoded) == 1 and not decoded[0].ambiguous:
        assert alike(evaluate(decoded[0]), value)


@EXAMPLES
@given(value=leaves)
def test_a_scalar_comes_back_as_its_only_candidate(value: object) -> None:
    captured = captured_by_sdk(value)
    decoded = decode(captured, Hints(sdk_version=(2, 75, 0), lookup=LOOKUP))
    assert not isinstance(decoded, Unknown), captured
    assert len(decoded) == 1
    assert alike(evaluate(decoded[0]), value)


INNER: list[tuple[str, st.SearchStrategy[Any]]] = [
    ("int", st.integers()),
    ("str", text),
    ("float | None", st.floats() | st.none()),
    ("Decimal", st.decimals(allow_nan=False)),
    ("State", st.sampled_from(State)),
    ("datetime.date", days),
    ("Point", st.builds(Point, st.integers(), st.integers())),
]
KEYS: list[tuple[str, st.SearchStrategy[Any]]] = [
    ("str", text),
    ("int", st.integers()),
    ("bool", st.booleans()),
    ("float", st.floats(allow_nan=False)),
    ("bytes", st.binary(max_size=3)),
    ("tuple[int, str]", st.tuples(st.integers(), text)),
    ("State", st.sampled_from(State)),
    ("uuid.UUID", st.uuids()),
    ("date", days),
    ("datetime", st.datetimes().map(lambda one: one.replace(fold=0))),
    ("Decimal", st.decimals(allow_nan=False, allow_infinity=False)),
    ("Fraction", st.fractions()),
    ("IPv4Address", st.ip_addresses(v=4)),
    ("pathlib.Path", st.builds(Path, st.sampled_from(["/srv/x", "a"]))),
]


@st.composite
def annotated_values(draw: st.DrawFn) -> tuple[str, object]:
    """Draw an annotation and a value that is exactly of that type."""
    depth = draw(st.integers(1, 3))
    name, inner = draw(st.sampled_from(INNER))
    for _ in range(depth):
        name, inner = draw(st.sampled_from(_containers(name, inner)))
    return name, draw(inner)


def _containers(
    name: str, inner: st.SearchStrategy[Any]
) -> list[tuple[str, st.SearchStrategy[Any]]]:
    shapes: list[tuple[str, st.SearchStrategy[Any]]] = [
        (f"list[{name}]", st.lists(inner, max_size=3)),
        (f"List[{name}]", st.lists(inner, max_size=3)),
        (f"tuple[{name}, ...]", st.lists(inner, max_size=3).map(tuple)),
        (f"Tuple[{name}, int]", st.tuples(inner, st.integers())),
        (f"Optional[list[{name}]]", st.lists(inner, max_size=3)),
    ]
    if not name.startswith(
        ("list", "List", "dict", "Ordered", "set", "Optional", "tuple", "Tuple")
    ):
        shapes += [
            (f"set[{name}]", st.sets(inner, max_size=3)),
            (f"FrozenSet[{name}]", st.frozensets(inner, max_size=3)),
        ]
    for key, keys in KEYS:
        shapes.append((f"dict[{key}, {name}]", st.dictionaries(keys, inner, max_size=3)))
    shapes.append(
        (f"OrderedDict[str, {name}]", st.dictionaries(text, inner, max_size=2).map(OrderedDict))
    )
    return shapes


@EXAMPLES
@given(pair=annotated_values())
@example(pair=("Counter[str]", Counter("aab")))
@example(pair=("dict[State, list[tuple[int, str]]]", {State.VOID: [(1, "a")]}))
@example(pair=("dict[str, int] | None", {"1": 1}))
def test_an_annotation_makes_the_first_candidate_the_value(pair: tuple[str, object]) -> None:
    annotation, value = pair
    hints = Hints(
        annotation=ast.parse(annotation, mode="eval").body, sdk_version=(2, 75, 0), lookup=LOOKUP
    )
    captured = captured_by_sdk(value)
    decoded = decode(captured, hints)
    assert not isinstance(decoded, Unknown), captured
    assert alike(evaluate(decoded[0]), value)


@EXAMPLES
@given(st.text(max_size=60) | st.text(alphabet="[](){}<>'\"\\.,:x1- =#\n", max_size=60))
def test_any_text_has_a_defined_outcome(captured: str) -> None:
    decoded = decode(captured, Hints(lookup=LOOKUP))
    assert isinstance(decoded, Unknown) or len(decoded) >= 1


@EXAMPLES
@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | text,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
        max_leaves=20,
    )
)
def test_any_json_has_a_defined_outcome(captured: JSON) -> None:
    decoded = decode(captured, Hints(lookup=LOOKUP), meta=captured)
    assert isinstance(decoded, Unknown) or len(decoded) >= 1
