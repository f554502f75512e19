"""What a replay must show to be the captured crash."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reproof.domain.event import EMPTY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reproof.domain.event import JSON, ExceptionValue


MAX_DEPTH = 20
"""Groups nested deeper than this are compared down to here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedFrame:
    """One in-app frame of the captured stack, as it stands in the tree that is replayed on."""

    index: int
    """Its position in the event's frame list."""
    path: str
    function: str
    line: int
    statement: str | None
    """Normal form of the statement at `line`; `None` where the file cannot be parsed."""
    moved: bool
    """The line number differs from the captured one."""
    variables: Mapping[str, JSON]
    meta: Mapping[str, JSON] = field(default_factory=lambda: EMPTY)
    """What the sender or server notes about each variable (cut, scrubbed)."""


@dataclass(frozen=True, slots=True)
class Below:
    """A library's frame: where it lies differs by machine, what it is does not."""

    function: str | None
    file: str
    """Bare file name."""


@dataclass(frozen=True, slots=True)
class Group:
    """A tree of exception classes: a group's class and its members', in order."""

    type: str
    members: tuple[Group, ...] = ()
    module: str = "builtins"


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """The captured crash, in the terms the rules compare."""

    exception: ExceptionValue
    causes: tuple[tuple[str, str | None], ...]
    """(class name, module) of the causes, oldest first."""
    group: Group | None
    stack: tuple[ExpectedFrame, ...]
    """In-app frames, outermost first; the last one is the crash point. Never empty."""
    below: Below | None
    """The innermost frame where that lies under the crash point, in a library."""

    @property
    def crash(self) -> ExpectedFrame:
        """The crash point."""
        return self.stack[-1]


def causes_of(exceptions: tuple[ExceptionValue, ...]) -> tuple[tuple[str, str | None], ...]:
    """Return the classes of the causes of the exception that escaped, oldest first.

    Members of a group are not causes: they are told apart by the ids the SDK gives them.
    """
    raised = exceptions[-1]
    if raised.exception_id is None:
        return tuple((e.type, e.module) for e in exceptions[:-1])
    by_id = {e.exception_id: e for e in exceptions}
    causes: list[tuple[str, str | None]] = []
    current = raised
    for _ in exceptions:
        found = next(
            (
                e
                for e in by_id.values()
                if e.parent_id == current.exception_id and e.source in ("__cause__", "__context__")
            ),
            None,
        )
        if found is None:
            break
        causes.append((found.type, found.module))
        current = found
    return tuple(reversed(causes))


def group_of(exceptions: tuple[ExceptionValue, ...]) -> Group | None:
    """Return the tree of the exception group that escaped, or `None` when it is no group."""
    raised = exceptions[-1]
    if not raised.is_group or raised.exception_id is None:
        return None

    seen: set[int] = set()

    def build(value: ExceptionValue, depth: int) -> Group:
        # a sender's ids may name each other in circles: every exception is a member once
        seen.add(id(value))
        members = [
            e
            for e in exceptions
            if e.parent_id == value.exception_id
            and (e.source or "").startswith("exceptions[")
            and id(e) not in seen
        ]
        members.sort(key=lambda e: e.exception_id or 0)
        below = members if depth < MAX_DEPTH else []
        module = value.module or "builtins"
        return Group(value.type, tuple(build(m, depth + 1) for m in below), module)

    return build(raised, 0)
