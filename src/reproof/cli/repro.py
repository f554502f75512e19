"""`reproof repro CRASH`: the main job. Reads the options, asks the engine, says the answer."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, Protocol

from reproof import settings as settings_module
from reproof.cli.documents import combined, error_document
from reproof.cli.exit_codes import ExitCode
from reproof.cli.progress import progress_for
from reproof.cli.render import verdict_lines
from reproof.errors import InputError, NotAvailableError, ReproofError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reproof.cli.console import Console
    from reproof.cli.progress import CliProgress
    from reproof.domain.event import JSON
    from reproof.pipeline import Options
    from reproof.sources.interface import RawPayload

NOT_BUILT = "not available in this version"


class Engine(Protocol):
    """What a command needs from the product; `cli.engine` is the real one."""

    def payloads(self, crash: str) -> Sequence[RawPayload]:
        """Return the events that `crash` names. Raises `ReproofError`."""
        ...

    def reproduce(
        self, payload: RawPayload, options: Options, progress: CliProgress
    ) -> dict[str, JSON]:
        """Return the verdict on one event as a `reproof/verdict/1` document."""
        ...


def configure(parser: argparse.ArgumentParser) -> None:
    """Add every option of the command."""
    parser.add_argument(
        "crash", metavar="CRASH", help="an event's JSON file, a folder of them, or - for stdin"
    )
    add_run_options(parser)
    told = parser.add_argument_group("what the product is told")
    told.add_argument(
        "--source-map", metavar="PROD=LOCAL", action="append", default=[], type=_pair,
        help="a path prefix of the event and where it lies in the tree (repeatable)",
    )  # fmt: skip
    told.add_argument(
        "--param", metavar="NAME=LITERAL", action="append", default=[], type=_param,
        help="a value you supply for a parameter; the verdict says that you did (repeatable)",
    )  # fmt: skip
    told.add_argument(
        "--events", metavar="N", type=_count, default=1,
        help=f"use up to N events of the issue (more than 1: {NOT_BUILT})",
    )  # fmt: skip
    told.add_argument(
        "--no-llm", action="store_true",
        help="never ask a language model (this version has none to ask)",
    )  # fmt: skip
    made = parser.add_argument_group("what is made")
    made.add_argument(
        "--expect-raises", action="store_true",
        help="emit a test that passes while the crash is there (pytest.raises)",
    )  # fmt: skip
    made.add_argument(
        "--artifact", metavar="PATH", nargs="?", const="", default=None,
        help=f"seal the evidence into a file ({NOT_BUILT})",
    )  # fmt: skip
    made.add_argument(
        "--draft-pr", action="store_true", help=f"open a draft pull options ({NOT_BUILT})"
    )


def parsed(words: Sequence[str]) -> argparse.Namespace:
    """Return the options that `words` give on the command line of `repro`."""
    parser = argparse.ArgumentParser()
    configure(parser)
    return parser.parse_args(words)


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where and within which limits."""
    where = parser.add_argument_group("where")
    where.add_argument("--repo", metavar="DIR", default=".", help="the source tree (default: .)")
    where.add_argument(
        "--ref", metavar="REF", help="the revision of the tree to run on (default: as it is)"
    )
    where.add_argument(
        "--env", metavar="ENV",
        help="auto, current, or the path of a Python environment or interpreter "
        f"(default: auto; snapshot is {NOT_BUILT})",
    )  # fmt: skip
    where.add_argument(
        "--sandbox", metavar="BACKEND", help="auto or a backend's name, see doctor (default: auto)"
    )
    where.add_argument("--out", metavar="DIR", help="where the test is written")
    limits = parser.add_argument_group("limits")
    limits.add_argument(
        "--timeout", metavar="S", type=_setting("timeout"), help="seconds for all (default: 60)"
    )
    limits.add_argument(
        "--test-timeout", metavar="S", type=_setting("test_timeout"),
        help="seconds for one test (default: 15)",
    )  # fmt: skip
    limits.add_argument(
        "--memory-mib", metavar="MIB", type=_setting("memory_mib"),
        help="memory of one test (default: 128, raised once when the target needs more to import)",
    )  # fmt: skip
    add_talk_options(parser)


