"""Source expressions carried into a test: every name has a meaning there, or nothing is made."""

from __future__ import annotations

import ast

import pytest

from reproof.reproducer.evaluate import MAX_NODES, Scope, evaluate, module_globals
from reproof.reproducer.values.expression import Expression, Import, constant, member, reference

KNOWN = {
    "count": constant(3),
    "rows": Expression(ast.parse("[1, 2]", mode="eval").body),
    "price": reference("decimal", "Decimal"),
    "when": member("datetime", "date"),
    "list": constant("shadowed"),
}
SCOPE = Scope(
    module="shop.rates",
    local=KNOWN.get,
    locals=frozenset({*KNOWN, "lost"}),
    globals={"LIMIT": "value", "Cart": "class", "json": "import", "Decimal": "class"},
)


def _evaluated(source: str) -> tuple[str, set[Import]] | None:
    found = evaluate(ast.parse(source, mode="eval").body, SCOPE)
    return None if found is None else (ast.unparse(found.node), set(found.imports))


LIMIT, CART = Import("shop.rates", "LIMIT"), Import("shop.rates", "Cart")


@pytest.mark.parametrize(
    ("source", "text", "imports"),
    [
        ("count", "3", set()),
        ("count + 1", "3 + 1", set()),
        ("rows[count]", "[1, 2][3]", set()),
        ("LIMIT", "LIMIT", {LIMIT}),
        ("Cart(count, limit=LIMIT)", "Cart(3, limit=LIMIT)", {LIMIT, CART}),
        ("price('1')", "Decimal('1')", {Import("decimal", "Decimal")}),
        ("when.today", "datetime.date.today", {Import("datetime")}),
        ("len(rows)", "len([1, 2])", set()),
        ("list", "'shadowed'", set()),
        ("json.dumps(rows)", "json.dumps([1, 2])", {Import("shop.rates", "json")}),
        ("lambda row: row + count", "lambda row: row + 3", set()),
        ("[row * 2 for row in rows]", "[row * 2 for row in [1, 2]]", set()),
        ("{k: v for k, v in rows}", "{k: v for k, v in [1, 2]}", set()),
        ("f'{count}'", "f'{3}'", set()),
        ("'text'", "'text'", set()),
    ],
)
def test_names_become_what_they_mean(source: str, text: str, imports: set[Import]) -> None:
    assert _evaluated(source) == (text, imports)


@pytest.mark.parametrize(
    "source",
    [
        "lost",
        "lost.attribute",
        "unheard_of",
        "count + unheard_of",
        "(count := 3)",
        "eval('1')",
        "exec('1')",
        "open('x')",
        "compile('1', '', 'eval')",
        "__import__('os')",
        "input()",
        "globals()",
        "locals()",
        "vars()",
        "super().name",
        "breakpoint()",
        "[lost for row in rows]",
        "lambda: lost",
        "+".join(["count"] * MAX_NODES),
    ],
)
def test_an_expression_with_an_unknown_or_forbidden_part_is_not_used(source: str) -> None:
    assert _evaluated(source) is None


@pytest.mark.parametrize("source", ["await f(count)", "(yield count)", "(yield from rows)"])
def test_suspending_expressions_are_not_used(source: str) -> None:
    function = ast.parse(f"async def f():\n    x = {source}\n").body[0]
    assert isinstance(function, ast.AsyncFunctionDef)
    statement = function.body[0]
    assert isinstance(statement, ast.Assign)
    assert evaluate(statement.value, SCOPE) is None


def test_the_source_tree_is_left_as_it_was() -> None:
    expression = ast.parse("rows[count]", mode="eval").body
    evaluate(expression, SCOPE)

    assert ast.unparse(expression) == "rows[count]"


@pytest.mark.parametrize("name", ["__name__", "__doc__", "__spec__", "__loader__", "__package__"])
def test_a_modules_own_names_are_not_the_tests(name: str) -> None:
    assert _evaluated(name) is None


def test_a_comprehensions_variable_means_nothing_outside_it() -> None:
    # `count` of the second operand is the local, whatever the comprehension calls its own
    assert _evaluated("[count for count in rows] + [count]") in (
        ("[count for count in [1, 2]] + [3]", set()),
        None,
    )


def test_two_things_of_one_name_are_told_apart() -> None:
    found = evaluate(ast.parse("Decimal(price)", mode="eval").body, SCOPE)
    if found is not None:  # saying nothing is right as well
        bound = [target.bound for target in found.imports]
        assert len(set(bound)) == len(bound) == 2


def test_module_globals_are_what_the_top_level_binds() -> None:
    source = """\
import os.path
import numpy as np
from a import b as c, d
X = Y = 1
Z: int = 2
P, (Q, *R) = f()
def function(): inner = 1
async def coroutine(): pass
class Class:
    attribute = 1
if X:
    A = 1
else:
    B = 2
try:
    C = 1
except E:
    D = 2
else:
    G = 3
finally:
    F = 3
"""
    found = module_globals(ast.parse(source))

    assert set(found) == {
        *("os", "np", "c", "d", "X", "Y", "Z", "P", "Q", "R", "function", "coroutine", "Class"),
        *("A", "B", "C", "D", "F", "G"),
    }
    assert (found["function"], found["Class"], found["np"], found["X"]) == (
        "def",
        "class",
        "import",
        "value",
    )
