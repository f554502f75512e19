from __future__ import annotations

import pytest

from reproof.domain.text import shown


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain é 漢", "plain é 漢"),
        ("a\nb\tc\r", r"a\nb\tc\r"),
        ("\x1b[31mred\x07", r"\x1b[31mred\x07"),
        ("a\u202eb\u2066c\u200bd", r"a\u202eb\u2066c\u200bd"),
        ("\ud800", r"\ud800"),
        ("\x9b31m\x7f", r"\x9b31m\x7f"),
        (r"C:\new 'x'", r"C:\new 'x'"),
        ("\u2028\xa0", r"\u2028\xa0"),
        ("", ""),
    ],
)
def test_escapes(text: str, seen: str) -> None:
    assert shown(text) == seen


@pytest.mark.parametrize(
    ("text", "limit", "seen"),
    [
        ("abcd", 4, "abcd"),
        ("abcde", 4, "abc…"),
        ("ab\n", 4, r"ab\n"),
        ("abc\n", 4, "abc…"),
        ("ab\nx", 4, "ab…"),
        ("\u202e\u202e", 7, "\\u202e…"),
        ("ab", 1, "…"),
        ("x" * 10_000_000, 3, "xx…"),
    ],
)
def test_shortens_without_cutting_an_escape(text: str, limit: int, seen: str) -> None:
    assert shown(text, limit) == seen
