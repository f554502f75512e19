from __future__ import annotations

import re

from reproof.cli.source import colored

SOURCE = '''def test_quote() -> None:
    """It raised."""
    quote("skerry", [1, 2], {"a": None})
'''


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", text)


def test_colour_changes_no_character() -> None:
    shown = colored(SOURCE)
    assert shown != SOURCE
    assert [line.rstrip() for line in plain(shown).splitlines()] == SOURCE.splitlines()


def test_a_long_line_is_shown_whole() -> None:
    line = f"value = {list(range(200))}"
    assert plain(colored(line)).strip() == line


def test_what_a_terminal_would_act_on_is_escaped() -> None:
    assert "\x1b]0;" not in colored('title = "\x1b]0;owned\x07"')
