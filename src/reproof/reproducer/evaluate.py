"""Carry an expression of the target's source into a test: names become recovered values.

A name of the frame's locals is replaced by its recovered value, a global of the module is imported
from it, a builtin stays.  Anything else makes the expression unusable, which is said by `None`.
"""

from __future__ import annotations

import ast
import builtins
import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reproof.reproducer.values.expression import Expression, Import

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MAX_NODES = 400
_FORBIDDEN = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)
_BUILTINS = frozenset(dir(builtins)) - {
    "eval",
    "exec",
    "compile",
    "open",
    "input",
    "breakpoint",
    "exit",
    "quit",
    "globals",
    "locals",
    "vars",
    "super",
    "__import__",
    "help",
    "copyright",
    "credits",
    "license",
    "__build_class__",
    "__debug__",
    "__doc__",
    "__loader__",
    "__name__",
    "__package__",
    "__spec__",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What the names of one frame mean in a test."""

    module: str
    """Import path of the frame's module."""
    local: Callable[[str], Expression | None]
    """Recovered value of a local, or `None`."""
    locals: frozenset[str]
    """Every name that is local to the function, recovered or not."""
    globals: Mapping[str, str]
    """Names bound at module level (all of them importable from `module`)."""


@dataclass(slots=True)
class _Substitution(ast.NodeTransformer):
    scope: Scope
    bound: set[str] = field(default_factory=set)
    imports: set[Import] = field(default_factory=set)
    failed: bool = False
    locals_used: int = 0

    def visit_Name(self, node: ast.Name) -> ast.expr:
        name = node.id
        if name in self.bound:
            return node
        if name in self.scope.locals:
            value = self.scope.local(name)
            if value is None:
                self.failed = True
                return node
            self.locals_used += 1
            self.imports |= value.imports
            return copy.deepcopy(value.node)
        if name in self.scope.globals:
            self.imports.add(Import(self.scope.module, name))
            return node
        if name not in _BUILTINS:
            self.failed = True
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        return self._inside(node, {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)})

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:
        return self._comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> ast.expr:
        return self._comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> ast.expr:
        return self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        return self._comprehension(node)

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
    ) -> ast.expr:
        targets = {
            n.id
            for generator in node.generators
            for n in ast.walk(generator.target)
            if isinstance(n, ast.Name)
        }
        return self._inside(node, targets)

    def _inside(self, node: ast.expr, names: set[str]) -> ast.expr:
        outer = self.bound
        self.bound = outer | names
        self.generic_visit(node)
        self.bound = outer
        return node


def evaluate(expr: ast.expr, scope: Scope) -> Expression | None:
    """Return the expression with its names resolved, or `None` when one cannot be."""
    nodes = list(ast.walk(expr))
    if len(nodes) > MAX_NODES or any(isinstance(n, _FORBIDDEN) for n in nodes):
        return None
    work = _Substitution(scope)
    result = work.visit(copy.deepcopy(expr))
    names = {target.bound for target in work.imports}
    if work.failed or not isinstance(result, ast.expr) or len(names) < len(work.imports):
        # two imports of one name would have to be renamed inside somebody's expression
        return None
    return Expression(result, frozenset(work.imports))


def module_globals(module: ast.Module) -> dict[str, str]:
    """Return the names that a module's top level binds, each with how (`def`, `class`, ...)."""
    found: dict[str, str] = {}
    stack: list[ast.stmt] = list(module.body)
    while stack:
        node = stack.pop(0)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found[node.name] = "def"
        elif isinstance(node, ast.ClassDef):
            found[node.name] = "class"
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                found[(alias.asname or alias.name).split(".")[0]] = "import"
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                found |= {n.id: "value" for n in ast.walk(target) if isinstance(n, ast.Name)}
        elif isinstance(node, ast.If | ast.Try | ast.With):
            stack += node.body + getattr(node, "orelse", []) + getattr(node, "finalbody", [])
            for handler in getattr(node, "handlers", []):
                stack += handler.body
    return found
