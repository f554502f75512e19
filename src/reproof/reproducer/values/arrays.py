"""numpy and pandas reprs: scalars, small arrays, timestamps."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from reproof.reproducer.values import expression as make
from reproof.reproducer.values.call import Call, Keywords, kind_of
from reproof.reproducer.values.place import single
from reproof.reproducer.values.provenance import Decoded, Provenance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reproof.reproducer.values.call import Builder
    from reproof.reproducer.values.expression import Expression

_DTYPE = re.compile(
    r"(?:bool|object|complex(?:64|128|256)|float(?:16|32|64|128)|u?int(?:8|16|32|64)"
    r"|[<>|=]?[USV]\d{1,6}|(?:datetime64|timedelta64)\[\d{0,4}[A-Za-z]{1,2}\])"
)
_SCALAR = re.compile(
    r"(?:np|numpy)\.(bool_?|float(?:16|32|64)|longdouble|u?int(?:8|16|32|64)|complex(?:64|128)"
    r"|str_|bytes_|datetime64|timedelta64)"
)
_STAMP = re.compile(r"[\d:. T+-]{4,40}|NaT")
_DELTA = re.compile(r"-?\d+ days [+-]?[\d:.]{5,25}")
_ZONE = re.compile(r"[A-Za-z0-9_+/:\-]{1,60}")
_PRINTED_DIGITS = 8


def decode_array_name(dotted: str) -> Decoded | None:
    """Return the value of a bare name that numpy or pandas print, or `None`."""
    if dotted == "NaT":
        return single(make.member("pandas", "NaT", "pd"), Provenance.CONSTRUCTED)
    if dotted in {"np.True_", "np.False_", "np.nan", "np.inf"}:
        return single(make.member("numpy", dotted[3:], "np"), Provenance.CONSTRUCTED)
    return None


def decode_array_call(call: Call) -> Decoded | None:
    """Return the value of a numpy or pandas form; `None` when the name is none."""
    if call.name in {"Timestamp", "Timedelta"}:
        return call.build(_stamp(call.name))
    scalar = _SCALAR.fullmatch(call.name)
    if scalar:
        return call.build(_scalar(scalar[1]))
    return None


def _stamp(name: str) -> Builder:
    def build(positional: Sequence[Expression], keywords: Keywords) -> Expression | None:
        if len(positional) != 1 or not _is_text(
            positional[0].node, _STAMP if name == "Timestamp" else _DELTA
        ):
            return None
        if any(key != "tz" or not _is_text(value.node, _ZONE) for key, value in keywords):
            return None
        return make.call(make.member("pandas", name, "pd"), positional, keywords)

    return build


def _is_text(node: ast.expr, pattern: re.Pattern[str]) -> bool:
    match node:
        case ast.Constant(value=str() as text):
            return pattern.fullmatch(text) is not None
        case _:
            return False


def _scalar(name: str) -> Builder:
    def build(positional: Sequence[Expression], keywords: Keywords) -> Expression | None:
        if keywords or not 1 <= len(positional) <= 2:  # noqa: PLR2004
            return None
        kinds = [kind_of(one.node) for one in positional]
        if not set(kinds) <= {"int", "float", "complex", "str", "bytes", "bool", "other"}:
            return None
        return make.call(make.member("numpy", name, "np"), positional)

    return build


def is_numpy_array(node: ast.Call) -> bool:
    """Tell `array([1., 2.])` of numpy from `array('i', [1])` of the standard library."""
    if not isinstance(node.func, ast.Name) or node.func.id != "array" or len(node.args) != 1:
        return False
    return not (isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str))


def decode_array(node: ast.Call, content: Decoded, shape: Decoded | None, limit: int) -> Decoded:
    """Return `np.array(content, dtype=...)` for a printed array."""
    from_text = Call(  # the dtype is a name in the repr and a string in source
        name="array", positional=(content,), keywords=(), text="array(...)", limit=limit
    )
    dtype = ""
    for keyword in node.keywords:
        if keyword.arg == "dtype":
            dtype = _dtype_text(keyword.value)
            if not dtype:
                return from_text.build(lambda *_: None)
        elif keyword.arg != "shape":
            return from_text.build(lambda *_: None)
    rounded = any(
        isinstance(part, ast.Constant) and isinstance(part.value, float | complex)
        for part in ast.walk(node.args[0])
    )
    note = f"floats are as printed, to {_PRINTED_DIGITS} digits" if rounded else ""
    named = [("dtype", make.constant(dtype))] if dtype else []
    if shape is not None:
        empty = Call("array", (shape,), (), from_text.text, limit)
        target = make.member("numpy", "empty", "np")
        return empty.build(lambda given, _: make.call(target, given, named))
    target = make.member("numpy", "array", "np")
    return from_text.build(
        lambda given, _: make.call(target, given, named), note=note, ambiguous=rounded
    )


def _dtype_text(node: ast.expr) -> str:
    text = ""
    match node:
        case ast.Name(id=name):
            text = name
        case ast.Constant(value=str() as content):
            text = content
        case _:
            pass
    return text if _DTYPE.fullmatch(text) else ""
