"""Whether a value, serialised again in a replay, agrees with what was captured at the crash.

Both sides are what an SDK writes for a frame local. The captured side may have been cut by the
sender or the server, and was made in another process: addresses, checkout paths and the order of
sets differ there without meaning anything.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reproof.domain.event import JSON

_WIDTH = 10
_MAX_PARSED = 100_000
_MAX_BRACKETS = 90
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_FOLDER = re.compile(r"""(?<=['"])/(?:[^'"/\n]*/)*(?=[^'"/\n]*['"])""")
_REDACTED = re.compile(r"'?\[(?:Filtered|REDACTED[^\]\n]{0,80})\]'?", re.IGNORECASE)
_FAILED = "<failed to serialize"
_BROKEN = "<broken repr>"
_CYCLIC = "<cyclic>"
_CUT = "..."
_MAIN = "__main__."
_SHORTEST_PREFIX = 2


def agrees(
    captured: JSON, actual: JSON, *, meta: JSON = None, unordered: bool = False
) -> bool | None:
    """Tell whether the two stand for the same value; `None` when that cannot be told.

    `meta` is the captured side's `_meta` tree. `unordered` says that the value is known to be a
    set, whose items come in another order in another process.
    """
    remarks = _remarks(meta)
    if captured is None or any(remark[0] != "!limit" for remark in remarks):
        return None
    if isinstance(captured, str):
        return _text_agrees(captured, actual)
    if _is_failure(actual):
        return None
    if isinstance(captured, list) and isinstance(actual, list):
        return _lists_agree(captured, actual, meta, unordered=unordered)
    if isinstance(captured, dict) and isinstance(actual, dict):
        return _objects_agree(captured, actual, meta)
    return type(captured) is type(actual) and captured == actual


def _remarks(meta: JSON) -> list[list[JSON]]:
    own = meta.get("") if isinstance(meta, dict) else None
    remarks = own.get("rem") if isinstance(own, dict) else None
    found = remarks if isinstance(remarks, list) else []
    return [remark for remark in found if isinstance(remark, list) and remark]


def _true_length(captured: list[JSON] | dict[str, JSON], meta: JSON) -> int:
    own = meta.get("") if isinstance(meta, dict) else None
    length = own.get("len") if isinstance(own, dict) else None
    return max(length, len(captured)) if isinstance(length, int) else len(captured)


def _is_failure(actual: JSON) -> bool:
    return isinstance(actual, str) and actual.startswith((_FAILED, _BROKEN))


def _all_agree(answers: Iterable[bool | None]) -> bool | None:
    """Return False for any False, None when nothing at all could be told, else True."""
    seen = list(answers)
    if any(answer is False for answer in seen):
        return False
    return None if seen and all(answer is None for answer in seen) else True


def _lists_agree(
    captured: list[JSON], actual: list[JSON], meta: JSON, *, unordered: bool
) -> bool | None:
    total = _true_length(captured, meta)
    if total != len(captured):
        if min(total, _WIDTH) != min(len(actual), _WIDTH) and len(actual) < len(captured):
            return False
    elif len(captured) != len(actual):
        return False
    below = meta if isinstance(meta, dict) else {}
    answers = [
        agrees(left, right, meta=below.get(str(index)))
        for index, (left, right) in enumerate(zip(captured, actual, strict=False))
    ]
    verdict = _all_agree(answers)
    if verdict is False and unordered:
        if len(captured) >= _WIDTH:
            # Which ten of its items were shown depends on the order, too.
            return None
        return _sorted(captured) == _sorted(actual)
    return verdict


def _sorted(items: list[JSON]) -> list[str]:
    return sorted(_masked(json.dumps(item, sort_keys=True)) for item in items)


def _objects_agree(captured: dict[str, JSON], actual: dict[str, JSON], meta: JSON) -> bool | None:
    left = {_masked(key): key for key in captured}
    right = {_masked(key): key for key in actual}
    cut = _true_length(captured, meta) != len(captured)
    if left.keys() != right.keys() and not (cut and left.keys() <= right.keys()):
        return False
    below = meta if isinstance(meta, dict) else {}
    return _all_agree(
        agrees(captured[key], actual[right[masked]], meta=below.get(key))
        for masked, key in left.items()
    )


def _text_agrees_with_container(captured: str, actual: list[JSON] | dict[str, JSON]) -> bool | None:
    """Compare what a server wrote as JSON text because it lay too deep."""
    if captured in {_BROKEN, _CYCLIC} or captured.endswith(_CUT):
        # The order of keys in the text is the server's, so a prefix proves nothing.
        return None
    if not captured.startswith(("{", "[")):
        return False
    try:
        inner: JSON = json.loads(captured)
    except (ValueError, RecursionError):
        return None
    return agrees(inner, actual)


def _text_agrees(captured: str, actual: JSON) -> bool | None:
    if _REDACTED.fullmatch(captured) or captured.startswith(_FAILED) or captured == _CUT:
        return None
    if isinstance(actual, list | dict):
        return _text_agrees_with_container(captured, actual)
    if not isinstance(actual, str):
        return False
    if _is_failure(actual) or captured == _BROKEN:
        return True if captured == actual else None
    left, right = _masked(captured), _masked(actual)
    if left == right:
        return True
    if left.endswith(_CUT) or right.endswith(_CUT):
        return _prefixes_agree(left, right)
    return _same_but_main(left, right) or _same_but_order(captured, actual)


def _prefixes_agree(captured: str, actual: str) -> bool | None:
    """Compare texts of which at least one may have been cut; a cut text is a lower bound."""
    left, right = captured.removesuffix(_CUT), actual.removesuffix(_CUT)
    common = min(len(left), len(right))
    if common < _SHORTEST_PREFIX:
        return None
    if not captured.endswith(_CUT):
        # A text is only cut when it is longer than what is left of it, dots included.
        return len(captured) > len(actual) and captured.startswith(right)
    if not actual.endswith(_CUT):
        return actual.startswith(left)
    return left[:common] == right[:common]


def _masked(text: str) -> str:
    """Hide what differs between processes and checkouts."""
    text = _ADDRESS.sub("0x", text)
    return _FOLDER.sub("", text) if "<" in text else text


def _same_but_main(captured: str, actual: str) -> bool:
    """Tell whether only the module differs for classes of a script that was run as `__main__`."""
    if _MAIN not in captured:
        return False
    pattern = re.escape(captured).replace(re.escape(_MAIN), r"(?:\w+\.)*")
    return re.fullmatch(pattern, actual) is not None


def _same_but_order(captured: str, actual: str) -> bool:
    """Tell whether two reprs are equal up to the order of the sets in them."""
    if "{" not in captured or len(captured) != len(actual) or len(captured) > _MAX_PARSED:
        return False
    left, right = _shape(captured), _shape(actual)
    return left is not None and left == right


def _shape(text: str) -> str | None:
    """Return a normal form of a repr in which sets are sorted; `None` when it does not parse."""
    if max(text.count(bracket) for bracket in "([{") > _MAX_PARSED // 10:
        return None
    if _depth(text) > _MAX_BRACKETS:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text, mode="eval")
        return _normal(tree.body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _depth(text: str) -> int:
    depth = deepest = 0
    for character in text:
        if character in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in ")]}":
            depth -= 1
    return deepest


def _normal(node: ast.AST) -> str:
    if isinstance(node, ast.Set):
        return "{" + ",".join(sorted(map(_normal, node.elts))) + "}"
    if not any(isinstance(inner, ast.Set) for inner in ast.walk(node)):
        return ast.dump(node)
    parts = [f"{name}={_normal_field(value)}" for name, value in ast.iter_fields(node)]
    return f"{type(node).__name__}({','.join(parts)})"


def _normal_field(value: object) -> str:
    if isinstance(value, ast.AST):
        return _normal(value)
    if isinstance(value, list):
        return "[" + ",".join(map(_normal_field, value)) + "]"
    return repr(value)
