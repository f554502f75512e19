"""What a parameter's annotation says about the value: read from the source, never evaluated."""

from __future__ import annotations

import ast
from dataclasses import dataclass

_WRAPPERS = frozenset(
    {"Annotated", "Final", "ClassVar", "Required", "NotRequired", "ReadOnly", "InitVar"}
)
_CANONICAL = {
    "List": "list", "Dict": "dict", "Tuple": "tuple", "Set": "set", "FrozenSet": "frozenset",
    "Deque": "deque", "DefaultDict": "defaultdict", "MutableMapping": "Mapping",
    "MutableSequence": "list", "MutableSet": "set", "AbstractSet": "Set", "Type": "type",
    "Text": "str", "Collection": "Iterable", "Container": "Iterable", "Reversible": "Iterable",
    "Iterator": "Iterable", "Generator": "Iterable",
}  # fmt: skip
_MAX_DEPTH = 12


@dataclass(frozen=True, slots=True)
class Spec:
    """One alternative of an annotation: `dict[str, int]` is name `dict` with two arguments."""

    name: str
    """Last component, with `typing`'s capitalised aliases made plain (`List` is `list`)."""
    dotted: str
    """As written."""
    arguments: tuple[ast.expr, ...] = ()

    def argument(self, index: int) -> ast.expr | None:
        """Return the argument at the index, or `None`."""
        return self.arguments[index] if index < len(self.arguments) else None


def alternatives(annotation: ast.expr | None) -> tuple[Spec, ...]:
    """Return the alternatives of an annotation; unions are flattened, `Any` is dropped."""
    return tuple(_specs(annotation, 0))


def _specs(node: ast.expr | None, depth: int) -> list[Spec]:
    if node is None or depth > _MAX_DEPTH:
        return []
    match node:
        case ast.Constant(value=str() as text):
            return _specs(_parsed(text), depth + 1)
        case ast.Constant(value=None):
            return [Spec("None", "None")]
        case ast.BinOp(op=ast.BitOr(), left=left, right=right):
            return _specs(left, depth + 1) + _specs(right, depth + 1)
        case ast.Subscript(value=owner, slice=arguments):
            return _subscripted(owner, arguments, depth)
        case ast.Name() | ast.Attribute():
            dotted = dotted_name(node)
            name = dotted.rpartition(".")[2]
            if not dotted or name in {"Any", "object"}:
                return []
            canonical = "set" if dotted == "abc.Set" else _CANONICAL.get(name, name)
            return [Spec(canonical, dotted)]
        case _:
            return []


def _subscripted(owner: ast.expr, arguments: ast.expr, depth: int) -> list[Spec]:
    dotted = dotted_name(owner)
    name = dotted.rpartition(".")[2]
    several = isinstance(arguments, ast.Tuple)
    inner = tuple(arguments.elts) if isinstance(arguments, ast.Tuple) else (arguments,)
    if name == "Union":
        return [spec for one in inner for spec in _specs(one, depth + 1)]
    if name == "Optional":
        return [*_specs(arguments, depth + 1), Spec("None", "None")]
    if name in _WRAPPERS:
        return _specs(inner[0], depth + 1) if inner else []
    if not dotted or (several and not inner and name.lower() != "tuple"):
        return []
    return [Spec(_CANONICAL.get(name, name), dotted, inner)]


def dotted_name(node: ast.expr) -> str:
    """Return `a.b.c` for a chain of names, or an empty string."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(parts)])


def _parsed(text: str) -> ast.expr | None:
    """Parse a forward reference. It comes from the repository's own source, but may be anything."""
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
