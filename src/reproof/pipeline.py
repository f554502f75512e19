"""The main job on one page: an event and a tree in, a verdict out.

    payload -> event -> located source -> recovered values -> plans -> replays -> verdict -> test

Each step is a package of its own; this module only puts them in order. No language model is
imported, called or needed by anything reachable from here.
"""

from __future__ import annotations

import ast
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from reproof import refusing
from reproof.case import NO_FACTS, Case, build_case
from reproof.domain.event import Event
from reproof.domain.refusal import Refusal, RefusalReason
from reproof.domain.run import MIB, Limits
from reproof.emit import free_path, test_folder, write_test
from reproof.errors import InputError, RepositoryError
from reproof.provision.guest import guest_path
from reproof.provision.interpreter import find_interpreter
from reproof.provision.revision import changed_files, export, find_crash_revision, resolve
from reproof.provision.tree import DirectoryTree
from reproof.report import Report
from reproof.reproducer.facts import Facts, read_facts
from reproof.reproducer.recover import Recovery
from reproof.reproducer.synthesize import file_name, synthesize
from reproof.reproducer.values.expression import Expression
from reproof.sandbox.interface import SessionSpec
from reproof.sandbox.select import choose
from reproof.search import Bench, Found, Progress, Search
from reproof.sources.decode import decode
from reproof.sources.interface import RawPayload
from reproof.sources.payload import parse
from reproof.verdict.rules import Outcome, judge_replay

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reproof.provision.interpreter import FoundInterpreter
    from reproof.sandbox.interface import Backend, Session
    from reproof.verdict.judgement import Verdict

MEMORY_MIB = 128
RAISED_MEMORY_MIB = 1024
"""Tried once when 128 MiB do not suffice and nobody set a limit."""

