"""What holds for the whole suite: nothing is skipped quietly, and unit tests reach no network."""

from __future__ import annotations

import socket
from collections import defaultdict

import pytest

OFFLINE = ("unit", "property", "repo")
"""Folders whose tests open no connection; a sandbox's own sockets are of another family."""


@pytest.fixture(autouse=True)
def _no_network(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.node.path.relative_to(request.config.rootpath / "tests").parts[0] in OFFLINE:
        connect = socket.socket.connect

        def refuse(self: socket.socket, address: object) -> None:
            if self.family != socket.AF_UNIX:
                pytest.fail(f"a test of {OFFLINE} connects to {address!r}")
            connect(self, address)  # type: ignore[arg-type]  # whatever the test passed

        monkeypatch.setattr(socket.socket, "connect", refuse)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List, by reason, what this machine could not run: a green run says what it did not see."""
    reasons: dict[str, int] = defaultdict(int)
    for report in terminalreporter.stats.get("skipped", []):
        where = report.longrepr
        text = where[2] if isinstance(where, tuple) else str(where)
        reasons[text.removeprefix("Skipped: ")] += 1
    if reasons:
        total = sum(reasons.values())
        terminalreporter.section(f"{total} tests could not run on this machine", yellow=True)
        for reason, count in sorted(reasons.items(), key=lambda item: -item[1]):
            terminalreporter.write_line(f"{count:5}  {reason}")
    else:
        terminalreporter.write_line("every test could run on this machine")
