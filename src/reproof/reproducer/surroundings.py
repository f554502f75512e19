"""What around a call may matter: the clock, and the order of sets."""

from __future__ import annotations

import ast
from datetime import datetime
from typing import TYPE_CHECKING

from reproof.reproducer.source import own_nodes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reproof.domain.event import Event
    from reproof.reproducer.plan import Plan
    from reproof.reproducer.source import FunctionSite

_CLOCK = frozenset(
    {"now", "today", "utcnow", "time", "time_ns", "localtime", "gmtime", "strftime", "ctime"}
)
_ORDER = frozenset({"set", "frozenset", "hash", "id"})


def clock_of(event: Event) -> float | None:
    """Return the moment of the crash in seconds since 1970."""
    if event.timestamp is None:
        return None
    try:
        return datetime.fromisoformat(event.timestamp).timestamp()
    except (ValueError, OverflowError):
        return None


def uses_clock(sites: Iterable[FunctionSite]) -> bool:
    """Say whether a function on the stack looks at the clock in its own text."""
    return any(_names(site) & _CLOCK for site in sites)


def order_matters(sites: Iterable[FunctionSite], plan: Plan) -> bool:
    """Say whether the order of a set, which differs between processes, may decide something."""
    for site in sites:
        if _names(site) & _ORDER or (
            site.node is not None
            and any(isinstance(n, ast.Set | ast.SetComp) for n in own_nodes(site.node))
        ):
            return True
    values = [v.expression.node for _, v in plan.values if v.expression is not None]
    return any(
        isinstance(n, ast.Set)
        or (isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in _ORDER)
        for value in values
        for n in ast.walk(value)
    )


def _names(site: FunctionSite) -> set[str]:
    if site.node is None:
        return set()
    return {
        n.attr if isinstance(n, ast.Attribute) else n.id
        for n in own_nodes(site.node)
        if isinstance(n, ast.Name | ast.Attribute)
    }
