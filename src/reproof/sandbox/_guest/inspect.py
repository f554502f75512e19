"""Say what the names in an event's reprs stand for here.  Runs inside the wall, CPython 3.8-3.14.

Request keys: ``imports`` (modules of the frames), ``names`` (bare or dotted names of classes and
functions), ``instances`` (dotted class names: which module globals hold one), ``root``, ``roots``.
A name resolves only to an object that says the same name of itself.
"""

import enum
import importlib
import sys

from . import tracing

MAX_FOUND = 4
MAX_FIELDS = 60
MAX_TUPLES = 100


def run(request):
    """Return what was found.

    ``{"errors": {module: text}, "names": {name: [fact]}, "instances": {name: [[module, global]]},
    "tuples": [fact]}``
    """
    tracing.prepare_path(request)
    errors = {}
    for module in request["imports"]:
        _load(module, errors)
    for name in request["names"] + request["instances"]:
        prefix = name.rpartition(".")[0]
        if prefix and prefix.split(".")[0] in _known_tops(request):
            _load_longest(prefix)
    order = _module_order(request)
    names, instances = {}, {}
    for name in request["names"]:
        _guarded(_find, name, order, names, errors)
    for name in request["instances"]:
        _guarded(_instances, name, order, instances, errors)
    return {"errors": errors, "names": names, "instances": instances, "tuples": _tuples(request),
            "python": list(sys.version_info[:3])}


def _guarded(look, name, order, into, errors):
    """One name's strange class (a metaclass, a descriptor) must not cost the others their answer."""
    try:
        found = look(name, order)
    except Exception as error:
        errors["name:" + name] = "%s: %s" % (type(error).__name__, str(error)[:300])
    else:
        if found:
            into[name] = found


def _tuples(request):
    found = {}
    for name in request["imports"]:
        for thing in list(getattr(sys.modules.get(name), "__dict__", {}).values()):
            # by the real type: a lazy proxy would answer isinstance() by running the target
            if type in type(thing).__mro__ and tuple in thing.__mro__ and hasattr(thing, "_fields"):
                fact = _fact(thing, thing.__module__ + "." + thing.__qualname__)
                if fact is not None and len(found) < MAX_TUPLES:
                    found[id(thing)] = fact
    return list(found.values())


def _known_tops(request):
    return {module.split(".")[0] for module in request["imports"]} | set(request.get("tops", ()))


def _load(module, errors):
    try:
        importlib.import_module(module)
    except BaseException as error:  # importing the target may raise anything; it is the finding
        errors[module] = "%s: %s" % (type(error).__name__, str(error)[:300])


def _load_longest(prefix):
    parts = prefix.split(".")
    for end in range(len(parts), 0, -1):
        errors = {}
        _load(".".join(parts[:end]), errors)
        if not errors:
            return


def _module_order(request):
    first = [sys.modules[name] for name in request["imports"] if name in sys.modules]
    root = request["root"] + "/"
    inside, outside = [], []
    for name in sorted(sys.modules):
        module = sys.modules[name]
        file = getattr(module, "__file__", None)
        if name.startswith(("_reproof_guest", "_pytest", "pytest", "pluggy")):
            continue
        (inside if isinstance(file, str) and file.startswith(root) else outside).append(module)
    return first + inside + outside


def _find(name, order):
    found, seen = [], set()
    bare = name.rpartition(".")[2]
    for module in order:
        namespace = getattr(module, "__dict__", None)
        if not isinstance(namespace, dict):
            continue
        for thing in _reach(namespace, module, name, bare):
            if id(thing) in seen:
                continue
            seen.add(id(thing))
            fact = _fact(thing, name)
            if fact is not None:
                found.append(fact)
            if len(found) >= MAX_FOUND:
                return found
    return found


def _reach(namespace, module, name, bare):
    if bare in namespace:
        yield namespace[bare]
    if "." in name:
        # Outer.Inner in this module, or module.Outer.Inner
        path = name.split(".")
        own = getattr(module, "__name__", "").split(".")
        if path[: len(own)] == own:
            path = path[len(own):]
        thing = namespace.get(path[0]) if path else None
        for part in path[1:]:
            thing = getattr(thing, "__dict__", {}).get(part) if thing is not None else None
        if thing is not None:
            yield thing


def _fact(thing, name):
    # a proxy answers getattr() by running the target, which may raise: then it is no class we know
    if not (type in type(thing).__mro__ or type(thing).__name__.endswith(
            ("function", "builtin_function_or_method", "_lru_cache_wrapper"))):
        return None
    module, qualname = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(qualname, str) or "<" in qualname:
        return None
    full = module + "." + qualname
    if not (full == name or full.endswith("." + name) or qualname == name
            or (name.startswith("__main__.") and qualname == name[9:])):
        return None
    if not _importable(thing, module, qualname):
        return None
    fact = {"module": module, "qualname": qualname, "fields": [], "members": [],
            "parameters": None, "repr_is_generated": False}
    if isinstance(thing, type):
        _describe_class(thing, fact)
    elif callable(thing):
        fact["kind"] = "function"
    else:
        return None
    return fact


