"""Try the plans behind the wall until the outermost one that holds is found, and confirm it.

The order is decided here; what a run means is decided by `verdict.rules` alone.
"""

from __future__ import annotations

import ast
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from reproof import outside
from reproof.domain.refusal import RefusalReason
from reproof.domain.run import Job, JobKind
from reproof.domain.text import shown
from reproof.reproducer import doubts
from reproof.reproducer.plan import Plan, plans_for
from reproof.reproducer.source import EntryKind
from reproof.reproducer.surroundings import clock_of, uses_clock
from reproof.reproducer.synthesize import Emitted, synthesize
from reproof.reproducer.wording import data_name, file_name
from reproof.verdict.capture import agrees
from reproof.verdict.judgement import Attempt, Confirmations
from reproof.verdict.rules import Outcome, judge_replay
from reproof.verdict.seen import read_replay

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reproof.domain.event import JSON
    from reproof.domain.run import Limits, RunRecord
    from reproof.reproducer.recover import Recovery
    from reproof.sandbox.interface import Session
    from reproof.verdict.expectation import Expectation

MAX_ATTEMPTS = 40
MAX_ENTRIES = 12
CONFIRMATIONS = 3
CLOCK_SHIFT_S = 3 * 86_400 + 12 * 3_600 + 1.5
"""Another weekday, another half of the day, another second, odd for even."""


class Progress(Protocol):
    """Told what is going on; whoever calls decides what to show of it."""

    def stage(self, name: str) -> None:
        """Take note that a new stage has begun."""
        ...

    def attempt(self, entry: str, outcome: str) -> None:
        """Take note that one replay has ended."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A plan whose replay is the captured crash, confirmed."""

    plan: Plan
    emitted: Emitted
    """The module that was judged: it fails while the crash is there."""
    shipped: Emitted
    """The module to write: the same, or the variant that expects the exception."""
    frozen: str | None
    """The moment the test freezes the clock at, where the runs showed that it matters."""
    outcome: Outcome
    confirmations: Confirmations
    round_trips: Mapping[str, bool]
    """Value name -> serialised again it gave the captured text (only where comparable)."""


@dataclass(slots=True)
class Bench:
    """Runs jobs of one case on one tree in one session."""

    session: Session
    root: str
    """Absolute path of the tree."""
    roots: tuple[str, ...]
    """Absolute import roots."""
    folder: str
    """Tree-relative folder that the test is put in."""
    sdk: tuple[int, ...] | None
    limits: Limits
    deadline: float
    """`time.monotonic` value after which nothing new is begun."""
    environment: Mapping[str, str] = field(default_factory=dict)
    runs: int = 0
    spent_s: float = 0.0

    def replay(
        self,
        emitted: Emitted,
        name: str,
        *,
        watch: Plan | None = None,
        crash: tuple[str, tuple[int, ...]] = ("", ()),
        clock: float | None = None,
        argv: tuple[str, ...] = (),
    ) -> RunRecord:
        """Run a test module; the incomplete values of the plan `watch` tell on who uses them.

        With `clock` (seconds since 1970), the run takes place at that time; `argv` are the words
        that pytest seems to have been started with.
        """
        path = "/".join(p for p in (self.folder, name) if p)
        files = {path: emitted.text.encode()}
        if emitted.data is not None:
            files[data_name(path)] = emitted.data.encode()
        request: dict[str, JSON] = {
            "test": f"{self.root}/{path}",
            **(_watched(watch, crash) if watch else {}),
            "clock": clock,
            "argv": ["pytest", *argv],
            **self._common(),
        }
        return self._run(
            Job(
                kind=JobKind.REPLAY,
                request=request,
                limits=self._limits(),
                files=files,
                environment=self.environment,
            )
        )

    def control(self, source: str) -> RunRecord:
        """Build a plan's values without making its call."""
        return self._run(
            Job(
                kind=JobKind.CONTROL,
                limits=self._limits(),
                request={"source": source, **self._common()},
                environment=self.environment,
            )
        )

    def inspect(self, request: Mapping[str, JSON]) -> RunRecord:
        """Ask what names stand for in the target."""
        return self._run(
            Job(
                kind=JobKind.INSPECT,
                limits=self._limits(),
                request={**request, **self._common()},
                environment=self.environment,
            )
        )

    @property
    def expired(self) -> bool:
        """Say whether the case's time is used up."""
        return time.monotonic() >= self.deadline

    def _common(self) -> dict[str, JSON]:
        return {
            "root": self.root,
            "roots": list(self.roots),
            "sdk": list(self.sdk) if self.sdk else None,
        }

    def _limits(self) -> Limits:
        left = max(0.5, self.deadline - time.monotonic())
        return replace(self.limits, wall_s=min(self.limits.wall_s, left))

    def _run(self, job: Job) -> RunRecord:
        started = time.monotonic()
        try:
            return self.session.run(job)
        finally:
            self.runs += 1
            self.spent_s += time.monotonic() - started


