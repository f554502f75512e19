"""The guest's serialiser writes what the real SDK writes."""

from __future__ import annotations

import enum
from array import array
from collections import ChainMap, OrderedDict, deque
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sentry_sdk.serializer import serialize as sdk_serialize

from reproof.sandbox._guest import serialize as guest
from reproof.verdict.capture import agrees

if TYPE_CHECKING:
    from collections.abc import Iterator

NEWEST = (2, 75, 0)
OLD = (2, 12, 0)


class Colour(enum.Enum):
    RED = 1


class Broken:
    def __repr__(self) -> str:
        raise ValueError("no")


class Rude:
    def __repr__(self) -> str:
        raise KeyboardInterrupt


class Own:
    def __sentry_repr__(self) -> str:
        return "own"


class Endless(dict[str, int]):
    def items(self) -> Iterator[tuple[str, int]]:  # type: ignore[override]
        number = 0
        while True:
            number += 1
            yield str(number), number


leaves = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8),
    st.binary(max_size=8), st.decimals(), st.just(Colour.RED), st.dates(), st.builds(Broken),
    st.builds(Own), st.builds(range, st.integers(0, 4)), st.builds(deque, st.just((1, 2))),
    st.just(array("i", [1, 2])), st.just(bytearray(b"x")), st.just(MappingProxyType({"a": 1})),
    st.just(ChainMap({"a": 1})),
)  # fmt: skip
keys = st.one_of(st.text(max_size=4), st.integers(), st.none(), st.just(Colour.RED))
values = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=12),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(keys, inner, max_size=12),
        st.dictionaries(keys, inner, max_size=3).map(OrderedDict),
        st.sets(st.integers(), max_size=12),
    ),
    max_leaves=30,
)


@settings(max_examples=200, deadline=None)
@given(values)
def test_the_guest_writes_what_the_sdk_writes(value: object) -> None:
    expected = sdk_serialize({"value": value}, is_vars=True)["value"]
    told = guest.serialize(value, sdk=NEWEST)
    assert told == expected
    # An address of a default repr is the same in one process; agreement is reflexive.
    assert agrees(expected, told) is not False


def test_a_cycle_is_marked_and_a_repetition_is_not() -> None:
    inner: list[object] = [Decimal(1)]
    value: list[object] = [inner, inner]
    value.append(value)
    assert guest.serialize(value) == [["Decimal('1')"], ["Decimal('1')"], "<cyclic>"]


@pytest.mark.parametrize(
    ("sdk", "expected"),
    [
        pytest.param(NEWEST, ["deque([1])", "range(0, 2)"], id="newest"),
        pytest.param(None, ["deque([1])", "range(0, 2)"], id="unknown"),
        pytest.param([2, 60, 0], [["1"], ["0", "1"]], id="before-2.61"),
    ],
)
def test_what_is_walked_depends_on_the_version(
    sdk: tuple[int, ...] | None, expected: list[object]
) -> None:
    assert guest.serialize([deque([1]), range(2)], sdk=sdk) == expected


@pytest.mark.parametrize(
    ("sdk", "limit"),
    [((1, 5, 12), 512), ((1, 14, 0), 1024), (OLD, 1024), ((2, 34, 0), 100_000)],
)
def test_long_text_is_cut_as_that_version_cuts_it(sdk: tuple[int, ...], limit: int) -> None:
    told = guest.serialize("a" * 200_000, sdk=sdk)
    assert told == "'" + "a" * (limit - 4) + "..."


def test_size_is_bounded_whatever_the_value_does() -> None:
    assert len(guest.serialize("a" * 10_000_000)) == guest.LEAF_LIMIT
    assert guest.serialize(Endless({"a": 1}))["10"] == "10"
    assert len(guest.serialize(Endless({"a": 1}))) == 10
    assert guest.serialize([Rude()]) == [guest.FAILED]
    assert guest.serialize("é" * 10, leaf_limit=10) == "'ééé..."


def test_one_budget_serves_all_locals_of_a_frame() -> None:
    wide = [[[[0] * 10] * 10] * 10] * 10
    told = guest.frame_locals({"first": 1, "a": wide, "b": wide, "last": 2})
    assert list(told) == ["first", "a", "b", "last"]
    assert told["first"] == "1"
    assert told["last"] == guest.OVER_BUDGET
