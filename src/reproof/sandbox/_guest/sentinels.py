"""Make `unittest.mock.sentinel.NAME` tell when the code under test uses it.

An emitted test passes `sentinel.NAME` where the event did not carry a value. That is sound only
if nothing looks at it, so during the search each is replaced by an object that records the
operations on it and raises. Once the call is over it is told to be quiet: the report looks at the
frames' variables, which is no use of them.
"""
# ruff: noqa: ANN401 - a stand-in is used with anything

from __future__ import annotations

import re
import unittest.mock
from typing import Any, Callable, Iterable

_OPERATIONS = (  # noqa: SIM905 - a list of one a line says no more
    "__getitem__ __setitem__ __delitem__ __iter__ __next__ __len__ __contains__ __call__ __bool__ "
    "__eq__ __ne__ __lt__ __le__ __gt__ __ge__ __add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ "
    "__truediv__ __rtruediv__ __floordiv__ __rfloordiv__ __mod__ __rmod__ __pow__ __rpow__ "
    "__divmod__ __rdivmod__ __matmul__ __rmatmul__ "
    "__and__ __rand__ __or__ __ror__ __xor__ __rxor__ __lshift__ __rlshift__ __rshift__ "
    "__rrshift__ __neg__ __pos__ __abs__ __invert__ __int__ __float__ __complex__ __index__ "
    "__trunc__ __floor__ __ceil__ __round__ __str__ __bytes__ __format__ __reversed__ "
    "__length_hint__ __enter__ __exit__ __await__ __aiter__ __anext__ __aenter__ __aexit__ "
    "__hash__ __fspath__ __instancecheck__ __subclasscheck__ __copy__ __deepcopy__ __reduce_ex__ "
    "__dir__ __delattr__"
).split()
_KIND = "Unrecovered_"
_REFUSED = re.compile(_KIND + r"(\w+)")


class UnrecoveredValueUsed(BaseException):
    """The code under test looked at a value that the event did not carry."""


class Watch:
    """What has been done to the stand-ins."""

    def __init__(self) -> None:
        self.uses: list[list[str]] = []
        self.active = True
        self.made: dict[str, Any] = {}
        """The stand-ins that the test has asked for."""

    def touch(self, name: str, operation: str) -> None:
        """Record a use, and raise."""
        if self.active:
            self.uses.append([name, operation])
        raise UnrecoveredValueUsed("{}: {}".format(name, operation))

    def read_message(self, message: str) -> None:
        """Record a use that C code made by looking at the type: only its complaint tells."""
        for match in _REFUSED.finditer(message):
            self.uses.append([match.group(1), "its type"])


class _Namespace:
    def __init__(self, names: Iterable[str], watch: Watch) -> None:
        self._names = frozenset(names)
        self._watch = watch

    def __getattr__(self, name: str) -> Any:
        # Whoever looks the module over (a collector) must not get a stand-in it did not ask for.
        if name not in self._names:
            raise AttributeError(name)
        made = self._watch.made
        if name not in made:
            made[name] = _make(name, self._watch)
        return made[name]


def _make(name: str, watch: Watch) -> Any:
    def method(operation: str) -> Callable[..., None]:
        def call(_self: Any, *_args: Any, **_kwargs: Any) -> None:
            watch.touch(name, operation)

        return call

    def get(self: Any, attribute: str) -> Any:
        if not watch.active:
            return object.__getattribute__(self, attribute)
        return watch.touch(name, "." + str(attribute))

    def put(_self: Any, attribute: str, _value: Any) -> None:
        watch.touch(name, "." + str(attribute) + " =")

    namespace: dict[str, Any] = {operation: method(operation) for operation in _OPERATIONS}
    namespace["__getattribute__"] = get
    namespace["__setattr__"] = put

    def show(_self: Any) -> str:
        if watch.active:
            watch.touch(name, "__repr__")
        return "sentinel." + name

    namespace["__repr__"] = show
    return type(_KIND + name, (object,), namespace)()


def install(names: Iterable[str]) -> Watch:
    """Replace the factory by one that knows only `names`; return what will hold their uses."""
    watch = Watch()
    vars(unittest.mock)["sentinel"] = _Namespace(names, watch)
    return watch
