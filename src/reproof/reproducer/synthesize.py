"""From a plan to the text of a pytest module: same plan, same bytes.

Text from the event never enters as text: values are rendered from syntax trees, and what is said in
a docstring goes through `wording`.
"""

from __future__ import annotations

import ast
import builtins
import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from reproof.reproducer.calls import act, statement
from reproof.reproducer.imports import import_lines
from reproof.reproducer.plan import entry_call
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
from reproof.reproducer.wording import headline, promise, snake, test_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reproof.domain.event import Event
    from reproof.reproducer.plan import Given, Plan

INLINE_WIDTH = 60
"""A longer argument gets a name of its own, so that the call stays readable."""
LONG_TEXT = 2000
"""A longer string goes to a data file beside the test."""
_BUILTIN_NAMES = frozenset(dir(builtins))
_SELF_EXPLAINING = frozenset({Provenance.LITERAL, Provenance.CALLER})


@dataclass(frozen=True, slots=True, kw_only=True)
class Emitted:
    """A test module and its control, which makes the same values and no call."""

    text: str
    control: str
    call: str
    """The call on one line, for people."""
    function: str
    """Name of the test function."""
    data: str | None = None
    """Content of the data file beside it (same name, `.json`), when there are long values."""


def synthesize(
    plan: Plan, event: Event, *, expect_raises: bool = False, frozen: str | None = None
) -> Emitted:
    """Return the test module that makes the plan's call, at the moment `frozen` (ISO 8601)."""
    body = _Body(plan)
    imports, lines = set(body.imports), body.act
    if expect_raises:
        raised, needed = _exception_name(event)
        imports |= needed | {Import("pytest")}
        lines = [f"with pytest.raises({raised}):", *("    " + line for line in lines)]
    decorators = []
    if frozen is not None:
        imports.add(Import("time_machine"))
        moment = datetime.fromisoformat(frozen).isoformat()
        decorators = [f'@time_machine.travel("{moment}", tick=False)']
    function = test_name(plan, event)
    own = plan.view.site.module.partition(".")[0]
    text = [
        f'"""{headline(plan, event)}"""',
        "",
        *import_lines(imports, own),
        *body.load_data(),
        "",
        "",
        *decorators,
        f"def {function}() -> None:",
        f'    """{promise(event, expect_raises=expect_raises)}"""',
        *("    " + line if line else "" for line in [*body.setup, *lines]),
        "",
    ]
    named = ", ".join(f"{name!r}: {source}" for name, source in body.names)
    control = [
        *import_lines(body.imports, own),
        *body.inline_data(),
        "",
        "",
        "def build():",
        *("    " + line for line in body.setup),
        "    return {" + named + "}",
        "",
    ]
    return Emitted(
        text="\n".join(text),
        control="\n".join(control),
        call=body.call,
        function=function,
        data=json.dumps(body.data, indent=1) + "\n" if body.data else None,
    )


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


