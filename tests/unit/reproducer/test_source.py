"""What syntax trees say about a frame's function, its module and the call that entered it."""

from __future__ import annotations

import ast

import pytest

from builders import DictTree, line_of
from reproof.reproducer.source import (
    CallSite,
    Change,
    EntryKind,
    FunctionSite,
    SourceIndex,
    call_site,
    change_before,
    statement_text,
)

SHOP = """\
from functools import cached_property

LIMIT = 1  # @module


class Cart:
    tax = [1 for _ in (1,)]  # @classbody

    def __init__(self, items):
        self.items = items  # @init

    def __new__(cls, *args):
        return object.__new__(cls)  # @new

    def total(self, rate, /, extra=0, *more, tip, **rest):
        return rate  # @method

    @classmethod
    def empty(cls):
        return cls([])  # @classmethod

    @staticmethod
    def parse(text):
        return text  # @staticmethod

    @property
    def size(self):
        return len(self.items)  # @property

    @cached_property
    def weight(self):
        return 0  # @cached

    def __call__(self):
        return 1  # @dunder

    class Line:
        def price(self):
            return 1  # @innerclass

    async def fetch(self):
        return 1  # @asyncmethod


def outer(x):
    def inner(y):
        return y  # @nested

    class Local:
        def act(self):
            return 1  # @localclass

    return inner(x), Local


double = lambda n: n * 2  # @lambda


def listed(rows):
    return [r for r in rows]  # @listcomp


async def stream():
    yield 1  # @asyncgen


def numbers():
    yield 1  # @generator


@decorate(
    "x",  # @decorator
)
def decorated(a):
    return a  # @decorated


if LIMIT:
    def maybe():
        return 1  # @first
else:
    def maybe():
        return 2  # @second
"""
INDEX = SourceIndex(DictTree({"shop/cart.py": SHOP, "shop/__init__.py": ""}))


def _site(marker: str, function: str) -> FunctionSite | None:
    return INDEX.site("shop/cart.py", line_of(SHOP, f"# @{marker}"), function, "shop.cart")


@pytest.mark.parametrize(
    ("marker", "function", "kind", "qualname"),
    [
        ("module", "<module>", EntryKind.MODULE, "<module>"),
        ("init", "__init__", EntryKind.INIT, "Cart.__init__"),
        ("new", "__new__", EntryKind.STATICMETHOD, "Cart.__new__"),
        ("method", "total", EntryKind.METHOD, "Cart.total"),
        ("classmethod", "empty", EntryKind.CLASSMETHOD, "Cart.empty"),
        ("staticmethod", "parse", EntryKind.STATICMETHOD, "Cart.parse"),
        ("property", "size", EntryKind.PROPERTY, "Cart.size"),
        ("cached", "weight", EntryKind.PROPERTY, "Cart.weight"),
        ("dunder", "__call__", EntryKind.METHOD, "Cart.__call__"),
        ("innerclass", "price", EntryKind.METHOD, "Cart.Line.price"),
        ("asyncmethod", "fetch", EntryKind.METHOD, "Cart.fetch"),
        ("nested", "inner", EntryKind.NESTED, "outer.inner"),
        ("localclass", "act", EntryKind.NESTED, "outer.Local.act"),
        ("lambda", "<lambda>", EntryKind.LAMBDA, "<lambda>"),
        ("listcomp", "<listcomp>", EntryKind.COMPREHENSION, "listed.<listcomp>"),
        ("listcomp", "listed", EntryKind.FUNCTION, "listed"),
        ("asyncgen", "stream", EntryKind.FUNCTION, "stream"),
        ("generator", "numbers", EntryKind.FUNCTION, "numbers"),
        ("decorated", "decorated", EntryKind.FUNCTION, "decorated"),
        ("first", "maybe", EntryKind.FUNCTION, "maybe"),
        ("second", "maybe", EntryKind.FUNCTION, "maybe"),
    ],
)
def test_every_kind_of_function_is_found(
    marker: str, function: str, kind: EntryKind, qualname: str
) -> None:
    site = _site(marker, function)

    assert site is not None
    assert (site.kind, site.qualname) == (kind, qualname)
    assert (site.module, site.root) == ("shop.cart", "")


