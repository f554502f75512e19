"""What a class is made of: its kind, fields and parameters, and who wrote its `__repr__`.

For `inspect`, beside the target: attributes are read past metaclasses and descriptors of its own.
"""
# ruff: noqa: ANN401 - here a value is whatever the code under test has

from __future__ import annotations

import collections
import dataclasses
import enum
import sys
import types
from typing import Any

from . import tracing

MAX_FIELDS = 60
MAX_MEMBERS = 500
MAX_TEXT = 500

_CLASS_VARIABLE = "_FIELD_CLASSVAR"
_ARGUMENTS = 0x04
_KEYWORDS = 0x08


@dataclasses.dataclass
class _Made:
    """A dataclass whose `__repr__` is known to be generated."""


_TUPLE_REPR = collections.namedtuple("_Sample", "x").__repr__  # noqa: PYI024 - a sample is all


def describe(cls: type) -> dict[str, Any]:
    """Return the facts of a class beside its name."""
    kind = _kind(cls)
    told: dict[str, Any] = {
        "kind": kind,
        "fields": [],
        "members": [],
        "parameters": None,
        "repr_is_generated": False,
    }
    if kind == "enum":
        told["members"] = _members(cls)
        told["repr_is_generated"] = _repr_owner_module(cls) == "enum"
        return told
    look = _FIELDS.get(kind)
    if look is not None:
        told["fields"] = look(cls)[:MAX_FIELDS]
    generated = _GENERATED.get(kind)
    told["repr_is_generated"] = generated is not None and generated(cls)
    told["parameters"] = _parameters(cls)
    told["properties"] = _read_only(cls)
    return told


def is_class(thing: Any) -> bool:
    """Say whether it really is a class: a lazy proxy would answer `isinstance` by running code."""
    return type in bases(type(thing))


def bases(cls: type) -> tuple[type, ...]:
    """Return a class's bases and itself, whatever its metaclass says."""
    found: tuple[type, ...] = type.__dict__["__mro__"].__get__(cls)
    return found


def own(cls: type) -> dict[str, Any]:
    """Return what the class itself defines, whatever its metaclass says."""
    found: dict[str, Any] = type.__dict__["__dict__"].__get__(cls)
    return found


def lookup(cls: type, name: str) -> Any:
    """Return what the class or a base defines under that name, descriptors as they are."""
    return next((own(base)[name] for base in bases(cls) if name in own(base)), None)


def _kind(cls: type) -> str:
    if enum.Enum in bases(cls):
        return "enum"
    if BaseException in bases(cls):
        return "exception"
    if isinstance(lookup(cls, "__dataclass_fields__"), dict):
        return "dataclass"
    if isinstance(lookup(cls, "__attrs_attrs__"), tuple):
        return "attrs"
    if any(_top(base) == "pydantic" and _name(base) == "BaseModel" for base in bases(cls)):
        return "pydantic"
    if tuple in bases(cls) and isinstance(lookup(cls, "_fields"), tuple):
        return "namedtuple"
    return "plain"


def _name(cls: type) -> str:
    return tracing.class_name(cls)


def _top(cls: type) -> str:
    return (tracing.class_module(cls) or "").partition(".")[0]


def _members(cls: type) -> list[list[str]]:
    members = lookup(cls, "_member_map_")
    pairs = list(members.items())[:MAX_MEMBERS] if isinstance(members, dict) else []
    return [[tracing.exact(key, MAX_TEXT), _shown(value)] for key, value in pairs]


def _shown(member: Any) -> str:
    try:
        return tracing.exact(repr(member._value_), MAX_TEXT)
    except BaseException as error:  # noqa: BLE001 - a value's own __repr__ may raise anything
        return "<repr raised {}>".format(tracing.class_name(type(error)))


def _dataclass_fields(cls: type) -> list[list[Any]]:
    told = []
    for field in lookup(cls, "__dataclass_fields__").values():
        kind = getattr(getattr(field, "_field_type", None), "name", None)
        if kind == _CLASS_VARIABLE:
            continue  # kept among the fields, but it is none
        missing = dataclasses.MISSING
        default = field.default is not missing or field.default_factory is not missing
        only = getattr(field, "kw_only", False) is True
        told.append([field.name, bool(field.init), default, only])
    return told


def _attrs_fields(cls: type) -> list[list[Any]]:
    module = sys.modules.get("attr")
    nothing = vars(module).get("NOTHING") if module is not None else None
    told = []
    for field in lookup(cls, "__attrs_attrs__"):
        alias = getattr(field, "alias", None) or field.name.lstrip("_")
        told.append(
            [
                field.name,
                bool(field.init),
                field.default is not nothing,
                bool(getattr(field, "kw_only", False)),
                alias if alias != field.name else None,
            ]
        )
    return told


