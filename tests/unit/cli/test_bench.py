from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from reproof.cli import repro
from reproof.cli.bench import grade
from reproof.cli.main import main
from support import documents
from support.engines import FakeEngine

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reproof.cli.progress import CliProgress
    from reproof.domain.event import JSON
    from reproof.pipeline import Options
    from reproof.sources.interface import RawPayload

CASE = """
drop_from_repo = ["main.py"]
[recorded.exception]
type = "ZeroDivisionError"
[recorded.frame]
function = "rate"
"""
RECORDED: dict[str, JSON] = {
    "exception": {"type": "ZeroDivisionError"},
    "frame": {"function": "rate"},
}


class TreeReader(FakeEngine):
    """Answers by what it finds in the tree: the answer for the text of its `svc.py`."""

    def __init__(self, by_text: dict[str, dict[str, JSON]]) -> None:
        super().__init__()
        self.by_text = by_text
        self.listings: list[set[str]] = []

    def payloads(self, crash: str) -> Sequence[RawPayload]:
        self.answers = [documents.reproduced()]
        return super().payloads(crash)

    def reproduce(
        self, payload: RawPayload, options: Options, progress: CliProgress
    ) -> dict[str, JSON]:
        self.listings.append({path.name for path in options.repo.iterdir()})
        return self.by_text[(options.repo / "svc.py").read_text()]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    case = tmp_path / "corpus" / "01_case"
    for name in ("app", "fixed"):
        (case / name).mkdir(parents=True)
        (case / name / "svc.py").write_text(name)
        (case / name / "main.py").write_text("trigger")
    (case / "case.toml").write_text(CASE)
    (case / "event.json").write_text("{}")
    return case.parent


def run(
    engine: FakeEngine, corpus: Path, monkeypatch: pytest.MonkeyPatch, *words: str
) -> tuple[int, str]:
    monkeypatch.setattr(repro, "real_engine", lambda: engine)
    return main(["bench", str(corpus), *words]), engine.__class__.__name__


@pytest.mark.parametrize(
    ("buggy", "fixed", "outcome", "code"),
    [
        pytest.param(
            documents.reproduced(), documents.not_reproduced("passed"), "right", 0, id="right"
        ),
        pytest.param(
            documents.not_reproduced(), documents.not_reproduced(), "refused", 0, id="refused"
        ),
        pytest.param(
            documents.reproduced(), documents.reproduced(), "wrong", 2, id="also-on-the-fixed-tree"
        ),
        pytest.param(
            documents.not_reproduced(), documents.reproduced(), "wrong", 2, id="only-on-the-fixed"
        ),
    ],
)
def test_a_case_is_judged_on_both_trees(
    buggy: dict[str, JSON],
    fixed: dict[str, JSON],
    outcome: str,
    code: int,
    corpus: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    engine = TreeReader({"app": buggy, "fixed": fixed})
    assert run(engine, corpus, monkeypatch, "--json")[0] == code
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["case"], row["event"], row["outcome"]) == ("01_case", "event.json", outcome)
    assert engine.listings == [{"svc.py"}, {"svc.py"}]


@pytest.mark.parametrize(
    ("change", "outcome"),
    [
        pytest.param({}, "right", id="as-recorded"),
        pytest.param({"exception": {"type": "KeyError"}}, "wrong", id="another-exception"),
        pytest.param({"crash_point": {"function": "total"}}, "wrong", id="another-function"),
        pytest.param({"crash_point": {"function": "separate"}}, "wrong", id="a-similar-name"),
        pytest.param({"exception": None}, "wrong", id="no-exception-named"),
        pytest.param({"status": "error"}, "error", id="no-answer"),
    ],
)
def test_reproduced_is_right_only_as_recorded(change: dict[str, JSON], outcome: str) -> None:
    assert grade(documents.reproduced() | change, RECORDED)[0] == outcome


def test_a_case_without_its_application_is_counted_as_skipped(
    corpus: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (corpus / "01_case" / "app").rename(corpus / "01_case" / "elsewhere")
    assert run(FakeEngine(), corpus, monkeypatch)[0] == 0
    assert "0 crashes: right 0 (0 %)" in (out := capsys.readouterr().out)
    assert "skipped 1" in out


def test_a_folder_without_cases_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(FakeEngine(), tmp_path, monkeypatch)[0] == 2
    assert "no case in" in capsys.readouterr().err
