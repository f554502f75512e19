"""The call that a test makes, written as a person would write it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from reproof.reproducer.plan import mangled
from reproof.reproducer.printer import render
from reproof.reproducer.source import EntryKind
from reproof.reproducer.values.expression import is_settable

if TYPE_CHECKING:
    from reproof.reproducer.plan import Given, Plan

WIDTH = 88
MAX_SHOWN = 200
MAX_UNPARSED = 50_000
"""Size of a dumped tree beyond which its one-line form is not worth making."""
_CONTEXT_MANAGERS = frozenset({"contextmanager"})
_ASYNC_CONTEXT_MANAGERS = frozenset({"asynccontextmanager"})


def act(
    plan: Plan, receiver: ast.expr, arguments: list[tuple[Given, ast.expr]]
) -> tuple[list[str], str]:
    """Return the statements that make the call, and the call on one line."""
    site = plan.view.site
    if site.kind is EntryKind.MODULE:
        args: list[ast.expr] = [ast.Constant(site.module)]
        keywords = [ast.keyword("run_name", ast.Constant("__main__"))] if plan.main else []
        made: ast.expr = ast.Call(receiver, args, keywords)
        return statement("", made), ast.unparse(made)
    if site.kind is EntryKind.PROPERTY:
        made = ast.Attribute(receiver, site.name, ast.Load())
        return statement("_ = ", made), ast.unparse(made)
    made = ast.Call(_callee(plan, receiver), *_call_arguments(arguments, site.name))
    told = _short(made)
    decorators = set(site.decorators)
    if decorators & _CONTEXT_MANAGERS:
        lines = statement("with ", made)
        return [*lines[:-1], lines[-1] + ":", "    pass"], told
    if site.is_async:
        return _async_act(plan, made, decorators), told
    if site.is_generator:
        made = ast.Call(ast.Name("list", ast.Load()), [made], [])
    return statement("", made), told


def _async_act(plan: Plan, made: ast.expr, decorators: set[str]) -> list[str]:
    run = ast.Attribute(ast.Name("asyncio", ast.Load()), "run", ast.Load())
    if not plan.view.site.is_generator:
        return statement("", ast.Call(run, [made], []))
    lines = statement("", made)
    opening = "async with " if decorators & _ASYNC_CONTEXT_MANAGERS else "async for _ in "
    inner = [opening + lines[0], *lines[1:]]
    inner[-1] += ":"
    return [
        "",
        "async def consume() -> None:",
        *("    " + line for line in inner),
        "        pass",
        "",
        "asyncio.run(consume())",
    ]


def _callee(plan: Plan, receiver: ast.expr) -> ast.expr:
    site = plan.view.site
    if plan.receiver is None or site.name == "__call__":
        return receiver
    return ast.Attribute(receiver, mangled(site.name, site.classes), ast.Load())


def _call_arguments(
    arguments: list[tuple[Given, ast.expr]], function: str
) -> tuple[list[ast.expr], list[ast.keyword]]:
    """Write the call as a person would: required ones in order, optional ones by name."""
    positional: list[ast.expr] = []
    keywords: list[ast.keyword] = []
    starred = any(
        g.parameter.kind == "var_positional" and not _empty(node) for g, node in arguments
    )
    dunder = function.startswith("__") and function.endswith("__")
    for g, node in arguments:
        kind = g.parameter.kind
        if kind == "var_positional":
            positional += _spread(node)
        elif kind == "var_keyword":
            keywords += _spread_keywords(node)
        elif kind == "keyword_only":
            keywords.append(ast.keyword(g.parameter.name, node))
        elif (
            kind == "positional_only"
            or starred
            or dunder
            or (g.parameter.required and not keywords)
        ):
            positional.append(node)
        else:
            keywords.append(ast.keyword(g.parameter.name, node))
    return positional, keywords


def _empty(node: ast.expr) -> bool:
    return isinstance(node, ast.List | ast.Tuple) and not node.elts


def _spread(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.List | ast.Tuple):
        return list(node.elts)
    return [ast.Starred(node, ast.Load())]


def _spread_keywords(node: ast.expr) -> list[ast.keyword]:
    if isinstance(node, ast.Dict):
        plain: list[ast.keyword] = []
        for key, value in zip(node.keys, node.values, strict=True):
            if (
                isinstance(key, ast.Constant)
                and isinstance(key.value, str)
                and is_settable(key.value)
            ):
                plain.append(ast.keyword(key.value, value))
            else:
                return [ast.keyword(None, node)]
        return plain
    return [ast.keyword(None, node)]


def _short(node: ast.expr) -> str:
    return shown_source(ast.unparse(node)) if len(ast.dump(node)) < MAX_UNPARSED else "(...)"


def shown_source(text: str) -> str:
    """Return source text cut for one line of a report."""
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 3] + "..."


def statement(prefix: str, value: ast.expr) -> list[str]:
    """Return the lines of a statement in a function's body, without their indentation."""
    text = render(value, indent=4, width=WIDTH, first_column=4 + len(prefix))
    lines = (prefix + text).split("\n")
    return [lines[0], *(line.removeprefix("    ") for line in lines[1:])]
