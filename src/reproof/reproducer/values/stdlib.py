"""Builtin and standard library reprs: each form is listed with the arguments it can have."""

from __future__ import annotations

import ast
import builtins
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reproof.reproducer.values import expression as make
from reproof.reproducer.values.call import Keywords, constructor, kind_of
from reproof.reproducer.values.containers import is_hashable
from reproof.reproducer.values.place import single
from reproof.reproducer.values.provenance import Decoded, Provenance

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reproof.reproducer.values.call import Builder, Call
    from reproof.reproducer.values.expression import Expression

BUILTIN_EXCEPTIONS = frozenset(
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException) and value.__name__ == name
) | {"ExceptionGroup", "BaseExceptionGroup"}

_DECIMAL = re.compile(r"[-+]?(?:\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|Infinity|s?NaN\d*)")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ADDRESS = re.compile(r"[0-9a-fA-F:.]{2,45}(?:%[\w.-]{1,30})?(?:/\d{1,3})?")
_ZONE = re.compile(r"[A-Za-z0-9_+\-]+(?:/[A-Za-z0-9_+\-]+){0,3}")
_TYPECODE = re.compile(r"[bBuwhHiIlLqQfd]")
_REGEX_FLAGS = frozenset(
    {"ASCII", "DEBUG", "DOTALL", "IGNORECASE", "LOCALE", "MULTILINE", "UNICODE", "VERBOSE",
     "TEMPLATE", "NOFLAG"}
)  # fmt: skip
_ANY = frozenset({"*"})
_INT = frozenset({"int"})
_STR = frozenset({"str"})
_NUMBER = frozenset({"int", "float"})


@dataclass(frozen=True, slots=True)
class _Form:
    """What may stand between the parentheses, and what it becomes."""

    module: str
    name: str
    positional: tuple[frozenset[str], ...] = ()
    required: int = 0
    keywords: Mapping[str, frozenset[str]] = field(default_factory=dict)
    text: re.Pattern[str] | None = None
    """What the first argument's characters must be."""

    def build(self, positional: Sequence[Expression], keywords: Keywords) -> Expression | None:
        if not self.required <= len(positional) <= len(self.positional):
            return None
        kinds = [kind_of(one.node) for one in positional]
        pairs = zip(kinds, self.positional, strict=False)
        if not all("*" in allowed or kind in allowed for kind, allowed in pairs):
            return None
        for name, value in keywords:
            allowed = self.keywords.get(name, frozenset())
            if "*" not in allowed and kind_of(value.node) not in allowed:
                return None
        if self.text is not None:
            first = positional[0].node if positional else keywords[0][1].node
            content = first.value if isinstance(first, ast.Constant) else None
            if not isinstance(content, str) or self.text.fullmatch(content) is None:
                return None
        return constructor(self.target(), positional, keywords)

    def target(self) -> Expression:
        return make.reference(self.module, self.name) if self.module else make.builtin(self.name)


def _text_form(module: str, name: str, pattern: re.Pattern[str] | None = None) -> _Form:
    return _Form(module, name, (_STR,), 1, text=pattern)


_TZ = {"tzinfo": _ANY, "fold": _INT}
_FORMS: dict[str, _Form] = {
    "Decimal": _text_form("decimal", "Decimal", _DECIMAL),
    "Fraction": _Form("fractions", "Fraction", (_INT, _INT), 2),
    "datetime.datetime": _Form("datetime", "datetime", (_INT,) * 7, 3, _TZ),
    "datetime.date": _Form("datetime", "date", (_INT,) * 3, 3),
    "datetime.time": _Form("datetime", "time", (_INT,) * 4, 2, _TZ),
    "datetime.timedelta": _Form(
        "datetime", "timedelta", (_INT,) * 3, 0,
        {"days": _INT, "seconds": _INT, "microseconds": _INT},
    ),
    "datetime.timezone": _Form("datetime", "timezone", (frozenset({"timedelta"}), _STR), 1),
    "zoneinfo.ZoneInfo": _Form("zoneinfo", "ZoneInfo", (), 0, {"key": _STR}, _ZONE),
    "UUID": _text_form("uuid", "UUID", _UUID),
    "PosixPath": _text_form("pathlib", "Path"),
    "PurePosixPath": _text_form("pathlib", "PurePosixPath"),
    "PureWindowsPath": _text_form("pathlib", "PureWindowsPath"),
    "pathlib.PosixPath": _text_form("pathlib", "Path"),
    "range": _Form("", "range", (_INT,) * 3, 2),
    "slice": _Form("", "slice", (_ANY,) * 3, 3),
    "bytearray": _Form("", "bytearray", (frozenset({"bytes"}),), 1),
    "types.SimpleNamespace": _Form("types", "SimpleNamespace"),
    "mappingproxy": _Form("types", "MappingProxyType", (_ANY,), 1),
    "operator.itemgetter": _Form("operator", "itemgetter", (_ANY,) * 8, 1),
    "operator.attrgetter": _Form("operator", "attrgetter", (_STR,) * 8, 1),
    "array": _Form("array", "array", (_STR, frozenset({"list", "str", "bytes"})), 1,
                   text=_TYPECODE),
}  # fmt: skip
_FORMS.update(
    (f"IPv{version}{kind}", _text_form("ipaddress", f"IPv{version}{kind}", _ADDRESS))
    for version in (4, 6)
    for kind in ("Address", "Network", "Interface")
)

