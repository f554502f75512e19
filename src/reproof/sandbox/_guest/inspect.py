"""Say what the names in an event's reprs stand for here. Runs inside the wall, CPython 3.8-3.14.

Request keys: `imports` (modules of the frames), `names` (bare or dotted names of classes and
functions), `instances` (dotted class names: which module globals hold one), `root`, `roots`.
A name resolves only to an object that says the same name of itself.
"""
# ruff: noqa: ANN401 - here a value is whatever the code under test has

from __future__ import annotations

import functools
import importlib
import json
import sys
import types
from typing import Any, Callable, Iterator

from . import records, tracing

MAX_FOUND = 4
MAX_TUPLES = 100
MAX_MESSAGE = 300
FACTS_BYTES = 4 << 20

_OWN = ("_reproof_guest", "_pytest", "pytest", "pluggy")
_FUNCTIONS = ("function", "builtin_function_or_method", "_lru_cache_wrapper")
"""How the names of the types of functions end, those that compilers of C code make included."""
_METHODS = ("cython_function_or_method", "_ArrayFunctionDispatcher")


def run(request: dict[str, Any]) -> dict[str, Any]:
    """Return what was found.

    `{"errors": {module: text}, "names": {name: [fact]}, "instances": {name: [[module, global]]},
    "tuples": [fact]}`
    """
    tracing.prepare(request)
    with tracing.deep_stack():
        return _Look(request).answer()


class _Look:
    def __init__(self, request: dict[str, Any]) -> None:
        self.request = request
        self.errors: dict[str, str] = {}
        self.room = FACTS_BYTES
        self.order: list[tuple[str, dict[str, Any]]] = []

    def answer(self) -> dict[str, Any]:
        """Import what the names need, then look each of them up."""
        request = self.request
        for module in request["imports"]:
            error = _load(module)
            if error is not None:
                self.errors[module] = error
        tops = {name.split(".")[0] for name in request["imports"]} | set(request.get("tops", ()))
        for name in request["names"] + request["instances"]:
            prefix = name.rpartition(".")[0]
            if prefix and prefix.split(".")[0] in tops:
                _load_longest(prefix)
        self.order = _namespaces(request)
        names = self._each(request["names"], self.find)
        instances = self._each(request["instances"], self.instances)
        return {
            "errors": self.errors,
            "names": names,
            "instances": instances,
            "tuples": self.tuples(),
            "python": list(sys.version_info[:3]),
        }

    def _each(self, names: list[str], look: Callable[[str], list[Any]]) -> dict[str, list[Any]]:
        told = {name: look(name) for name in names}
        return {name: found for name, found in told.items() if found}

    def find(self, name: str) -> list[dict[str, Any]]:
        """Return the facts of what goes by that name, the likeliest first."""
        found: list[dict[str, Any]] = []
        seen: set[int] = set()
        nested = len([one for one in self.request["imports"] if _has(one)])
        for index, (module, namespace) in enumerate(self.order):
            for thing in _reach(module, namespace, name, nested=index < nested):
                if id(thing) in seen:
                    continue
                seen.add(id(thing))
                fact = self._fact(thing, name)
                if fact is not None:
                    found.append(fact)
                if len(found) >= MAX_FOUND:
                    return found
        return found

    def instances(self, name: str) -> list[list[str]]:
        """Return where a module's global holds an instance of exactly that class."""
        found = []
        for module, namespace in self.order:
            for key, value in list(namespace.items()):
                if not (tracing.is_text(key) and key.isidentifier() and key[:2] != "__"):
                    continue
                if _full_name(type(value)) == name:
                    found.append([module, tracing.exact(key, tracing.MAX_NAME)])
                    if len(found) >= MAX_FOUND:
                        return found
        return found

    def tuples(self) -> list[dict[str, Any]]:
        """Return the facts of the named tuples that the frames' modules hold."""
        found: dict[int, dict[str, Any]] = {}
        for name in self.request["imports"]:
            for thing in list(_namespace(sys.modules.get(name)).values()):
                if len(found) >= MAX_TUPLES:
                    return list(found.values())
                if records.is_class(thing) and tuple in records.bases(thing):
                    fact = self._fact(thing, _full_name(thing) or "")
                    if fact is not None and fact["kind"] == "namedtuple":
                        found[id(thing)] = fact
        return list(found.values())

    def _fact(self, thing: Any, name: str) -> dict[str, Any] | None:
        """Return one thing's fact; its strangeness must not cost the others their answer."""
        try:
            fact = _fact(thing, name)
            size = len(json.dumps(fact))
        except BaseException as error:  # noqa: BLE001 - a descriptor of the target may raise anything
            self.errors["name:" + name] = _said(error)
            return None
        if size > self.room:
            self.errors["name:" + name] = "there is no room left for what it is"
            return None
        self.room -= size
        return fact


