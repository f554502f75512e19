"""Describe an exception: its class, its causes or members, its frames and their locals.

Frames of the test runner above the test file are left out. Locals are serialised only for frames
whose file lies in the tree, the way the SDK would have done it, so that the host can compare.
What the target may define is read past its own hooks, and nothing it raises gets out of here. The
size is bounded: a report that is too long is lost whole.
"""
# ruff: noqa: ANN401 - here a value is whatever the code under test has

from __future__ import annotations

import builtins
import contextlib
import json
import linecache
import os
import re
import sys
from typing import TYPE_CHECKING, Any, Iterator

from . import serialize

if TYPE_CHECKING:
    import types

MAX_FRAMES = 400
"""More frames than this are cut in the middle: a recursion's two ends tell all there is."""
MAX_FRAMES_WITH_LOCALS = 60
MAX_LOCALS = 500
LOCALS_BYTES = 1 << 20
MAX_CHAIN = 20
MAX_GROUP_DEPTH = 20
MAX_MEMBERS = 200
MAX_MESSAGE = 20_000
MAX_SIDE_MESSAGE = 300
"""Of causes and members: only their classes are compared."""
MAX_NAME = 500
MAX_PATH = 4096
RECURSION_LIMIT = 3000

_SURROGATE = re.compile("[\ud800-\udfff]")


def prepare(request: dict[str, Any]) -> None:
    """Put the request's import roots first; keep the target from closing the worker's streams."""
    sys.path[0:0] = [root for root in request["roots"] if root not in sys.path]
    for name, number in (("stdout", 1), ("stderr", 2)):
        try:
            own = open(  # noqa: SIM115 - lives as long as the process
                number,
                "w",
                buffering=1,
                encoding="utf-8",
                errors="backslashreplace",
                closefd=False,
            )
        except OSError:
            continue  # there is no such descriptor
        setattr(sys, name, own)
        setattr(sys, "__" + name + "__", own)


@contextlib.contextmanager
def deep_stack() -> Iterator[None]:
    """Have room to describe what the target did with the recursion limit, or a deep stack."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, RECURSION_LIMIT))
    try:
        yield
    finally:
        # RecursionError: the target's own limit is below where we stand, so we cannot go back
        with contextlib.suppress(RecursionError):
            sys.setrecursionlimit(before)


def describe(exc: BaseException, request: dict[str, Any]) -> dict[str, Any]:
    """Return a JSON-able tree for `exc`: class, message, frames, chain (oldest first), members."""
    with deep_stack():
        told = _one(exc, MAX_MESSAGE)
        room = [MAX_MEMBERS]
        members = _members(exc, room, MAX_GROUP_DEPTH)
        if members is not None:
            told["members"] = members
        told["frames"] = _frames(exc, request)
        told["chain"] = []
        for cause in _causes(exc):
            told["chain"].append(_one(cause, MAX_SIDE_MESSAGE))
            members = _members(cause, room, MAX_GROUP_DEPTH)
            if members is not None:
                told["chain"][-1]["members"] = members
        return told


def exact(value: Any, limit: int) -> str:
    """Return text as a plain `str` that any encoder takes, without running a subclass's methods."""
    return _SURROGATE.sub("\ufffd", str.__getitem__(value, slice(limit)))


def clean(value: Any) -> Any:
    """Return JSON whose texts are plain and encodable."""
    if isinstance(value, dict):
        return {exact(key, serialize.LEAF_LIMIT): clean(item) for key, item in value.items()}
    if isinstance(value, list):
        return [clean(item) for item in value]
    return exact(value, serialize.LEAF_LIMIT) if isinstance(value, str) else value


def within(values: dict[str, Any], room: list[int]) -> dict[str, Any]:
    """Replace values that do not fit in what is left of `room[0]` bytes of JSON."""
    kept = {}
    for name, value in list(values.items())[:MAX_LOCALS]:
        plain = clean(value)
        size = len(json.dumps(plain))
        if size > room[0]:
            plain, size = serialize.OVER_BUDGET, len(serialize.OVER_BUDGET)
        room[0] -= size
        kept[exact(name, MAX_NAME)] = plain
    return kept


def class_name(cls: type) -> str:
    """Return a class's `__name__`, whatever its metaclass says."""
    return exact(type.__dict__["__name__"].__get__(cls), MAX_NAME)


def class_module(cls: type) -> str | None:
    """Return a class's `__module__` where it is text."""
    try:
        module = type.__dict__["__module__"].__get__(cls)
    except AttributeError:
        return None  # deleted
    return exact(module, MAX_NAME) if is_text(module) else None


def is_text(value: Any) -> bool:
    """Say whether it really is a `str`; `isinstance` would ask a proxy."""
    return issubclass(type(value), str)


def _one(exc: BaseException, limit: int) -> dict[str, Any]:
    kind = type(exc)
    return {
        "type": class_name(kind),
        "module": class_module(kind) or "",
        "message": exact(_message(exc), limit),
        "raised": _attribute(exc, "__traceback__") is not None,
    }