_NAMES: dict[str, Callable[[], Expression]] = {
    "Ellipsis": lambda: make.constant(...),
    "NotImplemented": lambda: make.builtin("NotImplemented"),
    "nan": lambda: make.constant(float("nan")),
    "NaN": lambda: make.constant(float("nan")),
    "inf": lambda: make.constant(float("inf")),
    "datetime.timezone.utc": lambda: make.attribute(make.reference("datetime", "timezone"), "utc"),
}


def decode_known_name(dotted: str) -> Decoded | None:
    """Return the value of a bare or dotted name that a repr may show, or `None`."""
    maker = _NAMES.get(dotted)
    if maker is not None:
        literal = "." not in dotted
        return single(maker(), Provenance.LITERAL if literal else Provenance.CONSTRUCTED)
    head, _, flag = dotted.partition(".")
    if head == "re" and flag in _REGEX_FLAGS:
        return single(make.member("re", flag), Provenance.CONSTRUCTED)
    return None


def decode_known_call(call: Call) -> Decoded | None:
    """Return the value of a builtin or standard library form; `None` when the name is none."""
    builder = _BUILDERS.get(call.name)
    form = _FORMS.get(call.name)
    if call.name in {"set", "frozenset"}:
        return call.build(_set_builder(call.name), provenance=Provenance.LITERAL)
    if builder is not None:
        ambiguous = call.name.startswith("dict_")
        note = "only the view was captured, not its dict" if ambiguous else ""
        return call.build(builder, note=note, ambiguous=ambiguous)
    if form is not None:
        plain = call.name in {"range", "slice", "bytearray"}
        return call.build(
            form.build, provenance=Provenance.LITERAL if plain else Provenance.CONSTRUCTED
        )
    if call.name in BUILTIN_EXCEPTIONS and not call.keywords:
        return call.build(lambda given, _: make.call(make.builtin(call.name), given))
    return None


def _set_builder(name: str) -> Builder:
    def build(positional: Sequence[Expression], keywords: Keywords) -> Expression | None:
        if keywords or len(positional) > 1:
            return None
        if not positional:
            return make.call(make.builtin(name))
        inner = positional[0]
        if name != "frozenset" or not isinstance(inner.node, ast.Set):
            return None
        return make.call(make.builtin(name), [inner])

    return build


def _container(name: str, allowed: frozenset[str]) -> Builder:
    """Build a `collections` class from one container argument."""

    def build(positional: Sequence[Expression], keywords: Keywords) -> Expression | None:
        if keywords or len(positional) > 1:
            return None
        if any(kind_of(one.node) not in allowed for one in positional):
            return None
        return make.call(make.reference("collections", name), positional)

    return build


def _deque(positional: Sequence[Expression], keywords: Keywords) -> Expression | None:
    if len(positional) != 1 or not isinstance(positional[0].node, ast.List):
        return None
    if any(name != "maxlen" or kind_of(value.node) != "int" for name, value in keywords):
        return None
    return make.call(make.reference("collections", "deque"), positional, keywords)


def _defaultdict(positional: Sequence[Expression], keywords: Keywords) -> Expression | None:
    if keywords or len(positional) != 2 or not isinstance(positional[1].node, ast.Dict):  # noqa: PLR2004
        return None
    return make.call(make.reference("collections", "defaultdict"), positional)


def _chain_map(positional: Sequence[Expression], keywords: Keywords) -> Expression | None:
    if keywords or any(kind_of(one.node) == "int" for one in positional):
        return None
    return make.call(make.reference("collections", "ChainMap"), positional)


def _namespace(positional: Sequence[Expression], keywords: Keywords) -> Expression | None:
    if positional:
        return None
    return make.call(make.reference("types", "SimpleNamespace"), [], keywords)


def _pattern(positional: Sequence[Expression], keywords: Keywords) -> Expression | None:
    if keywords or not 1 <= len(positional) <= 2:  # noqa: PLR2004
        return None
    if kind_of(positional[0].node) not in {"str", "bytes"}:
        return None
    if any(kind_of(flags.node) != "other" for flags in positional[1:]):
        return None
    return make.call(make.member("re", "compile"), positional)


def _partial(positional: Sequence[Expression], keywords: Keywords) -> Expression | None:
    if not positional or kind_of(positional[0].node) != "other":
        return None
    return make.call(make.reference("functools", "partial"), positional, keywords)


def _view(method: str) -> Builder:
    """Build `dict_keys([...])` and its siblings from a dict that has such a view."""

    def build(positional: Sequence[Expression], keywords: Keywords) -> Expression | None:
        if keywords or len(positional) != 1 or not isinstance(positional[0].node, ast.List):
            return None
        inner = positional[0]
        if method == "keys":
            if not all(is_hashable(one) for one in positional[0].node.elts):
                return None
            inner = make.call(make.attribute(make.builtin("dict"), "fromkeys"), [inner])
        elif method == "values":
            counted = make.call(make.builtin("enumerate"), [inner])
            inner = make.call(make.builtin("dict"), [counted])
        else:
            inner = make.call(make.builtin("dict"), [inner])
        return make.call(make.attribute(inner, method))

    return build


_BUILDERS: dict[str, Builder] = {
    "deque": _deque,
    "defaultdict": _defaultdict,
    "OrderedDict": _container("OrderedDict", frozenset({"dict", "list"})),
    "Counter": _container("Counter", frozenset({"dict"})),
    "ChainMap": _chain_map,
    "namespace": _namespace,
    "re.compile": _pattern,
    "functools.partial": _partial,
    "dict_keys": _view("keys"),
    "dict_values": _view("values"),
    "dict_items": _view("items"),
}

KNOWN_BARE_NAMES = frozenset(name for name in (*_FORMS, *_BUILDERS) if "." not in name)
"""Bare names that the standard library's reprs use; a repository may use them as well."""
