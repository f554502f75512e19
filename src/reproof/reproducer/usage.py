"""What a function does with a name: evidence for the type of an ambiguous container."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from reproof.reproducer.source import own_nodes

if TYPE_CHECKING:
    from reproof.reproducer.source import FunctionSite


def uses_of(site: FunctionSite, name: str) -> frozenset[str]:
    """Return the methods, attributes and operations that the source applies to a local.

    A method or attribute is its own name; `x[0]` is `__getitem__:int`, `x["a"]` is
    `__getitem__:str`, any other subscript `__getitem__`.
    """
    found: set[str] = set()
    if site.node is None:
        return frozenset()
    for node in own_nodes(site.node):
        if isinstance(node, ast.Attribute) and _is(node.value, name):
            found.add(node.attr)
        elif isinstance(node, ast.Subscript) and _is(node.value, name):
            found.add(_subscript(node.slice))
        elif (
            isinstance(node, ast.Call)
            and any(_is(a, name) for a in node.args)
            and isinstance(node.func, ast.Name)
        ):
            found.add(f"call:{node.func.id}")
    return frozenset(found)


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _subscript(index: ast.expr) -> str:
    if isinstance(index, ast.UnaryOp):
        index = index.operand
    if isinstance(index, ast.Constant):
        return f"__getitem__:{type(index.value).__name__}"
    return "__getitem__:slice" if isinstance(index, ast.Slice) else "__getitem__"
