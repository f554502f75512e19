"""Causes and groups, as the SDK numbers them."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from reproof.domain.event import ExceptionValue
from reproof.verdict.expectation import Group, causes_of, group_of

if TYPE_CHECKING:
    from collections.abc import Iterator


def _value(
    kind: str,
    own: int | None = None,
    parent: int | None = None,
    source: str | None = None,
    *,
    group: bool = False,
    module: str | None = None,
) -> ExceptionValue:
    return ExceptionValue(
        type=kind,
        module=module,
        exception_id=own,
        parent_id=parent,
        source=source,
        is_group=group,
    )


def test_without_ids_whatever_came_before_is_a_cause() -> None:
    values = (_value("A"), _value("B", module="m"), _value("C"))

    assert causes_of(values) == (("A", None), ("B", "m"))
    assert causes_of(values[-1:]) == ()
    assert group_of(values) is None


def test_with_ids_members_are_no_causes() -> None:
    values = (
        _value("Root", 4, 3, "__context__"),
        _value("Cause", 3, 0, "__cause__"),
        _value("Two", 2, 0, "exceptions[1]"),
        _value("One", 1, 0, "exceptions[0]"),
        _value("ExceptionGroup", 0, group=True),
    )

    assert causes_of(values) == (("Root", None), ("Cause", None))
    assert group_of(values) == Group("ExceptionGroup", (Group("One"), Group("Two")))


def test_groups_nest() -> None:
    values = (
        _value("Leaf", 2, 1, "exceptions[0]"),
        _value("Inner", 1, 0, "exceptions[0]", group=True),
        _value("Outer", 0, group=True),
    )

    assert group_of(values) == Group("Outer", (Group("Inner", (Group("Leaf"),)),))


def test_an_exception_with_an_id_that_is_no_group_has_no_tree() -> None:
    assert group_of((_value("A", 0),)) is None
    assert group_of((_value("A", group=True),)) is None


def test_causes_that_go_in_a_circle_end() -> None:
    values = (_value("B", 1, 0, "__cause__"), _value("A", 0, 1, "__cause__"))

    assert len(causes_of(values)) <= 2


@pytest.fixture
def within_two_seconds() -> Iterator[None]:
    def expire(*_: object) -> None:
        raise TimeoutError("took longer than two seconds")

    previous = signal.signal(signal.SIGALRM, expire)
    signal.alarm(2)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, previous)


@pytest.mark.usefixtures("within_two_seconds")
def test_a_senders_ids_cannot_make_a_tree_without_end() -> None:
    members = [_value("M", 0, 0, "exceptions[0]", group=True) for _ in range(5)]

    group_of((*members, _value("G", 0, group=True)))
