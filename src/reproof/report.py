"""Put the verdict together from what the pipeline found out on the way."""

from __future__ import annotations

import ast
import time
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING

from reproof.domain.text import shown
from reproof.provision.distributions import distributions, mismatches
from reproof.reproducer.calls import shown_source
from reproof.reproducer.wording import data_name
from reproof.verdict.judgement import (
    CrashPoint,
    Differential,
    EmittedTest,
    EntryReport,
    EnvironmentReport,
    ExceptionReport,
    Status,
    Timings,
    ValueReport,
    Verdict,
)

if TYPE_CHECKING:
    from pathlib import Path

    from reproof.case import Case
    from reproof.domain.event import JSON, Event
    from reproof.domain.refusal import Refusal
    from reproof.domain.run import Isolation
    from reproof.provision.interpreter import FoundInterpreter
    from reproof.search import Bench, Found, Search

from reproof.domain.refusal import RefusalReason


@dataclass(slots=True, kw_only=True)
class Report:
    """What is known so far; the last call makes the verdict."""

    started: float
    event: Event | None = None
    case: Case | None = None
    search: Search | None = None
    bench: Bench | None = None
    isolation: Isolation | None = None
    environment: EnvironmentReport | None = None
    revision: str | None = None
    there: str | None = None
    here: str | None = None
    extra_runs: int = 0
    extra_s: float = 0.0
    notes: list[str] = field(default_factory=list)

    @property
    def known_case(self) -> Case:
        """Return the case; only asked for once there is one."""
        if self.case is None:
            raise AssertionError("the case is built before anything runs")
        return self.case

    def interpreter(self, found: FoundInterpreter, event: Event) -> None:
        """Note the environment that the replays run in."""
        installed = distributions(found.interpreter)
        lock = "\n".join(f"{name}=={version}" for name, version in sorted(installed.items()))
        minor = ".".join(map(str, found.interpreter.version))
        differing = mismatches(event.modules, installed)
        captured = (event.runtime_version or "").split(".")[:2]
        if len(captured) == 2 and captured != minor.split("."):  # noqa: PLR2004 -- major, minor
            differing.insert(0, f"python: event {shown('.'.join(captured), 20)}, here {minor}")
        self.environment = EnvironmentReport(
            python=minor,
            kind="current",
            packages=len(installed),
            lock_sha256=sha256(lock.encode()).hexdigest(),
            mismatches=tuple(differing),
            notes=found.notes,
        )

    def add_runs(self, bench: Bench) -> None:
        """Count the runs of a second session."""
        self.extra_runs += bench.runs
        self.extra_s += bench.spent_s

    def refused(self, refusal: Refusal) -> Verdict:
        """Return the verdict for a refusal."""
        return self._verdict(
            Status.NOT_REPRODUCED,
            refusal.reason,
            refusal.summary,
            advice=(refusal.hint,) if refusal.hint else (),
        )

    def reproduced(self, found: Found, path: Path, content: bytes, repo: Path) -> Verdict:
        """Return the verdict for a confirmed plan."""
        raised = self.known_case.event.raised
        entry = f"{found.plan.view.site.module}.{found.plan.view.site.qualname}"
        return self._verdict(
            Status.REPRODUCED,
            None,
            f"{shown(raised.type)} reproduced through {shown(entry)}: "
            f"{shown(raised.message or 'no message', 120)}",
            found=found,
            path=path,
            content=content,
            root=repo,
        )

    def fixed(self, found: Found, path: Path, content: bytes) -> Verdict:
        """Return the verdict for a test that is red on the crash revision and green here."""
        revision = (self.revision or "")[:12]
        return self._verdict(
            Status.NOT_REPRODUCED,
            RefusalReason.FIXED,
            f"fixed here: the test raises as captured on {revision} and passes on this tree",
            found=found,
            path=path,
            content=content,
        )

    def _verdict(  # noqa: PLR0913 -- one keyword per optional section
        self,
        status: Status,
        reason: RefusalReason | None,
        summary: str,
        *,
        found: Found | None = None,
        path: Path | None = None,
        content: bytes = b"",
        root: Path | None = None,
        advice: tuple[str, ...] = (),
    ) -> Verdict:
        event = self.event
        attempts = tuple(self.search.attempts) if self.search else ()
        optional = (
            {}
            if found is None
            else {
                "confirmations": found.confirmations,
                "fidelity": found.outcome.fidelity,
                "entry": self._entry(found),
                "values": self._values(found),
                "test_text": content.decode(),
            }
        )
        if path is not None:
            optional["test"] = EmittedTest(
                path=str(path),
                sha256=sha256(content).hexdigest(),
                bytes=len(content),
                data=None if found is None or found.emitted.data is None else data_name(str(path)),
                command=self._command(path, root),
            )
        return Verdict(
            status=status,
            reason=reason,
            summary=summary,
            advice=advice,
            attempts=attempts,
            issue=event.issue if event else None,
            event_id=event.event_id if event else "",
            exception=self._exception(),
            crash_point=self._crash_point(),
            differential=Differential(
                crash_revision=self.revision, there=self.there, here=self.here
            ),
            surroundings=self._surroundings(found),
            isolation=self.isolation,
            environment=self.environment,
            timings=self._timings(),
            **optional,  # type: ignore[arg-type]
        )

    def _surroundings(self, found: Found | None) -> dict[str, JSON]:
        if self.bench is None:
            return {}
        return {"tz": "UTC", "hash_seed": 0, "time": found.frozen if found else None}

    def _command(self, path: Path, root: Path | None) -> str:
        roots = [r for r in self.known_case.import_roots if r] or ["."]
        shown_path = path.relative_to(root) if root and path.is_relative_to(root) else path
        return f"PYTHONPATH={':'.join(roots)} python -m pytest {shown_path}"

    def _exception(self) -> ExceptionReport | None:
        if self.event is None:
            return None
        raised = self.event.raised
        return ExceptionReport(
            type=raised.type,
            module=raised.module or "builtins",
            message=raised.message or "",
            chain=tuple(e.type for e in self.event.exceptions[:-1]),
        )

    def _crash_point(self) -> CrashPoint | None:
        if self.case is None:
            return None
        place, site = self.case.crash, self.case.views[-1].site
        return CrashPoint(
            file=site.path,
            line=place.line,
            function=site.qualname,
            context_line=(place.frame.context_line or "").strip(),
            source_match=place.source_match,
        )

    def _entry(self, found: Found) -> EntryReport:
        case, site = self.known_case, found.plan.view.site
        indices = [v.place.index for v in case.views]
        entered = found.outcome.entered
        at = found.plan.view.place.index if entered is None else entered
        reach = "outermost" if at == indices[0] else "inner" if at == indices[-1] else "outer"
        return EntryReport(
            file=site.path,
            function=site.qualname,
            frame_index=at,
            reach=reach,
            bypassed=tuple(v.site.qualname for v in case.views if v.place.index < at),
            kind=site.kind,
            call=found.emitted.call,
        )

    def _values(self, found: Found) -> tuple[ValueReport, ...]:
        told = []
        for name, value in found.plan.values:
            node = None if value.expression is None else value.expression.node
            told.append(
                ValueReport(
                    name=name,
                    provenance=value.provenance,
                    text="(left to its default)"
                    if node is None
                    else shown_source(ast.unparse(node)),
                    round_trip=found.round_trips.get(name),
                    note=value.note,
                )
            )
        return tuple(told)

    def _timings(self) -> Timings:
        total = time.monotonic() - self.started
        sandbox = (self.bench.spent_s if self.bench else 0.0) + self.extra_s
        runs = (self.bench.runs if self.bench else 0) + self.extra_runs
        return Timings(
            total_s=round(total, 4),
            plan_s=round(max(0.0, total - sandbox), 4),
            sandbox_s=round(sandbox, 4),
            tests_run=runs,
        )
