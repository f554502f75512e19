"""`reproof demo`: the main job, as `repro` does it, on the crash that ships with the package."""

from __future__ import annotations

import json
import shutil
import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from reproof import demo, settings
from reproof.cli import repro
from reproof.cli.exit_codes import ExitCode
from reproof.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from reproof.cli.console import Console
    from reproof.cli.repro import Engine


def configure(parser: argparse.ArgumentParser) -> None:
    """Add every option of the command."""
    parser.add_argument(
        "--keep", metavar="DIR", help="make the demo's project in DIR, and leave it there"
    )
    parser.add_argument("--sandbox", metavar="BACKEND", help="as for repro", default=None)
    repro.add_talk_options(parser)


def execute(args: argparse.Namespace, console: Console, engine: Engine | None = None) -> ExitCode:
    """Run the main job on the shipped crash and show each step of it."""
    with ExitStack() as stack:
        if args.keep:
            into = Path(args.keep)
            if (into / "ferry-line").exists():
                raise InputError(
                    f"--keep: {into / 'ferry-line'} exists", hint="name another folder"
                )
        else:
            into = Path(stack.enter_context(TemporaryDirectory(prefix="reproof-demo-")))
        git = shutil.which("git", path=settings.load(Path()).search_path)
        tree = demo.install(into, git=git).resolve()
        options = repro.options_from(_as_repro(args, tree), console)
        if not console.as_json:
            for line in event_lines(tree):
                console.result(line)
        engine = engine or repro.real_engine()
        (payload,) = engine.payloads(str(demo.EVENT))
        document = repro.judge(engine, payload, options, console)
        if console.as_json:
            console.document(document)
        else:
            repro.say(document, options, console, show_test=True)
            if args.keep and document["status"] == "reproduced":
                console.result(f"\nThe project and its new test are in {tree}")
        return ExitCode.of_status(str(document["status"]))


def event_lines(tree: Path) -> Iterator[str]:
    """Yield what the shipped event says, before anything is done with it."""
    event = json.loads(demo.EVENT.read_text("utf-8"))
    (crash,) = event["exception"]["values"]
    frames = [frame for frame in crash["stacktrace"]["frames"] if frame.get("in_app")]
    sdk = f"{event['sdk']['name']} {event['sdk']['version']}"
    yield f"A crash of {event['release']}, as {sdk} sent it:"
    for frame in frames:
        yield f"  {frame['abs_path']}:{frame['lineno']} in {frame['function']}"
        yield f"    {frame['context_line'].strip()}"
    yield f"  {crash['type']}: {crash['value']}"
    yield f"Its source tree: {tree}"
    yield ""


def _as_repro(args: argparse.Namespace, tree: Path) -> argparse.Namespace:
    """Return the options with which `repro` would be called by hand."""
    words = [str(demo.EVENT), "--repo", str(tree), "--env", sys.executable]
    words += ["--sandbox", args.sandbox] if args.sandbox else []
    words += ["--quiet"] if args.quiet else []
    return repro.parsed(words)
