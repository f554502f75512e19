"""Run one test file under pytest and say what happened. Runs inside the wall, CPython 3.8-3.14.

Request keys: `test` (absolute path), `root` (absolute path of the tree), `roots` (absolute
import roots), `sdk` (version the locals are serialised by, or null), `sentinels` (names to watch),
`opaque` (those that stand for some object), `stand_ins` (classes of incomplete objects), `clock`
(seconds since 1970 that the run takes place at, or null).

The report is a claim: it is made in the interpreter that ran the code under test.
"""
# ruff: noqa: ANN401 - pytest's own classes for these are private in the oldest version

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any, Generator

import pytest

from . import outside, tracing

if TYPE_CHECKING:
    from . import sentinels, standins

_LEFT_OUT = (  # noqa: SIM905 - a list of one a line says no more
    "cacheprovider terminal logging junitxml doctest faulthandler debugging pastebin stepwise "
    "setuponly setupplan nose legacypath unittest"
).split()
_OUTSIDE = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_DEBUG")
_REPORT_BYTES = 7 << 20
"""Below what the keeper takes in."""
_MARKS = ("[", "::")
"""What pytest takes for the end of a file's name."""
_COLLECT_ERROR = 4000
_INTERNAL = 3


class Recorder:
    """A pytest plugin that keeps the facts of the one test it expects."""

    def __init__(self, request: dict[str, Any], watch: sentinels.Watch | None) -> None:
        self.request = request
        self.watch = watch
        self.onlooker: standins.Onlooker | None = None
        self.limit = sys.getrecursionlimit()
        self.folder: str | None = None
        self.collected = 0
        self.phases: list[dict[str, Any]] = []
        self.collect_error: str | None = None
        self.called = False
        self.raised: BaseException | None = None
        self.outside = outside.Outside(request["root"])

    def pytest_configure(self) -> None:
        """Go back to where the target expects to be: pytest knows where it was started."""
        if self.folder is not None:
            os.chdir(self.folder)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Count what was collected."""
        self.collected = len(session.items)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_make_collect_report(self) -> Generator[None, Any, None]:
        """Keep what ends the whole session, which pytest makes no report of."""
        outcome = yield
        if outcome.excinfo is not None:
            self._add("collect", "failed", outcome.excinfo[1])

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep why the test file could not be imported."""
        if report.failed:
            self.collect_error = _tail(report.longrepr)

    def pytest_exception_interact(self, call: Any, report: Any) -> None:
        """Describe the exception of an import, not what pytest wraps it in."""
        if report.when == "collect":
            error = call.excinfo.value
            wrapped = tracing.class_name(type(error)) == "CollectError"
            cause = BaseException.__dict__["__cause__"].__get__(error) if wrapped else None
            self._add("collect", "failed", error if cause is None else cause)

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Generator[None, Any, None]:
        """Take the test's exception where it comes out: pytest's own around it may hide it."""
        self.outside.importing = False
        if self.onlooker is not None:
            self.onlooker.start(vars(pyfuncitem.module))
        outcome = yield
        self.outside.active = False
        if self.onlooker is not None:
            self.onlooker.stop()
        self.called = True
        if self.watch is not None:
            self.watch.active = False
        # What the target did to these must not cost the report.
        sys.setrecursionlimit(max(self.limit, sys.getrecursionlimit()))
        if outcome.excinfo is not None:
            self.raised = outcome.excinfo[1]
            if type(self.raised) in (KeyboardInterrupt, pytest.exit.Exception):
                self._add("call", "failed", self.raised)  # ends the session without a report

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: Any) -> pytest.TestReport:
        """Make the report without a text of the failure: making one runs the target's code."""
        error = call.excinfo.value if call.excinfo is not None else None
        if call.when == "call" and self.called:
            error = self.raised
        outcome: Any = "passed"
        if error is not None:
            outcome = "skipped" if issubclass(type(error), pytest.skip.Exception) else "failed"
        self._add(call.when, outcome, error)
        return pytest.TestReport(
            nodeid=item.nodeid,
            location=item.location,
            keywords={},
            outcome=outcome,
            longrepr=None if error is None else tracing.class_name(type(error)),
            when=call.when,
        )

    def pytest_internalerror(self, excrepr: object) -> None:
        """Keep why pytest itself gave up."""
        if self.collect_error is None and not self.called:
            self.collect_error = _tail(excrepr)

    def _add(self, when: str, outcome: str, error: BaseException | None) -> None:
        phase: dict[str, Any] = {"when": when, "outcome": outcome}
        if error is not None:
            phase["exception"] = tracing.describe(error, self.request)
            if self.watch is not None and not self.watch.uses:
                self.watch.read_message(phase["exception"]["message"])
        self.phases.append(phase)


