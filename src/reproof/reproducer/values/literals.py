"""Syntax tree of a captured repr -> value: the allow-list of node kinds."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from reproof.reproducer.values import expression as make
from reproof.reproducer.values.angles import decode_angle
from reproof.reproducer.values.annotations import dotted_name
from reproof.reproducer.values.arrays import (
    decode_array,
    decode_array_call,
    decode_array_name,
    is_numpy_array,
)
from reproof.reproducer.values.call import Call
from reproof.reproducer.values.containers import is_hashable
from reproof.reproducer.values.markers import is_redacted
from reproof.reproducer.values.place import combine, ranked, single
from reproof.reproducer.values.provenance import (
    Decoded,
    Provenance,
    Unknown,
    UnknownCause,
    unknown,
)
from reproof.reproducer.values.records import decode_member, decode_record, known_facts
from reproof.reproducer.values.stdlib import (
    KNOWN_BARE_NAMES,
    decode_known_call,
    decode_known_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reproof.reproducer.values.expression import Expression
    from reproof.reproducer.values.place import Place
    from reproof.reproducer.values.text import Parsed


def decode_node(  # noqa: C901, PLR0911 - one case per kind of node
    node: ast.expr, source: Parsed, place: Place
) -> Decoded:
    """Return what a node of a captured repr stands for."""
    match node:
        case ast.Constant():
            return _constant(node, source)
        case ast.List(elts=items):
            return _display(items, source, place, make.list_of)
        case ast.Tuple(elts=items):
            return _display(items, source, place, make.tuple_of)
        case ast.Set(elts=items):
            return _display(items, source, place, _hashable_set)
        case ast.Dict():
            return _dict(node, source, place)
        case ast.UnaryOp(op=ast.USub()) | ast.BinOp(op=ast.Add() | ast.Sub()):
            return _number(node, source)
        case ast.BinOp(op=ast.BitOr()):
            return _flags(node, source, place)
        case ast.Name(id=name) if name in source.angles:
            return decode_angle(source.angles[name], place)
        case ast.Name() | ast.Attribute():
            return _named(node, source, place)
        case ast.Call():
            return _call(node, source, place)
        case _:
            return unknown(UnknownCause.UNPARSABLE, source.text)


def _constant(node: ast.Constant, source: Parsed) -> Decoded:
    value = node.value
    if value is Ellipsis:
        # `repr` writes `Ellipsis`; three dots stand for what was left out.
        return unknown(UnknownCause.TRUNCATED, source.text)
    if isinstance(value, str) and is_redacted(value):
        return unknown(UnknownCause.REDACTED, source.text)
    if not source.is_canonical(node):
        return unknown(UnknownCause.UNPARSABLE, source.text)
    return single(make.constant(value))


def _display(
    items: Sequence[ast.expr],
    source: Parsed,
    place: Place,
    build: Callable[[Sequence[Expression]], Expression | None],
) -> Decoded:
    if len(items) == 1 and isinstance(items[0], ast.Constant) and items[0].value is Ellipsis:
        # `[...]` is how a container that holds itself prints the inner occurrence.
        return unknown(UnknownCause.CYCLIC, source.text)
    parts = [_item(item, source, place, f"[{index}]") for index, item in enumerate(items)]
    return combine(parts, build, limit=place.limit, text=source.text)


def _item(node: ast.expr, source: Parsed, place: Place, step: str) -> Decoded:
    part = place.part(step)
    return part.fill(decode_node(node, source, part))


def _hashable_set(items: Sequence[Expression]) -> Expression | None:
    return make.set_of(items) if all(is_hashable(one.node) for one in items) else None


def _dict(node: ast.Dict, source: Parsed, place: Place) -> Decoded:
    keys: list[Decoded] = []
    values: list[Decoded] = []
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            return unknown(UnknownCause.UNPARSABLE, source.text)
        step = f"[{source.segment(key) or '?'}]"
        keys.append(decode_node(key, source, place.part(step)))
        values.append(_item(value, source, place, step))
    split = len(keys)

    def build(parts: Sequence[Expression]) -> Expression | None:
        if not all(is_hashable(one.node) for one in parts[:split]):
            return None
        return make.dict_of(parts[:split], parts[split:])

    return combine([*keys, *values], build, limit=place.limit, text=source.text)


def _number(node: ast.expr, source: Parsed) -> Decoded:
    """Return a negative or complex number; its parts may be spelt `nan` and `inf`."""
    value = _evaluated(node, source)
    if value is None:
        return unknown(UnknownCause.UNPARSABLE, source.text)
    return single(make.constant(value))


def _evaluated(node: ast.expr, source: Parsed) -> int | float | complex | None:
    match node:
        case ast.Constant(value=int() | float() | complex() as value):
            return value if type(value) is not bool and source.is_canonical(node) else None
        case ast.Name(id="inf" | "nan" as name):
            return float(name)
        case ast.Name(id="infj" | "nanj" as name):
            return complex(0.0, float(name[:-1]))
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant() | ast.Name() as operand):
            inner = _evaluated(operand, source)
            if isinstance(inner, complex):
                # printed without brackets, so its real part is a positive zero
                return complex(0.0, -inner.imag)
            return None if inner is None else -inner
        case ast.BinOp(left=left, op=operator, right=right):
            real, imaginary = _evaluated(left, source), _evaluated(right, source)
            if not isinstance(real, float | int) or not isinstance(imaginary, complex):
                return None
            size = imaginary.imag if isinstance(operator, ast.Add) else -imaginary.imag
            negative_zero = isinstance(left, ast.UnaryOp) and real == 0
            return complex(-0.0 if negative_zero else float(real), size)
        case _:
            return None


def _flags(node: ast.BinOp, source: Parsed, place: Place) -> Decoded:
    parts: list[ast.expr] = []
    rest: ast.expr = node
    while isinstance(rest, ast.BinOp) and isinstance(rest.op, ast.BitOr):
        parts.append(rest.right)
        rest = rest.left
    parts.append(rest)
    if not all(isinstance(part, ast.Attribute) for part in parts):
        return unknown(UnknownCause.UNPARSABLE, source.text)
    decoded = [_named(part, source, place) for part in reversed(parts)]
    return combine(
        decoded, make.either, limit=place.limit, text=source.text, provenance=Provenance.CONSTRUCTED
    )


def _named(node: ast.expr, source: Parsed, place: Place) -> Decoded:
    dotted = dotted_name(node)
    known = decode_known_name(dotted) or decode_array_name(dotted)
    if known is not None:
        return known
    owner, _, name = dotted.rpartition(".")
    if owner:
        return decode_member(owner, [name], "", place)
    return unknown(UnknownCause.UNPARSABLE, source.text)


def _call(node: ast.Call, source: Parsed, place: Place) -> Decoded:
    name = dotted_name(node.func)
    if not name or any(keyword.arg is None for keyword in node.keywords):
        return unknown(UnknownCause.UNPARSABLE, source.text)
    if is_numpy_array(node):
        return _array(node, source, place)
    call = Call(
        name=name,
        positional=tuple(
            _item(argument, source, place, f".args[{index}]")
            for index, argument in enumerate(node.args)
        ),
        keywords=tuple(
            (keyword.arg or "", _item(keyword.value, source, place, f".{keyword.arg}"))
            for keyword in node.keywords
        ),
        text=source.text,
        limit=place.limit,
    )
    known = decode_known_call(call)
    if known is None:
        known = decode_array_call(call)
    if known is None:
        return decode_record(call, place)
    if name in KNOWN_BARE_NAMES and known_facts(name, place):
        # The repository has a class of that name too; nothing in the text tells them apart.
        return ranked([known, decode_record(call, place)], place.limit, source.text)
    if isinstance(known, Unknown) and known.cause is UnknownCause.UNPARSABLE:
        other = decode_record(call, place)
        return known if isinstance(other, Unknown) else other
    return known


def _array(node: ast.Call, source: Parsed, place: Place) -> Decoded:
    loose = place.part("")
    content = _array_items(node.args[0], source, loose)
    shape = None
    for keyword in node.keywords:
        if keyword.arg == "shape":
            shape = decode_node(keyword.value, source, loose)
    return decode_array(node, content, shape, place.limit)


def _array_items(node: ast.expr, source: Parsed, place: Place) -> Decoded:
    """Decode an array's content, whose numbers are padded and end in a bare dot (`1. , 2.5`)."""
    match node:
        case ast.List(elts=items):
            parts = [_array_items(item, source, place.part("")) for item in items]
            return combine(parts, make.list_of, limit=place.limit, text=source.text)
        case ast.Constant(value=float() | complex() as value):
            return single(make.constant(value))
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=float() | complex() as value)):
            return single(make.constant(-value))
        case ast.BinOp(left=_, right=ast.Constant(value=complex())):
            return unknown(UnknownCause.UNPARSABLE, source.text)
        case _:
            return decode_node(node, source, place)
