"""What the target's syntax trees say: which function a frame is, who called it and how.

Everything here is static: a file is parsed, never imported.
"""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reproof.reproducer.locate import SourceTree

FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Scope: TypeAlias = "ast.ClassDef | FunctionNode | ast.Lambda"

_COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
_PROPERTY_NAMES = frozenset({"property", "cached_property", "abstractproperty", "lazy", "reify"})
_MUTATORS = frozenset(
    {
        "append",
        "extend",
        "insert",
        "pop",
        "remove",
        "clear",
        "sort",
        "reverse",
        "update",
        "setdefault",
        "popitem",
        "add",
        "discard",
        "appendleft",
        "popleft",
        "extendleft",
        "rotate",
        "write",
        "close",
        "read",
        "readline",
        "seek",
        "send",
        "throw",
        "intersection_update",
        "difference_update",
        "symmetric_difference_update",
        "move_to_end",
    }
)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


class EntryKind(StrEnum):
    """What kind of callable a frame is."""

    FUNCTION = "function"
    METHOD = "method"
    CLASSMETHOD = "classmethod"
    STATICMETHOD = "staticmethod"
    PROPERTY = "property"
    INIT = "init"
    NESTED = "nested"
    LAMBDA = "lambda"
    COMPREHENSION = "comprehension"
    MODULE = "module"


class Change(StrEnum):
    """What may have happened to a name between entry and the crash line."""

    NONE = "none"
    PASSED = "passed"
    """Handed to a call, which may have changed it in place."""
    MUTATED = "mutated"
    REBOUND = "rebound"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One formal parameter, in order."""

    name: str
    kind: str
    """As `inspect.Parameter.kind` names it, in lower case."""
    default: ast.expr | None = None
    annotation: ast.expr | None = None

    @property
    def required(self) -> bool:
        """Say whether a call must give it."""
        return self.default is None and not self.kind.startswith("var_")


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionSite:
    """The function (or module body) that a frame was running."""

    path: str
    module: str
    root: str
    """Tree-relative folder that must be importable for `module` to be; empty for the tree."""
    node: FunctionNode | ast.Lambda | None
    """`None` for a module body."""
    name: str
    classes: tuple[str, ...]
    """Enclosing classes, outermost first."""
    nested_in: tuple[str, ...]
    """Enclosing functions, outermost first: not reachable by an import when not empty."""
    kind: EntryKind
    line: int

    @property
    def qualname(self) -> str:
        """Return `Class.name`, as `__qualname__` would say it for an unnested function."""
        return ".".join((*self.nested_in, *self.classes, self.name))

    @property
    def is_async(self) -> bool:
        """Say whether calling it makes a coroutine or an async generator."""
        return isinstance(self.node, ast.AsyncFunctionDef)

    @property
    def is_generator(self) -> bool:
        """Say whether the body yields."""
        return isinstance(self.node, ast.FunctionDef | ast.AsyncFunctionDef) and any(
            isinstance(n, ast.Yield | ast.YieldFrom) for n in own_nodes(self.node)
        )

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Return the formal parameters, `self` or `cls` included."""
        return () if self.node is None else parameters_of(self.node.args)

    @property
    def decorators(self) -> tuple[str, ...]:
        """Return the decorators' last names (`app.route(...)` gives `route`)."""
        if not isinstance(self.node, ast.FunctionDef | ast.AsyncFunctionDef):
            return ()
        return tuple(last_name(d) for d in self.node.decorator_list)

    @property
    def receiver(self) -> str | None:
        """Return the name of the first parameter where it is bound by the call itself."""
        bound = {EntryKind.METHOD, EntryKind.CLASSMETHOD, EntryKind.PROPERTY, EntryKind.INIT}
        return self.parameters[0].name if self.kind in bound and self.parameters else None


