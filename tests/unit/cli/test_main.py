from __future__ import annotations

import json
from importlib import import_module
from typing import TYPE_CHECKING

import pytest

from reproof.cli import repro
from reproof.cli.exit_codes import ExitCode
from reproof.cli.main import COMMANDS, build_parser, main
from support import documents
from support.engines import FakeEngine, reproducing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from reproof.cli.progress import CliProgress

NEEDED = {"repro": ["x.json"], "bench": ["corpus"]}
"""The arguments that a command does not do without."""


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Callable[[FakeEngine], FakeEngine]:
    """Put an engine where the product is."""

    def put(engine: FakeEngine) -> FakeEngine:
        monkeypatch.setattr(repro, "real_engine", lambda: engine)
        return engine

    return put


def test_the_exit_codes_are_the_documented_numbers() -> None:
    assert {code.name: code.value for code in ExitCode} == {
        "REPRODUCED": 0,
        "NOT_REPRODUCED": 1,
        "ERROR": 2,
        "INTERRUPTED": 130,
    }


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        pytest.param(documents.reproduced(), 0, id="reproduced"),
        pytest.param(documents.not_reproduced(), 1, id="refused"),
        pytest.param(ValueError("odd"), 2, id="fault-of-ours"),
        pytest.param(KeyboardInterrupt(), 130, id="ctrl-c"),
        pytest.param(documents.reproduced() | {"status": "new"}, 2, id="unknown-status"),
    ],
)
@pytest.mark.parametrize("json_option", [(), ("--json",)], ids=["words", "json"])
def test_the_exit_status_follows_the_answer(
    answer: dict[str, object] | BaseException,
    code: int,
    json_option: tuple[str, ...],
    use: Callable[[FakeEngine], FakeEngine],
) -> None:
    use(FakeEngine(answer))  # type: ignore[arg-type]  # parametrize loses the union
    assert main(["repro", "x.json", *json_option]) == code


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(documents.reproduced(), id="reproduced"),
        pytest.param(documents.not_reproduced(), id="refused"),
        pytest.param(ValueError("odd"), id="fault-of-ours"),
        pytest.param(KeyboardInterrupt(), id="ctrl-c"),
    ],
)
def test_json_is_exactly_one_document_with_every_key(
    answer: dict[str, object] | BaseException,
    use: Callable[[FakeEngine], FakeEngine],
    capsys: pytest.CaptureFixture[str],
) -> None:
    use(FakeEngine(answer))  # type: ignore[arg-type]  # parametrize loses the union
    main(["repro", "x.json", "--json"])
    said = capsys.readouterr()
    document = json.loads(said.out)
    assert set(documents.reproduced()) <= set(document)
    assert said.err == ""


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["repro"], id="no-crash"),
        pytest.param(["repro", "x.json", "--timeout", "soon"], id="not-a-number"),
        pytest.param(["repro", "x.json", "--timeout", "0"], id="no-time"),
        pytest.param(["repro", "x.json", "--timeout", "nan"], id="nan"),
        pytest.param(["repro", "x.json", "--events", "0"], id="no-events"),
        pytest.param(["repro", "x.json", "--param", "a b=1"], id="not-a-name"),
        pytest.param(["repro", "x.json", "--param", "a"], id="no-literal"),
        pytest.param(["repro", "x.json", "--param", "a=1", "--param", "a=2"], id="twice"),
        pytest.param(["repro", "x.json", "--source-map", "=x"], id="no-prefix"),
        pytest.param(["repro", "x.json", "--repo", "/nonexistent/tree"], id="no-tree"),
        pytest.param(["repro", "x.json", "--verb"], id="abbreviation"),
    ],
)
def test_bad_usage_is_an_error_and_a_document(
    words: list[str],
    use: Callable[[FakeEngine], FakeEngine],
    capsys: pytest.CaptureFixture[str],
) -> None:
    use(reproducing())
    assert main([*words, "--json"]) == ExitCode.ERROR
    document = json.loads(capsys.readouterr().out)
    assert document["status"] == "error"
    assert document["error"]["code"] == "bad_input"
    assert main(words) == ExitCode.ERROR
    said = capsys.readouterr()
    assert (said.out, said.err.startswith("error: ")) == ("", True)


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["--artifact"], id="artifact"),
        pytest.param(["--artifact", "case.bundle"], id="artifact-with-path"),
        pytest.param(["--draft-pr"], id="draft-pr"),
        pytest.param(["--events", "3"], id="events"),
        pytest.param(["--env", "snapshot"], id="env-snapshot"),
    ],
)
def test_what_is_not_built_says_so_and_does_nothing(
    words: list[str],
    use: Callable[[FakeEngine], FakeEngine],
    capsys: pytest.CaptureFixture[str],
) -> None:
    engine = use(reproducing())
    assert main(["repro", "x.json", "--json", *words]) == ExitCode.ERROR
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "not_available"
    assert engine.asked == []


