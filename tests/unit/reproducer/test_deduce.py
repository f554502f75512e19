"""What a message proves about the one expression on the line that it can be about."""

from __future__ import annotations

import ast

import pytest

from reproof.reproducer.deduce import deduce, path_of


def _deduced(exception: str, message: str, source: str) -> list[tuple[str, str]]:
    statement = ast.parse(source).body[0]
    return [(ast.unparse(a), ast.unparse(b)) for a, b in deduce(exception, message, statement)]


NO_NAME = "'NoneType' object has no attribute 'name'"


@pytest.mark.parametrize(
    ("exception", "message", "source", "where", "value"),
    [
        ("AttributeError", NO_NAME, "x = order.user.name", "order.user", "None"),
        ("AttributeError", NO_NAME + ". Did you mean: 'x'?", "x = user.name", "user", "None"),
        ("AttributeError", NO_NAME, "user.name = 3", "user", "None"),
        ("AttributeError", NO_NAME, "if user.name:\n    a.name", "user", "None"),
        ("TypeError", "'NoneType' object is not subscriptable", "x = row['a']", "row", "None"),
        ("TypeError", "'NoneType' object is not callable", "self.hook()", "self.hook", "None"),
        (
            "TypeError",
            "'NoneType' object is not iterable",
            "for a in rows:\n    pass",
            "rows",
            "None",
        ),
        ("TypeError", "'NoneType' object is not iterable", "x = [a for a in rows]", "rows", "None"),
        ("TypeError", "argument of type 'NoneType' is not iterable", "x = 'a' in s", "s", "None"),
        (
            "TypeError",
            "argument of type 'NoneType' is not a container or iterable",
            "x = 'a' not in s",
            "s",
            "None",
        ),
        ("TypeError", "cannot unpack non-iterable NoneType object", "a, b = pair", "pair", "None"),
        ("TypeError", "object of type 'NoneType' has no len()", "x = len(rows)", "rows", "None"),
        (
            "TypeError",
            "unsupported operand type(s) for +: 'int' and 'NoneType'",
            "x = a + b.c",
            "b.c",
            "None",
        ),
        (
            "TypeError",
            "unsupported operand type(s) for +: 'NoneType' and 'int'",
            "x = a + b",
            "a",
            "None",
        ),
        (
            "TypeError",
            "unsupported operand type(s) for +=: 'NoneType' and 'int'",
            "a += b",
            "a",
            "None",
        ),
        (
            "TypeError",
            "unsupported operand type(s) for ** or pow(): 'NoneType' and 'int'",
            "x = a ** b",
            "a",
            "None",
        ),
        (
            "TypeError",
            "unsupported operand type(s) for **=: 'NoneType' and 'int'",
            "a **= b",
            "a",
            "None",
        ),
        ("ZeroDivisionError", "division by zero", "x = a / b", "b", "0"),
        ("ZeroDivisionError", "float division by zero", "x = a / b", "b", "0"),
        ("ZeroDivisionError", "integer division or modulo by zero", "x = a // b", "b", "0"),
        ("ZeroDivisionError", "integer modulo by zero", "x = a % b", "b", "0"),
        ("ZeroDivisionError", "integer division or modulo by zero", "x = divmod(a, b)", "b", "0"),
        ("ZeroDivisionError", "division by zero", "a /= self.b", "self.b", "0"),
        ("IndexError", "list index out of range", "x = rows[0]", "rows", "[]"),
        ("IndexError", "list index out of range", "x = rows[-1]", "rows", "[]"),
        ("IndexError", "tuple index out of range", "x = rows[0]", "rows", "()"),
        ("IndexError", "string index out of range", "x = text[0]", "text", "''"),
        ("IndexError", "pop from empty list", "x = rows.pop()", "rows", "[]"),
        ("KeyError", "'a'", "x = table['a']", "table", "{}"),
        ("KeyError", "'a'", "x = table[key]", "table", "{}"),
    ],
)
def test_one_candidate_is_proof(
    exception: str, message: str, source: str, where: str, value: str
) -> None:
    assert _deduced(exception, message, source) == [(where, value)]


@pytest.mark.parametrize(
    ("exception", "message", "source"),
    [
        ("AttributeError", NO_NAME, "x = a.name + b.name"),
        ("AttributeError", NO_NAME, "x = a.title"),
        ("AttributeError", "'Order' object has no attribute 'name'", "x = a.name"),
        ("AttributeError", NO_NAME, "if ok:\n    a.name"),
        ("AttributeError", NO_NAME, "f = lambda: a.name"),
        ("TypeError", "'NoneType' object is not subscriptable", "x = a['k']['l']"),
        ("TypeError", "'NoneType' object is not callable", "f(g())"),
        ("TypeError", "object of type 'NoneType' has no len()", "x = len(a) - len(b)"),
        ("TypeError", "unsupported operand type(s) for +: 'int' and 'NoneType'", "x = a + b + c"),
        ("TypeError", "unsupported operand type(s) for +: 'int' and 'str'", "x = a + b"),
        ("TypeError", "unsupported operand type(s) for +: 'NoneType' and 'NoneType'", "x = a + b"),
        ("TypeError", "unsupported operand type(s) for -: 'int' and 'NoneType'", "x = a + b"),
        ("ZeroDivisionError", "division by zero", "x = a / b + c % d"),
        ("ZeroDivisionError", "division by zero", "x = mean(values)"),
        ("IndexError", "list index out of range", "x = rows[i]"),
        ("IndexError", "list index out of range", "x = a[0] + b[0]"),
        ("KeyError", "'a'", "x = one['a'] + two['a']"),
        ("KeyError", "'a'", "x = lookup('a')"),
        ("ValueError", "", "x = 1"),
        ("ValueError", "bad", "x = a / b"),
    ],
)
def test_none_or_two_candidates_prove_nothing(exception: str, message: str, source: str) -> None:
    assert _deduced(exception, message, source) == []


@pytest.mark.parametrize(
    ("exception", "message", "source"),
    [
        # an element of `rows` is None, `rows` itself is not
        (
            "TypeError",
            "cannot unpack non-iterable NoneType object",
            "for a, b in rows:\n    pass",
        ),
        # `list` iterates as well: `more` may be the one
        ("TypeError", "'NoneType' object is not iterable", "x = [a for a in rows] + list(more)"),
        # another key than the one on the line: it was raised somewhere else
        ("KeyError", "'b'", "x = table['a'] + lookup(b)"),
        # raised by a constructor, not by the division
        ("ZeroDivisionError", "Fraction(1, 0)", "x = a / b + Fraction(1, c)"),
    ],
)
def test_a_message_about_something_else_proves_nothing(
    exception: str, message: str, source: str
) -> None:
    assert _deduced(exception, message, source) == []


@pytest.mark.parametrize(
    "message", ["", "\0", "(" * 5000, "'" * 50_000, "\ud800", "for : '' and ''"]
)
def test_a_hostile_message_proves_nothing(message: str) -> None:
    assert _deduced("TypeError", message, "x = a + b[0](c)") == []


@pytest.mark.parametrize(
    ("source", "path"),
    [("a", ("a",)), ("a.b.c", ("a", "b", "c")), ("a[0].b", None), ("f().b", None), ("1", None)],
)
def test_a_path_is_names_and_attributes_only(source: str, path: tuple[str, ...] | None) -> None:
    assert path_of(ast.parse(source, mode="eval").body) == path
