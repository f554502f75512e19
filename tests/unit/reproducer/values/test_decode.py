"""What each kind of captured text becomes."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING

import pytest

from reproof.reproducer.printer import render
from reproof.reproducer.values import expression as make
from reproof.reproducer.values.classes import (
    ClassFact,
    ClassKind,
    DictLookup,
    FieldFact,
    ParameterFact,
)
from reproof.reproducer.values.decode import decode
from reproof.reproducer.values.expression import Expression, Import
from reproof.reproducer.values.place import Hints
from reproof.reproducer.values.provenance import (
    Candidate,
    Provenance,
    Unknown,
    UnknownCause,
    weakest,
)

if TYPE_CHECKING:
    from reproof.domain.event import JSON

LOOKUP = DictLookup.of(
    [
        ClassFact("shop.models", "State", ClassKind.ENUM, members=(("VOID", "'void'"),)),
        ClassFact("shop.models", "Flags", ClassKind.ENUM, members=(("R", "1"), ("W", "2"))),
        ClassFact(
            "shop.models",
            "Order",
            ClassKind.DATACLASS,
            (
                FieldFact("state"),
                FieldFact("total", init=False),
                FieldFact("note", has_default=True),
            ),
            repr_is_generated=True,
        ),
        ClassFact(
            "shop.models",
            "Point",
            ClassKind.NAMEDTUPLE,
            (FieldFact("x"), FieldFact("y")),
            repr_is_generated=True,
        ),
        ClassFact(
            "shop.errors",
            "PriceError",
            ClassKind.EXCEPTION,
            parameters=(ParameterFact("message"), ParameterFact("code")),
        ),
        ClassFact("shop.models", "Leaf", ClassKind.PLAIN, parameters=(ParameterFact("kind"),)),
        ClassFact("shop.pricing", "rate", ClassKind.FUNCTION),
    ]
)


def candidates(captured: JSON, annotation: str = "", **hints: object) -> tuple[Candidate, ...]:
    node = ast.parse(annotation, mode="eval").body if annotation else None
    decoded = decode(captured, Hints(annotation=node, lookup=LOOKUP, **hints))  # type: ignore[arg-type]
    assert not isinstance(decoded, Unknown), decoded
    return decoded


def texts(captured: JSON, annotation: str = "", **hints: object) -> list[str]:
    return [render(one.expression.node) for one in candidates(captured, annotation, **hints)]


def cause(captured: JSON, meta: JSON = None) -> UnknownCause:
    decoded = decode(captured, Hints(lookup=LOOKUP), meta=meta)
    assert isinstance(decoded, Unknown), decoded
    return decoded.cause


@pytest.mark.parametrize(
    ("captured", "source"),
    [
        ("7", "7"),
        ("-0.0", "-0.0"),
        ("nan", 'float("nan")'),
        ("-inf", 'float("-inf")'),
        ("(1+2j)", "1 + 2j"),
        ('"it\'s"', '"it\'s"'),
        ("'it\\'s \"so\"'", "'it\\'s \"so\"'"),
        ("'cut...'", '"cut..."'),
        ("Ellipsis", "..."),
        ("bytearray(b'x')", 'bytearray(b"x")'),
        ("{'l5': {'x': (1,)}}", '{"l5": {"x": (1,)}}'),
        ("frozenset({1})", "frozenset({1})"),
        ("range(0, 3)", "range(0, 3)"),
    ],
)
def test_literals(captured: str, source: str) -> None:
    (candidate,) = candidates(captured)
    assert render(candidate.expression.node) == source
    assert candidate.provenance is Provenance.LITERAL
    assert not candidate.ambiguous


@pytest.mark.parametrize(
    ("captured", "source", "imports"),
    [
        ("Decimal('9.90')", 'Decimal("9.90")', {Import("decimal", "Decimal")}),
        (
            "datetime.datetime(2024, 5, 6, 7, 8, tzinfo=datetime.timezone.utc)",
            "datetime(2024, 5, 6, 7, 8, tzinfo=timezone.utc)",
            {Import("datetime", "datetime"), Import("datetime", "timezone")},
        ),
        (
            "zoneinfo.ZoneInfo(key='Europe/Berlin')",
            'ZoneInfo(key="Europe/Berlin")',
            {Import("zoneinfo", "ZoneInfo")},
        ),
        ("PosixPath('/srv/x')", 'Path("/srv/x")', {Import("pathlib", "Path")}),
        (
            "re.compile('a+', re.IGNORECASE|re.DOTALL)",
            're.compile("a+", re.IGNORECASE | re.DOTALL)',
            {Import("re")},
        ),
        (
            "defaultdict(<class 'list'>, {'a': [1]})",
            'defaultdict(list, {"a": [1]})',
            {Import("collections", "defaultdict")},
        ),
        ("deque([1], maxlen=3)", "deque([1], maxlen=3)", {Import("collections", "deque")}),
        ("namespace(a=1)", "SimpleNamespace(a=1)", {Import("types", "SimpleNamespace")}),
        ("ValueError('x', 3)", 'ValueError("x", 3)', set()),
        ("<class 'int'>", "int", set()),
        ("<class 'NoneType'>", "type(None)", set()),
        ("<built-in function len>", "len", set()),
        ("<module 'json' from '/usr/lib/json/__init__.py'>", "json", {Import("json")}),
        ("<function rate at 0x7f00>", "rate", {Import("shop.pricing", "rate")}),
        ("<State.VOID: 'void'>", "State.VOID", {Import("shop.models", "State")}),
        ("<Flags.R|W: 3>", "Flags.R | Flags.W", {Import("shop.models", "Flags")}),
        ("<Flags.W|R: 3>", "Flags.W | Flags.R", {Import("shop.models", "Flags")}),
        ("<Flags.0: 0>", "Flags(0)", {Import("shop.models", "Flags")}),
        ("<Flags: 0>", "Flags(0)", {Import("shop.models", "Flags")}),
        ("<HTTPStatus.OK: 200>", "HTTPStatus.OK", {Import("http", "HTTPStatus")}),
        ("Point(x=1, y=-2)", "Point(x=1, y=-2)", {Import("shop.models", "Point")}),
        ("np.float64(1.5)", "np.float64(1.5)", {Import("numpy", None, "np")}),
        ("array([1, 2])", "np.array([1, 2])", {Import("numpy", None, "np")}),
        (
            "array([], shape=(0, 3), dtype=float64)",
            'np.empty((0, 3), dtype="float64")',
            {Import("numpy", None, "np")},
        ),
        ("array('i', [1])", 'array("i", [1])', {Import("array", "array")}),
        (
            "Timestamp('2024-01-01 00:00:00+0000', tz='UTC')",
            'pd.Timestamp("2024-01-01 00:00:00+0000", tz="UTC")',
            {Import("pandas", None, "pd")},
        ),
        ("<NA>", "pd.NA", {Import("pandas", None, "pd")}),
    ],
)
def test_constructed_values_name_their_imports(
    captured: str, source: str, imports: set[Import]
) -> None:
    (candidate,) = candidates(captured)
    assert render(candidate.expression.node) == source
    assert candidate.expression.imports == imports
    assert not candidate.ambiguous


def test_a_printed_float_array_is_only_as_exact_as_its_print() -> None:
    (candidate,) = candidates("array([1. , 2.5])")
    assert render(candidate.expression.node) == "np.array([1.0, 2.5])"
    assert candidate.ambiguous
    assert "digits" in candidate.note


@pytest.mark.parametrize(
    ("captured", "expected"),
    [
        ("[Filtered]", UnknownCause.REDACTED),
        ("'[Filtered]'", UnknownCause.REDACTED),
        ("{'password': '[Filtered]'}", UnknownCause.REDACTED),
        ("[REDACTED:EMAIL]", UnknownCause.REDACTED),
        ("'abc...", UnknownCause.TRUNCATED),
        ("[1, 2, ...", UnknownCause.TRUNCATED),
        ("array([0, 1, ..., 9])", UnknownCause.TRUNCATED),
        ("<shop.Cart object at 0x7f...", UnknownCause.TRUNCATED),
        ("<broken repr>", UnknownCause.BROKEN_REPR),
        ("<cyclic>", UnknownCause.CYCLIC),
        ("[1, [...]]", UnknownCause.CYCLIC),
        ("<failed to serialize, use init(debug=True) to see error logs>",
         UnknownCause.FAILED_TO_SERIALIZE),
        ("<shop.Cart object at 0x7f00>", UnknownCause.OPAQUE),
        ("<function f.<locals>.<lambda> at 0x7f00>", UnknownCause.OPAQUE),
        ("{'a': <object object at 0x7f00>}", UnknownCause.OPAQUE),
        ("<Mood.GLAD: 1>", UnknownCause.UNRESOLVED_CLASS),
        ("<State.VOID: 'another'>", UnknownCause.UNRESOLVED_CLASS),
        ("Unheard(a=1)", UnknownCause.UNRESOLVED_CLASS),
        ("Order(total=3)", UnknownCause.MISSING),
        ("Order(state=1, foreign=2)", UnknownCause.UNRESOLVED_CLASS),
        ("0x10", UnknownCause.UNPARSABLE),
        ("1_000", UnknownCause.UNPARSABLE),
        ("'a' 'b'", UnknownCause.UNPARSABLE),
        ('"plain"', UnknownCause.UNPARSABLE),
        ("r'x'", UnknownCause.UNPARSABLE),
        ("f'{x}'", UnknownCause.UNPARSABLE),
        ("1 # one", UnknownCause.UNPARSABLE),
        ("1/2", UnknownCause.UNPARSABLE),
        ("x", UnknownCause.UNPARSABLE),
        ("lambda: 1", UnknownCause.UNPARSABLE),
        ("Decimal('1.5; x')", UnknownCause.UNPARSABLE),
    ],
)  # fmt: skip
def test_what_is_no_value_says_why(captured: str, expected: UnknownCause) -> None:
    assert cause(captured) is expected


@pytest.mark.parametrize(
    "captured",
    [
        "os.system('x')",
        "__import__('os')",
        "eval('1')",
        "().__class__.__bases__[0]",
        "[x for x in (1,)]",
        "datetime.datetime.now()",
        "Decimal(open('/etc/passwd'))",
        "re.compile('a', __import__('os').system('x'))",
        "functools.partial(exec, 'x')()",
        "[*(1, 2)]",
        "{**{}}",
        "print(1)",
        "functools.partial(<built-in function exec>, 'import os')",
        "<built-in function __import__>",
        "<function run at 0x7f00>",
        "Popen('id')",
        "<class 'os.system'><function x at 0x0>",
        "<class 'os.system'>",
        "<class 'subprocess.Popen'>",
        "<function spawn at 0x7f00>",
        "<module 'os' from '/usr/lib/python3.11/os.py'>",
    ],
)
def test_text_that_would_run_something_is_no_value(captured: str) -> None:
    found = DictLookup.of(
        [
            ClassFact("subprocess", "run", ClassKind.FUNCTION),
            ClassFact("distutils.spawn", "spawn", ClassKind.FUNCTION),
            ClassFact("subprocess", "Popen", ClassKind.PLAIN, parameters=(ParameterFact("args"),)),
        ]
    )
    assert isinstance(decode(captured, Hints(lookup=found)), Unknown)


@pytest.mark.parametrize(
    "captured",
    [
        pytest.param("[" * 5000 + "]" * 5000, id="deep-brackets"),
        pytest.param("'" + "a" * (2 * 1024 * 1024) + "'", id="two-mebibytes"),
        pytest.param("[" + "1, " * 30_000 + "]", id="wide"),
        pytest.param("1" + "+1" * 20_000, id="chain-of-operators"),
        pytest.param("a" + ".a" * 20_000, id="chain-of-attributes"),
        pytest.param("-" * 20_000 + "1", id="chain-of-signs"),
        pytest.param("'' " * 20_000, id="chain-of-strings"),
        pytest.param('{"a":' * 3000 + '"1"' + "}" * 3000, id="deep-json-text"),
        pytest.param("9" * 10_000, id="an-integer-the-parser-refuses"),
    ],
)
def test_too_much_text_is_refused_quickly(captured: str) -> None:
    assert cause(captured) in {UnknownCause.TOO_LARGE, UnknownCause.UNPARSABLE}


def test_deep_json_is_refused() -> None:
    captured: JSON = "1"
    for _ in range(5000):
        captured = [captured]
    assert cause(captured) is UnknownCause.TOO_LARGE


@pytest.mark.parametrize(
    "captured", ["'\\d'", "1 is 1", "\0", "'\ud800'", "\r", "[1,\r2]", "[1,\f2]", "  1"]
)
def test_odd_text_neither_warns_nor_raises(captured: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        decode(captured)


def test_meta_says_what_was_cut_and_scrubbed() -> None:
    assert cause(["1", "2"], {"": {"len": 12}}) is UnknownCause.TRUNCATED
    assert cause("'a'", {"": {"rem": [["!limit", "s", 2045, 2048]]}}) is UnknownCause.TRUNCATED
    assert cause("''", {"": {"rem": [["@password:filter", "s", 0, 10]]}}) is UnknownCause.REDACTED
    assert cause(None) is UnknownCause.REDACTED
    whole = decode("{'a': 1}", meta={"": {"rem": [["!limit", "x"]]}})
    assert not isinstance(whole, Unknown)


def test_an_array_without_hints_is_read_in_order_of_likelihood() -> None:
    assert texts(["1", "2"]) == ["[1, 2]", "(1, 2)", "{1, 2}", "frozenset({1, 2})"]
    assert all(one.ambiguous for one in candidates(["1", "2"]))
    assert texts(["1", "1"]) == ["[1, 1]", "(1, 1)"]


@pytest.mark.parametrize(
    ("annotation", "first"),
    [
        ("tuple[int, ...]", "(1, 2)"),
        ("typing.Tuple[int, int]", "(1, 2)"),
        ("set[int] | None", "{1, 2}"),
        ("'frozenset[int]'", "frozenset({1, 2})"),
        ("Annotated[list[int], 'x']", "[1, 2]"),
        ("Point", "Point(x=1, y=2)"),
    ],
)
def test_an_annotation_decides_what_an_array_was(annotation: str, first: str) -> None:
    best = candidates(["1", "2"], annotation)[0]
    assert render(best.expression.node) == first
    assert not best.ambiguous


def test_default_and_uses_come_after_the_annotation() -> None:
    default = ast.parse("()", mode="eval").body
    assert texts(["1"], default=default)[0] == "(1,)"
    assert texts(["1"], uses=frozenset({"union"}))[0] == "{1}"
    assert texts(["1"], "list[int]", default=default)[0] == "[1]"
    assert texts(["1"], "Sequence[int]", default=default)[0] == "(1,)"


def test_old_senders_walk_deques_and_ranges() -> None:
    assert texts(["0", "2"], "range", sdk_version=(2, 12))[0] == "range(0, 4, 2)"
    assert texts(["0", "2"], "deque[int]", sdk_version=(2, 12))[0] == "deque([0, 2])"
    assert texts(["0", "2"], "deque[int]", sdk_version=(2, 61))[0] == "[0, 2]"


def test_keys_are_read_as_text_first_without_an_annotation() -> None:
    assert texts({"3": "'x'"}) == ['{"3": "x"}', '{3: "x"}']
    assert texts({"3": "'x'"}, uses=frozenset({"__getitem__:int"}))[0] == '{3: "x"}'
    assert texts({"3": "'x'"}, "dict[int, str]")[0] == '{3: "x"}'
    assert texts({"State.VOID": "1"}) == ['{"State.VOID": 1}', "{State.VOID: 1}"]
    assert texts({"None": "1", "('t', 1)": "2"})[1] == '{None: 1, ("t", 1): 2}'


def test_a_mapping_class_comes_from_the_annotation() -> None:
    assert texts({"a": "1"}, "Counter[str]")[0] == 'Counter({"a": 1})'
    assert texts({"a": []}, "defaultdict[str, list[int]]")[0] == 'defaultdict(list, {"a": []})'
    assert candidates({"a": "1"}, "dict[str, int]")[0].ambiguous is False


def test_ten_items_may_have_been_cut_by_senders_that_do_not_say() -> None:
    ten: JSON = ["1"] * 10
    best = candidates(ten, "list[int]", sdk_version=(2, 75))[0]
    assert best.ambiguous
    assert "cut at 10" in best.note
    assert not candidates(ten, "list[int]", sdk_version=(2, 12))[0].ambiguous


def test_json_text_of_a_server_is_read_as_json() -> None:
    assert texts('{"k0":"\'leaf\'"}')[0] == '{"k0": "leaf"}'
    assert texts('{"l4":"{\'l5\': 1}"}')[0] == '{"l4": {"l5": 1}}'
    assert texts("[1, 2]") == ["[1, 2]"]


def test_two_classes_of_one_name_are_both_candidates() -> None:
    lookup = DictLookup.of(
        [
            ClassFact(module, "State", ClassKind.ENUM, members=(("ON", "1"),))
            for module in ("a.one", "a.two")
        ]
    )
    decoded = decode("<State.ON: 1>", Hints(lookup=lookup))
    assert not isinstance(decoded, Unknown)
    found = [sorted(one.expression.imports, key=lambda target: target.key) for one in decoded]
    assert found == [[Import("a.one", "State")], [Import("a.two", "State")]]
    assert all(one.ambiguous for one in decoded)


def test_a_record_says_what_its_repr_leaves_open() -> None:
    (order,) = candidates("Order(state=<State.VOID: 'void'>, total=3)")
    assert render(order.expression.node) == "Order(state=State.VOID)"
    assert order.ambiguous
    assert "total is set by Order itself" in order.note
    assert "note is not in the repr" in order.note


def test_a_hand_written_repr_is_a_guess() -> None:
    (leaf,) = candidates("Leaf('x')")
    assert render(leaf.expression.node) == 'Leaf("x")'
    assert leaf.ambiguous
    assert cause("Leaf('x', 'y')") is UnknownCause.UNRESOLVED_CLASS
    assert texts("PriceError('low', 3)") == ['PriceError("low", 3)']
    assert cause("PriceError('low')") is UnknownCause.UNRESOLVED_CLASS


def test_a_stand_in_takes_the_place_of_an_unknown_part() -> None:
    asked: list[str] = []

    def stand_in(missing: Unknown) -> Expression:
        asked.append(missing.path)
        return make.builtin("missing")

    hints = Hints(stand_in=stand_in)
    decoded = decode({"id": "1", "user": "<User object at 0x7f>"}, hints)
    assert not isinstance(decoded, Unknown)
    assert render(decoded[0].expression.node) == '{"id": 1, "user": missing}'
    assert decoded[0].provenance is Provenance.SENTINEL
    assert asked == ["['user']"]
    assert isinstance(decode("<User object at 0x7f>", hints), Unknown)


def test_an_opaque_value_names_its_class() -> None:
    decoded = decode("<shop.models.Cart object at 0x7f00>")
    assert decoded == Unknown(
        UnknownCause.OPAQUE, "<shop.models.Cart object at 0x7f00>", "shop.models.Cart"
    )


def test_provenance_is_ordered_by_strength() -> None:
    assert weakest([Provenance.LITERAL, Provenance.BUILT]) is Provenance.BUILT
    assert Provenance.SNAPSHOT.rank == 0
