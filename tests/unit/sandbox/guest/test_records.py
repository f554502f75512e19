"""Who wrote a class's repr, and what its constructor takes."""

from __future__ import annotations

import dataclasses
import enum
import reprlib
from collections import namedtuple
from typing import Any, ClassVar, NamedTuple

import attrs
import pydantic
import pytest

from reproof.sandbox._guest import records


@dataclasses.dataclass
class Plain:
    x: int


@dataclasses.dataclass(slots=True, frozen=True, kw_only=True)
class Slotted:
    x: int
    y: list[int] = dataclasses.field(default_factory=list)
    shared: ClassVar[int] = 0


@dataclasses.dataclass
class Inherited(Plain):
    z: int = 0


class Undecorated(Plain):
    pass


@dataclasses.dataclass(repr=False)
class NoRepr:
    x: int


@dataclasses.dataclass
class Own:
    x: int

    def __repr__(self) -> str:
        return "own"


@dataclasses.dataclass
class Guarded:
    x: int

    @reprlib.recursive_repr()
    def __repr__(self) -> str:
        return "own"


class OwnBelow(Plain):
    def __repr__(self) -> str:
        return "own"


@attrs.define
class Attrs:
    _x: int
    y: int = attrs.field(default=1, kw_only=True, repr=False)


@attrs.define
class AttrsCustom:
    x: int = attrs.field(repr=lambda _value: "***")


@attrs.define(repr=False)
class AttrsOwn:
    x: int

    def __repr__(self) -> str:
        return "own"


class Model(pydantic.BaseModel):
    x: int
    y: int = pydantic.Field(default=1, alias="why")


class ModelOwn(pydantic.BaseModel):
    x: int

    def __repr__(self) -> str:
        return "own"


class ModelArgs(pydantic.BaseModel):
    x: int

    def __repr_args__(self) -> Any:  # noqa: ANN401
        return []


class Typed(NamedTuple):
    x: int


class TypedOwn(NamedTuple):
    x: int

    def __repr__(self) -> str:
        return "own"


Old = namedtuple("Old", "x y", defaults=[1])  # noqa: PYI024


class Color(enum.Enum):
    RED = 1
    ROT = 1  # noqa: PIE796 - an alias


class ColorOwn(enum.Enum):
    RED = 1

    def __repr__(self) -> str:
        return "own"


@pytest.mark.parametrize(
    ("cls", "kind", "generated"),
    [
        (Plain, "dataclass", True),
        (Slotted, "dataclass", True),
        (Inherited, "dataclass", True),
        (Undecorated, "dataclass", True),
        (NoRepr, "dataclass", False),
        (Own, "dataclass", False),
        (Guarded, "dataclass", False),
        (OwnBelow, "dataclass", False),
        (Attrs, "attrs", True),
        (AttrsCustom, "attrs", False),
        (AttrsOwn, "attrs", False),
        (Model, "pydantic", True),
        (ModelOwn, "pydantic", False),
        (ModelArgs, "pydantic", False),
        (Typed, "namedtuple", True),
        (TypedOwn, "namedtuple", False),
        (Old, "namedtuple", True),
        (Color, "enum", True),
        (ColorOwn, "enum", False),
        (KeyError, "exception", False),
        (object, "plain", False),
    ],
)
def test_the_kind_and_who_wrote_the_repr(cls: type, kind: str, *, generated: bool) -> None:
    told = records.describe(cls)
    assert (told["kind"], told["repr_is_generated"]) == (kind, generated)


def test_fields_are_those_of_the_constructor() -> None:
    assert records.describe(Slotted)["fields"] == [
        ["x", True, False, True],
        ["y", True, True, True],
    ]
    assert records.describe(Inherited)["fields"] == [
        ["x", True, False, False],
        ["z", True, True, False],
    ]
    assert records.describe(Attrs)["fields"] == [
        ["_x", True, False, False, "x"],
        ["y", True, True, True, None],
    ]
    assert records.describe(Model)["fields"] == [
        ["x", True, False, True, None],
        ["y", True, True, True, "why"],
    ]
    assert records.describe(Old)["fields"] == [["x", True, False, False], ["y", True, True, False]]
    assert records.describe(Color)["members"] == [["RED", "1"], ["ROT", "1"]]


def test_parameters_and_read_only_attributes() -> None:
    class Made:
        def __init__(self, a: int, /, b: int, *rest: int, c: int, d: int = 1, **more: int) -> None:
            pass

        @property
        def shown(self) -> int:
            return 1

    told = records.describe(Made)
    assert told["parameters"] == [
        ["a", "positional_only", False],
        ["b", "positional_or_keyword", False],
        ["c", "keyword_only", False],
        ["d", "keyword_only", True],
        ["*", "var_positional", True],
        ["**", "var_keyword", True],
    ]
    assert told["properties"] == ["shown"]


def test_a_class_is_only_what_really_is_one() -> None:
    class Proxy:
        @property  # type: ignore[misc]  # which is the point
        def __class__(self) -> Any:  # noqa: ANN401
            raise RuntimeError

    assert not records.is_class(Proxy())
    assert records.is_class(Proxy)
