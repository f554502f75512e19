"""What is asked of the target, and its untrusted answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reproof.reproducer.facts import MAX_NAMES, Facts, names_in, opaque_class, read_facts
from reproof.reproducer.values.classes import ClassKind

if TYPE_CHECKING:
    from reproof.domain.event import JSON


@pytest.mark.parametrize(
    ("captured", "name"),
    [
        ("<shop.Cart object at 0x7f01>", "shop.Cart"),
        ("<Cart object at 0xAB>", "Cart"),
        ("<Cart>", None),
        ("<Cart object at 0x1> tail", None),
        ("<shop.f.<locals>.Cart object at 0x1>", None),
        ("Cart()", None),
        (None, None),
        (["<Cart object at 0x1>"], None),
    ],
)
def test_an_opaque_object_names_its_class(captured: object, name: str | None) -> None:
    assert opaque_class(captured) == name  # type: ignore[arg-type]


def test_names_are_found_in_nested_text_and_once() -> None:
    variables = {
        "a": "Line(sku='x', price=Decimal('1'))",
        "b": ["<Status.PAID: 'paid'>", {"k": "<shop.Cart object at 0x1>"}],
        "c": "<class 'shop.errors.RateError'>",
        "d": "Line(sku='y', price=Decimal('2'))",
        "e": "'text'",
    }
    found = names_in([variables])  # type: ignore[list-item]

    assert len(set(found)) == len(found)
    assert {"Line", "Decimal", "Status.PAID", "shop.Cart", "shop.errors.RateError"} <= set(found)


def test_hostile_text_names_nothing_but_identifiers_and_not_too_many() -> None:
    text = " ".join(f"N{i}(" for i in range(5000)) + "class( 1a( é( a..b("
    found = names_in([{"a": text, "b": "(" * 100_000, "c": "a." * 50_000 + "b("}])

    assert len(found) <= MAX_NAMES
    assert all(part.isidentifier() for name in found for part in name.split("."))
    assert "class" not in found


@pytest.mark.parametrize(
    "report",
    [
        None,
        {},
        {"names": [], "instances": 3, "errors": "x"},
        {"names": {"Cart": "x"}, "instances": {"Cart": "x"}},
        {"names": {"Cart": [None, 3, [], {}, {"module": 1, "qualname": "C", "kind": "plain"}]}},
        {"names": {"Cart": [{"module": "m; import os", "qualname": "C", "kind": "plain"}]}},
        {"names": {"Cart": [{"module": "m", "qualname": "C.<locals>.D", "kind": "plain"}]}},
        {"names": {"Cart": [{"module": "m", "qualname": "C", "kind": "odd"}]}},
        {"instances": {"Cart": [["m", "x y"], ["m"], "mx", ["m", 3]]}},
    ],
)
def test_an_answer_of_the_wrong_shape_is_no_fact(report: dict[str, object] | None) -> None:
    facts = read_facts(report)  # type: ignore[arg-type]

    assert list(facts.find("Cart")) == []
    assert list(facts.instances.get("Cart", ())) == []


def test_a_well_formed_answer_is_read() -> None:
    facts = read_facts(
        {
            "names": {
                "Line": [
                    {
                        "module": "shop.cart",
                        "qualname": "Line",
                        "kind": "dataclass",
                        "fields": [["sku", True, False, True], ["qty", True, True, False, "q"]],
                        "members": [],
                        "parameters": [["sku", "keyword_only", False]],
                        "repr_is_generated": True,
                    }
                ]
            },
            "instances": {"shop.cart.Line": [["shop.cart", "FIRST"]]},
            "errors": {"shop.desk": "ImportError: x" * 100},
        }
    )
    (fact,) = facts.find("Line")

    assert (fact.module, fact.qualname, fact.kind) == ("shop.cart", "Line", ClassKind.DATACLASS)
    assert [(f.name, f.has_default, f.keyword_only, f.init_name) for f in fact.fields] == [
        ("sku", False, True, None),
        ("qty", True, False, "q"),
    ]
    assert fact.parameters is not None
    assert fact.parameters[0].name == "sku"
    assert facts.instances == {"shop.cart.Line": (("shop.cart", "FIRST"),)}
    assert len(facts.errors["shop.desk"]) <= 400


@pytest.mark.parametrize("row", [["a b", True, False, False], ["x=1)", True, False, False]])
def test_a_field_that_is_no_identifier_is_left_out(row: list[JSON]) -> None:
    told: dict[str, JSON] = {
        "module": "m",
        "qualname": "C",
        "kind": "dataclass",
        "fields": [row],
    }
    (fact,) = read_facts({"names": {"C": [told]}}).find("C")

    assert fact.fields == ()


def test_nothing_known_finds_nothing() -> None:
    assert list(Facts().find("x")) == []