class SourceIndex:
    """Parsed files of one tree, each parsed once."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        self._parsed: dict[str, ast.Module | None] = {}
        self._texts: dict[str, str | None] = {}

    def text(self, path: str) -> str | None:
        """Return a file's text."""
        if path not in self._texts:
            self._texts[path] = self._tree.read(path)
        return self._texts[path]

    def module(self, path: str) -> ast.Module | None:
        """Return a file's syntax tree; `None` when it is missing or not parsable here."""
        if path not in self._parsed:
            self._parsed[path] = _parse(self.text(path))
        return self._parsed[path]

    def statement(self, path: str, line: int) -> str | None:
        """Return what tells the statement at a line from every other of the file."""
        module = self.module(path)
        found = None if module is None else statement_at(module, line)
        # the text alone would take one of two equal lines for the other
        return None if found is None else f"{found.lineno}: {statement_text(module, line)}"

    def site(self, path: str, line: int, function: str, module: str | None) -> FunctionSite | None:
        """Return the function named `function` that spans `line`, innermost first."""
        parsed = self.module(path)
        if parsed is None:
            return None
        name, root = self.module_name(path, module)
        if function == "<module>":
            return FunctionSite(
                path=path,
                module=name,
                root=root,
                node=None,
                name=function,
                classes=(),
                nested_in=(),
                kind=EntryKind.MODULE,
                line=line,
            )
        for scopes in reversed(list(_scopes_at(parsed, line))):
            site = _as_site(scopes, function, path=path, module=name, root=root, line=line)
            if site is not None:
                return site
        return None

    def module_name(self, path: str, claimed: str | None) -> tuple[str, str]:
        """Return (dotted module, import root) of a file."""
        parts = path.removesuffix(".py").split("/")
        if parts[-1] == "__init__" and len(parts) > 1:
            parts.pop()
        if claimed and claimed != "__main__":
            wanted = claimed.split(".")
            if parts[-len(wanted) :] == wanted:
                return claimed, "/".join(parts[: -len(wanted)])
        start = len(parts) - 1
        while start > 0 and self._tree.exists("/".join([*parts[:start], "__init__.py"])):
            start -= 1
        return ".".join(parts[start:]), "/".join(parts[:start])


def _parse(text: str | None) -> ast.Module | None:
    if text is None:
        return None
    try:
        with warnings.catch_warnings():
            # the target's invalid escapes are its own business
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _scopes_at(module: ast.Module, line: int) -> Iterator[tuple[Scope, ...]]:
    """Yield each chain of nested scopes around a line, outer ones first."""

    def walk(node: ast.AST, chain: tuple[Scope, ...]) -> Iterator[tuple[Scope, ...]]:
        for child in ast.iter_child_nodes(node):
            inner = chain
            if isinstance(
                child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
            ):
                first = child.lineno
                if not isinstance(child, ast.Lambda) and child.decorator_list:
                    first = min(first, *(d.lineno for d in child.decorator_list))
                if not first <= line <= (child.end_lineno or first):
                    continue
                inner = (*chain, child)
                yield inner
            yield from walk(child, inner)

    yield from walk(module, ())


def _as_site(
    scopes: tuple[Scope, ...], function: str, *, path: str, module: str, root: str, line: int
) -> FunctionSite | None:
    node = scopes[-1]
    if isinstance(node, ast.ClassDef):
        return None
    if function in _COMPREHENSIONS:
        named = getattr(node, "name", "<lambda>")
        inner = _as_site(scopes, named, path=path, module=module, root=root, line=line)
        if inner is None:
            return None
        return FunctionSite(
            path=path,
            module=module,
            root=root,
            node=node,
            name=function,
            classes=inner.classes,
            nested_in=(*inner.nested_in, named),
            kind=EntryKind.COMPREHENSION,
            line=line,
        )
    if isinstance(node, ast.Lambda):
        if function != "<lambda>":
            return None
    elif node.name != function:
        return None
    around = scopes[:-1]
    last_function = max(
        (i for i, s in enumerate(around) if not isinstance(s, ast.ClassDef)), default=-1
    )
    classes = tuple(s.name for s in around[last_function + 1 :] if isinstance(s, ast.ClassDef))
    nested = tuple(getattr(s, "name", "<lambda>") for s in around[: last_function + 1])
    return FunctionSite(
        path=path,
        module=module,
        root=root,
        node=node,
        name=function,
        classes=classes,
        nested_in=nested,
        line=line,
        kind=_kind(node, classes, nested),
    )


