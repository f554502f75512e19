"""Each module stands on its own, starts nothing heavy, and keeps to the shape that was agreed."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from typing import TYPE_CHECKING

import reproof
from support.project import DATA, SOURCE, modules

if TYPE_CHECKING:
    from pathlib import Path

MAX_FUNCTION_LINES = 60
MAX_FILE_LINES = 700
HEAVY = {
    "asyncio", "dataclasses", "email", "http", "importlib.metadata", "inspect", "json", "rich",
    "socket", "subprocess", "tempfile", "tomllib", "typing_extensions", "urllib",
}  # fmt: skip
"""What `reproof --help` must not import: each costs more than all of our own code in it."""

IMPORT_EACH_IN_A_FORK = """
import importlib, os, sys, traceback
failed = []
for name in sys.argv[1:]:
    pid = os.fork()
    if not pid:
        try:
            importlib.import_module(name)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    if os.waitpid(pid, 0)[1]:
        failed.append(name)
print(*failed)
"""


TREES = {
    path: ast.parse(path.read_text("utf-8"), filename=str(path))
    for path in sorted(SOURCE.rglob("*.py"))
    if not path.is_relative_to(DATA)
}
BROAD = {"everything", "Exception", "BaseException"}


def relative(path: Path) -> str:
    return str(path.relative_to(SOURCE))


def functions(tree: ast.AST) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [node for node in ast.walk(tree) if isinstance(node, kinds)]


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count the lines of a function without its docstring."""
    first, *rest = function.body
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    start = rest[0] if documented and rest else first
    return (function.end_lineno or 0) - start.lineno + 1


def test_each_module_imports_alone_and_without_a_warning() -> None:
    command = [sys.executable, "-W", "error", "-c", IMPORT_EACH_IN_A_FORK, *modules()]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.split() == [], done.stderr


def test_help_imports_nothing_heavy() -> None:
    show = "import sys, reproof.cli.main as m\ntry: m.main(['--help'])\nexcept SystemExit: pass\n"
    show += "print(*sys.modules, file=sys.stderr)"
    command = [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{show}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.startswith("usage: reproof ")
    assert HEAVY & set(done.stderr.split()) == set()


def test_the_public_names_are_sorted_and_there() -> None:
    names = getattr(reproof, "__all__", None)
    assert names is not None, "reproof has no __all__"
    assert list(names) == sorted(names)
    assert [name for name in names if not hasattr(reproof, name)] == []


def test_each_export_list_is_sorted() -> None:
    exports = {name: list(getattr(import_module(name), "__all__", ())) for name in modules()}
    assert [name for name, names in exports.items() if names != sorted(names)] == []


def test_each_module_says_what_it_is() -> None:
    assert [relative(path) for path, tree in TREES.items() if not ast.get_docstring(tree)] == []


def test_no_function_is_too_long_to_be_read_in_one_go() -> None:
    found = [
        f"{relative(path)}: {function.name} has {body_lines(function)} lines"
        for path, tree in TREES.items()
        for function in functions(tree)
        if body_lines(function) > MAX_FUNCTION_LINES
    ]
    assert found == []


def test_files_are_short() -> None:
    lengths = {relative(path): len(path.read_text("utf-8").splitlines()) for path in TREES}
    assert {name: n for name, n in lengths.items() if n > MAX_FILE_LINES} == {}
    ordered = sorted(lengths.values())
    assert ordered[len(ordered) // 2] <= 200
    assert ordered[int(len(ordered) * 0.9)] <= 450


def test_no_broad_handler_is_silent() -> None:
    found = []
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ExceptHandler):
                caught = ast.unparse(node.type) if node.type else "everything"
                if caught in BROAD and all(isinstance(item, ast.Pass) for item in node.body):
                    found.append(f"{relative(path)}:{node.lineno} swallows {caught}")
    assert found == []


def test_only_settings_reads_the_environment() -> None:
    """The guest is apart: it reads the environment that the sandbox made for it."""
    found = [
        f"{relative(path)}:{node.lineno}"
        for path, tree in TREES.items()
        if path.name != "settings.py" and "_guest" not in path.parts
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node) in {"os.environ", "os.getenv"}
    ]
    assert found == []


def test_what_runs_beside_the_target_is_python_3_8() -> None:
    guest = sorted((SOURCE / "sandbox" / "_guest").glob("*.py"))
    assert len(guest) > 3
    for path in guest:
        ast.parse(path.read_text("utf-8"), filename=str(path), feature_version=(3, 8))
