"""Run one test file under pytest and say what happened.  Runs inside the wall, CPython 3.8-3.14.

Request keys: ``test`` (absolute path), ``root`` (absolute path of the tree), ``roots`` (absolute
import roots), ``sdk`` (version the locals are serialised by, or null), ``sentinels`` (names to watch).

The report is a claim: it is made in the interpreter that ran the code under test.
"""

import os
import sys

import pytest

from . import tracing

_QUIET = ["-p", "no:cacheprovider", "-p", "no:terminal", "-p", "no:logging", "-p", "no:junitxml",
          "-p", "no:doctest", "-p", "no:faulthandler", "-p", "no:debugging", "-p", "no:pastebin",
          "-p", "no:stepwise", "-p", "no:setuponly", "-p", "no:setupplan", "-p", "no:nose",
          "-p", "no:legacypath", "-p", "no:unittest", "-o", "addopts=", "--noconftest",
          "--import-mode=importlib", "-c", os.devnull]


class Recorder:
    """A pytest plugin that keeps the facts of the one test it expects."""

    def __init__(self, request):
        self.request = request
        self.collected = 0
        self.phases = []
        self.collect_error = None

    def pytest_collection_finish(self, session):
        self.collected = len(session.items)

    def pytest_collectreport(self, report):
        if report.failed:
            self.collect_error = str(report.longrepr)[-4000:]

    def pytest_exception_interact(self, node, call, report):
        if report.when == "collect":
            self.phases.append({"when": "collect", "outcome": "failed",
                                "exception": self._describe(call.excinfo)})

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        outcome = yield
        report = outcome.get_result()
        phase = {"when": report.when, "outcome": report.outcome}
        if call.excinfo is not None:
            phase["exception"] = self._describe(call.excinfo)
        self.phases.append(phase)

    def _describe(self, excinfo):
        return tracing.describe(excinfo.value, self.request)


def run(request):
    """Run the test; return what pytest saw, the exception with its frames, and sentinel uses."""
    sys.path[0:0] = [root for root in request["roots"] if root not in sys.path]
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    uses = []
    if request.get("sentinels"):
        from . import sentinels

        uses = sentinels.install(request["sentinels"])
    recorder = Recorder(request)
    folder = os.path.dirname(request["test"])
    arguments = _QUIET + ["--rootdir", folder, request["test"]]
    code = pytest.main(arguments, plugins=[recorder])
    return {"exit": int(code), "collected": recorder.collected, "phases": recorder.phases,
            "collect_error": recorder.collect_error, "sentinel_uses": uses,
            "executable": sys.executable, "python": list(sys.version_info[:3])}
