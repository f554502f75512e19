"""What an emitted test may say, whatever event it was made from."""

from __future__ import annotations

import ast
import builtins
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

NAME = re.compile(r"test(_[A-Za-z0-9]*)+\.py")
CALLS = frozenset(
    {
        "asyncio.run", "bytearray", "collections.ChainMap", "collections.Counter",
        "collections.OrderedDict", "collections.defaultdict", "collections.deque", "complex",
        "datetime.date", "datetime.datetime", "datetime.time", "datetime.timedelta",
        "datetime.timezone", "decimal.Decimal", "float", "fractions.Fraction", "frozenset",
        "importlib.import_module", "ipaddress.IPv4Address", "ipaddress.IPv4Network",
        "ipaddress.IPv6Address", "json.loads", "list", "object.__new__", "pathlib.Path",
        "pathlib.PosixPath",
        "pathlib.PurePosixPath", "range", "re.compile", "runpy.run_module", "set", "slice",
        "tuple", "types.SimpleNamespace", "uuid.UUID", "zoneinfo.ZoneInfo",
    }
)  # fmt: skip
"""All that a test calls beside the tree's own names."""
REFERENCES = frozenset({"unittest.mock.sentinel", "datetime.UTC", "datetime.timezone.utc"})
_STATEMENTS = (
    ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.Expr, ast.Assign,
    ast.With, ast.AsyncWith, ast.AsyncFor, ast.Pass,
)  # fmt: skip

written: dict[str, str] = {}
"""Text of every test that passed `check`, by a name of its own; `check_format` reads them all."""


def check(name: str, text: str, own: Iterable[str]) -> None:
    """Check one emitted file: its name, its characters, and every name and call in it."""
    assert NAME.fullmatch(name), name
    assert len(name) < 150
    tree = ast.parse(text)
    compile(tree, name, "exec")
    assert all(line.isprintable() for line in text.splitlines())
    assert "reproof" not in text
    bound = _imports(tree)
    tops = frozenset(own)
    for node in ast.walk(tree):
        assert not isinstance(node, ast.stmt) or isinstance(node, _STATEMENTS), ast.dump(node)
        if isinstance(node, ast.Call):
            target = _target(node.func, bound, tree)
            assert _may_be_called(target, node, tops), target
        if isinstance(node, ast.Name) and node.id not in bound:
            assert node.id in _locals(tree) or _is_value(node.id), node.id
    bare = {ast.unparse(node.args[0]) for node in ast.walk(tree) if _is_bare(node)}
    for name_, target in bound.items():
        known = target in CALLS | REFERENCES or _leads_to(target)
        assert _top(target) in tops or known or name_ in bare, target
    written[f"{len(written)}_{name}"] = text


def check_format(folder: Path) -> None:
    """Check that everything emitted so far is formatted as ruff formats it."""
    for name, text in written.items():
        (folder / name).write_text(text)
    ruff = Path(sys.executable).with_name("ruff")
    done = subprocess.run(
        [str(ruff), "format", "--isolated", "--no-cache", "--diff", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def _may_be_called(target: str | None, call: ast.Call, tops: frozenset[str]) -> bool:
    return target is None or target in CALLS or _top(target) in tops or _is_bare(call)


def _is_bare(node: ast.AST) -> TypeGuard[ast.Call]:
    """Whether it is `Name.__new__(Name)`: an empty object of a class, made without its code."""
    if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
        return False
    return ast.unparse(node.func) == f"{ast.unparse(node.args[0])}.__new__"


def _top(dotted: str) -> str:
    return dotted.partition(".")[0]


def _leads_to(module: str) -> bool:
    return any(known.startswith(f"{module}.") for known in CALLS | REFERENCES)


def _is_value(name: str) -> bool:
    return (
        name in CALLS
        or name in ("object", "int", "str", "dict", "bool")
        or (
            isinstance(getattr(builtins, name, None), type)
            and issubclass(getattr(builtins, name), BaseException)
        )
    )


def _imports(tree: ast.Module) -> dict[str, str]:
    """Return what each imported name stands for."""
    bound: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                bound[alias.asname or _top(alias.name)] = (
                    alias.name if alias.asname else _top(alias.name)
                )
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            for alias in node.names:
                bound[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return bound


def _locals(tree: ast.Module) -> set[str]:
    names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and not _is_load(n)}
    return names | {n.name for n in ast.walk(tree) if isinstance(n, ast.AsyncFunctionDef)}


def _is_load(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)


def _target(node: ast.expr, bound: Mapping[str, str], tree: ast.Module) -> str | None:
    """Return the dotted name that is called; `None` for a method of a local or of a call."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Call):
        return None
    assert isinstance(node, ast.Name), ast.dump(node)
    if node.id in _locals(tree):
        return None
    return ".".join([bound.get(node.id, node.id), *reversed(parts)])
