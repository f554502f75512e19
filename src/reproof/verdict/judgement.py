"""The answer to one event, and its form as the `reproof/verdict/1` document.

Every section is a small frozen record; `Verdict.to_json` writes all keys of the schema, the empty
ones too, so that a reader never has to guess whether something is absent or was forgotten.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reproof.domain.event import JSON, IssueInfo
    from reproof.domain.refusal import RefusalReason
    from reproof.domain.run import Isolation
    from reproof.verdict.rules import Fidelity

SCHEMA = "reproof/verdict/1"
_NO_SURROUNDINGS: dict[str, JSON] = {
    "time": None,
    "tz": None,
    "hash_seed": None,
    "argv": None,
}


class Status(StrEnum):
    """What became of the event."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not_reproduced"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExceptionReport:
    """The captured exception."""

    type: str
    module: str | None
    message: str
    chain: tuple[str, ...] = ()
    """Classes of its causes, oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashPoint:
    """Where it was raised through, in this tree."""

    file: str
    line: int | None
    function: str
    context_line: str
    source_match: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryReport:
    """What the test calls."""

    file: str
    function: str
    frame_index: int
    reach: str
    """`outermost`, `outer` or `inner`, among the in-app frames."""
    bypassed: tuple[str, ...]
    kind: str
    call: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueReport:
    """One value of the test and where it came from."""

    name: str
    provenance: str
    text: str
    round_trip: bool | None
    """Serialised again it gave the captured text; `None` when there was none to compare with."""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One replay of the search."""

    entry: str
    outcome: str
    detail: str
    duration_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmations:
    """Rule 5, and the control."""

    runs: int = 0
    agreeing: int = 0
    control_passed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Differential:
    """The same test on the revision that crashed and on the tree as it is."""

    crash_revision: str | None = None
    there: str | None = None
    here: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EmittedTest:
    """The test file that was written."""

    path: str
    sha256: str
    bytes: int
    data: str | None = None
    """Path of the data file beside it, when long values were moved there."""
    command: str = ""
    """How to run it, from the root of the tree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentReport:
    """The interpreter that the replays ran in."""

    python: str
    kind: str
    packages: int
    lock_sha256: str
    mismatches: tuple[str, ...] = ()
    """Distributions that differ from the event's."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """Seconds spent, by stage."""

    total_s: float = 0.0
    fetch_s: float = 0.0
    plan_s: float = 0.0
    sandbox_s: float = 0.0
    tests_run: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The whole answer to one event."""

    status: Status
    reason: RefusalReason | None
    summary: str
    issue: IssueInfo | None = None
    event_id: str = ""
    exception: ExceptionReport | None = None
    crash_point: CrashPoint | None = None
    entry: EntryReport | None = None
    values: tuple[ValueReport, ...] = ()
    fidelity: Fidelity | None = None
    attempts: tuple[Attempt, ...] = ()
    confirmations: Confirmations = field(default_factory=Confirmations)
    differential: Differential = field(default_factory=Differential)
    surroundings: Mapping[str, JSON] = field(default_factory=dict)
    test: EmittedTest | None = None
    test_text: str = ""
    """The emitted module's text; not part of the document."""
    isolation: Isolation | None = None
    environment: EnvironmentReport | None = None
    advice: tuple[str, ...] = ()
    timings: Timings = field(default_factory=Timings)

    def to_json(self) -> dict[str, JSON]:
        """Return the `reproof/verdict/1` document."""
        issue = self.issue
        return {
            "schema": SCHEMA,
            "status": str(self.status),
            "reason": None if self.reason is None else str(self.reason),
            "summary": self.summary,
            "issue": {
                "id": issue.id if issue else "",
                "url": issue.url if issue else "",
                "event_id": self.event_id,
                "first_seen": issue.first_seen if issue else "",
                "last_seen": issue.last_seen if issue else "",
                "count": issue.count if issue else 0,
            },
            "exception": _record(self.exception),
            "crash_point": _record(self.crash_point),
            "entry": _record(self.entry),
            "values": [_record(v) for v in self.values],
            "fidelity": _record(self.fidelity),
            "attempts": [_record(a) for a in self.attempts],
            "confirmations": _record(self.confirmations),
            "differential": _record(self.differential),
            "surroundings": _NO_SURROUNDINGS | dict(self.surroundings),
            "test": _record(self.test),
            "sandbox": _isolation(self.isolation),
            "environment": _record(self.environment),
            "redactions": {},
            "artifact": None,
            "pull_request": None,
            "advice": list(self.advice),
            "timings": _record(self.timings),
        }


def _record(record: object) -> JSON:
    if record is None:
        return None
    made: dict[str, JSON] = {}
    for key, value in asdict(record).items():  # type: ignore[call-overload]
        made[key] = list(value) if isinstance(value, tuple) else value
    return made


def _isolation(isolation: Isolation | None) -> JSON:
    if isolation is None:
        return None
    return {
        "backend": isolation.backend,
        "level": isolation.level,
        "network": isolation.network,
        "uid": isolation.uid,
        "limits": dict(isolation.limits),
        "achieved": dict(isolation.achieved),
        "not_achieved": list(isolation.not_achieved),
    }
