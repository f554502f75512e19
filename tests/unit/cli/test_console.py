from __future__ import annotations

import io
import os

import pytest

from reproof.cli.console import Console, printable


class Terminal(io.StringIO):
    """A text stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        raise OSError


def console_on(
    stream: type[io.StringIO], *, as_json: bool = False, verbose: bool = False
) -> tuple[Console, io.StringIO, io.StringIO]:
    out, err = stream(), stream()
    return Console(as_json=as_json, verbose=verbose, stdout=out, stderr=err), out, err


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("plain, with ümlaut", "plain, with ümlaut", id="printable-stays"),
        pytest.param("two\nlines\tand tab", "two\nlines\tand tab", id="layout-stays"),
        pytest.param("\x1b[31mred", "\\x1b[31mred", id="ansi-colour"),
        pytest.param("\x1b]0;title\x07", "\\x1b]0;title\\x07", id="terminal-title"),
        pytest.param("a\rb", "a\\rb", id="carriage-return"),
        pytest.param("\u202eabc", "\\u202eabc", id="right-to-left-override"),
        pytest.param("\ud800", "\\ud800", id="lone-surrogate"),
        pytest.param("\x9b31m", "\\x9b31m", id="one-byte-control-sequence"),
    ],
)
def test_printable_escapes_what_a_terminal_would_act_on(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_nothing_is_coloured_or_rewritten_off_a_terminal() -> None:
    console, out, err = console_on(io.StringIO)
    console.configure(quiet=False, no_color=False, dumb=False)
    console.status("working")
    console.talk("said", "red")
    console.result("result")
    assert (out.getvalue(), err.getvalue()) == ("result\n", "said\n")


@pytest.mark.parametrize(
    ("no_color", "dumb", "colored", "live"),
    [
        pytest.param(False, False, True, True, id="terminal"),
        pytest.param(True, False, False, True, id="NO_COLOR"),
        pytest.param(False, True, False, False, id="TERM=dumb"),
    ],
)
def test_a_terminal_gets_colour_and_progress_unless_told_otherwise(
    *, no_color: bool, dumb: bool, colored: bool, live: bool
) -> None:
    console, _, err = console_on(Terminal)
    console.configure(quiet=False, no_color=no_color, dumb=dumb)
    console.talk("said", "red")
    console.status("working")
    assert ("\x1b[31m" in err.getvalue()) is colored
    assert ("working" in err.getvalue()) is live


def test_quiet_drops_notes_and_progress_but_not_errors() -> None:
    console, _, err = console_on(Terminal)
    console.configure(quiet=True, no_color=True, dumb=False)
    console.note("by the way")
    console.status("working")
    console.failure("bad_input", "no such file", "")
    assert err.getvalue() == "error: no such file\n"


def test_the_status_line_is_taken_away_before_anything_else_is_said() -> None:
    console, _, err = console_on(Terminal)
    console.configure(quiet=False, no_color=True, dumb=False)
    console.status("working")
    console.talk("said")
    assert err.getvalue() == "\r\x1b[2Kworking\r\x1b[2Ksaid\n"


def test_an_error_message_cannot_act_on_the_terminal() -> None:
    console, _, err = console_on(io.StringIO)
    console.failure("bad_input", "no file \x1b[2J", "try \x07")
    assert err.getvalue() == "error: no file \\x1b[2J\n\nhint: try \\x07\n"


def test_a_stream_that_cannot_encode_gets_escapes_instead_of_a_traceback() -> None:
    raw = io.BytesIO()
    console = Console(stdout=io.TextIOWrapper(raw, encoding="ascii"), stderr=io.StringIO())
    console.result("größe")
    assert raw.getvalue() == b"gr\\xf6\\xdfe\n"


def test_a_reader_that_went_away_ends_the_output_quietly() -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "w") as stream:
        console = Console(stdout=stream, stderr=io.StringIO())
        console.result("nobody reads this")
        console.result("nor this")
        console.close()


def test_an_internal_error_shows_its_traceback_only_when_asked() -> None:
    error = ValueError("odd")
    quiet, _, quiet_err = console_on(io.StringIO)
    quiet.internal(error)
    loud, _, loud_err = console_on(io.StringIO, verbose=True)
    loud.internal(error)
    assert "internal error: ValueError: odd" in quiet_err.getvalue()
    assert quiet_err.getvalue().count("ValueError") == 1
    assert loud_err.getvalue().count("ValueError: odd") == 2