def _watched(plan: Plan, crash: tuple[str, tuple[int, ...]]) -> dict[str, JSON]:
    """Return what the guest is to look at: the values of which not all is known."""
    return {
        "sentinels": list(plan.sentinels),
        "opaque": list(plan.opaque),
        "crash": [crash[0], list(crash[1])],
        "stand_ins": [
            {
                "module": one.module,
                "qualname": one.qualname,
                "kind": "partial" if one.partial else "made",
                "known": list(one.known),
                "given": list(one.given),
                "shown": one.shown,
            }
            for one in plan.stand_ins
        ],
    }


@dataclass(slots=True)
class Search:
    """The bounded search over one case's plans."""

    bench: Bench
    recovery: Recovery
    expected: Expectation
    progress: Progress
    expect_raises: bool = False
    attempts: list[Attempt] = field(default_factory=list)
    outcomes: list[tuple[Plan, Outcome]] = field(default_factory=list)

    def run(self) -> Found | None:
        """Return the outermost plan that holds, or `None`; `attempts` keeps what was tried."""
        positions = self._positions()
        kinds = {p: self.recovery.views[p].site.kind for p in positions}
        modules = [p for p in positions if kinds[p] is EntryKind.MODULE]
        # a whole script does all that it does, servers and senders included: the last resort
        functions = [p for p in positions if p not in modules]
        return self._outermost(functions) or self._outermost(modules)

    def _outermost(self, positions: list[int]) -> Found | None:
        """Try each entry's best plan first, then the others of those further out than a find."""
        waiting = {p: plans_for(self.recovery, p) for p in positions}
        best: Found | None = None
        while waiting and not self._over():
            for position in sorted(waiting):
                plan = next(waiting[position], None)
                if plan is None:
                    del waiting[position]
                    continue
                if self._over():
                    break
                found = self._try(plan)
                if found is not None:
                    best = found
                    waiting = {p: plans for p, plans in waiting.items() if p < position}
                    break
        return best

    def _positions(self) -> list[int]:
        count = len(self.recovery.views)
        if count <= MAX_ENTRIES:
            return list(range(count))
        # a deep stack is mostly recursion: its outer frames matter most, then the innermost
        return [*range(MAX_ENTRIES - 3), *range(count - 3, count)]

    def _over(self) -> bool:
        return self.bench.expired or len(self.attempts) >= MAX_ATTEMPTS

    def _try(self, plan: Plan) -> Found | None:
        started = time.monotonic()
        event = self.recovery.event
        emitted = synthesize(plan, event)
        name = file_name(plan, event)
        clock = clock_of(event) if uses_clock(v.site for v in self.recovery.views) else None
        lines = doubts.deciding_lines(self.recovery.views[-1].site)
        crash = (self.expected.crash.path, lines)
        record = self.bench.replay(emitted, name, watch=plan, crash=crash, clock=clock)
        outcome = judge_replay(self.expected, record, self.recovery.index.statement)
        found = None
        if outcome.reproduced:
            outcome = self._surrounded(record, outcome)
        if outcome.reproduced:
            outcome = self._doubted(plan, outcome)
        if outcome.reproduced:
            found, outcome = self._confirm(plan, emitted, outcome)
        self._note(plan, emitted, outcome, time.monotonic() - started)
        return found

    def _surrounded(self, record: RunRecord, outcome: Outcome) -> Outcome:
        """Return the outcome, refused where the wall may have decided it."""
        path = outside.hidden_path(record.report)
        if path is not None:
            said = f"the code asks for {shown(path)}, which is not the same behind the wall"
            return replace(outcome, reason=RefusalReason.FILE_NEEDED, detail=said)
        program = outside.started_program(record.report)
        variable = outside.missed_variable(record.report, self.recovery.event.raised)
        if program is not None:
            said = f"the code starts {shown(program)}, whose answer is not in the event"
        elif variable is not None:
            said = f"the code needs the variable {shown(variable)}, which is not set here"
        else:
            return outcome
        return replace(outcome, reason=RefusalReason.ENVIRONMENT, detail=said)

    def _doubted(self, plan: Plan, outcome: Outcome) -> Outcome:
        """Return the outcome, refused where another state than the captured one may have raised."""
        event = self.recovery.event
        site = self.recovery.views[-1].site
        several = event.raised.type == "KeyError" and doubts.lookups(site) != 1
        taken = doubts.taken_from(plan, self.recovery.index)
        typed = doubts.misread(plan, event.raised.message or "") if several else None
        said = ""
        if taken is not None:
            said = f"{taken} is known as it was at the crash, and the code took something out of it"
        elif plan.left_open is not None:
            said = f"{plan.left_open} was not captured, and the code reads it"
        elif typed is not None:
            said = f"the keys of {typed} may be of another type, and the line makes several lookups"
        if said:
            return replace(outcome, reason=RefusalReason.UNRECOVERABLE_VALUE, detail=said)
        cut = doubts.cut_mapping(plan) if several else None
        if cut is None:
            longer = doubts.widened(plan)
            if longer is None:
                return outcome
            record = self.bench.replay(synthesize(longer, event), file_name(plan, event))
            again = judge_replay(self.expected, record, self.recovery.index.statement)
            if again.reproduced:
                return outcome
        return replace(
            outcome,
            reason=RefusalReason.TRUNCATED_VALUE_NEEDED,
            detail=f"{cut or 'a list'} is shown with ten items, which may not be all, and it "
            "matters how many there are",
        )

    def _note(self, plan: Plan, emitted: Emitted, outcome: Outcome, seconds: float) -> None:
        entry = f"{plan.view.site.module}.{plan.view.site.qualname}"
        said = "reproduced" if outcome.reason is None else str(outcome.reason)
        detail = f"{emitted.call}: {outcome.detail}"
        self.attempts.append(
            Attempt(entry=entry, outcome=said, detail=detail, duration_s=round(seconds, 4))
        )
        self.outcomes.append((plan, outcome))
        self.progress.attempt(entry, said)

    def _confirm(
        self, plan: Plan, emitted: Emitted, outcome: Outcome
    ) -> tuple[Found | None, Outcome]:
        """Apply the control run and rule 5; a plan that fails either is no reproduction."""
        control = self.bench.control(emitted.control)
        report = control.report or {}
        if report.get("ok") is not True:
            return None, replace(
                outcome,
                reason=RefusalReason.ENVIRONMENT,
                detail="building the arguments alone already fails",
            )
        trips = self._round_trips(plan, report.get("values"))
        wrong = [n for n, same in trips.items() if not same]
        if wrong:
            return None, replace(
                outcome,
                reason=RefusalReason.UNRECOVERABLE_VALUE,
                detail=f"{', '.join(wrong)} does not serialise to what was captured",
            )
        name = file_name(plan, self.recovery.event)
        frozen, agreeing = None, self._agreeing(emitted, name)
        moment = self.recovery.event.timestamp
        if agreeing < CONFIRMATIONS and moment is not None:
            # the runs differ in their clocks: hold it still at the moment of the crash
            frozen, emitted = moment, synthesize(plan, self.recovery.event, frozen=moment)
            agreeing = self._agreeing(emitted, name)
        if agreeing < CONFIRMATIONS:
            return None, replace(
                outcome,
                reason=RefusalReason.FLAKY,
                detail=f"{agreeing} of {CONFIRMATIONS} confirming runs agree",
            )
        shipped = emitted
        if self.expect_raises:
            shipped = synthesize(plan, self.recovery.event, expect_raises=True, frozen=frozen)
            if not self._passes(shipped, name):
                return None, replace(
                    outcome,
                    reason=RefusalReason.DIFFERENT_EXCEPTION,
                    detail="the variant that expects the exception does not pass",
                )
        return Found(
            plan=plan,
            emitted=emitted,
            shipped=shipped,
            frozen=frozen,
            outcome=outcome,
            confirmations=Confirmations(runs=CONFIRMATIONS, agreeing=agreeing, control_passed=True),
            round_trips=trips,
        ), outcome

    def _agreeing(self, emitted: Emitted, name: str) -> int:
        """Return how many confirming runs are the captured crash; the last has other surroundings.

        Whoever runs the test later has another clock and started pytest with other words.
        """
        other = (clock_of(self.recovery.event) or time.time()) + CLOCK_SHIFT_S
        agreeing = 0
        for run in range(CONFIRMATIONS):
            last = run == CONFIRMATIONS - 1
            record = self.bench.replay(
                emitted,
                name,
                clock=other if last else None,
                argv=("-q", "-x", "--tb=short", "tests") if last else (),
            )
            again = judge_replay(self.expected, record, self.recovery.index.statement)
            agreeing += again.reproduced
        return agreeing

    def _passes(self, emitted: Emitted, name: str) -> bool:
        seen = read_replay(self.bench.replay(emitted, name).report)
        call = None if seen is None else seen.phase("call")
        return call is not None and call.outcome == "passed"

    def _round_trips(self, plan: Plan, values: JSON) -> dict[str, bool]:
        seen = values if isinstance(values, dict) else {}
        found: dict[str, bool] = {}
        for name, value in plan.values:
            if not value.checkable or value.expression is None or name not in seen:
                continue
            # the order of a set differs between processes
            unordered = isinstance(value.expression.node, ast.Set | ast.Call)
            same = agrees(value.captured, seen[name], unordered=unordered)
            if same is not None:
                found[name] = same
        return found
