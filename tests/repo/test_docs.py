"""The documents name every option, setting, reason and command that there is, and no other."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from reproof.cli.exit_codes import ExitCode
from reproof.cli.main import COMMANDS, build_parser
from reproof.domain.refusal import RefusalReason
from reproof.settings import PASSED_TO_UV, READ_AS_THEY_ARE, TABLE
from support.project import ROOT, tracked_files

if TYPE_CHECKING:
    import argparse

SHOWN_COMMAND = re.compile(r"(?:^\$ |^    |`)(reproof|make) ([a-z]+)\b", re.MULTILINE)
DOCUMENTS = [path for path in tracked_files() if path.suffix == ".md"]


def text_of(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def options_of(command: str) -> set[str]:
    top = build_parser(command)
    commands = next(a for a in top._actions if isinstance(a.choices, dict))
    assert isinstance(commands.choices, dict)
    parser: argparse.ArgumentParser = commands.choices[command]
    strings = {text for action in parser._actions for text in action.option_strings}
    return {text for text in strings if text.startswith("--")} - {"--help"}


def test_every_refusal_is_documented_and_nothing_else_is() -> None:
    headings = re.findall(r"^### `(\w+)`$", text_of("docs/refusals.md"), re.MULTILINE)
    assert sorted(headings) == sorted(RefusalReason)


def test_every_refusal_is_explained() -> None:
    sections = re.split(r"^### .*$", text_of("docs/refusals.md"), flags=re.MULTILINE)[1:]
    assert min(len(section.strip()) for section in sections) > 30


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_documented_and_nothing_else_is(command: str) -> None:
    section = text_of("docs/cli.md").partition(f"## `reproof {command}")[2].partition("\n## ")[0]
    assert section, f"docs/cli.md has no section for {command}"
    documented = set(re.findall(r"--[a-z][a-z-]+", section))
    assert documented == options_of(command)


def test_the_interface_s_options_are_all_there() -> None:
    promised = (
        "--repo --ref --no-llm --artifact --draft-pr --json --timeout --test-timeout --out "
        "--sandbox --env --source-map --events --param --expect-raises --verbose --quiet"
    )
    assert set(promised.split()) <= options_of("repro")


def test_every_exit_status_is_documented() -> None:
    table = re.findall(r"^\| (\d+) \|", text_of("docs/cli.md"), re.MULTILINE)
    assert [int(code) for code in table] == sorted(ExitCode)


def test_every_setting_is_documented_and_nothing_else_is() -> None:
    rows = re.findall(r"^\| `(\w+)`: .* \|$", text_of("docs/settings.md"), re.MULTILINE)
    assert sorted(rows) == sorted(setting.name for setting in TABLE)


@pytest.mark.parametrize("setting", TABLE, ids=lambda row: row.name)
def test_a_setting_s_row_has_its_names_and_default(setting: object) -> None:
    row = next(
        line
        for line in text_of("docs/settings.md").splitlines()
        if line.startswith(f"| `{setting.name}`: ")  # type: ignore[attr-defined]
    )
    _, _, env, key, _, default, _ = row.split("|")
    assert f"`{setting.env}`" in env  # type: ignore[attr-defined]
    assert ("not from" in env) is not setting.project  # type: ignore[attr-defined]
    assert key.strip() == (f"`{setting.key}`" if setting.project else "-")  # type: ignore[attr-defined]
    assert default.strip().replace("`", "") == setting.default.replace("`", "")  # type: ignore[attr-defined]


def test_every_variable_that_is_read_is_documented() -> None:
    text = text_of("docs/settings.md")
    for name in (*READ_AS_THEY_ARE, *PASSED_TO_UV):
        assert f"`{name}`" in text, name


def test_links_between_documents_lead_somewhere() -> None:
    for document in DOCUMENTS:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", document.read_text("utf-8")):
            if "://" not in target:
                assert (document.parent / target).exists(), f"{document}: {target}"


def test_every_command_a_document_shows_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", text_of("Makefile"), re.MULTILINE))
    known = {"reproof": set(COMMANDS), "make": targets}
    for document in DOCUMENTS:
        shown = SHOWN_COMMAND.findall(document.read_text("utf-8"))
        assert [(tool, word) for tool, word in shown if word not in known[tool]] == [], document


def test_every_option_the_readme_shows_exists() -> None:
    known = set().union(*(options_of(command) for command in COMMANDS)) | {"--version", "--help"}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text_of("README.md"))) <= known


def test_the_readme_starts_with_the_two_commands_that_set_everything_up() -> None:
    first_screen = "\n".join(text_of("README.md").splitlines()[:40])
    assert "make demo" in first_screen
    assert "make test" in first_screen
