"""Make `unittest.mock.sentinel.NAME` tell when the code under test uses it.

An emitted test passes `sentinel.NAME` where the event did not carry a value.  That is sound only
if nothing looks at it, so during the search each is replaced by an object that records the first
operation on it and raises.
"""

import unittest.mock

_OPERATIONS = (
    "__getitem__ __setitem__ __delitem__ __iter__ __next__ __len__ __contains__ __call__ __bool__ "
    "__eq__ __ne__ __lt__ __le__ __gt__ __ge__ __add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ "
    "__truediv__ __rtruediv__ __floordiv__ __rfloordiv__ __mod__ __rmod__ __pow__ __rpow__ "
    "__and__ __rand__ __or__ __ror__ __xor__ __rxor__ __lshift__ __rshift__ __neg__ __pos__ "
    "__abs__ __invert__ __int__ __float__ __complex__ __index__ __str__ __bytes__ __format__ "
    "__enter__ __exit__ __await__ __aiter__ __anext__ __aenter__ __aexit__ __hash__ __fspath__ "
    "__instancecheck__ __subclasscheck__ __copy__ __deepcopy__ __reduce_ex__ __round__").split()


class UnrecoveredValueUsed(BaseException):
    """The code under test looked at a value that the event did not carry."""


class _Namespace(object):
    def __init__(self, names, uses):
        self._names = names
        self._uses = uses
        self._made = {}

    def __getattr__(self, name):
        # whoever looks the module over (a collector) must not get a stand-in it did not ask for
        if name not in self._names:
            raise AttributeError(name)
        if name not in self._made:
            self._made[name] = _make(name, self._uses)
        return self._made[name]


def _make(name, uses):
    def touched(operation):
        uses.append([name, operation])
        raise UnrecoveredValueUsed("%s: %s" % (name, operation))

    def method(operation):
        def call(self, *args, **kwargs):
            touched(operation)

        return call

    namespace = {operation: method(operation) for operation in _OPERATIONS}
    namespace["__getattribute__"] = lambda self, attribute: touched("." + str(attribute))
    namespace["__setattr__"] = lambda self, attribute, value: touched("." + str(attribute) + " =")
    namespace["__repr__"] = lambda self: "sentinel." + name
    return type("Unrecovered", (object,), namespace)()


def install(names):
    """Replace the factory by one that knows only ``names``; return the list that will hold ``[name, operation]`` pairs."""
    uses = []
    unittest.mock.sentinel = _Namespace(frozenset(names), uses)
    return uses
