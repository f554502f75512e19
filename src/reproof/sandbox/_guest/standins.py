"""See the uses of an incomplete object that the object itself cannot report.

Two kinds of object stand for one that the event did not carry. A stand-in (`sentinels`) reports
every operation on it, but not `is`, a pattern, or C code that looks at its type in silence. An
object of a known class (`Cls.__new__(Cls)`, `Cls()`) has the right methods and not the state that
the captured one had. During the search each line of the tree is looked at before it runs, and each
attribute of such an object as it is read: what only the lost state can answer is recorded as a use.
"""
# ruff: noqa: ANN401 - here a value is whatever the code under test has

from __future__ import annotations

import ast
import builtins
import dis
import gc
import os
import sys
import types
from typing import TYPE_CHECKING, Any, Callable, Iterator

if TYPE_CHECKING:
    from . import sentinels

_STORING = frozenset(  # a string, as a list of one a line says no more
    "append appendleft add insert put put_nowait get setdefault setattr partial send set "  # noqa: SIM905
    "isinstance issubclass hasattr getattr print".split()
)
"""C functions that keep what they are given, or whose look at it the stand-in reports."""
_HEAP_TYPE = 1 << 9
_FIXED: tuple[type, ...] = (
    *(int, float, complex, str, bytes, bool, type(None), type, types.ModuleType),
    *(types.FunctionType, types.BuiltinFunctionType),
)
_SINGLE = (type(None), bool, type(Ellipsis))
_MISSING = object()
_OWN_STATE = ("__dict__", "__getstate__", "__reduce_ex__", "__reduce__")


class Onlooker:
    """Looks at a replay on behalf of its incomplete objects."""

    def __init__(self, request: dict[str, Any], watch: sentinels.Watch) -> None:
        self.watch = watch
        self.test = request["test"]
        self.root = request["root"] + os.sep
        path, lines = request.get("crash") or ("", ())
        self.crash = {(self.root + path, line) for line in lines}
        self.opaque = frozenset(request.get("opaque") or ())
        self.named = bool(request.get("sentinels"))
        self.classes: list[dict[str, Any]] = list(request.get("stand_ins") or ())
        self.complete: dict[int, Any] = {}
        self.watched: set[type] = set()
        self.lines: dict[str, dict[int, list[ast.AST]]] = {}
        self.looked: dict[types.CodeType, bool] = {}
        """Whether a function has a line worth looking at."""
        self.undo: list[Callable[[], None]] = []

    def start(self, test: dict[str, Any]) -> None:
        """Begin to look: the test's module, whose names are `test`, has been imported by now."""
        for told in self.classes:
            cls = _find(told["module"], told["qualname"])
            if cls is types.SimpleNamespace:
                self._namespace(test)
            elif cls is not None:
                self._open(cls, told)
        if self.named or self.classes:
            sys.settrace(self._enter)

    def stop(self) -> None:
        """Leave everything as it was found: what comes now is no use."""
        sys.settrace(None)
        while self.undo:
            self.undo.pop()()

    def _use(self, name: str, operation: str) -> None:
        if self.watch.active and len(self.watch.uses) < 100:  # noqa: PLR2004 -- enough to tell
            self.watch.uses.append([name, operation])

    def _namespace(self, test: dict[str, Any]) -> None:
        """Have a namespace report what it does not hold: its class is another one, too."""

        def read(this: Any, name: str) -> Any:
            if name not in object.__getattribute__(this, "__dict__"):
                self._use("SimpleNamespace", "." + name)
            return object.__getattribute__(this, name)

        for name, value in list(test.items()):
            if value is types.SimpleNamespace:
                body = {"__module__": "types", "__getattribute__": read}
                test[name] = type("SimpleNamespace", (types.SimpleNamespace,), body)

    def _open(self, cls: type, about: dict[str, Any]) -> None:
        """Have reads of attributes of `cls`'s incomplete objects reported."""
        name, partial, known = cls.__qualname__, about["kind"] == "partial", set(about["known"])
        if partial and _has_content(cls) and not about["shown"]:
            self._use(name, " (its content)")
            return
        self.complete.update((id(one), one) for one in gc.get_objects() if type(one) is cls)
        self.watched.add(cls)
        stored = _stored(cls)
        for attribute in _invented(cls, about["given"], stored):
            self._use(name, "." + attribute + " = (its class has it)")
        inner = cls.__getattribute__
        fixed = _parameters(cls) <= known

        def told(this: Any, attribute: str) -> bool:
            if type(this) is not cls or id(this) in self.complete or attribute in known:
                return True
            held = _state(this, attribute)
            if _answered(cls, attribute, held, stored, fixed=fixed, partial=partial):
                return True
            # what a new object holds decides where the crash is; elsewhere it is as good as any
            reader = sys._getframe(2)  # noqa: SLF001 - who reads it
            here = (reader.f_code.co_filename, reader.f_lineno) in self.crash
            return not partial and held is not _MISSING and not (here and isinstance(held, _FIXED))

        def read(this: Any, attribute: str) -> Any:
            # a cached property keeps its value in `__dict__`, and asks before it computes it
            caller = sys._getframe(1).f_code.co_filename  # noqa: SLF001 - who reads it
            cached = attribute == "__dict__" and caller.endswith("functools.py")
            if not cached and not told(this, attribute):
                self._use(name, "." + attribute)
            return inner(this, attribute)  # type: ignore[call-arg]

        self._put(cls, "__getattribute__", read)
        self._count(cls)

    def _count(self, cls: type) -> None:
        """Keep apart the objects that the code under test makes itself: those are complete."""
        init = cls.__dict__.get("__init__") or cls.__init__  # type: ignore[misc]
        if type(init) is not types.FunctionType:
            return

        def begin(this: Any, *args: Any, **kwargs: Any) -> None:
            caller = sys._getframe(1).f_code.co_filename  # noqa: SLF001 - who makes it
            if type(this) is cls:
                self.complete[id(this)] = this
            init(this, *args, **kwargs)
            if caller == self.test:
                self.complete.pop(id(this), None)

        self._put(cls, "__init__", begin)

    def _put(self, cls: type, name: str, value: Any) -> None:
        before = cls.__dict__.get(name, _MISSING)
        try:
            setattr(cls, name, value)
        except (AttributeError, TypeError):
            self._use(cls.__qualname__, " (its class cannot be watched)")
            return

        def back() -> None:
            if before is _MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, before)

        self.undo.append(back)

    def _enter(self, frame: types.FrameType, _event: str, _arg: Any) -> Any:
        name = frame.f_code.co_filename
        if not name.startswith(self.root) or name == self.test:
            return None
        if name not in self.lines:
            self.lines[name] = _looks(name, objects_only=not self.named)
        code = frame.f_code
        if code not in self.looked:
            at = self.lines[name]
            last = max((line for _, line in dis.findlinestarts(code) if line), default=0)
            self.looked[code] = any(n in at for n in range(code.co_firstlineno, last + 1))
        # to be told of every line is slow: most functions have nothing to see
        return self._line if self.looked[code] else None

    def _line(self, frame: types.FrameType, event: str, _arg: Any) -> Any:
        if event == "line":
            for node in self.lines[frame.f_code.co_filename].get(frame.f_lineno, ()):
                self._look(node, frame)
        return self._line

    def _look(self, node: ast.AST, frame: types.FrameType) -> None:
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            values = [_value(side, frame) for side in sides]
            for side, value in zip(sides, values):
                name = self._named(value)
                some = name in self.opaque
                if name is None and type(value) in self.watched and id(value) not in self.complete:
                    name, some = type(value).__qualname__, True
                others = [other for at, other in zip(sides, values) if at is not side]
                known = some and all(isinstance(o, _SINGLE) for o in others)
                if name is not None and not known:
                    self._use(name, " is")
        elif isinstance(node, ast.Raise):
            self._told(node.exc, frame, " raised")
        elif isinstance(node, ast.Call):
            if _passes_on(_value(node.func, frame), node.func):
                return
            for given in [*node.args, *(keyword.value for keyword in node.keywords)]:
                self._told(given, frame, " given to " + _last(node.func))
        else:
            self._told(getattr(node, "subject", None), frame, " matched")

    def _told(self, node: ast.AST | None, frame: types.FrameType, operation: str) -> None:
        name = None if node is None else self._named(_value(node, frame))
        if name is not None:
            self._use(name, operation)

    def _named(self, value: Any) -> str | None:
        return next((name for name, made in self.watch.made.items() if made is value), None)