__all__ = ["Options", "Progress", "reproduce"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What one run was asked to do; `docs/settings.md` says where each comes from."""

    repo: Path
    ref: str | None = None
    timeout_s: float = 60.0
    test_timeout_s: float = 15.0
    memory_mib: int | None = None
    """`None`: 128, raised once when the target needs more to be imported."""
    out_dir: Path | None = None
    sandbox: str = "auto"
    env: str = "auto"
    source_map: Mapping[str, str] = field(default_factory=dict)
    params: Mapping[str, str] = field(default_factory=dict)
    expect_raises: bool = False
    cache_root: Path
    virtual_env: str | None = None
    passthrough_env: Mapping[str, str] = field(default_factory=dict)


class _Silent:
    def stage(self, name: str) -> None:
        """Say nothing."""

    def attempt(self, entry: str, outcome: str) -> None:
        """Say nothing."""


def reproduce(
    payload: RawPayload | Event, options: Options, progress: Progress | None = None
) -> Verdict:
    """Return the verdict on one event.

    Raises `ReproofError` when nothing can be said: no wall, no interpreter, an unreadable tree, an
    output folder that cannot be written.
    """
    job = _Job(options, progress or _Silent())
    parsed = job.read(payload)
    if isinstance(parsed, Refusal):
        return job.report.refused(parsed)
    job.report.event = parsed
    with tempfile.TemporaryDirectory(prefix="reproof-") as scratch:
        return job.judge(parsed, Path(scratch))


class _Job:
    """One event's way through the product."""

    def __init__(self, options: Options, progress: Progress) -> None:
        self.options = options
        self.progress = progress
        self.started = time.monotonic()
        self.report = Report(started=self.started)
        self.memory_mib = options.memory_mib or MEMORY_MIB
        self.user = _user_values(options.params)
        self.repo = Path(options.repo).absolute().resolve()
        if not self.repo.is_dir():
            raise RepositoryError(f"{self.repo} is not a folder", hint="name the tree with --repo")

    def read(self, payload: RawPayload | Event) -> Event | Refusal:
        """Decode and parse the payload."""
        self.progress.stage("reading the event")
        if isinstance(payload, Event):
            return payload
        decoded = decode(payload.content)
        return decoded if isinstance(decoded, Refusal) else parse(decoded)

    def judge(self, event: Event, scratch: Path) -> Verdict:
        """Plan and judge on the revision that crashed where it is known, else on the tree as it is."""
        tree = self._tree(scratch)
        found = find_interpreter(self.options.env, repo=self.repo,
                                 virtual_env=self.options.virtual_env)
        self.report.interpreter(found, event)
        backend = choose(self.options.sandbox)
        revision = find_crash_revision(self.repo, event.release)
        changed = changed_files(self.repo, revision, tree) if revision else set()
        self.report.revision = revision
        changed_python = {path for path in changed if path.endswith(".py")}
        crashed = tree
        if revision and changed_python:
            crashed = scratch / "crashed"
            self.progress.stage("checking out the revision that crashed")
            export(self.repo, revision, crashed)
        case = build_case(event, DirectoryTree(crashed), self.options.source_map)
        if isinstance(case, Refusal):
            return self.report.refused(case)
        self.report.case = case
        searched = self._search(case, crashed, found, backend)
        if (isinstance(searched, Refusal) and searched.reason is RefusalReason.RESOURCE_LIMIT
                and self.options.memory_mib is None):
            self.memory_mib = RAISED_MEMORY_MIB
            searched = self._search(case, crashed, found, backend)
        if isinstance(searched, Refusal):
            return self.report.refused(searched)
        if crashed == tree:
            return self._ship(searched)
        return self._compare(event, searched, tree, changed_python, found, backend)

    def _tree(self, scratch: Path) -> Path:
        """Return the tree to judge: the folder as it is, or an export of `--ref`."""
        if self.options.ref is None:
            return self.repo
        sha = resolve(self.repo, self.options.ref)
        into = scratch / "ref"
        export(self.repo, sha, into)
        return into

    def _session(self, tree: Path, found: FoundInterpreter, backend: Backend) -> Session:
        guest = guest_path(found.interpreter.version, self.options.cache_root,
                           environment=self.options.passthrough_env)
        return backend.open(SessionSpec(tree=tree, interpreter=found.interpreter,
                                        guest_path=guest, limits=self._limits()))

    def _limits(self) -> Limits:
        return Limits(wall_s=self.options.test_timeout_s,
                      memory_bytes=self.memory_mib * MIB)

    def _bench(self, session: Session, case: Case, tree: Path) -> Bench:
        roots = tuple(str(tree / root) if root else str(tree) for root in case.import_roots)
        return Bench(session=session, root=str(tree), roots=roots, folder=self._folder(),
                     sdk=_sdk(case.event), limits=self._limits(), environment={"TZ": "UTC"},
                     deadline=self.started + self.options.timeout_s)

    def _folder(self) -> str:
        out = self.options.out_dir or test_folder(self.repo)
        out = out.absolute().resolve()
        return out.relative_to(self.repo).as_posix() if out.is_relative_to(
            self.repo) and out != self.repo else "tests"

    def _search(
        self, case: Case, tree: Path, found: FoundInterpreter, backend: Backend
    ) -> Found | Refusal:
        """Return the confirmed plan, or why there is none."""
        self.progress.stage("opening the sandbox")
        with self._session(tree, found, backend) as session:
            bench = self._bench(session, case, tree)
            self.report.bench = bench
            try:
                facts = self._facts(case, bench)
                if isinstance(facts, Refusal):
                    return facts
                recovery = Recovery(case.event, case.index, case.views, facts, self.user)
                search = Search(bench=bench, recovery=recovery, expected=case.expected,
                                progress=self.progress)
                self.progress.stage("replaying")
                best = search.run()
            finally:
                self.report.isolation = session.isolation
        self.report.search = search
        return best if best is not None else refusing.explain(search, case)

    def _facts(self, case: Case, bench: Bench) -> Facts | Refusal:
        request = case.names()
        record = bench.inspect(request)
        limit = refusing.of_inspection(record, self.memory_mib)
        if limit is not None:
            return limit
        facts = read_facts(record.report)
        return refusing.of_import(facts, case) or facts if facts != NO_FACTS else facts

    def _compare(
        self, event: Event, found: Found, tree: Path, changed: set[str],
        interpreter: FoundInterpreter, backend: Backend,
    ) -> Verdict:
        """Run the test that is red on the crash revision on the tree as it is."""
        self.progress.stage("replaying on the tree as it is")
        here = build_case(event, DirectoryTree(tree), self.options.source_map)
        outcome = self._replay_here(here, found, tree, interpreter, backend)
        self.report.there, self.report.here = "reproduced", str(outcome.reason or "reproduced")
        if outcome.reproduced and isinstance(here, Case):
            refusal = refusing.callers_changed(found, here, changed)
            if refusal is None:
                return self._ship(found)
            return self.report.refused(refusal)
        if outcome.reason is RefusalReason.PASSED:
            return self._ship(found, fixed=True)
        return self.report.refused(refusing.gone(outcome))

    def _replay_here(
        self, here: Case | Refusal, found: Found, tree: Path, interpreter: FoundInterpreter,
        backend: Backend,
    ) -> Outcome:
        case = here if isinstance(here, Case) else self.report.known_case
        with self._session(tree, interpreter, backend) as session:
            bench = replace(self._bench(session, case, tree))
            name = file_name(found.plan, case.event)
            outcome = Outcome(reason=RefusalReason.PASSED, detail="")
            for _ in range(found.confirmations.runs):
                record = bench.replay(found.emitted.text, name)
                outcome = judge_replay(case.expected, record,
                                       lambda p, line: _statement(case, p, line))
                if not outcome.reproduced:
                    break
            self.report.add_runs(bench)
            return outcome

    def _ship(self, found: Found, *, fixed: bool = False) -> Verdict:
        """Write the test and return the verdict that goes with it."""
        emitted = found.emitted
        if self.options.expect_raises and not fixed:
            emitted = synthesize(found.plan, self.report.known_case.event, expect_raises=True)
        folder = (self.options.out_dir or test_folder(self.repo)).absolute()
        content = emitted.text.encode()
        name = free_path(folder, file_name(found.plan, self.report.known_case.event), content).name \
            if folder.is_dir() else file_name(found.plan, self.report.known_case.event)
        path = write_test(folder, name, content)
        return self.report.fixed(found, path, content) if fixed else self.report.reproduced(
            found, path, content, self.repo)


def _statement(case: Case, path: str, line: int) -> str | None:
    from reproof.reproducer.source import statement_text  # noqa: PLC0415

    return statement_text(case.index.module(path), line)


def _sdk(event: Event) -> tuple[int, ...] | None:
    parts = (event.sdk_version or "").split(".")[:3]
    return tuple(int(p) for p in parts) if parts and all(
        p.isdigit() and len(p) < 6 for p in parts) else None  # noqa: PLR2004 -- sane numbers


def _user_values(params: Mapping[str, str]) -> dict[str, Expression]:
    made: dict[str, Expression] = {}
    for name, text in params.items():
        try:
            ast.literal_eval(text)
            made[name] = Expression(ast.parse(text, mode="eval").body)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
            raise InputError(f"--param {name}: expected a Python literal, got {text[:80]!r}",
                             hint="write it as in source: 3, 'text', [1, 2], None") from error
    return made
