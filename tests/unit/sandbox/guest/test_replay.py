"""The report fits, and the call's variables are the last to go."""

from __future__ import annotations

import json
from typing import Any

from reproof.sandbox._guest import replay


def phase(when: str) -> dict[str, Any]:
    frames = [{"file": "a.py", "locals": {"x": "y" * 1000}}]
    return {"when": when, "outcome": "failed", "exception": {"frames": frames}}


def kept(report: dict[str, Any]) -> list[str]:
    return [
        p["when"]
        for p in report["phases"]
        if any("locals" in f for f in p.get("exception", {}).get("frames", ()))
    ]


def test_a_report_gives_up_variables_until_it_fits() -> None:
    def make() -> dict[str, Any]:
        quiet = {"when": "setup", "outcome": "passed"}
        return {"phases": [quiet, phase("call"), phase("teardown")]}

    assert kept(replay.fit(make())) == ["call", "teardown"]
    fitted = replay.fit(make(), 2000)
    assert kept(fitted) == ["call"]
    assert len(json.dumps(fitted)) <= 2000
    assert kept(replay.fit(make(), 500)) == []


def test_the_test_is_the_last_argument_and_its_folder_the_root() -> None:
    given = replay.arguments("/tree/a b/test_x.py")
    assert given[-3:] == ["--rootdir", "/tree/a b", "/tree/a b/test_x.py"]
    assert given[given.index("-c") + 1] == "/dev/null"