@pytest.mark.parametrize(
    ("marker", "function"),
    [
        ("module", "total"),
        ("method", "empty"),
        ("method", "Cart"),
        ("classbody", "tax"),
        ("method", ""),
        ("method", "total()"),
        ("nested", "<lambda>"),
        ("module", "<listcomp>"),
    ],
)
def test_a_function_that_is_not_there_is_none(marker: str, function: str) -> None:
    assert _site(marker, function) is None


def test_of_two_functions_of_one_name_the_one_around_the_line_is_meant() -> None:
    first, second = _site("first", "maybe"), _site("second", "maybe")

    assert first is not None
    assert second is not None
    assert first.node is not None
    assert first.node is not second.node
    assert first.node.lineno < first.line <= (first.node.end_lineno or 0)


def test_parameters_keep_their_kinds_and_order() -> None:
    site = _site("method", "total")

    assert site is not None
    assert [(p.name, p.kind, p.required) for p in site.parameters] == [
        ("self", "positional_only", True),
        ("rate", "positional_only", True),
        ("extra", "positional_or_keyword", False),
        ("more", "var_positional", False),
        ("tip", "keyword_only", True),
        ("rest", "var_keyword", False),
    ]
    assert site.receiver == "self"


@pytest.mark.parametrize(
    ("marker", "function", "is_async", "is_generator"),
    [
        ("asyncgen", "stream", True, True),
        ("generator", "numbers", False, True),
        ("asyncmethod", "fetch", True, False),
        ("nested", "inner", False, False),
    ],
)
def test_coroutines_and_generators_are_known(
    marker: str, function: str, is_async: bool, is_generator: bool
) -> None:
    site = _site(marker, function)

    assert site is not None
    assert (site.is_async, site.is_generator) == (is_async, is_generator)


def test_decorators_go_by_their_last_name() -> None:
    site = _site("decorated", "decorated")

    assert site is not None
    assert site.decorators == ("decorate",)


@pytest.mark.parametrize(
    "text", ["def f(:\n", "x = 1\n  y", "\0", "(" * 50_000, "print 'two'\n", "\ud800"]
)
def test_a_file_that_does_not_parse_has_no_sites(text: str) -> None:
    index = SourceIndex(DictTree({"a.py": text}))

    assert index.module("a.py") is None
    assert index.site("a.py", 1, "f", None) is None
    assert index.site("missing.py", 1, "f", None) is None


@pytest.mark.parametrize(
    ("files", "path", "claimed", "expected"),
    [
        (["src/shop/a.py"], "src/shop/a.py", "shop.a", ("shop.a", "src")),
        (["shop/a.py"], "shop/a.py", "shop.a", ("shop.a", "")),
        (["shop/__init__.py"], "shop/__init__.py", "shop", ("shop", "")),
        (["ns/shop/a.py"], "ns/shop/a.py", "ns.shop.a", ("ns.shop.a", "")),
        (["ns/shop/a.py"], "ns/shop/a.py", None, ("a", "ns/shop")),
        (["x/shop/a.py", "x/shop/__init__.py"], "x/shop/a.py", None, ("shop.a", "x")),
        (["x/shop/a.py", "x/shop/__init__.py"], "x/shop/a.py", "__main__", ("shop.a", "x")),
        (["x/shop/a.py", "x/shop/__init__.py"], "x/shop/a.py", "wrong.name", ("shop.a", "x")),
        (["bin/run.py"], "bin/run.py", "__main__", ("run", "bin")),
        (["a.py"], "a.py", "", ("a", "")),
        (["a.py"], "a.py", "pkg.deep.a", ("a", "")),
    ],
)
def test_a_file_has_a_module_name_and_a_root(
    files: list[str], path: str, claimed: str | None, expected: tuple[str, str]
) -> None:
    index = SourceIndex(DictTree(dict.fromkeys(files, "")))

    assert index.module_name(path, claimed) == expected


