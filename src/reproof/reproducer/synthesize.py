"""From a plan to the text of a pytest module: same plan, same bytes.

Text from the event never enters as text: values are rendered from syntax trees, and what is said in
a docstring goes through `_quoted`.
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reproof.domain.text import shown
from reproof.reproducer.plan import Given, Plan, entry_call, mangled
from reproof.reproducer.printer import render
from reproof.reproducer.source import EntryKind
from reproof.reproducer.values.expression import (
    Expression,
    Import,
    constant,
    is_dotted,
    is_settable,
    member,
    merge,
    reference,
)
from reproof.reproducer.values.provenance import Provenance

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reproof.domain.event import Event

WIDTH = 88
INLINE_WIDTH = 60
"""A longer argument gets a name of its own, so that the call stays readable."""
_BUILTIN_NAMES = frozenset(dir(builtins))
_CONTEXT_MANAGERS = frozenset({"contextmanager"})
_ASYNC_CONTEXT_MANAGERS = frozenset({"asynccontextmanager"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Emitted:
    """A test module and its control, which makes the same values and no call."""

    text: str
    control: str
    call: str
    """The call on one line, for people."""
    function: str
    """Name of the test function."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    setup: list[str]
    names: list[tuple[str, str]]
    """(parameter, source of its value) for the control."""
    act: list[str]
    imports: frozenset[Import]
    call: str


def synthesize(plan: Plan, event: Event, *, expect_raises: bool = False) -> Emitted:
    """Return the test module that makes the plan's call."""
    parts = _parts(plan)
    function = test_name(plan, event)
    imports = set(parts.imports)
    act = parts.act
    if expect_raises:
        imports.add(Import("pytest"))
        raised, needed = _exception_name(event)
        imports |= needed
        act = [f"with pytest.raises({raised}):", *("    " + line for line in act)]
    body = [*parts.setup, *act]
    text = "\n".join(
        [
            f'"""{_headline(plan, event)}"""',
            "",
            *_import_lines(imports, plan),
            "",
            "",
            f"def {function}() -> None:",
            f'    """{_promise(event, expect_raises=expect_raises)}"""',
            *("    " + line if line else "" for line in body),
            "",
        ]
    )
    control = "\n".join(
        [
            *_import_lines(parts.imports, plan),
            "",
            "",
            "def build():",
            *("    " + line for line in parts.setup),
            "    return {" + ", ".join(f"{name!r}: {source}" for name, source in parts.names) + "}",
            "",
        ]
    )
    return Emitted(text=text, control=control, call=parts.call, function=function)


def test_name(plan: Plan, event: Event) -> str:
    """Return `test_rate_zero_division_error`."""
    site = plan.view.site
    subject = site.module.rpartition(".")[2] if site.kind is EntryKind.MODULE else site.name
    words = [subject.strip("_") or "call", _snake(event.raised.type)]
    return "test_" + "_".join(re.sub(r"\W", "_", w, flags=re.ASCII)[:60] for w in words if w)


def file_name(plan: Plan, event: Event) -> str:
    """Return `test_<issue>_<function>.py`, safe whatever the event says."""
    issue = re.sub(r"[^A-Za-z0-9]+", "_", event.issue.id or event.event_id[:8]).strip("_")[:40]
    site = plan.view.site
    subject = site.module.rpartition(".")[2] if site.kind is EntryKind.MODULE else site.name
    subject = re.sub(r"\W", "_", subject.strip("_"), flags=re.ASCII)[:60] or "crash"
    return "_".join(["test", *([issue] if issue else []), subject]) + ".py"


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def _quoted(text: str, limit: int = 200) -> str:
    """Return event text fit for a docstring: one line, printable, nothing can end the string."""
    clean = shown(text, limit).encode("ascii", "backslashreplace").decode()
    return clean.replace("\\", "\\\\").replace('"', "'")


def _headline(plan: Plan, event: Event) -> str:
    crash = event.raised
    where = plan.view.site
    issue = f" (issue {_quoted(event.issue.id, 40)})" if event.issue.id else ""
    frame = next((f for f in reversed(crash.frames) if f.context_line), None)
    kind = _quoted(crash.type, 60).strip() or "Exception"
    lines = [f"{kind} in {where.module}.{where.qualname}{issue}."]
    if frame is not None:
        lines += [
            "",
            (
                f"Crash point: {_quoted(frame.filename or '?', 80)}:{frame.lineno}: "
                f"{_quoted((frame.context_line or '').strip(), 80)}"
            ),
        ]
    if event.event_id:
        lines += [f"Event: {_quoted(event.event_id, 40)}"]
    return "\n".join(line.rstrip() for line in lines) + ("\n" if len(lines) > 1 else "")