def _importable(thing, module, qualname):
    here = sys.modules.get(module)
    for part in qualname.split("."):
        here = getattr(here, part, None)
        if here is None:
            return False
    return here is thing


def _describe_class(cls, fact):
    if issubclass(cls, enum.Enum):
        fact["kind"] = "enum"
        fact["members"] = [[key, _repr(member.value)]
                           for key, member in list(cls.__members__.items())[:500]]
        fact["repr_is_generated"] = True
        return
    if issubclass(cls, BaseException):
        fact["kind"] = "exception"
    elif "__dataclass_fields__" in cls.__dict__ or hasattr(cls, "__dataclass_fields__"):
        fact["kind"] = "dataclass"
        fact["fields"] = [_dataclass_field(field)
                          for field in cls.__dataclass_fields__.values()][:MAX_FIELDS]
        fact["repr_is_generated"] = _generated(cls, "dataclasses")
    elif hasattr(cls, "__attrs_attrs__"):
        fact["kind"] = "attrs"
        fact["fields"] = [_attrs_field(field) for field in cls.__attrs_attrs__][:MAX_FIELDS]
        fact["repr_is_generated"] = True
    elif hasattr(cls, "model_fields") or hasattr(cls, "__fields__"):
        fact["kind"] = "pydantic"
        fact["fields"] = _pydantic_fields(cls)[:MAX_FIELDS]
        fact["repr_is_generated"] = True
    elif issubclass(cls, tuple) and hasattr(cls, "_fields"):
        fact["kind"] = "namedtuple"
        defaults = getattr(cls, "_field_defaults", {})
        fact["fields"] = [[name, True, name in defaults, False] for name in cls._fields]
        fact["repr_is_generated"] = True
    else:
        fact["kind"] = "plain"
    fact["parameters"] = _parameters(cls)
    fact["properties"] = sorted({
        name for base in cls.__mro__ for name, value in base.__dict__.items()
        if isinstance(name, str) and isinstance(value, property) and value.fset is None})[:500]


def _dataclass_field(field):
    missing = sys.modules["dataclasses"].MISSING
    default = field.default is not missing or field.default_factory is not missing
    return [field.name, bool(field.init), default, bool(getattr(field, "kw_only", False) is True)]


def _attrs_field(field):
    import attr

    alias = getattr(field, "alias", None) or field.name.lstrip("_")
    return [field.name, bool(field.init), field.default is not attr.NOTHING, bool(field.kw_only),
            alias if alias != field.name else None]


def _pydantic_fields(cls):
    fields = cls.__dict__.get("__pydantic_fields__") or getattr(cls, "__fields__", {})
    told = []
    for name, field in fields.items():
        required = field.is_required() if callable(getattr(field, "is_required", None)) \
            else getattr(field, "required", True)
        told.append([name, True, not required, True, getattr(field, "alias", None)])
    return told


def _generated(cls, module):
    return getattr(cls.__repr__, "__module__", module) in (module, None, cls.__module__) and \
        "__create_fn__" in getattr(cls.__repr__, "__qualname__", "") or \
        "<locals>" in getattr(cls.__repr__, "__qualname__", "") or \
        hasattr(cls.__repr__, "__wrapped__")


def _parameters(cls):
    # the guest avoids `inspect`: it is slow to import and runs code of the target's descriptors
    init = cls.__dict__.get("__init__")
    for base in cls.__mro__:
        if init is None:
            init = base.__dict__.get("__init__")
    code = getattr(init, "__code__", None)
    if code is None:
        return None
    positional = code.co_varnames[1: code.co_argcount]
    keyword = code.co_varnames[code.co_argcount: code.co_argcount + code.co_kwonlyargcount]
    defaults = len(init.__defaults__ or ())
    named = init.__kwdefaults__ or {}
    told = [[name, "positional_or_keyword", index >= len(positional) - defaults]
            for index, name in enumerate(positional)]
    told += [[name, "keyword_only", name in named] for name in keyword]
    if code.co_flags & 0x04:
        told.append(["*", "var_positional", True])
    if code.co_flags & 0x08:
        told.append(["**", "var_keyword", True])
    return told[:MAX_FIELDS]


def _instances(name, order):
    found = []
    for module in order:
        namespace = getattr(module, "__dict__", None)
        if not isinstance(namespace, dict):
            continue
        for key, value in list(namespace.items()):
            if _full_name(type(value)) == name and key.isidentifier() and not key.startswith("__"):
                found.append([module.__name__, key])
                if len(found) >= MAX_FOUND:
                    return found
    return found


def _full_name(cls):
    # a class may define __module__ as anything, a descriptor included
    module = cls.__dict__.get("__module__", getattr(cls, "__module__", None))
    return "%s.%s" % (module, cls.__qualname__) if isinstance(module, str) else None


def _repr(value):
    try:
        return repr(value)[:500]
    except Exception as error:  # a member's own __repr__ may raise anything
        return "<repr raised %s>" % type(error).__name__