def _pydantic_fields(cls: type) -> list[list[Any]]:
    fields = lookup(cls, "__pydantic_fields__")
    if not isinstance(fields, dict):
        # `model_fields` in the first versions of 2, `__fields__` in 1
        fields = lookup(cls, "model_fields")
    if not isinstance(fields, dict):
        fields = lookup(cls, "__fields__")
    told = []
    for name, field in fields.items() if isinstance(fields, dict) else ():
        asked = getattr(field, "is_required", None)
        required = asked() if callable(asked) else getattr(field, "required", True)
        alias = getattr(field, "alias", None)
        alias = alias if isinstance(alias, str) and alias != name else None
        told.append([name, True, not required, True, alias])
    return told


def _tuple_fields(cls: type) -> list[list[Any]]:
    defaults = lookup(cls, "_field_defaults") or {}
    return [[name, True, name in defaults, False] for name in lookup(cls, "_fields")]


def _generated_by_dataclass(cls: type) -> bool:
    """Compare with a repr known to be generated.

    The function on the class is always the same wrapper, which guards against recursion; what it
    wraps was compiled from a string that is in no file. An author may use the wrapper, too, but
    writes what it wraps in a file.
    """
    shown, sample = lookup(cls, "__repr__"), own(_Made)["__repr__"]
    inner, known = _wrapped(shown), _wrapped(sample)
    return (
        _code(shown) is _code(sample)
        and inner is not None
        and known is not None
        and inner.co_filename == known.co_filename
    )


def _generated_by_attrs(cls: type) -> bool:
    code = _code(lookup(cls, "__repr__"))
    if code is None:
        return False
    maker = sys.modules.get("attr._make")
    file = code.co_filename
    # compiled from a named string; a closure inside attrs itself in old versions
    generated = file.startswith("<attrs generated") or file == getattr(maker, "__file__", "")
    customs = [getattr(field, "repr", True) for field in lookup(cls, "__attrs_attrs__")]
    return generated and all(isinstance(custom, bool) for custom in customs)


def _generated_by_pydantic(cls: type) -> bool:
    parts = ("__repr__", "__repr_args__", "__repr_name__", "__repr_str__")
    return all(
        next((_top(base) for base in bases(cls) if part in own(base)), "pydantic") == "pydantic"
        for part in parts
    )


def _generated_by_tuple(cls: type) -> bool:
    return _code(lookup(cls, "__repr__")) is _code(_TUPLE_REPR)


def _repr_owner_module(cls: type) -> str | None:
    owner = next(base for base in bases(cls) if "__repr__" in own(base))
    return tracing.class_module(owner)


def _code(function: Any) -> types.CodeType | None:
    return function.__code__ if type(function) is types.FunctionType else None


def _wrapped(function: Any) -> types.CodeType | None:
    """Return the code of the one function that a wrapper closes over."""
    if type(function) is not types.FunctionType:
        return None
    inner = [_code(cell.cell_contents) for cell in function.__closure__ or ()]
    return next((code for code in inner if code is not None), None)


def _parameters(cls: type) -> list[list[Any]] | None:
    init = lookup(cls, "__init__")
    code = _code(init)
    if code is None:
        return None
    count = code.co_argcount
    positional = code.co_varnames[1:count]
    keyword = code.co_varnames[count : count + code.co_kwonlyargcount]
    optional = len(positional) - len(init.__defaults__ or ())
    named = init.__kwdefaults__ or {}
    only = code.co_posonlyargcount - 1
    told: list[list[Any]] = [
        [
            name,
            "positional_only" if index < only else "positional_or_keyword",
            index >= optional,
        ]
        for index, name in enumerate(positional)
    ]
    told += [[name, "keyword_only", name in named] for name in keyword]
    told = told[:MAX_FIELDS]
    if code.co_flags & _ARGUMENTS:
        told.append(["*", "var_positional", True])
    if code.co_flags & _KEYWORDS:
        told.append(["**", "var_keyword", True])
    return told


def _read_only(cls: type) -> list[str]:
    found = {
        tracing.exact(name, MAX_TEXT)
        for base in bases(cls)
        for name, value in list(own(base).items())
        if tracing.is_text(name) and issubclass(type(value), property) and value.fset is None
    }
    return sorted(found)[:MAX_MEMBERS]


_FIELDS = {
    "dataclass": _dataclass_fields,
    "attrs": _attrs_fields,
    "pydantic": _pydantic_fields,
    "namedtuple": _tuple_fields,
}
_GENERATED = {
    "dataclass": _generated_by_dataclass,
    "attrs": _generated_by_attrs,
    "pydantic": _generated_by_pydantic,
    "namedtuple": _generated_by_tuple,
}
