"""When a value of a replay agrees with what was captured at the crash."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reproof.verdict.capture import agrees

if TYPE_CHECKING:
    from reproof.domain.event import JSON


@pytest.mark.parametrize(
    ("captured", "actual", "expected"),
    [
        pytest.param("1", "1", True, id="equal"),
        pytest.param("1", "True", False, id="equal-values-of-another-type"),
        pytest.param("'a'", "'b'", False, id="different"),
        pytest.param("<C object at 0x7f00>", "<C object at 0x11>", True, id="addresses"),
        pytest.param("<C object at 0x7f00>", "<D object at 0x7f00>", False, id="classes"),
        pytest.param("[<C at 0x1>, 1]", "[<C at 0x2>, 1]", True, id="inner-address"),
        pytest.param("'abc...", "'abcdef'", True, id="cut-prefix"),
        pytest.param("'abx...", "'abcdef'", False, id="cut-differs"),
        pytest.param("'abcdef...", "'abc'", False, id="cut-longer-than-all"),
        pytest.param("'abc...'", "'abcdef'", False, id="dots-inside-quotes-are-text"),
        pytest.param("'abc'", "'abc...", False, id="whole-against-cut"),
        pytest.param("'abcdefgh'", "'abc...", True, id="cut-on-our-side"),
        pytest.param("...", "'abc'", None, id="cut-to-nothing"),
        pytest.param("'...", "'abc'", None, id="cut-to-a-quote"),
        pytest.param("[Filtered]", "'x'", None, id="filtered"),
        pytest.param("'[Filtered]'", "'x'", None, id="filtered-in-quotes"),
        pytest.param("[Filtered]", ["'x'"], None, id="filtered-container"),
        pytest.param("<broken repr>", "<broken repr>", True, id="both-broken"),
        pytest.param("<broken repr>", "1", None, id="broken"),
        pytest.param("1", "<broken repr>", None, id="broken-here"),
        pytest.param(["1"], "<failed to serialize, x>", None, id="failed-here"),
        pytest.param(None, ["1"], None, id="null"),
        pytest.param("{'a', 'b'}", "{'b', 'a'}", True, id="order-of-a-set"),
        pytest.param("f({'a', 'b'}, 1)", "f({'b', 'a'}, 1)", True, id="order-of-an-inner-set"),
        pytest.param("f({'a', 'b'}, 1)", "f({'b', 'a'}, 2)", False, id="beside-a-set"),
        pytest.param("{'a': 1, 'b': 2}", "{'b': 2, 'a': 1}", False, id="order-of-a-dict-repr"),
        pytest.param(
            "<module 'x' from '/srv/app/x.py'>",
            "<module 'x' from '/tmp/tree/x.py'>",
            True,
            id="checkout",
        ),
        pytest.param(
            "<module 'x' from '/srv/app/x.py'>",
            "<module 'x' from '/tmp/tree/y.py'>",
            False,
            id="another-file",
        ),
        pytest.param("'/srv/app/x'", "'/tmp/app/x'", False, id="a-path-that-is-a-value"),
        pytest.param("<__main__.C object at 0x1>", "<app.C object at 0x2>", True, id="main"),
        pytest.param(["1", "2"], ["1", "2"], True, id="list"),
        pytest.param(["1"], ["1", "2"], False, id="list-length"),
        pytest.param(["1"] * 10, ["1"] * 10, True, id="ten-items"),
        pytest.param([], [], True, id="empty"),
        pytest.param(["[Filtered]"], ["1"], None, id="list-of-unknowns"),
        pytest.param(["[Filtered]", "1"], ["'x'", "1"], True, id="list-with-an-unknown"),
        pytest.param({"a": "1", "b": "2"}, {"b": "2", "a": "1"}, True, id="key-order"),
        pytest.param({"a": "1"}, {"a": "1", "b": "2"}, False, id="keys"),
        pytest.param({"a": "1"}, ["1"], False, id="kinds"),
        pytest.param('{"k0":"\'leaf\'"}', {"k0": "'leaf'"}, True, id="json-text"),
        pytest.param('{"k0":"\'leaf\'"}', {"k0": "'other'"}, False, id="json-text-differs"),
        pytest.param('{"k0":"\'le...', {"k0": "'leaf'"}, None, id="json-text-cut"),
        pytest.param("1", ["1"], False, id="scalar-against-container"),
    ],
)
def test_agreement(captured: JSON, actual: JSON, expected: bool | None) -> None:
    assert agrees(captured, actual) is expected


def test_meta_tells_how_much_was_cut() -> None:
    assert agrees(["1"], ["1", "2"], meta={"": {"len": 2}}) is True
    assert agrees(["1"], ["2", "1"], meta={"": {"len": 2}}) is False
    assert agrees({"a": "1"}, {"a": "1", "b": "2"}, meta={"": {"len": 2}}) is True
    assert agrees("''", "'x'", meta={"": {"rem": [["@email", "s", 0, 2]]}}) is None


def test_a_set_is_compared_without_order_when_it_is_known_to_be_one() -> None:
    assert agrees(["1", "2"], ["2", "1"]) is False
    assert agrees(["1", "2"], ["2", "1"], unordered=True) is True
    assert agrees(["1", "2"], ["2", "3"], unordered=True) is False
    ten: list[JSON] = [str(one) for one in range(10)]
    other: list[JSON] = [str(one) for one in range(5, 15)]
    assert agrees(ten, other, unordered=True) is None


def test_hostile_text_is_compared_without_parsing_it() -> None:
    deep = "{" * 50_000
    assert agrees(deep + "a", deep + "b") is False
    assert agrees("{1" + "+1" * 20_000 + "}", "{2" + "+1" * 20_000 + "}") is False
