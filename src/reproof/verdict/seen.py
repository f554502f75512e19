"""The guest's report, read as the claim it is: every field is checked before it gets a type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reproof.domain.event import JSON


MAX_DEPTH = 20
"""Groups nested deeper than this are read down to here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenFrame:
    """One frame of the replay's traceback, outermost (the test) first."""

    file: str
    """Tree-relative where `in_tree`, absolute elsewhere."""
    in_tree: bool
    is_test: bool
    function: str
    qualname: str | None
    line: int
    module: str | None
    text: str
    variables: Mapping[str, JSON] | None
    sets: frozenset[str] = frozenset()
    """The variables that are sets, shown in an order that differs between processes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenException:
    """The exception that ended a phase."""

    type: str
    module: str
    message: str
    chain: tuple[tuple[str, str], ...]
    """(class name, module) of its causes, oldest first."""
    members: tuple[SeenException, ...] | None
    frames: tuple[SeenFrame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenPhase:
    """One of pytest's phases: `collect`, `setup`, `call` or `teardown`."""

    when: str
    outcome: str
    exception: SeenException | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenReplay:
    """What pytest said about one replay."""

    exit: int
    collected: int
    collect_error: str | None
    phases: tuple[SeenPhase, ...]
    sentinel_uses: tuple[tuple[str, str], ...]
    executable: str = ""
    python: str = ""

    def phase(self, when: str) -> SeenPhase | None:
        """Return the last phase of that name."""
        return next((p for p in reversed(self.phases) if p.when == when), None)


def read_replay(report: Mapping[str, JSON] | None) -> SeenReplay | None:
    """Return the report as a `SeenReplay`, or `None` when it is not one."""
    if report is None or not isinstance(report.get("phases"), list):
        return None
    return SeenReplay(
        exit=_int(report.get("exit")),
        collected=_int(report.get("collected")),
        collect_error=_text(report.get("collect_error")) or None,
        phases=tuple(
            SeenPhase(
                when=_text(p.get("when")),
                outcome=_text(p.get("outcome")),
                exception=read_exception(p.get("exception")),
            )
            for p in _maps(report.get("phases"))
        ),
        sentinel_uses=tuple(_use(pair) for pair in _list(report.get("sentinel_uses"))),
        executable=_text(report.get("executable")),
        python=".".join(str(_int(n)) for n in _list(report.get("python"))),
    )


def read_exception(told: JSON | None, depth: int = 0) -> SeenException | None:
    """Return one exception's description, or `None` when it is not one."""
    if not isinstance(told, dict) or depth > MAX_DEPTH:
        return None
    members = told.get("members")
    read = [read_exception(m, depth + 1) for m in _list(members)]
    return SeenException(
        type=_text(told.get("type")),
        module=_text(told.get("module")),
        message=_text(told.get("message")),
        chain=tuple(
            (_text(c.get("type")), _text(c.get("module"))) for c in _maps(told.get("chain"))
        ),
        members=tuple(m for m in read if m is not None) if isinstance(members, list) else None,
        frames=tuple(
            SeenFrame(
                file=_text(f.get("file")),
                in_tree=f.get("in_tree") is True,
                is_test=f.get("is_test") is True,
                function=_text(f.get("function")),
                qualname=_text(f.get("qualname")) or None,
                line=_int(f.get("line")),
                module=_text(f.get("module")) or None,
                text=_text(f.get("text")),
                variables=_mapping(f.get("locals")),
                sets=frozenset(_text(name) for name in _list(f.get("sets"))),
            )
            for f in _maps(told.get("frames"))
        ),
    )


def _use(told: JSON) -> tuple[str, str]:
    """Read one use of a stand-in; one that cannot be read was a use all the same."""
    match told:
        case [str() as name, str() as operation]:
            return name, operation
        case _:
            return "?", "?"


def _list(value: JSON | None) -> list[JSON]:
    return value if isinstance(value, list) else []


def _maps(value: JSON | None) -> list[dict[str, JSON]]:
    return [item for item in _list(value) if isinstance(item, dict)]


def _mapping(value: JSON | None) -> Mapping[str, JSON] | None:
    return value if isinstance(value, dict) else None


def _text(value: JSON | None) -> str:
    return value if isinstance(value, str) else ""


def _int(value: JSON | None) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else -1