def add_talk_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how the answer is told."""
    said = parser.add_argument_group("what is said")
    said.add_argument("--json", action="store_true", help="one JSON document on stdout")
    said.add_argument("--verbose", action="store_true", help="every attempt, and tracebacks")
    said.add_argument("--quiet", action="store_true", help="nothing on stderr but errors")


def execute(args: argparse.Namespace, console: Console, engine: Engine | None = None) -> ExitCode:
    """Judge every event that CRASH names; return the worst exit code."""
    _refuse_unbuilt(args)
    options = options_from(args, console)
    engine = engine or real_engine()
    documents: list[dict[str, JSON]] = []
    payloads = engine.payloads(args.crash)
    if not payloads:
        raise InputError(f"no event in {args.crash!r}", hint="give an event's JSON file")
    for number, payload in enumerate(payloads, 1):
        if len(payloads) > 1:
            console.note(f"event {number} of {len(payloads)}")
        document = judge(engine, payload, options, console)
        documents.append(document)
        if not console.as_json:
            say(document, options, console, show_test=console.on_terminal)
    if console.as_json:
        console.document(combined(documents))
    return max(ExitCode.of_status(str(document["status"])) for document in documents)


def judge(
    engine: Engine, payload: RawPayload, options: Options, console: Console
) -> dict[str, JSON]:
    """Return the verdict on one event; what goes wrong with it is its document too."""
    progress = progress_for(console)
    try:
        return engine.reproduce(payload, options, progress)
    except ReproofError as error:
        return error_document(error.code, error.message, error.hint)
    except Exception as error:  # noqa: BLE001 - one event's fault of ours must not hide the others
        if console.verbose:
            console.traceback(error)
        message = f"internal error: {type(error).__name__}: {str(error)[:300]}"
        return error_document(
            "internal", message, "this is a bug in reproof; --verbose shows where"
        )
    finally:
        progress.done()


def say(document: dict[str, JSON], options: Options, console: Console, *, show_test: bool) -> None:
    """Tell one document to a person: verdicts on stdout, errors on stderr."""
    if document["status"] == "error":
        error = document.get("error")
        facts = error if isinstance(error, dict) else {}
        console.failure(
            str(facts.get("code", "error")),
            str(facts.get("message") or document["summary"]),
            str(facts.get("hint", "")),
        )
        return
    paint = console.color_out
    for line in verdict_lines(document, color=paint, verbose=console.verbose):
        console.result(line)
    if show_test:
        show_source(document, options, console)


def show_source(document: dict[str, JSON], options: Options, console: Console) -> None:
    """Show the emitted test's text below the verdict, when one was written."""
    test = document.get("test")
    if not isinstance(test, dict) or not test.get("path"):
        return
    path = Path(str(test["path"]))
    try:
        text = (path if path.is_absolute() else options.repo / path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        console.note(f"the emitted test cannot be shown: {error}")
        return
    from reproof.cli.source import colored  # noqa: PLC0415 - loads rich, on a terminal only

    console.result("")
    console.result(colored(text) if console.color_out else text.rstrip("\n"))


def options_from(args: argparse.Namespace, console: Console) -> Options:
    """Combine the options with the settings. Raises `InputError` or `SettingsError`."""
    repo = Path(args.repo)
    if not repo.is_dir():
        raise InputError(f"--repo: {args.repo!r} is not a folder", hint="name the source tree")
    found = settings_module.load(repo)
    console.configure(quiet=args.quiet, no_color=found.no_color, dumb=found.dumb_terminal)
    for warning in found.warnings:
        console.note(f"warning: {warning}")
    env = args.env or found.env
    if env == "snapshot":
        _not_available("--env snapshot")
    from reproof.pipeline import Options  # noqa: PLC0415 - not for --help and usage errors

    return Options(
        repo=repo,
        ref=args.ref,
        timeout_s=args.timeout or found.timeout,
        test_timeout_s=args.test_timeout or found.test_timeout,
        memory_mib=args.memory_mib or found.memory_mib,
        out_dir=_out_dir(args, repo, found.out),
        sandbox=args.sandbox or found.sandbox,
        env=env,
        source_map=_mapping("--source-map", args.source_map),
        params=_mapping("--param", args.param),
        expect_raises=args.expect_raises,
        cache_root=found.cache_dir,
        virtual_env=found.virtual_env,
        passthrough_env=found.for_uv,
    )


def real_engine() -> Engine:
    """Return the product itself."""
    from reproof.cli.engine import Pipeline  # noqa: PLC0415 - not for --help and usage errors

    return Pipeline()


def _out_dir(args: argparse.Namespace, repo: Path, setting: str | None) -> Path | None:
    """Return the output folder: an option is seen from here, a setting from the tree."""
    if args.out:
        return Path(args.out)
    return repo / setting if setting else None


def _refuse_unbuilt(args: argparse.Namespace) -> None:
    if args.artifact is not None:
        _not_available("--artifact")
    if args.draft_pr:
        _not_available("--draft-pr")
    if args.events > 1:
        _not_available("--events with more than one event")


def _not_available(what: str) -> NoReturn:
    raise NotAvailableError(
        f"{what} is {NOT_BUILT}", hint="run without it; docs/settings.md lists what there is"
    )


def _mapping(option: str, pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    mapping: dict[str, str] = {}
    for name, value in pairs:
        if name in mapping:
            raise InputError(f"{option}: {name!r} is given twice")
        mapping[name] = value
    return mapping


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise argparse.ArgumentTypeError(f"expected PROD=LOCAL, got {text!r}")
    return name, value


def _param(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (equals and value and all(part.isidentifier() for part in name.split("."))):
        raise argparse.ArgumentTypeError(f"expected NAME=LITERAL, got {text!r}")
    return name, value


def _count(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number above 0, got {text!r}")
    return value


def _setting(name: str) -> Callable[[str], float | str]:
    """Return an option's type that accepts what the setting of that name accepts."""
    setting = next(row for row in settings_module.TABLE if row.name == name)

    def read(text: str) -> float | str:
        try:
            return setting.parse(text)
        except ValueError:
            raise argparse.ArgumentTypeError(
                f"expected {setting.expected}, got {text[:60]!r}"
            ) from None

    return read