def _kind(
    node: FunctionNode | ast.Lambda, classes: Sequence[str], nested: Sequence[str]
) -> EntryKind:
    if isinstance(node, ast.Lambda):
        return EntryKind.LAMBDA
    if nested:
        return EntryKind.NESTED
    if not classes:
        return EntryKind.FUNCTION
    names = {last_name(d) for d in node.decorator_list}
    if "staticmethod" in names or node.name == "__new__":
        return EntryKind.STATICMETHOD
    if "classmethod" in names or node.name in ("__init_subclass__", "__class_getitem__"):
        return EntryKind.CLASSMETHOD
    if names & _PROPERTY_NAMES or any(n.endswith("property") for n in names):
        return EntryKind.PROPERTY
    if node.name == "__init__":
        return EntryKind.INIT
    return EntryKind.METHOD


def last_name(node: ast.expr) -> str:
    """Return the last dotted part of a decorator or callee expression, or an empty string."""
    if isinstance(node, ast.Call):
        return last_name(node.func)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def parameters_of(args: ast.arguments) -> tuple[Parameter, ...]:
    """Return the formal parameters in the order of the signature."""
    found: list[Parameter] = []
    positional = [*args.posonlyargs, *args.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(args.defaults))
    defaults += args.defaults
    for i, (arg, default) in enumerate(zip(positional, defaults, strict=True)):
        kind = "positional_only" if i < len(args.posonlyargs) else "positional_or_keyword"
        found.append(Parameter(name=arg.arg, kind=kind, default=default, annotation=arg.annotation))
    if args.vararg:
        found.append(Parameter(name=args.vararg.arg, kind="var_positional"))
    found += [
        Parameter(name=arg.arg, kind="keyword_only", default=default, annotation=arg.annotation)
        for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True)
    ]
    if args.kwarg:
        found.append(Parameter(name=args.kwarg.arg, kind="var_keyword"))
    return tuple(found)


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function's body, leaving out nested functions, lambdas and classes."""
    stack = (
        list(getattr(function, "body", []))
        if not isinstance(function, ast.Lambda)
        else [function.body]
    )
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            stack.extend(ast.iter_child_nodes(node))


def statement_at(body: ast.AST, line: int) -> ast.stmt | None:
    """Return the innermost statement that spans a line."""
    best: ast.stmt | None = None
    for node in ast.walk(body):
        if (
            isinstance(node, ast.stmt)
            and node.lineno <= line <= (node.end_lineno or node.lineno)
            and (best is None or node.lineno >= best.lineno)
        ):
            best = node
    return best


def statement_text(module: ast.Module | None, line: int) -> str | None:
    """Return a normal form of the statement at a line, blind to layout; headers only for blocks."""
    found = None if module is None else statement_at(module, line)
    if found is None:
        return None
    shallow = found
    if isinstance(found, ast.If | ast.While):
        return f"{type(found).__name__} {ast.unparse(found.test)}"
    if isinstance(found, ast.For | ast.AsyncFor):
        return f"for {ast.unparse(found.target)} in {ast.unparse(found.iter)}"
    if isinstance(found, ast.With | ast.AsyncWith):
        return "with " + ", ".join(ast.unparse(item) for item in found.items)
    if isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return f"def {found.name}"
    if isinstance(found, ast.Match | ast.Try | ast.TryStar):
        return _clause_text(found, line)
    return ast.unparse(shallow)


def _clause_text(block: ast.Match | ast.Try | ast.TryStar, line: int) -> str:
    """Return the header of the clause at a line: each evaluates something of its own."""
    if isinstance(block, ast.Match):
        for case in block.cases:
            if case.pattern.lineno <= line < case.body[0].lineno:
                guard = f" if {ast.unparse(case.guard)}" if case.guard else ""
                return f"case {ast.unparse(case.pattern)}{guard}"
        return f"match {ast.unparse(block.subject)}"
    for handler in block.handlers:
        if handler.lineno <= line < handler.body[0].lineno:
            return f"except {ast.unparse(handler.type) if handler.type else ''}"
    return "try"


def change_before(site: FunctionSite, name: str) -> Change:
    """Say what may have happened to a parameter between entry and the site's line."""
    if site.node is None:
        return Change.REBOUND
    crash = statement_at(site.node, site.line)
    loops = [
        node
        for node in own_nodes(site.node)
        if isinstance(node, _LOOPS) and node.lineno <= site.line <= (node.end_lineno or 0)
    ]
    worst = Change.NONE
    order = list(Change)
    for node in own_nodes(site.node):
        at = getattr(node, "lineno", None)
        if at is None:
            continue
        before = crash is None or at < crash.lineno
        again = any(loop.lineno <= at <= (loop.end_lineno or 0) for loop in loops)
        if before or again:
            found = _change_by(node, name)
            worst = max(worst, found, key=order.index)
    return worst