def _tail(text: object) -> str:
    try:
        return tracing.exact(str(text)[-_COLLECT_ERROR:], _COLLECT_ERROR)
    except BaseException as error:  # noqa: BLE001 - it quotes the target's own texts
        return "<no text: {}>".format(tracing.class_name(type(error)))


def arguments(test: str) -> list[str]:
    """Return pytest's arguments: no file of the tree and no setting from outside is read."""
    options = [part for name in _LEFT_OUT for part in ("-p", "no:" + name)]
    options += ["-o", "addopts=", "--noconftest", "--import-mode=importlib"]
    return [*options, "-c", os.devnull, "--rootdir", os.path.dirname(test), test]


def run(request: dict[str, Any]) -> dict[str, Any]:
    """Run the test; return what pytest saw, the exception with its frames, and sentinel uses."""
    tracing.prepare(request)
    for name in _OUTSIDE:
        os.environ.pop(name, None)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    executable, python = sys.executable, list(sys.version_info[:3])
    watch = None
    if request.get("sentinels") or request.get("stand_ins"):
        from . import sentinels  # noqa: PLC0415 - imports much that most targets do not

        watch = sentinels.install(request["sentinels"])
    recorder = Recorder(request, watch)
    if watch is not None:
        from . import standins  # noqa: PLC0415 - as above

        recorder.onlooker = standins.Onlooker(request, watch)
    given = arguments(request["test"])
    if any(mark in os.path.dirname(request["test"]) for mark in _MARKS):
        recorder.folder = os.getcwd()
        os.chdir(os.path.dirname(request["test"]))
        given[-1] = os.path.basename(request["test"])
    moved = _set_clock(request.get("clock"))
    sys.argv[:] = request.get("argv") or ["pytest"]
    recorder.outside.install()
    recorder.outside.active = True
    try:
        code = int(pytest.main(given, plugins=[recorder]))
    except BaseException as error:  # noqa: BLE001 - what the target broke must not lose the report
        code = _INTERNAL
        if not recorder.called and recorder.collect_error is None:
            recorder.collect_error = _tail(repr(error))
    return fit(
        {
            "exit": code,
            "collected": recorder.collected,
            "phases": recorder.phases,
            "collect_error": recorder.collect_error,
            "sentinel_uses": watch.uses[:100] if watch is not None else [],
            "clock_set": moved,
            "outside": recorder.outside.told(),
            "executable": executable,
            "python": python,
        }
    )


def _set_clock(clock: float | None) -> bool:
    """Have time pass from `clock` (seconds since 1970) on; say whether that was done."""
    if clock is None:
        return False
    import time_machine  # noqa: PLC0415 - most runs leave the clock alone

    time_machine.travel(clock, tick=True).start()
    return True


def fit(report: dict[str, Any], limit: int = _REPORT_BYTES) -> dict[str, Any]:
    """Return the report with as many variables as there is room for, the call's last to go."""
    for phase in sorted(report["phases"], key=lambda phase: bool(phase["when"] == "call")):
        if len(json.dumps(report)) <= limit:
            break
        for frame in phase.get("exception", {}).get("frames", ()):
            frame.pop("locals", None)
    return report
