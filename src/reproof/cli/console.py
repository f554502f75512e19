"""The two streams: results on stdout, talk on stderr; what may be shown there, and how.

Text of an event is what a stranger sent. Everything that reaches a stream goes through
`printable`, so that no control, bidirectional or escape character of theirs acts on a terminal;
colour is added after that. A reader that goes away (`| head`) ends the output, not the program.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TextIO

from reproof.cli.documents import as_json_text, error_document
from reproof.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reproof.domain.event import JSON

COLORS = {"red": "31", "green": "32", "yellow": "33", "cyan": "36", "bold": "1", "dim": "2"}


def printable(text: str) -> str:
    """Return `text` with every character escaped that a terminal might act upon."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in "\n\t" else char.encode("unicode_escape").decode()
        for char in text
    )


class Console:
    """Where a command writes. Colour and liveliness are decided by `configure`, off until then."""

    def __init__(
        self,
        *,
        as_json: bool = False,
        verbose: bool = False,
        stdout: TextIO | None = None,
        stderr: TextIO | None = None,
    ) -> None:
        self.as_json = as_json
        self.verbose = verbose
        self.quiet = False
        # a stream that was closed before we came (`>&-`) is None here
        self.stdout = stdout or sys.stdout or _nowhere()
        self.stderr = stderr or sys.stderr or _nowhere()
        self._stdout_lost = stdout is None and sys.stdout is None
        self.color_out = False
        self.color_err = False
        self.live = False
        """Whether a line of stderr may be rewritten in place."""
        self._status_shown = False

    def configure(self, *, quiet: bool, no_color: bool, dumb: bool) -> None:
        """Decide, once the options and settings are known, how the streams may be used."""
        self.quiet = quiet
        plain = no_color or dumb
        self.color_out = self.stdout.isatty() and not plain
        self.color_err = self.stderr.isatty() and not plain
        self.live = self.stderr.isatty() and not (dumb or quiet)

    @property
    def on_terminal(self) -> bool:
        """Whether a person reads the results."""
        return self.stdout.isatty() and not self.as_json

    def result(self, text: str) -> None:
        """Write finished text (already printable) to stdout."""
        self.clear_status()
        if self._stdout_lost:
            raise _cannot_write("it is closed")
        try:
            self._write(self.stdout, text + "\n")
        except (OSError, ValueError) as error:
            self._stdout_lost = True
            # what is still buffered would fail once more when the interpreter ends
            _silence(self.stdout)
            self.stdout = _nowhere()
            raise _cannot_write(str(error)) from error

    def document(self, document: Mapping[str, JSON]) -> None:
        """Write the one JSON document of a `--json` run."""
        self.result(as_json_text(document))

    def note(self, text: str) -> None:
        """Tell the user something in passing; `--quiet` drops it."""
        if not self.quiet:
            self.talk(text)

    def talk(self, text: str, *color: str) -> None:
        """Write one line to stderr, whatever the options say."""
        self.clear_status()
        self._write(self.stderr, self.paint(printable(text), *color, when=self.color_err) + "\n")

    def status(self, text: str) -> None:
        """Show `text` as the one line that is rewritten in place; nothing off a terminal."""
        if self.live:
            width = max(20, _width(self.stderr) - 1)
            shown = printable(text).replace("\n", " ").replace("\t", " ")[:width]
            self._write(self.stderr, f"\r\x1b[2K{self.paint(shown, 'dim', when=self.color_err)}")
            self._status_shown = True

    def clear_status(self) -> None:
        """Take the line of `status` away."""
        if self._status_shown:
            self._status_shown = False
            self._write(self.stderr, "\r\x1b[2K")

    def paint(self, text: str, *color: str, when: bool) -> str:
        """Return `text` between colour codes, or as it is."""
        if not when or not color:
            return text
        return f"\x1b[{';'.join(COLORS[name] for name in color)}m{text}\x1b[0m"

    def failure(self, code: str, message: str, hint: str) -> None:
        """Tell an error: as the run's JSON document, or in words on stderr."""
        if self.as_json and not self._stdout_lost:
            try:
                self.document(error_document(code, message, hint))
            except OutputError as lost:
                self._complain(lost.message, lost.hint)
            else:
                return
        self._complain(message, hint)

    def _complain(self, message: str, hint: str) -> None:
        self.clear_status()
        label = self.paint("error:", "red", "bold", when=self.color_err)
        try:
            self._write(self.stderr, f"{label} {printable(message)}\n")
            if hint:
                self._write(self.stderr, f"\nhint: {printable(hint)}\n")
        except (OSError, ValueError):
            # nobody can be told; the exit status still says it
            _silence(self.stderr)

    def internal(self, error: BaseException) -> None:
        """Tell a fault of ours, in one sentence unless `--verbose`."""
        if self.verbose:
            self.traceback(error)
        message = f"internal error: {type(error).__name__}: {str(error)[:300]}"
        self.failure("internal", message, "this is a bug in reproof; --verbose shows where")

    def traceback(self, error: BaseException) -> None:
        """Write where `error` came from to stderr."""
        from traceback import format_exception  # noqa: PLC0415 - only when something went wrong

        self.talk("".join(format_exception(error)))

    def close(self) -> None:
        """Flush what is left. The streams stay open: they are not ours."""
        self.clear_status()
        for stream in (self.stdout, self.stderr):
            try:
                self._write(stream, "")
            except (OSError, ValueError):
                # what could not be written was said when it was written; there is no one to tell
                _silence(stream)

    def _write(self, stream: TextIO, text: str) -> None:
        try:
            try:
                stream.write(text)
            except UnicodeEncodeError:
                encoding = stream.encoding or "ascii"
                stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
            stream.flush()
        except BrokenPipeError:
            # The reader has what it wanted. What is still buffered must not raise at exit either.
            _silence(stream)


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - lives as long as we do


def _silence(stream: TextIO) -> None:
    """Send what a stream still holds to nowhere, so that the exit cannot fail on it."""
    try:
        number = stream.fileno()
    except (OSError, ValueError):
        return
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, number)
    os.close(null)


def _cannot_write(why: str) -> OutputError:
    return OutputError(
        f"the result cannot be written to standard output: {why}",
        hint="send it somewhere that can be written",
    )


def _width(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80
