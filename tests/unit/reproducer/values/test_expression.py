"""Names inside and between expressions stand for one import each."""

from __future__ import annotations

import ast

from reproof.reproducer.values import expression as make
from reproof.reproducer.values.expression import Import


def test_two_names_of_one_spelling_are_told_apart_inside_one_expression() -> None:
    one = make.attribute(make.reference("a", "State"), "ON")
    two = make.attribute(make.reference("b.c", "State"), "OFF")
    both = make.list_of([one, two, two])
    assert ast.unparse(both.node) == "[State.ON, b_c_State.OFF, b_c_State.OFF]"
    assert both.imports == {Import("a", "State"), Import("b.c", "State", "b_c_State")}


def test_rename_changes_only_the_named_import() -> None:
    both = make.call(make.reference("a", "f"), [make.reference("b", "g")])
    renamed = make.rename(both, {Import("a", "f"): "a_f"})
    assert ast.unparse(renamed.node) == "a_f(g)"
    assert renamed.imports == {Import("a", "f", "a_f"), Import("b", "g")}
    assert ast.unparse(both.node) == "f(g)"
    assert make.rename(renamed, {Import("a", "f", "a_f"): "f"}) == both


def test_a_class_named_like_a_builtin_does_not_hide_it() -> None:
    reference = make.reference("shop.kinds", "set")
    assert reference.imports == {Import("shop.kinds", "set", "kinds_set")}


def test_nested_classes_are_reached_through_the_outer_one() -> None:
    reference = make.reference("shop", "Order.State")
    assert ast.unparse(reference.node) == "Order.State"
    assert reference.imports == {Import("shop", "Order")}


def test_equality_is_by_content() -> None:
    assert make.constant(1) == make.constant(1)
    assert make.constant(1) != make.constant(True)
    assert len({make.constant("a"), make.constant("a"), make.constant("b")}) == 2


def test_names_from_text_are_identifiers_or_nothing() -> None:
    assert make.is_dotted("a.b_c")
    assert not make.is_dotted("a.class")
    assert not make.is_dotted("a..b")
    assert not make.is_identifier("\uff41")
