"""Values as the SDK writes frame locals: JSON containers with `repr` text for leaves.

Runs beside the code under test on CPython 3.8 to 3.14: standard library only. The rules differ by
SDK version; `sdk=None` means the newest. Size is bounded by counting, never by a clock: the code
under test may have replaced the clock, and a slow `__repr__` is the run's own limit's business.
"""
# ruff: noqa: ANN401 - here a value is whatever the code under test has

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import Any

BREADTH = 10
DEPTH = 4
LEAF_LIMIT = 100_000
NODE_LIMIT = 20_000
CYCLIC = "<cyclic>"
BROKEN = "<broken repr>"
FAILED = "<failed to serialize, use init(debug=True) to see error logs>"
OVER_BUDGET = "<failed to serialize: over budget>"

_TEXT_TYPES = (str, bytes, bytearray, memoryview)
_WALKED_NOW = (tuple, list, set, frozenset, array)
_WALKED_BEFORE = (Sequence, AbstractSet)
_WALKED_SINCE = (2, 61)
_LIMITS = (((1, 14), 512), ((2, 34), 1024), ((2, 61), 100_000))
_SUFFIX = "..."


def serialize(value: Any, sdk: Sequence[int] | None = None, leaf_limit: int = LEAF_LIMIT) -> Any:
    """Return one local as JSON. Raises nothing that the value's own methods raise."""
    return _Serializer(sdk, leaf_limit, NODE_LIMIT).node(value, DEPTH)


def frame_locals(
    variables: Mapping[str, Any],
    sdk: Sequence[int] | None = None,
    leaf_limit: int = LEAF_LIMIT,
) -> dict[str, Any]:
    """Return all locals of a frame in their order; one budget of nodes serves them all."""
    serializer = _Serializer(sdk, leaf_limit, NODE_LIMIT)
    return {str(name): serializer.node(value, DEPTH) for name, value in list(variables.items())}


class _Serializer:
    """One call's rules, budget, and the containers that are being walked."""

    def __init__(self, sdk: Sequence[int] | None, leaf_limit: int, nodes: int) -> None:
        version = None if sdk is None else tuple(sdk)
        before = version is not None and version < _WALKED_SINCE
        self.walked: tuple[type, ...] = _WALKED_BEFORE if before else _WALKED_NOW
        self.limit = leaf_limit
        for bound, limit in _LIMITS:
            if version is not None and version < bound:
                self.limit = min(limit, leaf_limit)
                break
        self.nodes = nodes
        self.open: dict[int, Any] = {}

    def node(self, value: Any, depth: int) -> Any:
        """Return the value as JSON, `depth` containers deep at most."""
        self.nodes -= 1
        if self.nodes < 0:
            return OVER_BUDGET
        key = id(value)
        if key in self.open:
            return CYCLIC
        self.open[key] = value
        try:
            return self.content(value, depth)
        except BaseException:  # noqa: BLE001 - the SDK's own rule: whatever the value raises is text
            return FAILED
        finally:
            del self.open[key]

    def content(self, value: Any, depth: int) -> Any:
        """Return what stands for a value that is not yet being walked."""
        if depth <= 0:
            return self.leaf(value)
        own = getattr(type(value), "__sentry_repr__", None)
        if value is None or isinstance(value, (bool, int, float)):
            return self.leaf(value)
        if callable(own):
            return self.cut(str(own(value)))
        if isinstance(value, Mapping):
            return self.mapping(value, depth)
        if isinstance(value, self.walked) and not isinstance(value, _TEXT_TYPES):
            return self.sequence(value, depth)
        return self.leaf(value)

    def mapping(self, value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        """Return an object of the first items; keys are `str(key)`."""
        pairs = list(islice(value.items(), BREADTH))
        return {str(key): self.node(item, depth - 1) for key, item in pairs}

    def sequence(self, value: Any, depth: int) -> list[Any]:
        """Return an array of the first items."""
        return [self.node(item, depth - 1) for item in list(islice(value, BREADTH))]

    def leaf(self, value: Any) -> str:
        """Return `repr` text, cut to the limit."""
        kind = type(value)
        if (kind is str or kind is bytes) and len(value) > self.limit:
            # The text of a huge string is cut anyway: do not build all of it.
            value = value[: self.limit]
        try:
            text = repr(value)
        except Exception:  # noqa: BLE001 - the SDK's own rule
            return BROKEN
        return self.cut(text)

    def cut(self, text: str) -> str:
        """Return the text within the limit of bytes, ending in three dots when it was longer."""
        if len(text) * 4 <= self.limit:
            return text
        raw = text.encode("utf-8", "surrogatepass")
        if len(raw) <= self.limit:
            return text
        kept = raw[: self.limit - len(_SUFFIX)]
        return kept.decode("utf-8", "ignore") + _SUFFIX