def _change_by(node: ast.AST, name: str) -> Change:
    if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load):
        return Change.REBOUND
    if name in _bound_names(node):
        return Change.REBOUND
    if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
        return Change.MUTATED if _root_name(node) == name else Change.NONE
    if isinstance(node, ast.Call):
        func = node.func
        if isinstance(func, ast.Attribute) and _root_name(func.value) == name:
            return Change.MUTATED if func.attr in _MUTATORS else Change.PASSED
        given = [*node.args, *(k.value for k in node.keywords)]
        if any(isinstance(a, ast.Name) and a.id == name for a in given):
            return Change.PASSED
    return Change.NONE


def _bound_names(node: ast.AST) -> set[str | None]:
    """Return the names that a node binds by its own text, not through an `ast.Name`."""
    if isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
        return {node.name}
    if isinstance(node, ast.MatchMapping):
        return {node.rest}
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return set()


def changes_global(module: ast.Module, name: str) -> bool:
    """Say whether some function of the module rebinds or changes a module-level name."""
    for function in ast.walk(module):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        own = list(own_nodes(function))
        local = {n.id for n in own if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        declared = {d for n in own if isinstance(n, ast.Global) for d in n.names}
        if name in declared:
            return True
        if name not in local and any(_change_by(n, name) is Change.MUTATED for n in own):
            return True
    return False


def _root_name(node: ast.expr) -> str | None:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSite:
    """How a frame's function was called by the frame above it."""

    receiver: ast.expr | None
    """What the method was looked up on."""
    arguments: Mapping[str, ast.expr]
    """Parameter name -> argument expression in the caller's scope."""
    omitted: frozenset[str]
    """Parameters the call surely left to their defaults."""


def call_site(caller: FunctionSite | None, callee: FunctionSite) -> CallSite | None:
    """Return the one call at the caller's line that can have entered the callee."""
    if caller is None or caller.node is None:
        return None
    statement = statement_at(caller.node, caller.line)
    if statement is None:
        return None
    if callee.kind is EntryKind.PROPERTY:
        reads = [
            n for n in ast.walk(statement) if isinstance(n, ast.Attribute) and n.attr == callee.name
        ]
        if len(reads) != 1:
            return None
        return CallSite(receiver=reads[0].value, arguments={}, omitted=frozenset())
    wanted = {callee.name}
    if callee.kind is EntryKind.INIT and callee.classes:
        wanted = {callee.classes[-1], "cls", "__init__"}
    if callee.name == "__call__":
        wanted = set()
    calls = [
        n
        for n in ast.walk(statement)
        if isinstance(n, ast.Call)
        and (last_name(n.func) in wanted)
        and n.lineno <= caller.line <= (n.end_lineno or n.lineno)
    ]
    if len(calls) != 1:
        return None
    return _bind(calls[0], callee)


def _bind(call: ast.Call, callee: FunctionSite) -> CallSite | None:
    parameters = list(callee.parameters)
    receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
    through_class = (
        callee.kind is EntryKind.METHOD
        and isinstance(receiver, ast.Name)
        and receiver.id in callee.classes
    )
    if callee.receiver is not None and parameters and not through_class:
        parameters.pop(0)
    if any(isinstance(a, ast.Starred) for a in call.args) or any(
        k.arg is None for k in call.keywords
    ):
        return CallSite(receiver=receiver, arguments={}, omitted=frozenset())
    positional = [p for p in parameters if p.kind.startswith("positional")]
    if len(call.args) > len(positional) and not any(p.kind == "var_positional" for p in parameters):
        return None
    bound: dict[str, ast.expr] = {p.name: a for p, a in zip(positional, call.args, strict=False)}
    names = {p.name for p in parameters if not p.kind.startswith("var_")}
    bound |= {k.arg: k.value for k in call.keywords if k.arg in names and k.arg is not None}
    omitted = frozenset(p.name for p in parameters if p.default is not None and p.name not in bound)
    return CallSite(receiver=receiver, arguments=bound, omitted=omitted)