def _load(module: str) -> str | None:
    try:
        importlib.import_module(module)
    except BaseException as error:  # noqa: BLE001 - importing the target may raise anything
        return _said(error)
    return None


def _said(error: BaseException) -> str:
    try:
        text = str(error)
    except BaseException:  # noqa: BLE001 - nor need it have a text
        text = "(without a text)"
    return tracing.exact(tracing.class_name(type(error)) + ": " + text, MAX_MESSAGE)


def _load_longest(prefix: str) -> None:
    parts = prefix.split(".")
    for end in range(len(parts), 0, -1):
        if _load(".".join(parts[:end])) is None:
            return


def _namespace(module: Any) -> dict[str, Any]:
    """Return a module's globals without running a lazy module's own attribute access."""
    if issubclass(type(module), types.ModuleType):
        found: Any = vars(types.ModuleType)["__dict__"].__get__(module)
    else:
        try:
            found = object.__getattribute__(module, "__dict__")
        except (AttributeError, TypeError):
            return {}  # something else that was put among the modules
    return found if type(found) is dict else {}


def _namespaces(request: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    first = [(name, _namespace(sys.modules[name])) for name in request["imports"] if _has(name)]
    root = request["root"] + "/"
    inside: list[tuple[str, dict[str, Any]]] = []
    outside: list[tuple[str, dict[str, Any]]] = []
    for name in sorted(name for name in list(sys.modules) if tracing.is_text(name)):
        if name.startswith(_OWN) or name in request["imports"]:
            continue
        namespace = _namespace(sys.modules.get(name))
        file = namespace.get("__file__")
        is_inside = isinstance(file, str) and file.startswith(root)
        (inside if is_inside else outside).append((name, namespace))
    return first + inside + outside


def _has(name: str) -> bool:
    return sys.modules.get(name) is not None


def _reach(module: str, namespace: dict[str, Any], name: str, *, nested: bool) -> Iterator[Any]:
    """Yield what may go by the name in this module: its own, or below its classes."""
    bare = name.rpartition(".")[2]
    if bare in namespace:
        yield namespace[bare]
    if "." in name:
        # Outer.Inner in this module, or module.Outer.Inner
        path, prefix = name.split("."), module.split(".")
        if path[: len(prefix)] == prefix:
            path = path[len(prefix) :]
        thing = namespace.get(path[0]) if path else None
        for part in path[1:]:
            thing = _below(thing, part)
        if thing is not None:
            yield thing
    elif nested:
        for thing in list(namespace.values()):
            inner = _below(thing, bare)
            if inner is not None:
                yield inner


def _below(thing: Any, part: str) -> Any:
    """Return what a class holds under a name: as a call gets it, not the descriptor."""
    found: Any = records.own(thing).get(part) if records.is_class(thing) else None
    return found.__func__ if type(found) in (staticmethod, classmethod) else found


def _fact(thing: Any, name: str) -> dict[str, Any] | None:
    module: Any
    qualname: Any
    if records.is_class(thing):
        module, qualname = tracing.class_module(thing), _qualname(thing)
    elif _is_function(thing):
        module, qualname = thing.__module__, thing.__qualname__
    else:
        return None  # a proxy would answer for something else
    if not isinstance(module, str) or not isinstance(qualname, str) or "<" in qualname:
        return None
    if not _goes_by(module, qualname, name) or not _importable(thing, module, qualname):
        return None
    fact: dict[str, Any] = {"module": module, "qualname": qualname}
    if records.is_class(thing):
        fact.update(records.describe(thing))
    else:
        fact.update(kind="function", fields=[], members=[])
        fact.update(parameters=None, repr_is_generated=False)
    plain: dict[str, Any] = tracing.clean(fact)
    return plain


def _is_function(thing: Any) -> bool:
    kind = tracing.class_name(type(thing))
    return kind.endswith(_FUNCTIONS) or kind in _METHODS or type(thing) is _CACHED


_CACHED = type(functools.lru_cache(maxsize=1)(len))


def _qualname(cls: type) -> str:
    return tracing.exact(type.__dict__["__qualname__"].__get__(cls), tracing.MAX_NAME)


def _full_name(cls: type) -> str | None:
    module = tracing.class_module(cls)
    return None if module is None else module + "." + _qualname(cls)


def _goes_by(module: str, qualname: str, name: str) -> bool:
    full = module + "." + qualname
    main = "__main__."
    return (
        full == name
        or full.endswith("." + name)
        or (name.startswith(main) and qualname == name[len(main) :])
    )


def _importable(thing: Any, module: str, qualname: str) -> bool:
    """Say whether the name really leads to it."""
    parts = qualname.split(".")
    holder = sys.modules.get(module)
    here = _namespace(holder).get(parts[0])
    if here is None and holder is not None:
        here = getattr(holder, parts[0], None)  # a package that imports its parts when asked
    for part in parts[1:]:
        here = _below(here, part)
    return here is thing