class _Body:
    """The parts of a test's function, put together in the order in which they read."""

    def __init__(self, plan: Plan) -> None:
        self.setup: list[str] = []
        self.names: list[tuple[str, str]] = []
        """(parameter, source of its value) for the control."""
        self.data: dict[str, str] = {}
        self._plan = plan
        given = [g for g in plan.arguments if g.value.expression is not None]
        expressions = [g.value.expression for g in given if g.value.expression is not None]
        attributes = [e for _, e in plan.receiver.attributes] if plan.receiver else []
        for g in given:
            attributes += [e for _, e in g.value.attributes]
        target = _target(plan)
        helpers = [member("json", "loads"), reference("pathlib", "Path")]
        runners = [member("asyncio", "run")] if plan.view.site.is_async else []
        nodes, imports = merge([*target, *expressions, *attributes, *runners, *helpers])
        self._loads, self._path = nodes[-2:]
        self._taken = {one.bound for one in imports} | {"DATA"}
        stop = len(target) + len(given)
        self._attributes = nodes[stop : stop + len(attributes)]
        receiver = self._receiver(nodes[0])
        arguments = self._arguments(given, nodes[len(target) : stop])
        self.act, self.call = act(plan, receiver, arguments)
        # the helpers were merged in so that their names are free; most tests need neither
        unused = (
            frozenset()
            if self.data
            else frozenset(one for one in imports if (one.module, one.name) in _HELPERS)
            - merge([*target, *expressions, *attributes, *runners])[1]
        )
        self.imports = imports - unused

    def load_data(self) -> list[str]:
        """Return the lines that read the data file, in the test."""
        if not self.data:
            return []
        path = ast.unparse(self._path)
        loads = ast.unparse(self._loads)
        read = f'{path}(__file__).with_suffix(".json").read_text(encoding="utf-8")'
        return ["", f"DATA = {loads}({read})"]

    def inline_data(self) -> list[str]:
        """Return the line that holds the data, in the control: it stands in no file."""
        if not self.data:
            return []
        return ["", f"DATA = {ast.unparse(self._loads)}({json.dumps(self.data)!r})"]

    def _receiver(self, target: ast.expr) -> ast.expr:
        value = self._plan.receiver
        if value is None:
            return target
        site = self._plan.view.site
        target = self._store(target, site.receiver or "self")
        simple = not value.attributes and not _is_long(target)
        if simple and isinstance(target, ast.Name | ast.Call | ast.Attribute):
            self.names.append((site.receiver or "self", render(target)))
            return target
        name = self._free(snake(site.classes[-1]).strip("_") or "subject")
        self._bind(name, target, value.attributes)
        self.names.append((site.receiver or "self", name))
        return ast.Name(name, ast.Load())

    def _bind(
        self, name: str, value: ast.expr, attributes: Sequence[tuple[str, Expression]]
    ) -> None:
        self.setup += statement(f"{name} = ", value)
        for attr, _ in attributes:
            node = self._store(self._attributes.pop(0), attr)
            self.setup += statement(f"{name}.{attr} = ", node)

    def _arguments(
        self, given: Sequence[Given], values: Sequence[ast.expr]
    ) -> list[tuple[Given, ast.expr]]:
        found: list[tuple[Given, ast.expr]] = []
        for g, made in zip(given, values, strict=True):
            name = g.parameter.name
            value = self._store(made, name)
            spread = g.parameter.kind.startswith("var_")
            if g.value.attributes or (_is_long(value) and not spread):
                name = self._free(name)
                if g.value.note and g.value.provenance not in _SELF_EXPLAINING:
                    self.setup.append(f"# {g.value.note}")
                self._bind(name, value, g.value.attributes)
                value = ast.Name(name, ast.Load())
            self.names.append((g.parameter.name, render(value)))
            found.append((g, value))
        return found

    def _store(self, node: ast.expr, name: str) -> ast.expr:
        """Move long strings out of a value into the data file."""
        long = [
            n
            for n in ast.walk(node)
            if isinstance(n, ast.Constant) and isinstance(n.value, str) and len(n.value) > LONG_TEXT
        ]
        if not long:
            return node
        moved: dict[str, str] = {}
        for constant_node in long:
            key = name if name not in self.data else f"{name}_{len(self.data) + 1}"
            moved.setdefault(str(constant_node.value), key)
            self.data[moved[str(constant_node.value)]] = str(constant_node.value)
        made = _Moved(moved).visit(node)
        return made if isinstance(made, ast.expr) else node

    def _free(self, name: str) -> str:
        if not is_settable(name):
            name = "value"
        while name in self._taken or name in _BUILTIN_NAMES:
            name += "_"
        self._taken.add(name)
        return name


_HELPERS = frozenset({("json", None), ("pathlib", "Path")})


@dataclass(slots=True)
class _Moved(ast.NodeTransformer):
    """Replaces strings by their place in the data file; builds new nodes, the old are shared."""

    keys: dict[str, str] = field(default_factory=dict)

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        key = self.keys.get(node.value) if isinstance(node.value, str) else None
        if key is None:
            return node
        return ast.Subscript(ast.Name("DATA", ast.Load()), ast.Constant(key), ast.Load())

    def generic_visit(self, node: ast.AST) -> ast.AST:
        fresh = {
            name: [self.visit(v) if isinstance(v, ast.AST) else v for v in value]
            if isinstance(value, list)
            else self.visit(value)
            if isinstance(value, ast.AST)
            else value
            for name, value in ast.iter_fields(node)
        }
        return type(node)(**fresh)


def _is_long(node: ast.expr) -> bool:
    # a dump is longer than the source, and cheap to bound: unparsing a huge value is not
    return len(ast.dump(node)) > _MAX_DUMP or len(ast.unparse(node)) > INLINE_WIDTH


_MAX_DUMP = 4000


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