def _promise(event: Event, *, expect_raises: bool) -> str:
    what = _quoted(f"{event.raised.type}: {event.raised.message or ''}".rstrip(": "), 70)
    return f"It raises {what}" if expect_raises else f"It raised {what}"


def _exception_name(event: Event) -> tuple[str, frozenset[Import]]:
    """Return a class that the test can name; `Exception` where the captured one has no address."""
    raised = event.raised
    if raised.module in (None, "", "builtins"):
        found = getattr(builtins, raised.type, None)
        known = isinstance(found, type) and issubclass(found, BaseException)
        return (raised.type if known else "Exception"), frozenset()
    if raised.module == "__main__" or not (is_dotted(raised.module) and is_dotted(raised.type)):
        return "Exception", frozenset()
    named = reference(raised.module, raised.type)
    return ast.unparse(named.node), named.imports


def _parts(plan: Plan) -> _Parts:
    setup: list[str] = []
    names: list[tuple[str, str]] = []
    given = [g for g in plan.arguments if g.value.expression is not None]
    expressions = [g.value.expression for g in given if g.value.expression is not None]
    extras = [e for _, e in plan.receiver.attributes] if plan.receiver else []
    for g in given:
        extras += [e for _, e in g.value.attributes]
    target = _target(plan)
    runners = _runner_imports(plan)
    nodes, imports = merge([*target, *expressions, *extras, *runners])
    callee_node, rest = nodes[: len(target)], nodes[len(target) :]
    values, extra_nodes = rest[: len(given)], rest[len(given) : len(given) + len(extras)]
    taken = {i.bound for i in imports}
    receiver = _receiver(plan, callee_node, extra_nodes, setup, names, taken)
    arguments = _arguments(given, values, extra_nodes, setup, names, taken)
    act, call = _act(plan, receiver, arguments)
    return _Parts(setup=setup, names=names, act=act, imports=imports, call=call)


def _target(plan: Plan) -> list[Expression]:
    """Return the expression of the receiver, or of what is called."""
    if plan.receiver is not None and plan.receiver.expression is not None:
        return [plan.receiver.expression]
    if plan.view.site.kind is EntryKind.MODULE:
        site = plan.view.site
        return [
            member("runpy", "run_module") if plan.main else member("importlib", "import_module"),
            constant(site.module),
        ]
    found = entry_call(plan)
    return [] if found is None else [found]


def _runner_imports(plan: Plan) -> list[Expression]:
    return [member("asyncio", "run")] if plan.view.site.is_async else []


def _receiver(
    plan: Plan,
    target: Sequence[ast.expr],
    extras: list[ast.expr],
    setup: list[str],
    names: list[tuple[str, str]],
    taken: set[str],
) -> ast.expr:
    if plan.receiver is None:
        return target[0]
    value = plan.receiver
    text = ast.unparse(target[0]) if len(ast.dump(target[0])) < 4000 else " " * WIDTH  # noqa: PLR2004
    simple = not value.attributes and len(text) <= INLINE_WIDTH
    if simple and isinstance(target[0], ast.Name | ast.Call | ast.Attribute):
        names.append((plan.view.site.receiver or "self", render(target[0])))
        return target[0]
    name = _free(_snake(plan.view.site.classes[-1]).strip("_") or "subject", taken)
    _bind(name, target[0], value.attributes, extras, setup)
    names.append((plan.view.site.receiver or "self", name))
    return ast.Name(name, ast.Load())


def _bind(
    name: str,
    value: ast.expr,
    attributes: Sequence[tuple[str, Expression]],
    extras: list[ast.expr],
    setup: list[str],
) -> None:
    setup += _statement(f"{name} = ", value)
    for attr, _ in attributes:
        setup += _statement(f"{name}.{attr} = ", extras.pop(0))


