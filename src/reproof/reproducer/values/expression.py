"""A value as a Python expression together with the imports it needs.

Inside one `Expression` a bound name stands for exactly one import: the builders here rename on a
clash (`from b import State as b_State`), and `merge` does the same for several expressions that are
to stand in one file.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from types import EllipsisType

Scalar: TypeAlias = "bool | int | float | complex | str | bytes | EllipsisType | None"
Node = TypeVar("Node", bound=ast.AST)

_EXACT_INTEGER = 1e15
_BUILTIN_NAMES = frozenset(dir(builtins))


@dataclass(frozen=True, slots=True)
class Import:
    """`import module [as alias]`, or `from module import name [as alias]`."""

    module: str
    name: str | None = None
    alias: str | None = None

    @property
    def bound(self) -> str:
        """The name that the import binds in the importing file."""
        return self.alias or self.name or self.module.partition(".")[0]

    @property
    def key(self) -> tuple[str, str, str]:
        """A total order: by module, then name, then alias."""
        return (self.module, self.name or "", self.alias or "")


@dataclass(frozen=True, slots=True, eq=False)
class Expression:
    """An expression node and what it must import. Treat the node as frozen: it may be shared."""

    node: ast.expr
    imports: frozenset[Import] = frozenset()

    def __eq__(self, other: object) -> bool:
        """Compare what the two say, not where they were parsed."""
        if not isinstance(other, Expression):
            return NotImplemented
        return self.imports == other.imports and ast.dump(self.node) == ast.dump(other.node)

    def __hash__(self) -> int:
        """Agree with `__eq__`."""
        return hash((ast.dump(self.node), self.imports))


def constant(value: Scalar) -> Expression:
    """Return the expression a person writes for a scalar: `-1`, `1 + 2j`, `float("nan")`."""
    return Expression(_constant_node(value))


def _constant_node(value: Scalar) -> ast.expr:
    if isinstance(value, complex):
        return _complex_node(value)
    if isinstance(value, float):
        return _float_node(value)
    if isinstance(value, int) and not isinstance(value, bool) and value < 0:
        return ast.UnaryOp(ast.USub(), ast.Constant(-value))
    return ast.Constant(value)


def _float_node(value: float) -> ast.expr:
    if not math.isfinite(value):
        return ast.Call(ast.Name("float", ast.Load()), [ast.Constant(repr(value))], [])
    if math.copysign(1.0, value) < 0:
        return ast.UnaryOp(ast.USub(), ast.Constant(-value))
    return ast.Constant(value)


def _complex_node(value: complex) -> ast.expr:
    real, imaginary = value.real, value.imag
    # `a + bj` adds, which loses the sign of a zero and cannot spell nan or inf.
    exact = math.isfinite(real) and math.isfinite(imaginary)
    plus_or_size = imaginary != 0 or math.copysign(1.0, imaginary) > 0
    if exact and math.copysign(1.0, real) > 0 and plus_or_size and (real or imaginary >= 0):
        size = ast.Constant(complex(0.0, abs(imaginary)))
        if not real:
            return size
        positive = math.copysign(1.0, imaginary) > 0
        small = real.is_integer() and abs(real) < _EXACT_INTEGER
        left = _constant_node(int(real) if small else real)
        return ast.BinOp(left, ast.Add() if positive else ast.Sub(), size)
    parts = [_float_node(real), _float_node(imaginary)]
    return ast.Call(ast.Name("complex", ast.Load()), parts, [])


def builtin(name: str) -> Expression:
    """Return a reference to a name that needs no import."""
    return Expression(ast.Name(name, ast.Load()))


def is_identifier(name: str) -> bool:
    """Tell whether a name from untrusted text may stand in source: an ASCII identifier."""
    return name.isascii() and name.isidentifier() and not keyword.iskeyword(name)


def is_settable(name: str) -> bool:
    """Tell whether a name may be assigned to, or given as a keyword: `__debug__` may not."""
    return is_identifier(name) and name != "__debug__"


def is_dotted(name: str) -> bool:
    """Tell whether every part of a dotted name is an identifier."""
    return all(is_identifier(part) for part in name.split("."))


def reference(module: str, qualname: str) -> Expression:
    """Return `qualname` of `module`: `from module import Outer`, then `Outer.Inner`."""
    head, *rest = qualname.split(".")
    if module == "builtins":
        node: ast.expr = ast.Name(head, ast.Load())
        for part in rest:
            node = ast.Attribute(node, part, ast.Load())
        return Expression(node)
    alias = None
    if head in _BUILTIN_NAMES:
        alias = f"{module.rpartition('.')[2]}_{head}"
    target = Import(module, head, alias)
    node = ast.Name(target.bound, ast.Load())
    for part in rest:
        node = ast.Attribute(node, part, ast.Load())
    return Expression(node, frozenset({target}))


def member(module: str, attribute: str, alias: str | None = None) -> Expression:
    """Return `module.attribute` with `import module [as alias]`: `re.compile`, `np.array`."""
    target = Import(module, None, alias)
    node = ast.Attribute(ast.Name(target.bound, ast.Load()), attribute, ast.Load())
    return Expression(node, frozenset({target}))


def module_reference(module: str) -> Expression:
    """Return the module itself as a value: `import json`, `from os import path`."""
    parent, _, name = module.rpartition(".")
    target = Import(parent, name) if parent else Import(module)
    return Expression(ast.Name(target.bound, ast.Load()), frozenset({target}))


def attribute(owner: Expression, name: str) -> Expression:
    """Return `owner.name`."""
    return Expression(ast.Attribute(owner.node, name, ast.Load()), owner.imports)


def call(
    function: Expression,
    arguments: Sequence[Expression] = (),
    keywords: Sequence[tuple[str, Expression]] = (),
) -> Expression:
    """Return `function(*arguments, **keywords)`."""
    values = [value for _, value in keywords]
    nodes, imports = merge([function, *arguments, *values])
    split = len(arguments) + 1
    named = [
        ast.keyword(name, node) for (name, _), node in zip(keywords, nodes[split:], strict=True)
    ]
    return Expression(ast.Call(nodes[0], nodes[1:split], named), imports)


def list_of(items: Sequence[Expression]) -> Expression:
    """Return a list display."""
    nodes, imports = merge(items)
    return Expression(ast.List(nodes, ast.Load()), imports)


def tuple_of(items: Sequence[Expression]) -> Expression:
    """Return a tuple display."""
    nodes, imports = merge(items)
    return Expression(ast.Tuple(nodes, ast.Load()), imports)


def set_of(items: Sequence[Expression]) -> Expression:
    """Return a set display, or `set()`."""
    if not items:
        return call(builtin("set"))
    nodes, imports = merge(items)
    return Expression(ast.Set(nodes), imports)


def frozenset_of(items: Sequence[Expression]) -> Expression:
    """Return `frozenset({...})`, or `frozenset()`."""
    return call(builtin("frozenset"), [set_of(items)] if items else [])


def dict_of(keys: Sequence[Expression], values: Sequence[Expression]) -> Expression:
    """Return a dict display."""
    nodes, imports = merge([*keys, *values])
    split = len(keys)
    return Expression(ast.Dict([*nodes[:split]], nodes[split:]), imports)


def either(parts: Sequence[Expression]) -> Expression:
    """Return `a | b | c` for one part or more."""
    nodes, imports = merge(parts)
    node = nodes[0]
    for right in nodes[1:]:
        node = ast.BinOp(node, ast.BitOr(), right)
    return Expression(node, imports)


def merge(expressions: Sequence[Expression]) -> tuple[list[ast.expr], frozenset[Import]]:
    """Return the nodes and all imports, with clashing bound names renamed; the first one wins."""
    if not any(expression.imports for expression in expressions):
        return [expression.node for expression in expressions], frozenset()
    taken: dict[str, Import] = {}
    nodes = []
    for expression in expressions:
        settled = rename(expression, _clashes(expression.imports, taken))
        taken.update((target.bound, target) for target in settled.imports)
        nodes.append(settled.node)
    return nodes, frozenset(taken.values())


def _clashes(imports: Iterable[Import], taken: Mapping[str, Import]) -> dict[Import, str]:
    """Choose a new bound name for each import whose name already stands for something else."""
    known = {(other.module, other.name): other.bound for other in taken.values()}
    used = set(taken)
    chosen = {}
    for target in sorted(imports, key=lambda one: one.key):
        held = taken.get(target.bound)
        if held is None or held == target:
            # The same thing imported under another name already: use that one name.
            other = known.get((target.module, target.name))
            if other is not None and other != target.bound:
                chosen[target] = other
            continue
        name = known.get((target.module, target.name), "")
        if not name:
            tail = target.name or ""
            name = f"{target.module.replace('.', '_')}_{tail}".rstrip("_")
            while name in used:
                name += "_"
        used.add(name)
        chosen[target] = name
    return chosen


def rename(expression: Expression, mapping: Mapping[Import, str]) -> Expression:
    """Return the same value with the given imports bound to other names."""
    changes = {
        target.bound: name
        for target, name in mapping.items()
        if target in expression.imports and target.bound != name
    }
    if not changes:
        return expression
    imports = frozenset(
        _rebind(target, mapping[target]) if target in mapping else target
        for target in expression.imports
    )
    return Expression(_renamed(expression.node, changes), imports)


def _rebind(target: Import, bound: str) -> Import:
    plain = Import(target.module, target.name)
    return plain if plain.bound == bound else Import(target.module, target.name, bound)


def _renamed(node: Node, changes: Mapping[str, str]) -> Node:
    """Rebuild the parts of a tree that mention a changed name; the rest stays shared.

    Iterative copying tools recurse several Python frames a level, which a tree at the depth limit
    would not survive; this takes two.
    """
    if isinstance(node, ast.Name):
        if node.id not in changes:
            return node
        return type(node)(changes[node.id], node.ctx)
    fresh = {}
    for field, old in ast.iter_fields(node):
        if isinstance(old, ast.AST):
            new: object = _renamed(old, changes)
        elif isinstance(old, list):
            new = _renamed_list(old, changes, _renamed)
        else:
            continue
        if new is not old:
            fresh[field] = new
    if not fresh:
        return node
    return type(node)(**{**dict(ast.iter_fields(node)), **fresh})


def _renamed_list(
    old: list[object],
    changes: Mapping[str, str],
    renamed: Callable[[ast.AST, Mapping[str, str]], ast.AST],
) -> list[object]:
    new = [renamed(one, changes) if isinstance(one, ast.AST) else one for one in old]
    same = all(left is right for left, right in zip(old, new, strict=True))
    return old if same else new