def _attribute(exc: BaseException, name: str) -> Any:
    return BaseException.__dict__[name].__get__(exc)


def _causes(exc: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    seen = {id(exc)}
    at = exc
    while len(found) < MAX_CHAIN:
        suppressed = _attribute(at, "__suppress_context__")
        at = _attribute(at, "__cause__" if suppressed else "__context__")
        if at is None or id(at) in seen:
            break
        seen.add(id(at))
        found.append(at)
    found.reverse()
    return found


def _group_kinds() -> tuple[type, ...]:
    own = getattr(builtins, "BaseExceptionGroup", None)
    backport = sys.modules.get("exceptiongroup")  # what Python before 3.11 has
    kinds = (own, vars(backport).get("BaseExceptionGroup") if backport else None)
    return tuple(kind for kind in kinds if kind is not None)


def _members(exc: BaseException, room: list[int], depth: int) -> list[dict[str, Any]] | None:
    kind = next((k for k in _group_kinds() if issubclass(type(exc), k)), None)
    if kind is None:
        return None
    told: list[dict[str, Any]] = []
    for member in _group_members(exc, kind):
        room[0] -= 1
        if room[0] < 0 or depth <= 0:
            break
        one = _one(member, MAX_SIDE_MESSAGE)
        inner = _members(member, room, depth - 1)
        if inner is not None:
            one["members"] = inner
        told.append(one)
    return told


def _group_members(exc: BaseException, kind: type) -> list[BaseException]:
    try:
        found = kind.__dict__["exceptions"].__get__(exc)
    except (AttributeError, KeyError, TypeError):
        return []
    return [item for item in found if issubclass(type(item), BaseException)]


def _message(exc: BaseException) -> str:
    """Return what the SDK shows: `.message`, else `.detail`, else the text, and the notes."""
    try:
        message = _text(
            getattr(exc, "message", "") or getattr(exc, "detail", "") or _text(exc)  # the SDK's own
        )
        notes = getattr(exc, "__notes__", None)
        if isinstance(notes, list) and notes:
            message += "\n" + "\n".join(note for note in notes if isinstance(note, str))
    except BaseException as error:  # noqa: BLE001 - its methods may raise anything: say so
        return "<str() raised {}>".format(class_name(type(error)))
    return message


def _text(value: Any) -> str:
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - the SDK's own rule
        try:
            return repr(value)
        except Exception:  # noqa: BLE001 - the SDK's own rule
            return serialize.BROKEN


def _frames(exc: BaseException, request: dict[str, Any]) -> list[dict[str, Any]]:
    found = []
    at = _attribute(exc, "__traceback__")
    while at is not None:
        found.append((at.tb_frame, at.tb_lineno))
        at = at.tb_next
    test = request["test"]
    start = next((i for i, (frame, _) in enumerate(found) if frame.f_code.co_filename == test), 0)
    found = found[start:]
    if len(found) > MAX_FRAMES:
        found = found[: MAX_FRAMES // 2] + found[-(MAX_FRAMES // 2) :]
    room = [LOCALS_BYTES]
    told = []
    with_locals = MAX_FRAMES_WITH_LOCALS
    # Innermost first in line for what there is room for: they are the crash.
    for frame, line in reversed(found):
        one = _frame(frame, line, test, request["root"])
        if one["in_tree"] and with_locals > 0:
            with_locals -= 1
            one["locals"] = _locals(frame, request.get("sdk"), room)
            one["sets"] = _sets(frame)
        told.append(one)
    told.reverse()
    return told


def _frame(frame: types.FrameType, line: int | None, test: str, root: str) -> dict[str, Any]:
    code = frame.f_code
    name = code.co_filename
    # `<string>` and the like are no files: joined to a working directory they would look like some
    path = name if name.startswith("<") else os.path.abspath(name)
    in_tree = path.startswith(root + os.sep) and path != test
    module = dict.get(frame.f_globals, "__name__")
    return {
        "file": exact(path[len(root) + 1 :] if in_tree else path, MAX_PATH),
        "in_tree": in_tree,
        "is_test": path == test,
        "function": exact(code.co_name, MAX_NAME),
        "qualname": exact(getattr(code, "co_qualname", ""), MAX_NAME) or None,
        "line": line,
        "module": exact(module, MAX_NAME) if is_text(module) else None,
        "text": _line(name, line),
    }


def _line(name: str, line: int | None) -> str:
    try:
        return exact(linecache.getline(name, line or 0).strip(), MAX_NAME)
    except Exception:  # noqa: BLE001 - the target may have put anything into the cache
        return ""


def _sets(frame: types.FrameType) -> list[str]:
    """Return the locals that are sets: they are shown in an order that means nothing."""
    return [n for n, v in frame.f_locals.items() if type(v) in (set, frozenset)][:100]


def _locals(frame: types.FrameType, sdk: Any, room: list[int]) -> dict[str, Any]:
    return within(serialize.frame_locals(frame.f_locals, sdk=sdk), room)