def _arguments(
    given: Sequence[Given],
    values: Sequence[ast.expr],
    extras: list[ast.expr],
    setup: list[str],
    names: list[tuple[str, str]],
    taken: set[str],
) -> list[tuple[Given, ast.expr]]:
    found: list[tuple[Given, ast.expr]] = []
    for g, value in zip(given, values, strict=True):
        long = len(ast.dump(value)) > 2000 or len(ast.unparse(value)) > INLINE_WIDTH  # noqa: PLR2004
        if g.value.attributes or (long and not g.parameter.kind.startswith("var_")):
            name = _free(g.parameter.name, taken)
            if g.value.note and g.value.provenance not in (Provenance.LITERAL, Provenance.CALLER):
                setup.append(f"# {g.value.note}")
            _bind(name, value, g.value.attributes, extras, setup)
            names.append((g.parameter.name, name))
            found.append((g, ast.Name(name, ast.Load())))
        else:
            names.append((g.parameter.name, render(value)))
            found.append((g, value))
    return found


def _free(name: str, taken: set[str]) -> str:
    if not is_settable(name):
        name = "value"
    while name in taken or name in _BUILTIN_NAMES:
        name += "_"
    taken.add(name)
    return name


def _statement(prefix: str, value: ast.expr) -> list[str]:
    text = render(value, indent=4, width=WIDTH, first_column=4 + len(prefix))
    lines = (prefix + text).split("\n")
    return [lines[0], *(line.removeprefix("    ") for line in lines[1:])]


def _act(
    plan: Plan, receiver: ast.expr, arguments: list[tuple[Given, ast.expr]]
) -> tuple[list[str], str]:
    site = plan.view.site
    if site.kind is EntryKind.MODULE:
        args: list[ast.expr] = [ast.Constant(site.module)]
        keywords = [ast.keyword("run_name", ast.Constant("__main__"))] if plan.main else []
        made: ast.expr = ast.Call(receiver, args, keywords)
        return _statement("", made), ast.unparse(made)
    if site.kind is EntryKind.PROPERTY:
        made = ast.Attribute(receiver, site.name, ast.Load())
        return _statement("_ = ", made), ast.unparse(made)
    made = ast.Call(_callee(plan, receiver), *_call_arguments(arguments, site.name))
    told = _short(made)
    decorators = set(site.decorators)
    if decorators & _CONTEXT_MANAGERS:
        lines = _statement("with ", made)
        return [*lines[:-1], lines[-1] + ":", "    pass"], told
    if site.is_async:
        return _async_act(plan, made, decorators), told
    if site.is_generator:
        made = ast.Call(ast.Name("list", ast.Load()), [made], [])
    return _statement("", made), told


def _async_act(plan: Plan, made: ast.expr, decorators: set[str]) -> list[str]:
    run = ast.Attribute(ast.Name("asyncio", ast.Load()), "run", ast.Load())
    if not plan.view.site.is_generator:
        return _statement("", ast.Call(run, [made], []))
    lines = _statement("", made)
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
    return shown_source(ast.unparse(node)) if len(ast.dump(node)) < 50_000 else "(...)"  # noqa: PLR2004


def shown_source(text: str) -> str:
    """Return source text cut for one line of a report."""
    return text if len(text) <= 200 else text[:197] + "..."  # noqa: PLR2004


def _import_lines(imports: Iterable[Import], plan: Plan) -> list[str]:
    """Return import lines in three groups: standard library, installed, this tree."""
    groups: list[list[tuple[tuple[int, str], str]]] = [[], [], []]
    own = plan.view.site.module.partition(".")[0]
    froms: dict[str, list[Import]] = {}
    for one in imports:
        if one.module == "builtins":
            continue
        if one.name is None:
            alias = f" as {one.alias}" if one.alias else ""
            line = f"import {one.module}{alias}"
            groups[_group(one.module, own)].append(((0, one.module), line))
        else:
            froms.setdefault(one.module, []).append(one)
    for module, names in froms.items():
        groups[_group(module, own)].append(((1, module), _from_line(module, names)))
    blocks = ["\n".join(line for _, line in sorted(g)) for g in groups if g]
    return "\n\n".join(blocks).split("\n") if blocks else []


def _group(module: str, own: str) -> int:
    top = module.partition(".")[0]
    if top == own:
        return 2
    return 0 if top in sys.stdlib_module_names else 1


def _from_line(module: str, names: list[Import]) -> str:
    told = sorted(
        {f"{n.name} as {n.alias}" if n.alias else str(n.name) for n in names},
        key=lambda t: (not t.isupper(), not t[:1].isupper(), t),
    )
    line = f"from {module} import {', '.join(told)}"
    if len(line) <= WIDTH:
        return line
    return f"from {module} import (\n" + "".join(f"    {t},\n" for t in told) + ")"
