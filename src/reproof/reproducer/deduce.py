"""What the exception itself proves about a value at the crash line.

Each rule reads the message by the interpreter's own wording and finds the one expression on the
line that it can be about; two candidates prove nothing.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_DIVMOD_ARGUMENTS = 2
_OPERATORS: dict[str, tuple[type[ast.operator], ...]] = {
    "+": (ast.Add,),
    "-": (ast.Sub,),
    "*": (ast.Mult,),
    "/": (ast.Div,),
    "//": (ast.FloorDiv,),
    "%": (ast.Mod,),
    "**": (ast.Pow,),
    "** or pow()": (ast.Pow,),
    "<<": (ast.LShift,),
    ">>": (ast.RShift,),
    "&": (ast.BitAnd,),
    "|": (ast.BitOr,),
    "^": (ast.BitXor,),
    "@": (ast.MatMult,),
}
_ITERATING = frozenset(
    {
        "all",
        "any",
        "dict",
        "enumerate",
        "extend",
        "filter",
        "frozenset",
        "join",
        "list",
        "map",
        "max",
        "min",
        "reversed",
        "set",
        "sorted",
        "sum",
        "tuple",
        "update",
        "zip",
    }
)
_BY_ZERO = re.compile(r"division|modulo|divmod")
_NONE_ATTRIBUTE = re.compile(r"^'NoneType' object has no attribute '(\w+)'")
_NONE_SUBSCRIPT = re.compile(r"^'NoneType' object is not subscriptable")
_NONE_CALL = re.compile(r"^'NoneType' object is not callable")
_NONE_ITER = re.compile(
    r"^(?:'NoneType' object is not iterable|argument of type 'NoneType' is not)"
)
_NONE_UNPACK = re.compile(r"^cannot unpack non-iterable NoneType object")
_NONE_LEN = re.compile(r"^object of type 'NoneType' has no len\(\)")
_OPERANDS = re.compile(r"^unsupported operand type\(s\) for (.+?)=?: '(\w+)' and '(\w+)'")
_EMPTY_INDEX = re.compile(
    r"^(list|string|tuple|bytearray|deque) index out of range"
    r"|^pop from (?:an )?empty (list|deque|set)"
)


def deduce(exception: str, message: str, statement: ast.stmt) -> list[tuple[ast.expr, ast.expr]]:
    """Return (expression on the line, value it must have had) pairs that the message proves."""
    spots = _spots(exception, message, statement)
    return [spots[0]] if len({ast.dump(where) for where, _ in spots}) == 1 else []


def _spots(exception: str, message: str, statement: ast.stmt) -> list[tuple[ast.expr, ast.expr]]:
    nodes = list(_evaluated(statement))
    none = ast.Constant(None)
    if exception == "ZeroDivisionError" and _BY_ZERO.search(message):
        zero = ast.Constant(0)
        divisions = [
            n.right
            for n in nodes
            if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div | ast.FloorDiv | ast.Mod)
        ]
        divisions += [
            n.args[1]
            for n in nodes
            if isinstance(n, ast.Call)
            and isinstance(n.func, ast.Name)
            and n.func.id == "divmod"
            and len(n.args) == _DIVMOD_ARGUMENTS
        ]
        if isinstance(statement, ast.AugAssign) and isinstance(
            statement.op, ast.Div | ast.FloorDiv | ast.Mod
        ):
            divisions.append(statement.value)
        return [_emptied(d, zero) for d in divisions]
    if match := _NONE_ATTRIBUTE.match(message):
        return [
            (n.value, none) for n in nodes if isinstance(n, ast.Attribute) and n.attr == match[1]
        ]
    if _NONE_SUBSCRIPT.match(message):
        return [(n.value, none) for n in nodes if isinstance(n, ast.Subscript)]
    if _NONE_CALL.match(message):
        return [(n.func, none) for n in nodes if isinstance(n, ast.Call)]
    if _NONE_LEN.match(message):
        return [
            (n.args[0], none)
            for n in nodes
            if isinstance(n, ast.Call)
            and isinstance(n.func, ast.Name)
            and n.func.id == "len"
            and n.args
        ]
    if _NONE_ITER.match(message):
        return [(where, none) for where in _iterated(statement, nodes)]
    if _NONE_UNPACK.match(message):
        return [(where, none) for where in _unpacked(statement)]
    if match := _OPERANDS.match(message):
        return _operands(match, statement, nodes)
    return _emptiness(exception, message, nodes)


def _emptied(divisor: ast.expr, zero: ast.expr) -> tuple[ast.expr, ast.expr]:
    """Read a divisor `len(x)` of zero as an empty `x`; a list is what is most often counted."""
    if (
        isinstance(divisor, ast.Call)
        and isinstance(divisor.func, ast.Name)
        and divisor.func.id == "len"
        and len(divisor.args) == 1
    ):
        return divisor.args[0], ast.List([], ast.Load())
    return divisor, zero


def _emptiness(
    exception: str, message: str, nodes: list[ast.AST]
) -> list[tuple[ast.expr, ast.expr]]:
    if exception == "IndexError" and (match := _EMPTY_INDEX.match(message)):
        empty: dict[str, ast.expr] = {
            "list": ast.List([], ast.Load()),
            "tuple": ast.Tuple([], ast.Load()),
            "string": ast.Constant(""),
        }
        value = empty.get(match[1] or match[2])
        if value is not None:
            return [
                (n.value, value)
                for n in nodes
                if isinstance(n, ast.Subscript) and _is_constant(n.slice)
            ] + [
                (n.func.value, value)
                for n in nodes
                if isinstance(n, ast.Call)
                and isinstance(n.func, ast.Attribute)
                and n.func.attr == "pop"
                and match[2]
            ]
    if exception == "KeyError":
        return [
            (n.value, ast.Dict([], []))
            for n in nodes
            if isinstance(n, ast.Subscript)
            and not (isinstance(n.slice, ast.Constant) and repr(n.slice.value) != message)
        ]
    return []


def _operands(
    match: re.Match[str], statement: ast.stmt, nodes: list[ast.AST]
) -> list[tuple[ast.expr, ast.expr]]:
    operators = _OPERATORS.get(match[1].strip(), ())
    pairs = [
        (n.left, n.right) for n in nodes if isinstance(n, ast.BinOp) and isinstance(n.op, operators)
    ]
    if isinstance(statement, ast.AugAssign) and isinstance(statement.op, operators):
        target = statement.target
        pairs.append((target, statement.value))
    if len(pairs) != 1:
        return []
    sides = [
        side
        for side, kind in zip(pairs[0], (match[2], match[3]), strict=True)
        if kind == "NoneType"
    ]
    return [(sides[0], ast.Constant(None))] if len(sides) == 1 else []


def _is_constant(index: ast.expr) -> bool:
    return isinstance(index.operand if isinstance(index, ast.UnaryOp) else index, ast.Constant)


def _unpacked(statement: ast.stmt) -> Iterator[ast.expr]:
    """Yield what an assignment takes apart; a loop takes its items apart, which have no name."""
    if isinstance(statement, ast.Assign) and any(
        isinstance(target, ast.Tuple | ast.List) for target in statement.targets
    ):
        yield statement.value


def _iterated(statement: ast.stmt, nodes: list[ast.AST]) -> Iterator[ast.expr]:
    if isinstance(statement, ast.For | ast.AsyncFor):
        yield statement.iter
    for node in nodes:
        if isinstance(node, ast.comprehension):
            yield node.iter
        elif isinstance(node, ast.Starred):
            yield node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            yield from node.args if called in _ITERATING else ()
        elif isinstance(node, ast.Compare):
            yield from (
                right
                for op, right in zip(node.ops, node.comparators, strict=True)
                if isinstance(op, ast.In | ast.NotIn)
            )


def _evaluated(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the nodes that a line's statement evaluates itself: a block's header, not its body."""
    stack: list[ast.AST] = [
        child
        for child in ast.iter_child_nodes(statement)
        if not isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case)
    ]
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, ast.Lambda):
            stack.extend(ast.iter_child_nodes(node))


def path_of(node: ast.expr) -> tuple[str, ...] | None:
    """Return ("self", "rate") for `self.rate`; `None` for anything but names and attributes."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return (node.id, *reversed(parts))
