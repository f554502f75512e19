"""What is printed parses to the same tree, and `ruff format` leaves it as it is."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reproof.errors import InputError
from reproof.reproducer.printer import MAX_DEPTH, render, render_statement, render_string
from reproof.reproducer.values import expression as make

RUFF = Path(sys.executable).with_name("ruff")
NAMES = st.sampled_from(["a", "cart", "datetime", "Order", "a_rather_long_name_for_a_thing"])

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.complex_numbers(),
    st.text(max_size=70),
    st.text(alphabet="'\"\\\n\r\t\x00\x7f\u202e\ud800é日", max_size=8),
    st.binary(max_size=40),
    st.just(...),
).map(make.constant)
names = st.builds(make.builtin, NAMES)
expressions: st.SearchStrategy[make.Expression] = st.recursive(
    scalars | names,
    lambda inner: st.one_of(
        st.lists(inner, max_size=12).map(make.list_of),
        st.lists(inner, max_size=12).map(make.tuple_of),
        st.lists(inner, min_size=1, max_size=12).map(make.set_of),
        st.lists(st.tuples(inner, inner), max_size=8).map(
            lambda pairs: make.dict_of([key for key, _ in pairs], [value for _, value in pairs])
        ),
        st.builds(make.call, names, st.lists(inner, max_size=5), st.lists(st.tuples(NAMES, inner))),
        st.builds(make.attribute, names, NAMES),
        st.lists(names, min_size=1, max_size=9).map(make.either),
    ),
    max_leaves=40,
)


@settings(max_examples=150, deadline=None)
@given(expressions, st.sampled_from([0, 4, 8, 60]), st.integers(0, 40))
def test_printed_text_parses_to_the_same_tree(
    expression: make.Expression, indent: int, column: int
) -> None:
    text = render(expression.node, indent, first_column=column)
    assert ast.dump(ast.parse(f"({text})", mode="eval").body) == ast.dump(expression.node)


@settings(max_examples=200, deadline=None)
@given(st.text() | st.binary())
@example("\r\n\x85\u2028\u2029\ufeff")
@example('it\'s "quoted"')
def test_a_string_is_one_printable_line_and_keeps_its_value(value: str | bytes) -> None:
    text = render_string(value)
    assert ast.literal_eval(text) == value
    assert text.isprintable()


def ruff_format(source: str) -> str:
    done = subprocess.run(
        [RUFF, "format", "--isolated", "--line-length=100", "--target-version=py311", "-"],
        input=source.encode(),
        capture_output=True,
        check=True,
    )
    return done.stdout.decode()


def test_ruff_leaves_random_assignments_as_they_are() -> None:
    """One run of ruff over many drawn statements: starting it is what takes time."""
    drawn: list[str] = []

    @settings(max_examples=120, deadline=None, database=None, derandomize=True)
    @given(expressions)
    def collect(expression: make.Expression) -> None:
        target = ast.Name("value", ast.Store())
        drawn.append(render_statement(ast.Assign([target], expression.node)))

    collect()
    source = "".join(text + "\n" for text in drawn)
    assert ruff_format(source) == source


SAMPLES = {
    "call-fits-on-the-next-line": f"x = f({', '.join(['111111'] * 14)})",
    "call-one-argument-a-line": f"x = f({', '.join(['111111'] * 20)})",
    "keywords": "x = Order(sku='SKU', when=datetime(2024, 1, 2, 3, 4, 5, tzinfo=timezone.utc), "
    "price=Decimal('9.90'), tags=['a', 'b'])",
    "list": f"x = [{', '.join(['111111'] * 20)}]",
    "nested": f"x = {{'a': [{', '.join(['111111'] * 20)}], 'b': {{'c': (1,)}}}}",
    "string-moved-into-parentheses": f"{'x' * 50} = '{'y' * 60}'",
    "string-too-long-for-anything": f"x = '{'y' * 160}'",
    "long-single-argument": f"x = Decimal('{'1' * 160}')",
    "flags": f"x = {' | '.join(['Flags.ABCDEFGH'] * 9)}",
    "method-of-a-new-object": "Cart(items=[Item('a', 1), Item('b', 2)], discount=Decimal('0.1'))"
    ".total(tax=Decimal('0.19'), country='DE', x=1)",
    "assert": f"assert total({', '.join(['1111'] * 8)}) == [{', '.join(['2222'] * 12)}]",
    "for": f"for _ in gen({', '.join(['1111'] * 20)}):\n    pass",
    "for-with-two-targets": "for a, b in pairs:\n    pass",
    "with": f"with open('{'p' * 90}') as f:\n    f.read()",
    "import": f"from a.b import {', '.join(f'name_{index}' for index in range(20))}",
    "alias": "from a import b as c",
    "annotated": "x: list[tuple[str, int]] = [('a', 1)]",
    "augmented": f"x += [{', '.join(['1111'] * 20)}]",
    "raise": "raise ValueError('x')",
    "assert-with-a-message": "assert x, 'm'",
    "wide-characters": f"x = ['{'日本語' * 5}', '{'日本語' * 5}', '日本']",
    "numbers": "x = [1e+20, 1e-05, 2**3, -1, 1 + 2j, (a + b) * c, not a, -(-1)]",
    "stars": "f(*a, **b)",
}


@pytest.mark.parametrize("source", [pytest.param(one, id=name) for name, one in SAMPLES.items()])
def test_ruff_leaves_statements_as_they_are(source: str) -> None:
    node = ast.parse(source).body[0]
    printed = render_statement(node) + "\n"
    assert ast.dump(ast.parse(printed)) == ast.dump(ast.parse(source))
    assert ruff_format(printed) == printed


def test_a_tree_that_nests_too_deep_is_refused() -> None:
    expression = make.constant(1)
    for _ in range(MAX_DEPTH):
        expression = make.list_of([expression])
    with pytest.raises(InputError, match="nests deeper"):
        render(expression.node)
