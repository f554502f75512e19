"""`reproof bench CORPUS`: run a folder of recorded crashes and print the table.

A case is a folder with `case.toml` (its `recorded` table says which exception, in which function,
really happened), one or more `event*.json`, the application that crashed (`app/`) and, where it is
known, the same with the bug fixed (`fixed/`). Each crash is asked about twice, as a user would:
on the tree that crashed and on the fixed one.

What counts as wrong is decided from the answers alone: "reproduced" with another exception or crash
function than was recorded, or "reproduced" on the fixed tree. The emitted tests are not run outside
the sandbox here. Cases whose application is not in the folder are skipped and counted as such.
"""

from __future__ import annotations

import shutil
import statistics
import tomllib
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING

from reproof.cli import repro
from reproof.cli.exit_codes import ExitCode
from reproof.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping, Sequence

    from reproof.cli.console import Console
    from reproof.cli.repro import Engine
    from reproof.domain.event import JSON

BENCH_SCHEMA = "reproof/bench/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One crash, judged."""

    case: str
    event: str
    outcome: str
    """`right`, `refused`, `wrong`, `error` or `skipped`."""
    detail: str = ""
    seconds: float = 0.0


def configure(parser: argparse.ArgumentParser) -> None:
    """Add every option of the command."""
    parser.add_argument("corpus", metavar="CORPUS", help="a folder of cases")
    parser.add_argument("--cases", metavar="A,B", default="", help="only these")
    parser.add_argument(
        "--event", metavar="FILE", default="event.blind.json",
        help="which of a case's events (default: event.blind.json, else event.json)",
    )  # fmt: skip
    parser.add_argument("--env", metavar="ENV", help="as for repro", default=None)
    parser.add_argument("--sandbox", metavar="BACKEND", help="as for repro", default=None)
    repro.add_talk_options(parser)


def execute(args: argparse.Namespace, console: Console, engine: Engine | None = None) -> ExitCode:
    """Run every case; fail if any answer is wrong."""
    root = Path(args.corpus)
    only = set(filter(None, args.cases.split(",")))
    cases = sorted(path.parent for path in root.glob("*/case.toml"))
    cases = [case for case in cases if not only or case.name in only]
    if not cases:
        raise InputError(f"no case in {args.corpus!r}", hint="a case is a folder with a case.toml")
    asker = Asker(args, console, engine or repro.real_engine())
    rows = []
    for case in cases:
        row = run_case(case, args, asker)
        rows.append(row)
        if not console.as_json:
            console.result(
                f"{row.outcome:8} {row.case:32} {row.event:18} {row.seconds:6.2f} s  {row.detail}"
            )
    if console.as_json:
        console.document(as_document(rows))
    else:
        console.result(summary(rows))
    return ExitCode.ERROR if any(row.outcome == "wrong" for row in rows) else ExitCode.REPRODUCED


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks the product about one event on one tree, the way `repro` would."""

    args: argparse.Namespace
    console: Console
    engine: Engine

    def ask(self, event: Path, source: Path, dropped: Sequence[str]) -> dict[str, JSON]:
        """Return the answer for `event` on a copy of `source` without the `dropped` files."""
        with TemporaryDirectory(prefix="reproof-bench-") as folder:
            tree = Path(folder) / "tree"
            shutil.copytree(source, tree, ignore=shutil.ignore_patterns("__pycache__", *dropped))
            words = repro.parsed(list(_words(self.args, event, tree)))
            options = repro.options_from(words, self.console)
            (payload,) = self.engine.payloads(str(event))
            return repro.judge(self.engine, payload, options, self.console)


def run_case(case: Path, args: argparse.Namespace, asker: Asker) -> Row:
    """Ask about one crash, on the tree that crashed and on the fixed one."""
    facts = tomllib.loads((case / "case.toml").read_text("utf-8"))
    event = case / args.event
    if not event.exists():
        event = case / "event.json"
    if not (case / "app").is_dir() or not event.exists():
        return Row(case=case.name, event=event.name, outcome="skipped", detail="no app/ or event")
    dropped = facts.get("drop_from_repo", [])
    started = perf_counter()
    document = asker.ask(event, case / "app", dropped)
    seconds = perf_counter() - started
    outcome, detail = grade(document, facts.get("recorded", {}))
    if (case / "fixed").is_dir():
        after = asker.ask(event, case / "fixed", dropped)
        if after["status"] == "reproduced":
            outcome, detail = "wrong", "says reproduced on the fixed tree"
    return Row(case=case.name, event=event.name, outcome=outcome, detail=detail, seconds=seconds)


def grade(document: Mapping[str, JSON], recorded: Mapping[str, JSON]) -> tuple[str, str]:
    """Return the outcome of one answer and what to say about it."""
    status = document["status"]
    if status == "not_reproduced":
        return "refused", str(document.get("reason"))
    if status != "reproduced":
        return "error", str(document.get("summary"))
    exception, point = document.get("exception"), document.get("crash_point")
    want, frame = recorded.get("exception"), recorded.get("frame")
    for said, truth, key in ((exception, want, "type"), (point, frame, "function")):
        if not (isinstance(said, dict) and isinstance(truth, dict)):
            return "wrong", f"the answer or the record names no {key}"
        # The record has the code object's name, the answer may qualify it.
        if str(said.get(key)).rpartition(".")[2] != str(truth.get(key)).rpartition(".")[2]:
            return "wrong", f"{key}: {said.get(key)}, recorded {truth.get(key)}"
    return "right", ""


def summary(rows: Sequence[Row]) -> str:
    """Return the closing line: rate, wrong answers, time, memory."""
    import resource  # noqa: PLC0415 - not on every system, and nothing else here needs it

    count = {name: sum(row.outcome == name for row in rows) for name in _OUTCOMES}
    judged = len(rows) - count["skipped"]
    median = statistics.median([row.seconds for row in rows if row.seconds] or [0.0])
    peak = max(
        resource.getrusage(who).ru_maxrss
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    rate = 100 * count["right"] / judged if judged else 0.0
    others = ", ".join(f"{name} {count[name]}" for name in _OUTCOMES if name != "right")
    return (
        f"{judged} crashes: right {count['right']} ({rate:.0f} %), {others}; "
        f"median {median:.2f} s, peak memory {peak // 1024} MiB"
    )


_OUTCOMES = ("right", "refused", "wrong", "error", "skipped")


def as_document(rows: Sequence[Row]) -> dict[str, JSON]:
    """Return the table as a document."""
    return {
        "schema": BENCH_SCHEMA,
        "rows": [
            {
                "case": row.case,
                "event": row.event,
                "outcome": row.outcome,
                "detail": row.detail,
                "seconds": round(row.seconds, 3),
            }
            for row in rows
        ],
    }


def _words(args: argparse.Namespace, event: Path, tree: Path) -> Iterator[str]:
    yield from (str(event), "--repo", str(tree), "--out", str(tree / "reproof-out"))
    if args.env:
        yield from ("--env", args.env)
    if args.sandbox:
        yield from ("--sandbox", args.sandbox)
    if args.quiet:
        yield "--quiet"
