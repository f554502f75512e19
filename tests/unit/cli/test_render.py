from __future__ import annotations

from reproof.cli.render import verdict_lines
from support import documents


def test_a_reproduced_crash_names_what_where_and_how_well() -> None:
    text = "\n".join(verdict_lines(documents.reproduced()))
    first = text.splitlines()[0]
    assert first == "reproduced: ZeroDivisionError in Invoice.rate (billing/calc.py:18)"
    assert "quote(total=12, count=0) (outer, bypassing handle)" in text
    assert "1.00 (location 1.00, message 1.00, locals 1.00 over 7 captured values)" in text
    assert "3 of 3 runs agree, the control run passed" in text
    assert "tests/test_4711_rate.py" in text


def test_what_the_sandbox_did_not_achieve_is_always_said() -> None:
    text = "\n".join(verdict_lines(documents.reproduced()))
    assert "bubblewrap (namespaces, network none); not achieved: cpu" in text


def test_a_refusal_starts_with_its_reason_and_ends_with_its_hint() -> None:
    lines = list(verdict_lines(documents.not_reproduced()))
    assert lines[0].startswith("not reproduced: opaque_value_used: ZeroDivisionError in")
    assert lines[1] == "  The replay used db.execute, which the event does not hold"
    assert lines[-1] == "  hint: give it with --param db=..."


def test_values_and_attempts_are_told_only_when_asked() -> None:
    brief = "\n".join(verdict_lines(documents.reproduced()))
    whole = "\n".join(verdict_lines(documents.reproduced(), verbose=True))
    assert "count = 0 (literal)" not in brief
    assert "count = 0 (literal)" in whole
    assert "handle: opaque_value_used - request" in whole


def test_text_of_the_event_stays_on_its_line_and_cannot_act() -> None:
    document = documents.reproduced()
    document["exception"] = {
        "type": "E\x1b[31m",
        "module": None,
        "message": "a\nb\u202e" + "x" * 999,
    }
    lines = list(verdict_lines(document))
    assert lines[0].startswith("reproduced: E\\x1b[31m in")
    (message,) = [line for line in lines if "message " in line and "a\\nb" in line]
    assert "\\u202e" in message
    assert message.endswith("x... (1003 characters)")


def test_colour_is_added_to_the_words_and_changes_none() -> None:
    plain = list(verdict_lines(documents.reproduced()))
    painted = list(verdict_lines(documents.reproduced(), color=True))
    assert painted[0] == f"\x1b[32mreproduced\x1b[0m{plain[0].removeprefix('reproduced')}"


def test_a_document_with_every_part_missing_is_still_told() -> None:
    nothing = dict.fromkeys(documents.reproduced()) | {
        "status": "not_reproduced",
        "reason": "passed",
    }
    assert next(iter(verdict_lines(nothing))) == "not reproduced: passed: the crash"
