"""Describe an exception: its class, its causes or members, its frames and their locals.

Frames of the test runner above the test file are left out.  Locals are serialised only for frames
whose file lies in the tree, the way the SDK would have done it, so that the host can compare.
"""

import linecache
import os
import sys

from . import serialize

MAX_FRAMES = 400
"""More frames than this are cut in the middle: a recursion's two ends tell all there is."""
MAX_FRAMES_WITH_LOCALS = 60
MAX_CHAIN = 20
MAX_MESSAGE = 20000


def describe(exc, request):
    """Return a JSON-able tree for ``exc``: class, message, frames, chain (oldest first), members."""
    told = _one(exc, request, with_frames=True)
    told["chain"] = [_one(cause, request, with_frames=False) for cause in _causes(exc)]
    return told


def _causes(exc):
    found, seen = [], {id(exc)}
    while len(found) < MAX_CHAIN:
        if exc.__suppress_context__:
            exc = exc.__cause__
        else:
            exc = exc.__cause__ if exc.__cause__ is not None else exc.__context__
        if exc is None or id(exc) in seen:
            break
        seen.add(id(exc))
        found.append(exc)
    found.reverse()
    return found


def _one(exc, request, with_frames):
    kind = type(exc)
    told = {"type": kind.__name__, "module": kind.__module__, "message": _message(exc)}
    members = _members(exc)
    if members is not None:
        told["members"] = [_one(member, request, with_frames=False) for member in members]
    if with_frames:
        told["frames"] = _frames(exc.__traceback__, request)
    else:
        told["raised"] = exc.__traceback__ is not None
    return told


def _members(exc):
    group = getattr(__builtins__, "BaseExceptionGroup", None) if not isinstance(__builtins__, dict) \
        else __builtins__.get("BaseExceptionGroup")
    if group is not None and isinstance(exc, group):
        return list(exc.exceptions)[:100]
    return None


def _message(exc):
    # the SDK takes .message, then .detail, then str(), and adds notes; so must a comparison
    try:
        message = getattr(exc, "message", "") or getattr(exc, "detail", "")
        message = str(message or exc)
        notes = getattr(exc, "__notes__", None)
        if isinstance(notes, list) and notes:
            message += "\n" + "\n".join(note for note in notes if isinstance(note, str))
    except Exception as error:  # the exception's own __str__ may raise anything: say so, do not hide
        message = "<str() raised %s>" % type(error).__name__
    return message[:MAX_MESSAGE]


def _frames(tb, request):
    test, root = request["test"], request["root"]
    found = []
    while tb is not None:
        found.append((tb.tb_frame, tb.tb_lineno))
        tb = tb.tb_next
    start = next((i for i, (frame, _) in enumerate(found) if frame.f_code.co_filename == test), 0)
    found = found[start:]
    if len(found) > MAX_FRAMES:
        found = found[: MAX_FRAMES // 2] + found[-(MAX_FRAMES // 2):]
    told = []
    budget = [MAX_FRAMES_WITH_LOCALS]
    # innermost frames first in line for the locals budget: they are the crash
    for frame, line in reversed(found):
        told.append(_frame(frame, line, test, root, request.get("sdk"), budget))
    told.reverse()
    return told


def _frame(frame, line, test, root, sdk, budget):
    code = frame.f_code
    path = os.path.abspath(code.co_filename)
    in_tree = path.startswith(root + os.sep) and path != test
    told = {"file": path[len(root) + 1:] if in_tree else path, "in_tree": in_tree,
            "is_test": path == test, "function": code.co_name,
            "qualname": getattr(code, "co_qualname", None), "line": line,
            "module": frame.f_globals.get("__name__") if isinstance(
                frame.f_globals.get("__name__"), str) else None,
            "text": linecache.getline(code.co_filename, line).strip()[:500]}
    if in_tree and budget[0] > 0:
        budget[0] -= 1
        told["locals"] = serialize.frame_locals(frame.f_locals, sdk=sdk)
    return told


def prepare_path(request):
    """Put the request's import roots first."""
    sys.path[0:0] = [root for root in request["roots"] if root not in sys.path]