def test_an_unknown_command_names_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce"]) == ExitCode.ERROR
    assert "'repro', 'demo'" in capsys.readouterr().err


def test_a_fault_of_ours_shows_its_traceback_only_with_verbose(
    use: Callable[[FakeEngine], FakeEngine], capsys: pytest.CaptureFixture[str]
) -> None:
    use(FakeEngine(ValueError("odd")))
    main(["repro", "x.json"])
    assert "Traceback" not in capsys.readouterr().err
    main(["repro", "x.json", "--verbose"])
    assert "Traceback" in capsys.readouterr().err


def test_a_fault_outside_any_event_is_an_error_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(repro, "real_engine", lambda: None)
    assert main(["repro", "x.json"]) == ExitCode.ERROR
    assert capsys.readouterr().err.startswith("error: internal error: AttributeError")


def test_every_command_has_options_and_something_to_do() -> None:
    for command in COMMANDS:
        assert "json" in build_parser(command).parse_args([command, *NEEDED.get(command, [])])
        assert callable(import_module(f"reproof.cli.{command}").execute)


def test_the_version_is_the_distribution_s(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == "reproof 0.1.0\n"


def test_several_events_are_one_document_and_the_worst_exit_status(
    use: Callable[[FakeEngine], FakeEngine], capsys: pytest.CaptureFixture[str]
) -> None:
    use(FakeEngine(documents.reproduced(), documents.not_reproduced()))
    assert main(["repro", "folder", "--json"]) == ExitCode.NOT_REPRODUCED
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "reproof/verdicts/1"
    assert [verdict["status"] for verdict in document["verdicts"]] == [
        "reproduced",
        "not_reproduced",
    ]


def test_one_event_s_fault_does_not_hide_the_others(
    use: Callable[[FakeEngine], FakeEngine], capsys: pytest.CaptureFixture[str]
) -> None:
    use(FakeEngine(ValueError("odd"), documents.reproduced()))
    assert main(["repro", "folder", "--json"]) == ExitCode.ERROR
    statuses = [v["status"] for v in json.loads(capsys.readouterr().out)["verdicts"]]
    assert statuses == ["error", "reproduced"]


def test_no_event_at_all_is_an_error(use: Callable[[FakeEngine], FakeEngine]) -> None:
    use(FakeEngine())
    assert main(["repro", "empty-folder"]) == ExitCode.ERROR


def test_results_are_on_stdout_and_talk_on_stderr(
    use: Callable[[FakeEngine], FakeEngine], capsys: pytest.CaptureFixture[str]
) -> None:
    engine = use(reproducing())

    def work(progress: CliProgress) -> None:
        progress.stage("search")
        progress.attempt("f", "passed")

    engine.before = work
    main(["repro", "x.json", "--verbose"])
    said = capsys.readouterr()
    assert said.out.startswith("reproduced: ")
    assert "search" in said.err
    assert "f: passed" in said.err
    main(["repro", "x.json"])
    assert capsys.readouterr().err == ""


def test_options_win_over_settings_and_settings_over_defaults(
    use: Callable[[FakeEngine], FakeEngine], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    engine = use(reproducing())
    monkeypatch.setenv("REPROOF_TIMEOUT", "7")
    monkeypatch.setenv("REPROOF_TEST_TIMEOUT", "3")
    monkeypatch.setenv("REPROOF_OUT", "somewhere")
    words = ["repro", "x.json", "--repo", str(tmp_path), "--timeout", "5", "--no-llm"]
    words += ["--param", "cart.size=3", "--source-map", "/srv/app=src", "--expect-raises"]
    main(words)
    (options,) = engine.asked
    assert (options.timeout_s, options.test_timeout_s, options.memory_mib) == (5.0, 3.0, None)
    assert options.params == {"cart.size": "3"}
    assert options.source_map == {"/srv/app": "src"}
    assert options.expect_raises is True
    assert options.out_dir == tmp_path / "somewhere"
    assert (options.sandbox, options.env) == ("auto", "auto")


def test_a_project_s_file_cannot_take_the_wall_away(
    use: Callable[[FakeEngine], FakeEngine], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = use(reproducing())
    (tmp_path / ".env").write_text("REPROOF_SANDBOX=process\nREPROOF_TIMEOUT=9\n")
    main(["repro", "x.json", "--repo", str(tmp_path)])
    assert engine.asked[0].sandbox == "auto"
    assert engine.asked[0].timeout_s == 9.0
    assert "REPROOF_SANDBOX in the project's .env is ignored" in capsys.readouterr().err
