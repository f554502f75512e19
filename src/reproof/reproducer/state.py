"""Attributes of an object that something in the stack tells: another local, a callee, the crash."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from reproof.reproducer.deduce import deduce, path_of
from reproof.reproducer.source import Change, change_before, own_nodes, statement_at
from reproof.reproducer.values.expression import Expression, is_settable
from reproof.reproducer.values.provenance import Unknown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reproof.reproducer.frames import FrameView
    from reproof.reproducer.recover import Recovery
    from reproof.reproducer.source import FunctionSite


def attributes_of(recovery: Recovery, position: int, name: str) -> dict[str, Expression]:
    """Return the attributes of a local object that are known."""
    view = recovery.views[position]
    found: dict[str, Expression] = {}
    for attr, value in (
        *_named_by_sender(recovery, view, name),
        *_aliases(recovery, view, name),
        *_handed_down(recovery, position, name),
        *_proven(recovery, position, name),
    ):
        found.setdefault(attr, value)
    return dict(sorted(found.items()))


def _named_by_sender(
    recovery: Recovery, view: FrameView, name: str
) -> Iterator[tuple[str, Expression]]:
    """Yield what a sender that evaluates expressions (pure_eval) names `self.rate` itself."""
    for key in view.variables:
        owner, _, attr = key.partition(".")
        if owner == name and is_settable(attr):
            decoded = recovery.read(view, key)
            if not isinstance(decoded, Unknown):
                yield attr, decoded[0].expression


def _aliases(recovery: Recovery, view: FrameView, name: str) -> Iterator[tuple[str, Expression]]:
    """Yield `rate` for `self.rate` where `rate = self.rate` ran and `rate` was captured."""
    if view.site.node is None:
        return
    crash = statement_at(view.site.node, view.site.line)
    for node in own_nodes(view.site.node):
        if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)):
            continue
        path, target = path_of(node.value), node.targets[0].id
        if path is None or path[:1] != (name,) or len(path) != 2:  # noqa: PLR2004 -- name.attr
            continue
        if crash is None or node.lineno >= crash.lineno or target not in view.variables:
            continue
        if assigned_once(view.site, target) is None:
            continue
        decoded = recovery.read(view, target)
        if not isinstance(decoded, Unknown):
            yield path[1], decoded[0].expression


def _handed_down(recovery: Recovery, position: int, name: str) -> Iterator[tuple[str, Expression]]:
    """Yield the inner frame's parameter for `self.rate` in the call `inner(self.rate)`."""
    if position + 1 >= len(recovery.views):
        return
    below = recovery.caller_of(position + 1)
    if below is None:
        return
    inner = recovery.views[position + 1]
    for parameter in inner.site.parameters:
        argument = below[1].arguments.get(parameter.name)
        path = None if argument is None else path_of(argument)
        if path is None or path[:1] != (name,) or len(path) != 2:  # noqa: PLR2004 -- name.attr
            continue
        if change_before(inner.site, parameter.name) in (Change.REBOUND, Change.MUTATED):
            continue
        values = recovery.from_capture(inner, replace(parameter, default=None), Change.NONE)
        first = next((v.expression for v in values if v.expression is not None), None)
        if first is not None:
            yield path[1], first


def _proven(recovery: Recovery, position: int, name: str) -> Iterator[tuple[str, Expression]]:
    node = recovery.views[position].site.node
    if node is None:
        return
    for attr in sorted({n.attr for n in own_nodes(node) if isinstance(n, ast.Attribute)}):
        value = proven(recovery, position, (name, attr))
        if value is not None:
            yield attr, value


def proven(recovery: Recovery, position: int, path: tuple[str, ...]) -> Expression | None:
    """Return what the exception proves about a name or attribute of the crash frame."""
    view = recovery.views[position]
    raised = recovery.event.raised
    if view.place.index != len(raised.frames) - 1:
        # it was raised further in: the message is about that frame's expressions
        return None
    site = view.site
    statement = None if site.node is None else statement_at(site.node, site.line)
    if statement is None:
        return None
    for where, value in deduce(raised.type, raised.message or "", statement):
        if path_of(where) == path:
            return Expression(value)
    return None


def assigned_once(site: FunctionSite, name: str) -> ast.expr | None:
    """Return the expression of the only assignment to a local, if it still means the same.

    It must surely have run before the site's line, and no name it reads was bound again since.
    """
    value = _only_assignment(site, name)
    if value is None or site.node is None:
        return None
    read = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}
    again = any(
        isinstance(n, ast.Name)
        and n.id in read
        and not isinstance(n.ctx, ast.Load)
        and n.lineno > value.lineno
        for n in own_nodes(site.node)
    )
    return None if again else value


def _only_assignment(site: FunctionSite, name: str) -> ast.expr | None:
    if site.node is None or isinstance(site.node, ast.Lambda):
        return None
    if name in {p.name for p in site.parameters}:
        return None
    bindings = [
        n
        for n in own_nodes(site.node)
        if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)
    ]
    if len(bindings) != 1:
        return None
    for node in own_nodes(site.node):
        if (
            isinstance(node, ast.Assign)
            and len(node.targets) == 1
            and node.targets[0] is bindings[0]
            and node.lineno < site.line
        ):
            return node.value
        if (
            isinstance(node, ast.AnnAssign)
            and node.target is bindings[0]
            and node.value is not None
            and node.lineno < site.line
        ):
            return node.value
    return None
