"""A stand-in tells of every use, and of none that is ours."""

from __future__ import annotations

import copy
import unittest.mock
from typing import TYPE_CHECKING, Any

import pytest

from reproof.sandbox._guest import sentinels, serialize

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> sentinels.Watch:
    monkeypatch.setattr(unittest.mock, "sentinel", unittest.mock.sentinel)  # put back after
    return sentinels.install(["order"])


USES: list[tuple[str, Callable[[Any], object]]] = [
    (".name", lambda x: x.name),
    (".name =", lambda x: setattr(x, "name", 1)),
    ("__delattr__", lambda x: delattr(x, "name")),
    ("__bool__", bool),
    ("__len__", len),
    ("__iter__", list),
    ("__hash__", lambda x: {x}),
    ("__eq__", lambda x: x == 1),
    ("__radd__", lambda x: "a" + x),
    ("__rlshift__", lambda x: 1 << x),
    ("__divmod__", lambda x: divmod(x, 2)),
    ("__matmul__", lambda x: x @ 1),
    ("__reversed__", reversed),
    ("__str__", str),
    ("__format__", lambda x: f"{x}"),
    (".__class__", lambda x: isinstance(x, int)),
    ("__copy__", copy.copy),
    ("__dir__", dir),
]


@pytest.mark.parametrize(("operation", "use"), USES, ids=[name for name, _ in USES])
def test_a_use_is_recorded(
    watch: sentinels.Watch, operation: str, use: Callable[[Any], object]
) -> None:
    with pytest.raises(sentinels.UnrecoveredValueUsed):
        use(unittest.mock.sentinel.order)
    assert watch.uses == [["order", operation]]


def test_handing_it_on_is_no_use(watch: sentinels.Watch) -> None:
    value = unittest.mock.sentinel.order
    assert value is unittest.mock.sentinel.order
    assert [value][0] is not None
    assert watch.uses == []
    with pytest.raises(AttributeError):
        unittest.mock.sentinel.other  # noqa: B018


def test_serialising_it_afterwards_is_no_use(watch: sentinels.Watch) -> None:
    value = unittest.mock.sentinel.order
    watch.active = False
    assert serialize.serialize([value]) == ["sentinel.order"]
    assert watch.uses == []


def test_a_complaint_about_its_type_is_a_use(watch: sentinels.Watch) -> None:
    with pytest.raises(TypeError) as caught:
        ",".join(iter([unittest.mock.sentinel.order]))
    watch.read_message(str(caught.value))
    assert watch.uses == [["order", "its type"]]
