"""The `<...>` forms: enum members, classes, functions and modules by name; the rest is opaque."""

from __future__ import annotations

import builtins
import re
from typing import TYPE_CHECKING

from reproof.reproducer.values import expression as make
from reproof.reproducer.values.classes import ClassKind, is_standard
from reproof.reproducer.values.markers import marked
from reproof.reproducer.values.place import ranked, single
from reproof.reproducer.values.provenance import (
    Decoded,
    Provenance,
    UnknownCause,
    unknown,
)
from reproof.reproducer.values.records import decode_enum_value, decode_member, known_facts

if TYPE_CHECKING:
    from reproof.reproducer.values.place import Place

_DOTTED = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*"
_MEMBER = re.compile(rf"<(?P<owner>{_DOTTED})\.(?P<names>\w+(?:\|\w+)*): (?P<value>.*)>", re.DOTALL)
_EMPTY_FLAG = re.compile(rf"<(?P<owner>{_DOTTED}): (?P<value>\d{{1,20}})>")
_CLASS = re.compile(rf"<(?:class|enum|flag) '(?P<name>{_DOTTED})'>")
_FUNCTION = re.compile(rf"<function (?P<name>{_DOTTED}) at 0x[0-9a-fA-F]+>")
_BUILTIN_FUNCTION = re.compile(rf"<built-in function (?P<name>{_DOTTED})>")
_MODULE = re.compile(rf"<module '(?P<name>{_DOTTED})'(?: from '[^'\n]*'| \([\w -]+\))>")
_OBJECT = re.compile(r"<(?P<name>[A-Za-z_][\w.]*(?:<locals>\.[\w.]+)*) object at 0x")
_FIRST_WORD = re.compile(rf"<(?P<name>{_DOTTED})(?=[\s:(>])")


_BUILTINS = frozenset(
    {"abs", "all", "any", "ascii", "bin", "callable", "chr", "divmod", "format", "hash", "hex",
     "id", "isinstance", "issubclass", "iter", "len", "max", "min", "next", "oct", "ord", "pow",
     "print", "repr", "round", "sorted", "sum"}
)  # fmt: skip
_HARMLESS = frozenset(
    {"_operator", "array", "collections", "copy", "datetime", "decimal", "enum", "fractions",
     "ipaddress", "json", "json.decoder", "json.encoder", "math", "numbers", "operator", "string",
     "textwrap", "types", "typing", "uuid"}
)  # fmt: skip
"""Modules of the standard library in which nothing touches files, programs or the interpreter."""


def decode_angle(text: str, place: Place) -> Decoded:
    """Return what a `<...>` form stands for."""
    marker = marked(text)
    if marker is not None:
        return marker
    if text == "<NA>":
        return single(make.member("pandas", "NA", "pd"), Provenance.CONSTRUCTED)
    if found := _MEMBER.fullmatch(text):
        return _member(found["owner"], found["names"], found["value"], place)
    if found := _EMPTY_FLAG.fullmatch(text):
        return decode_enum_value(found["owner"], int(found["value"]), place)
    if found := _CLASS.fullmatch(text):
        return _class(found["name"], text, place)
    if found := _FUNCTION.fullmatch(text):
        return _function(found["name"], text, place)
    if found := _BUILTIN_FUNCTION.fullmatch(text):
        return _builtin_function(found["name"], text, place)
    found = _MODULE.fullmatch(text)
    if found and make.is_dotted(found["name"]) and _may_be_named(found["name"]):
        return single(make.module_reference(found["name"]), Provenance.CONSTRUCTED)
    return unknown(UnknownCause.OPAQUE, text, class_name_of(text))


def class_name_of(text: str) -> str | None:
    """Return the class that an opaque repr names, as it spells it."""
    found = _OBJECT.match(text) or _FIRST_WORD.match(text)
    return found["name"] if found else None


def _member(owner: str, names: str, value: str, place: Place) -> Decoded:
    parts = names.split("|")
    if parts == ["0"] and value == "0":
        return decode_enum_value(owner, 0, place)
    return decode_member(owner, parts, value, place)


def _class(name: str, text: str, place: Place) -> Decoded:
    if name == "NoneType":
        return single(make.call(make.builtin("type"), [make.constant(None)]))
    if "." not in name and isinstance(getattr(builtins, name, None), type):
        return single(make.builtin(name), Provenance.CONSTRUCTED)
    readings = [
        single(make.reference(fact.module, fact.qualname), Provenance.CONSTRUCTED)
        for fact in known_facts(name, place)
        if fact.kind is ClassKind.EXCEPTION
        or (fact.kind is not ClassKind.FUNCTION and _may_be_named(fact.module))
    ]
    module, _, bare = name.rpartition(".")
    if not readings and module in _HARMLESS and make.is_dotted(name):
        readings.append(single(make.reference(module, bare), Provenance.CONSTRUCTED))
    if not readings:
        # of its class only `type` is known: an instance of what it names would be another value
        return unknown(UnknownCause.OPAQUE, text, "type")
    return ranked(readings, place.limit, text)


def _function(name: str, text: str, place: Place) -> Decoded:
    readings = [
        single(make.reference(fact.module, fact.qualname), Provenance.CONSTRUCTED)
        for fact in known_facts(name, place)
        if fact.kind is ClassKind.FUNCTION and _may_be_named(fact.module)
    ]
    if not readings:
        return unknown(UnknownCause.OPAQUE, text, "function")
    return ranked(readings, place.limit, text)


def _builtin_function(name: str, text: str, place: Place) -> Decoded:
    if name in _BUILTINS:
        return single(make.builtin(name), Provenance.CONSTRUCTED)
    return _function(name, text, place)


def _may_be_named(module: str) -> bool:
    """Keep the standard library's callables out, but for harmless modules."""
    return module in _HARMLESS or not is_standard(module)