def _looks(path: str, *, objects_only: bool) -> dict[int, list[ast.AST]]:
    """Return the nodes that may look at an object unseen, by each line of their statement."""
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return {}
    match = getattr(ast, "Match", ())
    found: dict[int, list[ast.AST]] = {}
    for node in ast.walk(tree):
        same = isinstance(node, ast.Compare) and any(
            isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops
        )
        if objects_only:
            # their class is known, so that only which object it is may be seen unseen
            wanted = same and not _with_single(node)
        else:
            kinds = (ast.Raise, ast.Call)
            wanted = same or isinstance(node, kinds) or bool(match and isinstance(node, match))
        if wanted:
            last = getattr(node, "subject", node)
            end = getattr(last, "end_lineno", None) or node.lineno  # type: ignore[attr-defined]
            for line in range(node.lineno, end + 1):  # type: ignore[attr-defined]
                found.setdefault(line, []).append(node)
    return found


def _with_single(node: ast.AST) -> bool:
    sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
    return any(isinstance(s, ast.Constant) and isinstance(s.value, _SINGLE) for s in sides)


def _value(node: ast.AST, frame: types.FrameType) -> Any:
    """Return what a name or a chain of attributes stands for, without running anything."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        for names in (frame.f_locals, frame.f_globals, vars(builtins)):
            if node.id in names:
                return names[node.id]
        return _MISSING
    if isinstance(node, ast.NamedExpr):
        return _value(node.value, frame)
    if isinstance(node, ast.Attribute):
        owner = _value(node.value, frame)
        return _MISSING if owner is _MISSING else _state_or_class(owner, node.attr)
    return _MISSING


def _state_or_class(owner: Any, name: str) -> Any:
    found = _state(owner, name)
    if found is not _MISSING:
        return found
    bases = type.__dict__["__mro__"].__get__(
        owner if issubclass(type(owner), type) else type(owner)
    )
    return next((base.__dict__[name] for base in bases if name in base.__dict__), _MISSING)


def _state(this: Any, name: str) -> Any:
    """Return an attribute that the object itself holds."""
    try:
        held = object.__getattribute__(this, "__dict__")
    except AttributeError:
        held = {}
    if isinstance(held, (dict, types.MappingProxyType)) and name in held:
        return held[name]
    for base in type(this).__mro__:
        slot = base.__dict__.get(name)
        if type(slot) is types.MemberDescriptorType:
            try:
                return slot.__get__(this, type(this))
            except AttributeError:
                return _MISSING
    return _MISSING


def _answered(
    cls: type, name: str, held: Any, stored: dict[str, bool], *, fixed: bool, partial: bool
) -> bool:
    """Say whether what is known of the object tells this attribute."""
    if held is not _MISSING:
        # what a partial object holds is what is known, or what the code has set since
        return partial or (fixed and isinstance(held, _FIXED) and not stored.get(name, False))
    if name.startswith("__") and name.endswith("__"):
        return not partial or name not in _OWN_STATE
    for base in cls.__mro__:
        if name in base.__dict__:
            found = base.__dict__[name]
            return type(found) is not types.MemberDescriptorType and (
                hasattr(type(found), "__get__") or name not in stored
            )
    return not partial and name not in stored


def _invented(cls: type, given: list[str], stored: dict[str, bool]) -> Iterator[str]:
    """Yield what a test sets on an object though only its class ever has it."""
    for name in given:
        base = next((base for base in cls.__mro__ if name in base.__dict__), None)
        constant = base is not None and not hasattr(type(base.__dict__[name]), "__get__")
        if constant and name not in stored:
            yield name


def _stored(cls: type) -> dict[str, bool]:
    """Return the attributes that the code around a class sets, and whether outside `__init__`."""
    found: dict[str, bool] = {}
    for base in cls.__mro__:
        own = base.__dict__
        fields = [own.get(n) for n in ("__dataclass_fields__", "__pydantic_fields__")]
        found.update((name, False) for held in fields if isinstance(held, dict) for name in held)
        attrs = own.get("__attrs_attrs__")
        found.update((field.name, False) for field in attrs or ())
    for name in {base.__module__ for base in cls.__mro__ if base is not object}:
        module = sys.modules.get(name)
        for code in _codes(module):
            begins = code.co_name == "__init__"
            for step in dis.get_instructions(code):
                if step.opname in ("STORE_ATTR", "DELETE_ATTR"):
                    found[step.argval] = found.get(step.argval, False) or not begins
    return found


def _codes(module: types.ModuleType | None) -> Iterator[types.CodeType]:
    path = getattr(module, "__file__", None)
    if not isinstance(path, str) or not path.endswith(".py"):
        return
    try:
        with open(path, "rb") as file:
            waiting = [compile(file.read(), path, "exec")]
    except (OSError, SyntaxError, ValueError, RecursionError):
        return
    while waiting:
        code = waiting.pop()
        yield code
        waiting += [inner for inner in code.co_consts if isinstance(inner, types.CodeType)]


def _parameters(cls: type) -> frozenset[str]:
    """Return what the state of a new object depends on."""
    init = cls.__init__  # type: ignore[misc]
    if type(init) is not types.FunctionType:
        return frozenset() if init is object.__init__ else frozenset("?")
    code = init.__code__
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4)
    return frozenset(code.co_varnames[1 : count + bool(code.co_flags & 8)])


def _has_content(cls: type) -> bool:
    """Say whether a base holds state that only C code can see: a subclass of `dict`."""
    return any(
        not base.__flags__ & _HEAP_TYPE and base is not object and base.__module__ != "typing"
        for base in cls.__mro__
    )


def _passes_on(function: Any, node: ast.AST) -> bool:
    """Say whether what is called is Python code, in which the next look is seen, or only stores."""
    if _last(node) in _STORING:
        return True
    if isinstance(function, (staticmethod, classmethod)):
        function = function.__func__
    if issubclass(type(function), type):
        parts = (_state_or_class(function, "__new__"), _state_or_class(function, "__init__"))
        return any(type(part) is types.FunctionType for part in parts)
    if type(function) in (types.FunctionType, types.MethodType):
        return True
    call = _state_or_class(type(function), "__call__")
    if type(call) is types.FunctionType:
        return True
    # an expression of which nothing is known is most often a method of the tree's own
    return function is _MISSING and not isinstance(node, ast.Name) and not _of_text(node)


def _of_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and hasattr(str, node.attr)


def _last(node: ast.AST) -> str:
    return str(getattr(node, "attr", getattr(node, "id", "a call")))


def _find(module: str, qualname: str) -> type | None:
    found: Any = sys.modules.get(module)
    for part in qualname.split("."):
        found = getattr(found, "__dict__", {}).get(part)
    return found if isinstance(found, type) else None
