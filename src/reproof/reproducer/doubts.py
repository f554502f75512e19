"""Why a replay that crashes alike may crash for another reason: what the capture cannot tell apart.

A captured local is what it was at the crash, and a container is shown with at most ten items. Both
make the same exception at the same line from a state that never was.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from reproof.reproducer.deduce import path_of
from reproof.reproducer.source import own_nodes, statement_at
from reproof.reproducer.values.expression import Expression
from reproof.reproducer.values.provenance import Provenance

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reproof.reproducer.frames import Recovered
    from reproof.reproducer.plan import Plan
    from reproof.reproducer.source import FunctionSite, SourceIndex

WIDTH = 10
"""How many items of a container senders show."""
MORE = 90
_TAKING = frozenset({"clear", "discard", "pop", "popitem", "popleft", "remove"})


def taken_from(plan: Plan, index: SourceIndex) -> str | None:
    """Return a parameter that may have held more when it was passed, and that the line reads.

    `d.pop("k")` and then `d["k"]`: the value at the crash lacks the key from the start, so the test
    would stay red when the first line is mended.
    """
    site = plan.view.site
    statement = None if site.node is None else statement_at(site.node, site.line)
    if statement is None:
        return None
    read = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)}
    module = index.module(site.path)
    return next(
        (
            g.parameter.name
            for g in plan.arguments
            if g.parameter.name in read
            and (g.value.checkable or g.value.stale)
            and _taken(site, g.parameter.name, module)
        ),
        None,
    )


def _taken(site: FunctionSite, name: str, module: ast.Module | None) -> bool:
    if site.node is None:
        return False
    before = [n for n in ast.walk(site.node) if getattr(n, "lineno", site.line) < site.line]
    if any(_takes(node, name) for node in before):
        return True
    functions = {
        f.name: f
        for f in (module.body if module else ())
        if isinstance(f, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    for node in before:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            called = functions.get(node.func.id)
            if called is not None and any(
                _takes(inner, parameter)
                for parameter in _received(node, called, name)
                for inner in own_nodes(called)
            ):
                return True
    return False


def _received(
    call: ast.Call, function: ast.FunctionDef | ast.AsyncFunctionDef, name: str
) -> Iterator[str]:
    """Yield the parameters by which a function gets what the caller names `name`."""
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    for parameter, given in zip(names, call.args, strict=False):
        if path_of(given) == (name,):
            yield parameter
    for keyword in call.keywords:
        if keyword.arg and path_of(keyword.value) == (name,):
            yield keyword.arg


def _takes(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in _TAKING and path_of(node.func.value) == (name,)
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Del)
        and path_of(node.value) == (name,)
    )


def widened(plan: Plan) -> Plan | None:
    """Return the plan with longer lists where the event may have cut them; `None` for no such."""
    arguments = tuple(replace(g, value=_longer(g.value)) for g in plan.arguments)
    receiver = None if plan.receiver is None else _longer(plan.receiver)
    if arguments == plan.arguments and receiver == plan.receiver:
        return None
    return replace(plan, arguments=arguments, receiver=receiver)


def _longer(value: Recovered) -> Recovered:
    if value.expression is None or value.provenance is Provenance.USER:
        return value
    wide = any(
        isinstance(n, ast.List | ast.Tuple) and len(n.elts) == WIDTH
        for n in ast.walk(value.expression.node)
    )
    if not wide:
        return value
    made = _Longer().visit(value.expression.node)
    return replace(value, expression=Expression(made, value.expression.imports), checkable=False)


@dataclass(slots=True)
class _Longer(ast.NodeTransformer):
    """Repeats the last item of lists of ten; builds new nodes, the old ones are shared."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        fresh = {}
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                fresh[name] = [self.visit(v) if isinstance(v, ast.AST) else v for v in value]
            else:
                fresh[name] = self.visit(value) if isinstance(value, ast.AST) else value
        if isinstance(node, ast.List | ast.Tuple) and len(node.elts) == WIDTH:
            fresh["elts"] += [fresh["elts"][-1]] * MORE
        return type(node)(**fresh)


def cut_mapping(plan: Plan) -> str | None:
    """Return a value that holds a mapping of ten keys, of which there may have been more."""
    return next(
        (
            name
            for name, value in plan.values
            if value.expression is not None
            and value.captured is not None
            and any(
                isinstance(n, ast.Dict) and len(n.keys) == WIDTH
                for n in ast.walk(value.expression.node)
            )
        ),
        None,
    )


def lookups(site: FunctionSite) -> int:
    """Return how many lookups by key the line makes; a `KeyError` is about one of them."""
    statement = None if site.node is None else statement_at(site.node, site.line)
    nodes = [] if statement is None else list(ast.walk(statement))
    return sum(
        isinstance(n, ast.Subscript)
        or (
            isinstance(n, ast.Call)
            and isinstance(n.func, ast.Attribute)
            and n.func.attr in (*_TAKING, "index", "get")
        )
        for n in nodes
    )


def misread(plan: Plan, message: str) -> str | None:
    """Return a value that shows the key which was missed, but as a key of another type.

    Senders write every key as text: `{1: 2}` and `{"1": 2}` look alike, and where a line asks two
    mappings the wrong reading makes the wrong one lack the key.
    """
    bare = message.strip("'\"")
    for name, value in plan.values:
        if value.expression is None or value.captured is None:
            continue
        for node in ast.walk(value.expression.node):
            keys = node.keys if isinstance(node, ast.Dict) else ()
            for key in keys:
                if isinstance(key, ast.Constant) and repr(key.value) != message:
                    text = str(key.value)
                    if text == bare or message.startswith(f"<{text}:"):
                        return name
    return None


def deciding_lines(site: FunctionSite) -> tuple[int, ...]:
    """Return the lines of the statement at a site, and of the conditions that led into it."""
    statement = None if site.node is None else statement_at(site.node, site.line)
    if statement is None or site.node is None:
        return (site.line,)
    found = {statement.lineno, statement.end_lineno or statement.lineno, site.line}
    for node in own_nodes(site.node):
        if isinstance(node, ast.If | ast.While) and (
            node.lineno <= site.line <= (node.end_lineno or node.lineno)
        ):
            found |= {node.test.lineno, node.test.end_lineno or node.test.lineno}
    return tuple(sorted(found))
