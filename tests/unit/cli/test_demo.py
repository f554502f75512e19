from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reproof import demo
from reproof.cli import repro
from reproof.cli.main import main
from support import documents
from support.engines import FakeEngine, reproducing

if TYPE_CHECKING:
    from reproof.domain.event import JSON


def use(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    monkeypatch.setattr(repro, "real_engine", lambda: engine)
    return engine


def frames() -> list[dict[str, JSON]]:
    event = json.loads(demo.EVENT.read_text())
    found: list[dict[str, JSON]] = event["exception"]["values"][0]["stacktrace"]["frames"]
    return [frame for frame in found if frame.get("in_app")]


def test_the_shipped_event_is_of_the_shipped_application() -> None:
    assert [frame["function"] for frame in frames()] == ["quote", "price"]
    for frame in frames():
        source = demo.HERE / "app" / Path(str(frame["abs_path"])).relative_to("/srv/app")
        lineno = frame["lineno"]
        assert isinstance(lineno, int)
        assert source.read_text().splitlines()[lineno - 1] == frame["context_line"]


def test_the_shipped_event_names_no_machine_of_ours() -> None:
    text = demo.EVENT.read_text()
    assert "/srv/app/ferry/desk.py" in text
    assert not [word for word in ("/root", "/work", "/home", "site-packages") if word in text]


def test_the_demo_shows_the_event_then_the_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = use(reproducing(), monkeypatch)
    assert main(["demo"]) == 0
    out = capsys.readouterr().out
    assert out.index("'NoneType' object has no attribute 'factor'") < out.index("reproduced: ")
    assert not engine.asked[0].repo.exists()  # a temporary folder, gone


def test_the_demo_runs_on_a_repository_whose_tag_is_the_release(tmp_path: Path) -> None:
    tree = demo.install(tmp_path, git="git")
    head = (tree / ".git" / "HEAD").read_text()
    assert head.startswith("ref: ")
    release = json.loads(demo.EVENT.read_text())["release"]
    assert f"v{release.partition('@')[2]}" == demo.RELEASE_TAG
    assert (tree / ".git" / "refs" / "tags" / demo.RELEASE_TAG).exists()


@pytest.mark.parametrize("git", [None, "/bin/false"], ids=["no-git", "git-fails"])
def test_the_demo_does_without_git(git: str | None, tmp_path: Path) -> None:
    tree = demo.install(tmp_path, git=git)
    assert (tree / "ferry" / "desk.py").exists()
    assert not (tree / ".git").exists()


def test_keep_leaves_the_project_and_overwrites_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use(reproducing(), monkeypatch)
    assert main(["demo", "--keep", str(tmp_path)]) == 0
    assert (tmp_path / "ferry-line" / "ferry").is_dir()
    assert main(["demo", "--keep", str(tmp_path)]) == 2
    assert "exists" in capsys.readouterr().err


def test_the_demo_as_json_is_the_verdict_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use(FakeEngine(documents.not_reproduced()), monkeypatch)
    assert main(["demo", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["reason"] == "opaque_value_used"
