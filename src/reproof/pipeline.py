"""The main job on one page: an event and a tree in, a verdict out.

    payload -> event -> located source -> recovered values -> plans -> replays -> verdict -> test

Each step is a package of its own; this module only puts them in order. No language model is
imported, called or needed by anything reachable from here.
"""

from __future__ import annotations

import ast
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from reproof import refusing
from reproof.case import Case, build_case
from reproof.domain.event import Event
from reproof.domain.refusal import Refusal, RefusalReason
from reproof.domain.run import MIB, Limits
from reproof.emit import test_folder, write_test
from reproof.errors import InputError, RepositoryError
from reproof.provision.guest import guest_path
from reproof.provision.interpreter import find_interpreter
from reproof.provision.revision import changed_files, export, find_crash_revision, resolve
from reproof.provision.tree import DirectoryTree
from reproof.report import Report
from reproof.reproducer.facts import Facts, read_facts
from reproof.reproducer.frames import version_of
from reproof.reproducer.recover import Recovery
from reproof.reproducer.surroundings import order_matters
from reproof.reproducer.values.expression import Expression
from reproof.reproducer.wording import file_name
from reproof.sandbox.interface import SessionSpec
from reproof.sandbox.select import choose
from reproof.search import Bench, Found, Progress, Search
from reproof.sources.decode import decode
from reproof.sources.payload import parse
from reproof.verdict.rules import Outcome, judge_replay

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reproof.sandbox.interface import Backend, Interpreter, Session
    from reproof.sources.interface import RawPayload
    from reproof.verdict.judgement import Verdict

OTHER_SEED = 1
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