@pytest.mark.parametrize(
    ("body", "change"),
    [
        ("y = 1", Change.NONE),
        ("print(1)", Change.NONE),
        ("y = x.name", Change.NONE),
        ("y = x[0]", Change.NONE),
        ("f(x)", Change.PASSED),
        ("f(key=x)", Change.PASSED),
        ("x.lookup()", Change.PASSED),
        ("x.items.append(1)", Change.MUTATED),
        ("x.append(1)", Change.MUTATED),
        ("x.pop()", Change.MUTATED),
        ("x[0] = 1", Change.MUTATED),
        ("x.name = 1", Change.MUTATED),
        ("x.a.b[0] = 1", Change.MUTATED),
        ("x[0] += 1", Change.MUTATED),
        ("del x[0]", Change.MUTATED),
        ("x = 1", Change.REBOUND),
        ("x += 1", Change.REBOUND),
        ("x: int = 1", Change.REBOUND),
        ("del x", Change.REBOUND),
        ("a, (b, x) = y", Change.REBOUND),
        ("if (x := 1): pass", Change.REBOUND),
        ("for x in y: pass", Change.REBOUND),
        ("with y as x: pass", Change.REBOUND),
        ("try: pass\n    except E as x: pass", Change.REBOUND),
        ("def g():\n        x = 1", Change.NONE),
        ("y = [x for x in z]", Change.REBOUND),
        ("import x", Change.REBOUND),
        ("import json as x", Change.REBOUND),
        ("from json import loads as x", Change.REBOUND),
        ("def x(): pass", Change.REBOUND),
        ("match y:\n        case {'a': x}: pass", Change.REBOUND),
        ("match y:\n        case [*x]: pass", Change.REBOUND),
    ],
)
def test_what_may_have_happened_to_a_name_before_the_line(body: str, change: Change) -> None:
    text = f"def f(x):\n    {body}\n    return 1 / 0  # @crash\n"
    site = SourceIndex(DictTree({"a.py": text})).site("a.py", line_of(text, "@crash"), "f", None)

    assert site is not None
    found = change_before(site, "x")
    # a comprehension's own variable is not the parameter; to doubt it is safe, only slower
    assert found is change or (body.startswith("y = [") and found is Change.NONE)


def test_what_comes_after_the_line_has_not_happened_unless_a_loop_comes_round() -> None:
    straight = "def f(x):\n    y = 1 / 0  # @crash\n    x = 1\n"
    loop = "def f(x):\n    for _ in y:\n        z = 1 / 0  # @crash\n        x = 1\n"
    found = []
    for text in (straight, loop):
        index = SourceIndex(DictTree({"a.py": text}))
        site = index.site("a.py", line_of(text, "@crash"), "f", None)
        assert site is not None
        found.append(change_before(site, "x"))

    assert found == [Change.NONE, Change.REBOUND]


def _call(call: str, signature: str, *, line: int = 2) -> CallSite | None:
    caller = f"def go(a, b, c):\n    {call}\n"
    index = SourceIndex(DictTree({"a.py": caller, "b.py": f"{signature}\n    return 1\n"}))
    above = index.site("a.py", line, "go", None)
    name = signature.split("def ")[1].partition("(")[0]
    last = signature.count("\n") + 2
    here = index.site("b.py", last, name, None)
    assert above is not None
    assert here is not None
    return call_site(above, here)


