"""From a file to a verdict through the installed command, in a real sandbox."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import reproof
from reproof import demo, settings
from reproof.sandbox.select import probe_all

REPROOF = Path(sys.executable).with_name("reproof")
WALL = probe_all()["bubblewrap"]

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not WALL.usable, reason=f"no bubblewrap sandbox here: {WALL.detail}"),
]

FIXED = """\
        season = self.season_on(day)
        factor = season.factor if season else Decimal(1)
        single = self.base * factor + SURCHARGE[place]
"""
JAVASCRIPT = json.dumps(
    {
        "platform": "javascript",
        "exception": {
            "values": [
                {
                    "type": "TypeError",
                    "stacktrace": {"frames": [{"filename": "a.js", "function": "f", "lineno": 1}]},
                }
            ]
        },
    }
)
BUGGY = """\
        season = self.season_on(day)
        single = self.base * season.factor + SURCHARGE[place]
"""


def call(*words: str, cwd: Path | None = None, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(REPROOF), *words],
        capture_output=True,
        text=True,
        input=stdin,
        cwd=cwd,
        timeout=120,
        check=False,
    )


def verdict(*words: str, cwd: Path | None = None, stdin: str = "") -> tuple[int, dict[str, Any]]:
    done = call("repro", *words, "--env", sys.executable, "--json", cwd=cwd, stdin=stdin)
    assert done.stderr == ""
    document: dict[str, Any] = json.loads(done.stdout)
    schema = json.loads((files("reproof") / "schemas" / "verdict-1.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(document)
    return done.returncode, document


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return demo.install(tmp_path, git="git")


def snapshot(tree: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(tree)): path.read_bytes()
        for path in sorted(tree.rglob("*"))
        if path.is_file() and ".git" not in path.parts
    }


def test_a_real_crash_becomes_a_test_that_fails_the_same_way(tree: Path) -> None:
    before = snapshot(tree)
    status, document = verdict(str(demo.EVENT), "--repo", str(tree))
    assert (status, document["status"]) == (0, "reproduced")
    assert document["entry"]["function"] == "quote"
    assert document["entry"]["reach"] == "outermost"
    assert document["sandbox"]["network"] == "none"
    assert document["sandbox"]["uid"] != 0

    test = tree / document["test"]["path"]
    text = test.read_bytes()
    assert hashlib.sha256(text).hexdigest() == document["test"]["sha256"]
    assert b"reproof" not in text
    after = snapshot(tree)
    assert {name: after[name] for name in before} == before
    assert set(after) - set(before) == {str(test.relative_to(tree))}

    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test)],
        capture_output=True,
        text=True,
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"},
        check=False,
    )
    assert run.returncode == 1
    assert "'NoneType' object has no attribute 'factor'" in run.stdout
    assert "1 failed" in run.stdout


def test_the_same_crash_gives_the_same_bytes(tmp_path: Path) -> None:
    written = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        tree = demo.install(tmp_path / name, git="git")
        document = verdict(str(demo.EVENT), "--repo", str(tree))[1]
        written.append((tree / document["test"]["path"]).read_bytes())
    assert written[0] == written[1]


def test_the_fixed_tree_is_never_called_reproduced(tree: Path) -> None:
    tariff = tree / "ferry" / "tariff.py"
    source = tariff.read_text()
    assert BUGGY in source
    tariff.write_text(source.replace(BUGGY, FIXED))
    status, document = verdict(str(demo.EVENT), "--repo", str(tree))
    assert (status, document["status"], document["reason"]) == (1, "not_reproduced", "fixed")


def test_without_a_crash_revision_a_fix_is_not_claimed(tmp_path: Path) -> None:
    tree = demo.install(tmp_path, git=None)
    tariff = tree / "ferry" / "tariff.py"
    tariff.write_text(tariff.read_text().replace(BUGGY, FIXED))
    status, document = verdict(str(demo.EVENT), "--repo", str(tree))
    assert (status, document["status"]) == (1, "not_reproduced")
    assert document["reason"] != "fixed"


def test_a_ref_is_judged_without_touching_the_working_tree(tree: Path) -> None:
    tariff = tree / "ferry" / "tariff.py"
    tariff.write_text(tariff.read_text().replace(BUGGY, FIXED))
    before = snapshot(tree)
    status, document = verdict(
        str(demo.EVENT), "--repo", str(tree), "--ref", demo.RELEASE_TAG, "--out", str(tree / "out")
    )
    assert (status, document["status"]) == (0, "reproduced")
    assert {name: snapshot(tree)[name] for name in before} == before


def test_an_event_may_come_on_stdin(tree: Path) -> None:
    status, document = verdict("-", cwd=tree, stdin=demo.EVENT.read_text())
    assert (status, document["status"]) == (0, "reproduced")


def test_a_folder_of_events_is_judged_one_by_one(tree: Path, tmp_path: Path) -> None:
    folder = tmp_path / "events"
    folder.mkdir()
    (folder / "1.json").write_text(demo.EVENT.read_text())
    (folder / "2.json").write_text("[1, 2")
    done = call("repro", str(folder), "--repo", str(tree), "--env", sys.executable, "--json")
    verdicts = json.loads(done.stdout)["verdicts"]
    assert [each["status"] for each in verdicts] == ["reproduced", "not_reproduced"]
    assert verdicts[1]["reason"] == "malformed_event"
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("", "malformed_event", id="empty"),
        pytest.param("{", "malformed_event", id="cut"),
        pytest.param("[" * 5000, "malformed_event", id="nested"),
        pytest.param("[]", "malformed_event", id="a-list"),
        pytest.param(JAVASCRIPT, "unsupported_platform", id="another-language"),
    ],
)
def test_what_is_no_event_is_refused_with_its_reason(text: str, reason: str, tree: Path) -> None:
    status, document = verdict("-", cwd=tree, stdin=text)
    assert (status, document["status"], document["reason"]) == (1, "not_reproduced", reason)


def test_a_missing_file_is_an_error_with_a_hint(tree: Path) -> None:
    status, document = verdict("no-such.json", cwd=tree)
    assert (status, document["error"]["code"]) == (2, "bad_input")


def test_an_unknown_sandbox_is_an_error_that_lists_the_known(tree: Path) -> None:
    status, document = verdict(str(demo.EVENT), "--sandbox", "cardboard", cwd=tree)
    assert status == 2
    assert "bubblewrap" in document["error"]["hint"]


def test_no_wall_is_said_in_the_verdict(tree: Path) -> None:
    status, document = verdict(str(demo.EVENT), "--sandbox", "process", cwd=tree)
    assert status == 0
    assert document["sandbox"]["level"] == "none"
    assert document["sandbox"]["not_achieved"] != []


def test_the_demo_runs_on_a_pipe_without_colour() -> None:
    done = call("demo")
    assert done.returncode == 0, done.stderr
    assert "reproduced: AttributeError in Tariff.price" in done.stdout
    assert "def test_" in done.stdout
    assert "\x1b" not in done.stdout
    assert done.stderr == ""


def test_a_reader_that_leaves_early_does_no_harm() -> None:
    script = f"set -o pipefail; '{REPROOF}' demo | head -n 1"
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout.startswith("A crash of ferry@")
    assert done.stderr == ""
    assert done.returncode == 0


def test_doctor_says_that_this_machine_will_do() -> None:
    done = call("doctor", "--json")
    document = json.loads(done.stdout)
    assert (done.returncode, document["ready"]) == (0, True)
    assert {finding["section"] for finding in document["findings"]} >= {"sandbox", "python"}


def test_an_interrupt_ends_the_run_with_130_and_leaves_nothing(tree: Path) -> None:
    tariff = tree / "ferry" / "tariff.py"
    tariff.write_text(tariff.read_text() + "\nimport time\ntime.sleep(60)\n")
    words = ["repro", str(demo.EVENT), "--repo", str(tree), "--env", sys.executable, "--json"]
    run = subprocess.Popen(
        [str(REPROOF), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    time.sleep(2)
    assert run.poll() is None
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=30)
    assert (run.returncode, err) == (130, "")
    assert json.loads(out)["error"]["code"] == "interrupted"
    with pytest.raises(ProcessLookupError):
        os.killpg(run.pid, 0)


def test_the_library_gives_the_same_verdict_as_the_command(tree: Path, tmp_path: Path) -> None:
    document = verdict(str(demo.EVENT), "--repo", str(tree), "--out", str(tmp_path / "a"))[1]
    judged = reproof.reproduce(
        json.loads(demo.EVENT.read_text()),
        tree,
        env=sys.executable,
        out_dir=tmp_path / "b",
        uv_environment=settings.load(tree).for_uv,
    )
    assert judged.status is reproof.Status.REPRODUCED
    mine = judged.to_json()
    assert {**mine["test"], "path": ""} | {"command": ""} == {  # type: ignore[dict-item]
        **document["test"],
        "path": "",
        "command": "",
    }
    for part in ("exception", "crash_point", "entry", "values", "fidelity"):
        assert json.loads(json.dumps(mine[part])) == document[part]