@dataclass(frozen=True, slots=True)
class _World:
    """What the replays run in."""

    interpreter: Interpreter
    backend: Backend
    guest: Path


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
        """Judge on the revision that crashed where it is known, else on the tree as it is."""
        tree = self._tree(scratch)
        world = self._world(event)
        revision = find_crash_revision(self.repo, event.release)
        self.report.revision = revision
        changed = changed_files(self.repo, revision, tree) if revision else set()
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
        found = self._search(case, crashed, world)
        if self._wants_memory(found):
            self.memory_mib = RAISED_MEMORY_MIB
            found = self._search(case, crashed, world)
        if isinstance(found, Refusal):
            return self.report.refused(found)
        if crashed == tree:
            differs = refusing.callers_differ(found, case, DirectoryTree(tree))
            return self._ship(found) if differs is None else self.report.refused(differs)
        return self._compare(found, tree, changed_python, world)

    def _wants_memory(self, found: Found | Refusal) -> bool:
        return (
            isinstance(found, Refusal)
            and found.reason is RefusalReason.RESOURCE_LIMIT
            and self.options.memory_mib is None
        )

    def _tree(self, scratch: Path) -> Path:
        """Return the tree to judge: the folder as it is, or an export of `--ref`."""
        if self.options.ref is None:
            return self.repo
        into = scratch / "ref"
        export(self.repo, resolve(self.repo, self.options.ref), into)
        return into

    def _world(self, event: Event) -> _World:
        options = self.options
        found = find_interpreter(options.env, repo=self.repo, virtual_env=options.virtual_env)
        self.report.interpreter(found, event)
        backend = choose(options.sandbox)
        guest = guest_path(
            found.interpreter.version, options.cache_root, environment=options.passthrough_env
        )
        return _World(found.interpreter, backend, guest)

    def _limits(self) -> Limits:
        return Limits(wall_s=self.options.test_timeout_s, memory_bytes=self.memory_mib * MIB)

    def _open(self, tree: Path, world: _World, *, hash_seed: int = 0) -> Session:
        spec = SessionSpec(
            tree=tree,
            interpreter=world.interpreter,
            guest_path=world.guest,
            limits=self._limits(),
            hash_seed=hash_seed,
        )
        return world.backend.open(spec)

    def _bench(self, session: Session, case: Case, tree: Path) -> Bench:
        return Bench(
            session=session,
            root=str(tree),
            roots=tuple(str(tree / root) if root else str(tree) for root in case.import_roots),
            folder=self._folder(),
            sdk=version_of(case.event.sdk_version),
            limits=self._limits(),
            environment={"TZ": "UTC"},
            deadline=self.started + self.options.timeout_s,
        )

    def _out(self) -> Path:
        return (self.options.out_dir or test_folder(self.repo)).absolute()

    def _folder(self) -> str:
        """Return the folder, seen from the tree, that a replay's test stands in."""
        out = self._out().resolve()
        inside = out.is_relative_to(self.repo) and out != self.repo
        return out.relative_to(self.repo).as_posix() if inside else "tests"

    def _search(self, case: Case, tree: Path, world: _World) -> Found | Refusal:
        """Return the confirmed plan, or why there is none."""
        self.progress.stage("opening the sandbox")
        with self._open(tree, world) as session:
            bench = self._bench(session, case, tree)
            self.report.bench = bench
            facts = self._facts(case, bench)
            self.report.isolation = session.isolation
            if isinstance(facts, Refusal):
                return facts
            search = Search(
                bench=bench,
                recovery=Recovery(case.event, case.index, case.views, facts, self.user),
                expected=case.expected,
                progress=self.progress,
                expect_raises=self.options.expect_raises,
            )
            self.report.search = search
            self.progress.stage("replaying")
            found = search.run()
        if found is None:
            return refusing.explain(search, case)
        return self._other_order(found, case, tree, world) or found

    def _other_order(self, found: Found, case: Case, tree: Path, world: _World) -> Refusal | None:
        """Run the test once more where sets have another order, if that may decide something."""
        sites = [view.site for view in case.views[found.plan.position :]]
        if not order_matters(sites, found.plan):
            return None
        self.progress.stage("replaying with another order of sets")
        with self._open(tree, world, hash_seed=OTHER_SEED) as session:
            bench = self._bench(session, case, tree)
            record = bench.replay(found.emitted, file_name(found.plan, case.event))
            self.report.add_runs(bench)
        outcome = judge_replay(case.expected, record, case.index.statement)
        first = found.outcome.fidelity
        # the locals show a set in its new order; what counts is that it raises the same, there
        alike = outcome.reproduced or (
            outcome.reason is RefusalReason.LOW_FIDELITY
            and (outcome.fidelity.message, outcome.fidelity.location)
            == (first.message, first.location)
        )
        return None if alike else refusing.by_order(outcome)

    def _facts(self, case: Case, bench: Bench) -> Facts | Refusal:
        record = bench.inspect(case.names())
        limit = refusing.of_inspection(record, self.memory_mib)
        if limit is not None:
            return limit
        facts = read_facts(record.report)
        return refusing.of_import(facts, case) or facts

    def _compare(self, found: Found, tree: Path, changed: set[str], world: _World) -> Verdict:
        """Run the test that is red on the crash revision on the tree as it is."""
        self.progress.stage("replaying on the tree as it is")
        event = self.report.known_case.event
        here = build_case(event, DirectoryTree(tree), self.options.source_map)
        case = here if isinstance(here, Case) else self.report.known_case
        outcome = self._replay_here(case, found, tree, world)
        self.report.there, self.report.here = "reproduced", str(outcome.reason or "reproduced")
        if outcome.reason is RefusalReason.PASSED:
            return self._ship(found, fixed=True)
        if not outcome.reproduced or not isinstance(here, Case):
            return self.report.refused(refusing.gone(outcome))
        refusal = refusing.callers_changed(found, here, changed)
        return self._ship(found) if refusal is None else self.report.refused(refusal)

    def _replay_here(self, case: Case, found: Found, tree: Path, world: _World) -> Outcome:
        """Return the first outcome that is no reproduction, or the last of the confirming runs."""
        with self._open(tree, world) as session:
            bench = self._bench(session, case, tree)
            name = file_name(found.plan, case.event)
            outcome = Outcome(reason=RefusalReason.PASSED, detail="not run")
            for _ in range(found.confirmations.runs):
                record = bench.replay(found.emitted, name)
                outcome = judge_replay(case.expected, record, case.index.statement)
                if not outcome.reproduced:
                    break
            self.report.add_runs(bench)
            return outcome

    def _ship(self, found: Found, *, fixed: bool = False) -> Verdict:
        """Write the test and return the verdict that goes with it."""
        event = self.report.known_case.event
        # where the crash is gone, the test that demands so is the one worth having
        emitted = found.emitted if fixed else found.shipped
        content = emitted.text.encode()
        data = None if emitted.data is None else emitted.data.encode()
        path = write_test(self._out(), file_name(found.plan, event), content, data)
        if fixed:
            return self.report.fixed(found, path, content)
        return self.report.reproduced(found, path, content, self.repo)


def _user_values(params: Mapping[str, str]) -> dict[str, Expression]:
    made: dict[str, Expression] = {}
    for name, text in params.items():
        try:
            ast.literal_eval(text)
            made[name] = Expression(ast.parse(text, mode="eval").body)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
            raise InputError(
                f"--param {name}: expected a Python literal, got {text[:80]!r}",
                hint="write it as in source: 3, 'text', [1, 2], None",
            ) from error
    return made
