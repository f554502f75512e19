"""Objects of which the event says little: what it names must not choose what a test calls."""

from __future__ import annotations

import ast

import pytest

from reproof.reproducer.facts import Facts
from reproof.reproducer.objects import instances
from reproof.reproducer.values.classes import ClassFact, ClassKind, ParameterFact
from reproof.reproducer.values.expression import constant
from reproof.reproducer.values.provenance import Unknown, UnknownCause

ARGS = (ParameterFact("args", has_default=True),)


def made(fact: ClassFact, **state: str) -> list[str]:
    held = {name: constant(value) for name, value in state.items()}
    found = instances(Facts(), fact, held, Unknown(UnknownCause.OPAQUE))
    return [ast.unparse(one.expression.node) for one in found if one.expression is not None]


@pytest.mark.parametrize(
    "fact",
    [
        ClassFact("subprocess", "run", ClassKind.FUNCTION),
        ClassFact("shop.desk", "rate", ClassKind.FUNCTION),
        ClassFact("builtins", "exec", ClassKind.FUNCTION),
        ClassFact("builtins", "bytes", parameters=ARGS),
    ],
)
def test_neither_functions_nor_builtin_values_have_instances(fact: ClassFact) -> None:
    assert made(fact) == []


def test_captured_attributes_are_no_arguments_for_the_standard_library() -> None:
    calls = made(ClassFact("subprocess", "Popen", parameters=ARGS), args="rm -rf /")
    assert "Popen(args='rm -rf /')" not in calls
    assert "Cart(args='x')" in made(ClassFact("shop.desk", "Cart", parameters=ARGS), args="x")


def test_a_bare_object_needs_no_import() -> None:
    assert "object.__new__(object)" in made(ClassFact("builtins", "object", parameters=()))
