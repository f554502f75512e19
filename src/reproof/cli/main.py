"""Parse the command line, run one command, and turn whatever happens into an exit status.

Starting must be quick, so only the command that was asked for is imported, and nothing is that
only some runs need. What a command raises ends here: a `ReproofError` is told as it is, anything
else is a fault of ours and is told in one sentence (the traceback only with `--verbose`).
"""

from __future__ import annotations

import argparse
import signal
import sys
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

from reproof.cli.console import Console
from reproof.cli.exit_codes import ExitCode
from reproof.errors import InputError, ReproofError

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = {
    "repro": "turn a crash event into a failing test, checked in a sandbox",
    "demo": "do that with a crash that ships with this program",
    "doctor": "show what is usable on this machine, and what would enable the rest",
    "bench": "run a folder of recorded crashes and print the table",
}
"""Command -> its line in `--help`; the module `reproof.cli.<command>` has the rest."""

EPILOG = "exit status: 0 reproduced, 1 not reproduced (with the reason), 2 error, 130 interrupted"


class _Parser(argparse.ArgumentParser):
    """An argument parser whose errors take the same road as every other error."""

    def error(self, message: str) -> NoReturn:
        raise InputError(message, hint=f"`{self.prog} --help` lists the options")


class _Version(argparse.Action):
    """Print the version; reading it costs a walk over the installed packages, so only on demand."""

    def __call__(self, parser: argparse.ArgumentParser, *_args: object, **_kw: object) -> NoReturn:
        from importlib.metadata import version  # noqa: PLC0415 - costs as much as all of start-up

        print(f"reproof {version('reproof')}")  # noqa: T201 - the result, on stdout
        parser.exit()


def build_parser(command: str | None) -> argparse.ArgumentParser:
    """Return the whole parser, with the options of `command` alone filled in."""
    parser = _Parser(
        prog="reproof",
        description="A crash event in, a failing pytest out, checked in a sandbox.",
        epilog=EPILOG,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--version", action=_Version, nargs=0, help="show the version and exit", default=None
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, text in COMMANDS.items():
        child = commands.add_parser(
            name, help=text, description=f"{text[0].upper()}{text[1:]}.", allow_abbrev=False
        )
        if name == command:
            import_module(f"reproof.cli.{name}").configure(child)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status. Raises only `SystemExit`, for `--help`."""
    words = list(sys.argv[1:] if argv is None else argv)
    console = Console(as_json="--json" in words, verbose="--verbose" in words)
    code = ExitCode.ERROR
    try:
        command = words[0] if words and words[0] in COMMANDS else None
        args = build_parser(command).parse_args(words)
        code = ExitCode(import_module(f"reproof.cli.{args.command}").execute(args, console))
    except KeyboardInterrupt:
        console.failure("interrupted", "interrupted before there was an answer", "")
        code = ExitCode.INTERRUPTED
    except ReproofError as error:
        console.failure(error.code, error.message, error.hint)
    except Exception as error:  # noqa: BLE001 - the last line of defence: users see no traceback
        console.internal(error)
    finally:
        console.close()
    return code


def run() -> NoReturn:
    """Entry point of the `reproof` script."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    sys.exit(main())


def _end(number: int, _frame: object) -> NoReturn:
    """End as the signal says, but by way of every clean-up: no copy of a tree is left behind."""
    raise SystemExit(128 + number)


if __name__ == "__main__":
    # `python -m` must not end, without a word, in the status that stands for "reproduced"
    run()
