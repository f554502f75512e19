from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import pytest

from reproof.domain.refusal import Refusal, RefusalReason
from reproof.sources.decode import MAX_BYTES, decode

if TYPE_CHECKING:
    from reproof.domain.event import JSON


def refused(raw: bytes) -> str:
    answer = decode(raw)
    assert isinstance(answer, Refusal)
    assert answer.reason is RefusalReason.MALFORMED_EVENT
    assert answer.summary.isprintable()
    assert answer.hint
    return answer.summary


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b'{"a": 1}', {"a": 1}),
        (b'\xef\xbb\xbf{"a": "\xc3\xa9"}', {"a": "é"}),
        ('{"a": "é"}'.encode("utf-16"), {"a": "é"}),
        ('{"a": "é"}'.encode("utf-16-le"), {"a": "é"}),
        (b'{"a": 1, "a": 2}', {"a": 2}),
        (b'{"a": "x\x00y\nz"}', {"a": "x\0y\nz"}),
        (b" \r\n[1]\n", [1]),
        (b"null", None),
    ],
)
def test_json(raw: bytes, value: JSON) -> None:
    assert decode(raw) == value


def test_what_pythons_writer_adds_to_json() -> None:
    value = decode(b"[NaN, Infinity, -Infinity, 1e999]")
    assert isinstance(value, list)
    assert isinstance(value[0], float)
    assert math.isnan(value[0])
    assert value[1:] == [math.inf, -math.inf, math.inf]


class TestSurrogates:
    def test_a_lone_one_becomes_its_escape(self) -> None:
        assert decode(rb'["\ud800", "\uDFFFx", "\ud800\ud800"]') == [
            r"\ud800",
            r"\uDFFFx",
            r"\ud800\ud800",
        ]

    def test_a_pair_is_one_character(self) -> None:
        assert decode(rb'["\ud83d\ude00"]') == ["😀"]

    def test_an_escaped_backslash_before_is_not_an_escape(self) -> None:
        assert decode(rb'["\\ud800", "\\\ud800"]') == [r"\ud800", r"\\ud800"]

    def test_the_result_can_be_encoded(self) -> None:
        json.dumps(decode(rb'{"\udc00": "\ud83dx"}'), ensure_ascii=False).encode()


class TestHostile:
    @pytest.mark.parametrize("depth", [201, 5_000, 500_000])
    @pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
    def test_deep(self, depth: int, opening: str, closing: str) -> None:
        assert "deep" in refused((opening * depth + "1" + closing * depth).encode())

    def test_the_deepest_that_is_read(self) -> None:
        assert isinstance(decode(b"[" * 200 + b"]" * 200), list)

    def test_unclosed_depth(self) -> None:
        refused(b"[" * 1_000_000)

    def test_long_integer_stays_text(self) -> None:
        assert decode(b"[1, " + b"9" * 5_000 + b"]") == [1, "9" * 5_000]

    def test_long_string(self) -> None:
        text = "x" * 10_000_000
        assert decode(json.dumps({"a": text}).encode()) == {"a": text}

    def test_too_large(self) -> None:
        assert "64" in f"{MAX_BYTES // 2**20}"
        assert "at most" in refused(b" " * (MAX_BYTES + 1))


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "empty"),
        (b" \n\x00", "empty"),
        (b"{", "line 1, column 2"),
        (b'{"a": 1}\n\n  oops', "line 3, column 3"),
        (b"<!doctype html><title>Log in</title>", "HTML"),
        (b"\x1f\x8b\x08\x00", "gzip"),
        (b'{"a": "\xff"}', "byte 7"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "not"),
        (b"Traceback (most recent call last):", "not JSON"),
    ],
)
def test_no_event(raw: bytes, said: str) -> None:
    assert said in refused(raw)


class TestEnvelope:
    EVENT = b'{"event_id": "e", "text": "\xc3\xa9"}'

    def envelope(self, *items: tuple[dict[str, JSON], bytes]) -> bytes:
        lines = [b'{"event_id":"e","sent_at":"2026-01-01T00:00:00Z"}']
        for header, content in items:
            lines += [json.dumps(header).encode(), content]
        return b"\n".join(lines) + b"\n"

    def test_event_with_and_without_a_length(self) -> None:
        event = json.loads(self.EVENT)
        headers: list[dict[str, JSON]] = [
            {"type": "event"},
            {"type": "event", "length": len(self.EVENT)},
        ]
        for header in headers:
            assert decode(self.envelope((header, self.EVENT))) == event

    def test_behind_a_binary_attachment(self) -> None:
        blob = b'\xff\x00\n{"type":"event"}\n{}\n\xfe'
        raw = self.envelope(
            ({"type": "attachment", "length": len(blob)}, blob), ({"type": "event"}, self.EVENT)
        )
        assert decode(raw) == json.loads(self.EVENT)

    def test_an_edited_event_whose_length_is_off(self) -> None:
        raw = self.envelope(
            ({"type": "event", "length": len(self.EVENT) + 7}, self.EVENT),
            ({"type": "attachment", "length": 30}, b"a text without anything in it."),
        )
        assert decode(raw) == json.loads(self.EVENT)

    def test_the_first_event_counts_and_no_final_line_end_is_needed(self) -> None:
        raw = self.envelope(({"type": "session"}, b"{}"), ({"type": "event"}, self.EVENT))
        assert decode(raw.rstrip()) == json.loads(self.EVENT)

    def test_windows_line_ends(self) -> None:
        raw = self.envelope(({"type": "event"}, self.EVENT)).replace(b"\n", b"\r\n")
        assert decode(raw) == json.loads(self.EVENT)

    def test_no_event_inside(self) -> None:
        raw = self.envelope(({"type": "transaction"}, b"{}"), ({"type": "\x1b[2J"}, b"{}"))
        assert "transaction, \\x1b[2J" in refused(raw)

    def test_a_damaged_event_inside(self) -> None:
        assert "not JSON" in refused(self.envelope(({"type": "event"}, b'{"a": ')))

    @pytest.mark.parametrize("length", [-1, True, "7", 10**30, None])
    def test_lengths_that_are_none(self, length: JSON) -> None:
        raw = self.envelope(({"type": "event", "length": length}, self.EVENT))
        assert decode(raw) == json.loads(self.EVENT)

    def test_pretty_printed_json_is_no_envelope(self) -> None:
        assert decode(b'{\n"type":\n"event"\n}') == {"type": "event"}