@pytest.mark.parametrize(
    ("call", "signature", "arguments", "omitted"),
    [
        ("f(a)", "def f(x):", {"x": "a"}, set()),
        ("return b.f(a + 1)", "def f(x):", {"x": "a + 1"}, set()),
        ("f(x=a)", "def f(x):", {"x": "a"}, set()),
        ("f(a, z=c)", "def f(x, y=1, z=2):", {"x": "a", "z": "c"}, {"y"}),
        ("f(a, b, c)", "def f(x, *rest):", {"x": "a"}, set()),
        ("f(a, k=b)", "def f(x, **rest):", {"x": "a"}, set()),
        ("f(a, y=b)", "def f(x, /, *, y, z=1):", {"x": "a", "y": "b"}, {"z"}),
        ("f(*a)", "def f(x, y=1):", {}, set()),
        ("f(**a)", "def f(x, y=1):", {}, set()),
        ("f()", "def f(x=1):", {}, {"x"}),
        ("b.f(a)", "class C:\n  def f(self, x):", {"x": "a"}, set()),
        ("C(a)", "class C:\n  def __init__(self, x):", {"x": "a"}, set()),
        ("C.f(a)", "class C:\n  @staticmethod\n  def f(x):", {"x": "a"}, set()),
        ("C.f(a)", "class C:\n  @classmethod\n  def f(cls, x):", {"x": "a"}, set()),
    ],
)
def test_a_call_binds_its_arguments(
    call: str, signature: str, arguments: dict[str, str], omitted: set[str]
) -> None:
    found = _call(call, signature)

    assert found is not None
    assert {n: ast.unparse(e) for n, e in found.arguments.items()} == arguments
    assert found.omitted == omitted


def test_a_super_call_enters_the_parents_init() -> None:
    found = _call("super().__init__(a)", "class C:\n  def __init__(self, x):")

    assert found is not None
    assert ast.unparse(found.arguments["x"]) == "a"


@pytest.mark.parametrize(
    ("call", "signature"),
    [
        ("f(a) + f(b)", "def f(x):"),
        ("f(f(a))", "def f(x):"),
        ("g(a)", "def f(x):"),
        ("f(a, b)", "def f(x):"),
        ("f", "def f(x):"),
        ("b()", "class C:\n  def __call__(self):"),
    ],
)
def test_an_unclear_call_is_none(call: str, signature: str) -> None:
    assert _call(call, signature) is None


def test_a_call_on_several_lines_is_found_from_any_of_them() -> None:
    call = "f(\n        a,\n        y=b,\n    )"

    for line in (2, 3, 4, 5):
        found = _call(call, "def f(x, y):", line=line)
        assert found is not None
        assert {n: ast.unparse(e) for n, e in found.arguments.items()} == {"x": "a", "y": "b"}


def test_a_property_is_entered_by_reading_it() -> None:
    signature = "class C:\n  @property\n  def size(self):"
    found = _call("return a.size + 1", signature)

    assert found is not None
    assert found.receiver is not None
    assert ast.unparse(found.receiver) == "a"
    assert _call("return a.size + b.size", signature) is None


def _statements(text: str) -> list[str | None]:
    module = ast.parse(text)
    return [statement_text(module, n) for n in range(1, text.count("\n") + 1)]


def test_a_statements_text_is_blind_to_its_layout() -> None:
    one = _statements("x = f(a, b)\n")
    several = _statements("x = f(\n    a,\n    b,\n)\n")

    assert set(one) == set(several) == {"x = f(a, b)"}


@pytest.mark.parametrize(
    "text",
    [
        "if a:\n    pass\nif b:\n    pass\n",
        "while a:\n    pass\nwhile b:\n    pass\n",
        "for a in b:\n    pass\nfor a in c:\n    pass\n",
        "with a:\n    pass\nwith b:\n    pass\n",
        "match a:\n    case 1: pass\nmatch b:\n    case 1: pass\n",
    ],
)
def test_headers_of_different_blocks_differ(text: str) -> None:
    first, _, second, _ = _statements(text)

    assert first != second


@pytest.mark.parametrize(
    ("text", "first", "second"),
    [
        ("match a:\n    case x if x / b:\n        y\n    case x if x / c:\n        y\n", 2, 4),
        ("try:\n    x\nexcept a.b:\n    y\nexcept c.d:\n    y\n", 3, 5),
    ],
)
def test_clauses_of_one_block_differ(text: str, first: int, second: int) -> None:
    statements = _statements(text)

    assert statements[first - 1] != statements[second - 1]


def test_a_line_outside_any_statement_has_no_text() -> None:
    assert statement_text(ast.parse("x = 1\n"), 5) is None
    assert statement_text(None, 1) is None
