"""Events whose shape, names, ids, paths, messages or size are an attack.

What is refused must be refused with its reason and before anything runs; a true crash in hostile
wrapping must still reproduce.
"""

# ruff: noqa: ANN401, RUF001 - the look-alikes are the point

from __future__ import annotations

import json
import os
import socket
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from reproof.sandbox.select import probe_all
from support import emitted
from support.hostile import Ground, event_of, frame_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from reproof.domain.event import JSON

WALL = probe_all()["bubblewrap"]
pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not WALL.usable, reason=f"no bubblewrap sandbox here: {WALL.detail}"),
]

SOURCE = '''\
def rate(total, count):
    """Share out."""
    return total / count
'''
PAYLOAD = "x=1); import os; os.system('touch /tmp/owned') #"
ESCAPES = (
    "\x1b[2J\x1b]0;owned\x07\x9b31m\u202e\r\n\0\b\ud800<script>![a](http://e.vil)`{0.__class__}%s"
)


@pytest.fixture(scope="module", autouse=True)
def _formatted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Hold what the module's cases emitted to the formatter, all at once."""
    yield
    emitted.check_format(tmp_path_factory.mktemp("emitted"))


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ground:
    made = Ground(tmp_path, monkeypatch)
    made.write({"app/__init__.py": "", "app/calc.py": SOURCE})
    return made


def frame(**changes: Any) -> dict[str, Any]:
    made = frame_of(SOURCE, "app/calc.py", "total / count", "rate", {"total": "1", "count": "0"})
    return made | changes


def crash(**changes: Any) -> dict[str, Any]:
    return event_of(frame(), **changes)


def test_the_crash_without_hostility_reproduces(ground: Ground) -> None:
    judged = ground.judge(crash())
    assert judged.reproduced
    assert "rate(1, 0)" in judged.test


TRUE: dict[str, Callable[[], dict[str, JSON]]] = {
    "message": lambda: crash(message=ESCAPES),
    "message-breaks-out": lambda: crash(message='"""\nimport os\nos.system("x")\n"""\\'),
    "long-message": lambda: crash(message="m" * 10_000_000),
    "message-is-a-number": lambda: crash(message=5),
    "message-is-null": lambda: crash(message=None),
    "event-id-is-a-path": lambda: crash(event_id="../../../../etc/cron.d/x"),
    "event-id-is-code": lambda: crash(event_id='"""\n' + PAYLOAD),
    "event-id-is-long": lambda: crash(event_id="e" * 1_000_000),
    "event-id-of-wrong-type": lambda: crash(event_id={"a": []}),
    "issue-id-is-a-path": lambda: crash(groupID="../../x", issue_id="/etc/passwd"),
    "issue-id-with-nul": lambda: crash(groupID="a\0b\n.py"),
    "issue-id-of-controls": lambda: crash(groupID=ESCAPES),
    "issue-id-is-an-option": lambda: crash(groupID="--output=/etc/passwd"),
    "urls": lambda: crash(web_url="javascript:alert(1)", permalink=ESCAPES),
    "release-is-an-option": lambda: crash(release="--upload-pack=touch /tmp/owned"),
    "release-climbs": lambda: crash(release="../.."),
    "release-is-shell": lambda: crash(release="v1;touch x"),
    "release-substitutes": lambda: crash(release="$(touch x)"),
    "release-with-newline": lambda: crash(release="v1\nrm -rf /"),
    "release-is-a-revision": lambda: crash(release="HEAD^{/x}:app/calc.py"),
    "release-is-an-object": lambda: crash(release={"version": ["x"]}),
    "release-is-long": lambda: crash(release="r" * 10_000_000),
    "runtime": lambda: crash(contexts={"runtime": {"name": ESCAPES, "version": ESCAPES}}),
    "modules": lambda: crash(modules={ESCAPES: ESCAPES, "pip": "1;x", "numpy": "$(x)"}),
    "many-modules": lambda: crash(modules={f"m{n}": "1" for n in range(100_000)}),
    "sdk-version": lambda: crash(sdk={"name": ESCAPES, "version": "9" * 5000 + ".x"}),
    "times": lambda: crash(timestamp="9" * 5000, dateCreated=1e308),
    "tags-and-request": lambda: crash(
        tags=[[ESCAPES, ESCAPES], 5, None],
        request={"url": "file:///etc/passwd", "headers": {"a": [1]}, "env": 5, "query": [[1]]},
    ),
    "argv": lambda: crash(extra={"sys.argv": ["x", "--", PAYLOAD, ESCAPES]}),
    "meta": lambda: crash(_meta={"exception": {"values": {"0": {"stacktrace": 5}}}}),
    "hostile-context": lambda: event_of(
        frame(pre_context=[ESCAPES, "x" * 10_000_000], post_context=[None, 5, {}, PAYLOAD])
    ),
    "more-names": lambda: event_of(
        frame(
            vars={
                "total": "1", "count": "0", PAYLOAD: "1", "class": "2", "__debug__": "3",
                "__import__": "4", "ｔｏｔａｌ": "5", "v" * 1_000_000: "6", "": "7", ESCAPES: "8",
            }
        )
    ),
    "module-lies": lambda: event_of(frame(module="os; import sys", package=PAYLOAD)),
    "long-module": lambda: event_of(frame(module="a." * 500_000)),
    "line-of-wrong-type": lambda: event_of(frame(colno=-1, lock={}, instruction_addr="0x;")),
    "huge-line-number": lambda: event_of(frame(lineno=10**400)),
    "a-cycle-of-ids": lambda: cycle(),  # noqa: PLW0108 - it is defined below
}  # fmt: skip
"""The crash is true. What is hostile stands where it decides nothing."""


def cycle() -> dict[str, Any]:
    """Return an event whose exception is its own parent."""
    event = crash()
    (value,) = event["exception"]["values"]
    value["mechanism"] = {"type": "chained", "exception_id": 0, "parent_id": 0}
    return event


LOWERED = (
    "message", "message-breaks-out", "long-message", "message-is-a-number", "message-is-null",
    "more-names",
)  # fmt: skip
"""Another message, or locals that the function cannot have, are another crash: no evidence."""


@pytest.mark.parametrize("name", TRUE)
def test_a_true_crash_in_hostile_wrapping(name: str, ground: Ground) -> None:
    judged = ground.judge(TRUE[name]())
    if name in LOWERED:
        assert judged.reason == "low_fidelity"
    else:
        assert judged.reproduced, judged.document["summary"]


NAMES = {
    "call": "rate(1, 0)",
    "code": PAYLOAD,
    "newline": "rate\nimport os",
    "keyword": "class",
    "dunder": "__import__",
    "debug": "__debug__",
    "attribute": "rate.__globals__",
    "look-alike": "ｒａｔｅ",
    "escapes": ESCAPES,
    "long": "r" * 1_000_000,
    "path": "../../x",
    "number": 5,
    "list": ["rate"],
    "locals": "<locals>.rate",
    "empty": "",
    "lambda": "<lambda>",
    "module": "<module>",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_function_that_is_not_there_is_never_entered(name: str, ground: Ground) -> None:
    judged = ground.judge(event_of(frame(function=NAMES[name])))
    assert not judged.reproduced
    assert judged.error is None


TYPES: dict[str, tuple[JSON, JSON]] = {
    "code": (PAYLOAD, None),
    "another-class": ("ValueError", None),
    "a-function": ("exit", "builtins"),
    "module-code": ("ZeroDivisionError", "os'); import os #"),
    "dotted": ("os.system", None),
    "escapes": (ESCAPES, ESCAPES),
    "long": ("Z" * 1_000_000, "m" * 1_000_000),
    "look-alike": ("ＺeroDivisionError", None),
    "subclass": ("ArithmeticError", None),
    "wrong-types": (5, []),
    "harness": ("UnrecoveredValueUsed", None),
    "exit": ("SystemExit", None),
}


@pytest.mark.parametrize("name", TYPES)
def test_another_exception_is_never_the_captured_one(name: str, ground: Ground) -> None:
    kind, module = TYPES[name]
    event = crash(kind=kind)
    event["exception"]["values"][0]["module"] = module
    judged = ground.judge(event, expect_raises=True)
    assert not judged.reproduced
    assert judged.error is None


PATHS: dict[str, JSON] = {
    "climbs": "../../private/outside/stolen.py",
    "climbs-inside": "app/../../private/outside/stolen.py",
    "absolute": "/etc/passwd.py",
    "not-python": "/etc/passwd",
    "link-out": "linked.py",
    "link-to-folder-out": "outside/stolen.py",
    "loop": "loop.py",
    "loop-of-folders": "ring/ring/ring/loop.py",
    "pipe": "pipe.py",
    "socket": "socket.py",
    "device": "zero.py",
    "folder": "folder.py",
    "hooks": ".git/hooks/x.py",
    "huge": "huge.py",
    "no-rights": "locked.py",
    "backslashes": "..\\..\\private\\outside\\stolen.py",
    "url": "file:///etc/passwd.py",
    "nul": "app/calc.py\0.py",
    "newline": "app/calc.py\n.py",
    "option": "--help.py",
    "code": f"{PAYLOAD}.py",
    "escapes": f"{ESCAPES}.py",
    "long": "x" * 1_000_000 + ".py",
    "deep": "x/" * 500_000 + "x.py",
    "home": "~/.netrc",
    "number": 5,
    "list": ["app/calc.py"],
}


def lay_traps(ground: Ground) -> None:
    """Put into the tree what a path may lead to."""
    tree = ground.tree
    ground.write({".git/hooks/x.py": SOURCE, "folder.py/x.py": SOURCE, "locked.py": SOURCE})
    (tree / "linked.py").symlink_to(ground.outside / "stolen.py")
    (tree / "outside").symlink_to(ground.outside)
    (tree / "loop.py").symlink_to("loop.py")
    (tree / "ring").symlink_to(".")
    (tree / "zero.py").symlink_to("/dev/zero")
    os.mkfifo(tree / "pipe.py")
    (tree / "locked.py").chmod(0)
    with (tree / "huge.py").open("wb") as stream:
        stream.truncate(100 * 2**20)


@pytest.mark.parametrize("name", PATHS)
def test_no_path_leads_out_of_the_tree(name: str, ground: Ground) -> None:
    lay_traps(ground)
    path = PATHS[name]
    where: dict[str, JSON] = {"filename": path, "abs_path": path, "module": None}
    context: dict[str, JSON] = {"context_line": "    raise ValueError('x')", "pre_context": []}
    if name == "socket":
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(os.path.relpath(ground.tree / "socket.py"))
    judged = ground.judge(event_of(frame(**where, **context, function="stolen")))
    assert not judged.reproduced
    assert judged.error is None
    assert judged.verdict is not None
    assert judged.verdict.timings.tests_run == 0


SOURCES: dict[str, bytes] = {
    "not-utf-8": b"# \xff\xfe\x80\n" + SOURCE.encode(),
    "nul": SOURCE.encode() + b"\0\n",
    "unknown-encoding": b"# coding: nonsense\n" + SOURCE.encode(),
    "utf-7": b"# coding: utf-7\n" + SOURCE.encode(),
    "syntax-error": SOURCE.encode() + b"def (:\n",
    "deep": SOURCE.encode() + b"x = " + b"(" * 5000 + b")" * 5000 + b"\n",
    "minus": SOURCE.encode() + b"x = " + b"-" * 100_000 + b"1\n",
    "carriage-returns": SOURCE.replace("\n", "\r").encode(),
    "form-feeds": SOURCE.replace("\n", "\f\n").encode(),
    "long-line": SOURCE.encode() + b"x = '" + b"y" * 3_000_000 + b"'\n",
}


@pytest.mark.parametrize("name", SOURCES)
def test_odd_source_is_read_or_refused(name: str, ground: Ground) -> None:
    ground.write({"app/calc.py": SOURCES[name]})
    judged = ground.judge(crash())
    assert judged.error is None


def test_twins_in_case_are_told_apart(ground: Ground) -> None:
    ground.write({"app/Calc.py": SOURCE.replace("total / count", "count / total")})
    assert ground.judge(crash()).reproduced
    assert not ground.judge(event_of(frame(vars={"total": "1", "count": "1"}))).reproduced


SHAPES: dict[str, bytes] = {
    "empty": b"",
    "blank": b" \n\0 ",
    "null": b"null",
    "true": b"true",
    "number": b"1e999",
    "digits": b"9" * 1_000_000,
    "text": b'"' + b"x" * 10_000_000 + b'"',
    "list": b"[]",
    "object": b"{}",
    "deep-lists": b"[" * 100_000 + b"]" * 100_000,
    "deep-objects": b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
    "deep-event": b'{"exception":' + b"[" * 5_000 + b"]" * 5_000 + b"}",
    "million-items": b"[" + b"1," * 999_999 + b"1]",
    "bytes": bytes(range(256)) * 100,
    "gzip": b"\x1f\x8b" + b"\0" * 1000,
    "utf-16-half": b"\xff\xfe{",
    "html": b"<!doctype html><script>alert(1)</script>",
    "pickle": b"\x80\x04cos\nsystem\n(S'touch /tmp/owned'\ntR.",
    "yaml": b"!!python/object/apply:os.system ['touch /tmp/owned']",
    "two-events": json.dumps([crash(), crash()]).encode(),
    "envelope-of-lies": b'{"event_id":"x"}\n{"type":"event","length":99999999999}\n{}',
    "exception-null": b'{"platform":"python","exception":null}',
    "exception-number": b'{"platform":"python","exception":{"values":[5,null,true,"x",[]]}}',
    "frames-of-anything": json.dumps(event_of(None, 5, True, [], "x", {})).encode(),
    "everything-is-a-list": json.dumps({key: [] for key in crash()}).encode(),
    "everything-is-true": json.dumps(dict.fromkeys(crash(), True)).encode(),
    "frame-of-numbers": json.dumps(event_of(dict.fromkeys(frame(), 7))).encode(),
    "frame-of-objects": json.dumps(event_of({key: {"a": []} for key in frame()})).encode(),
    "javascript": json.dumps(crash(platform="javascript")).encode(),
    "platform-of-controls": json.dumps(crash(platform=ESCAPES)).encode(),
    "negative-line": json.dumps(event_of(frame(lineno=-1, context_line=None))).encode(),
    "duplicate-keys": b'{"platform":"python","exception":{"values":[]},"exception":5}',
    "cyclic-group": json.dumps(
        {
            "platform": "python",
            "exception": {
                "values": [
                    {
                        "type": "ExceptionGroup",
                        "value": "g",
                        "mechanism": {
                            "exception_id": n, "parent_id": (n + 1) % 3, "is_exception_group": True
                        },
                        "stacktrace": {"frames": [frame()]},
                    }
                    for n in range(3)
                ]
            },
        }
    ).encode(),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_what_is_no_crash_is_refused(name: str, ground: Ground) -> None:
    judged = ground.judge(SHAPES[name])
    assert not judged.reproduced
    assert judged.error is None


CROWDS: dict[str, Callable[[], Mapping[str, JSON]]] = {
    "frames": lambda: event_of(*[frame()] * 100_000),
    "foreign-frames": lambda: event_of(
        *[{"filename": "lib/x.py", "abs_path": "/usr/lib/python3/site-packages/x.py",
           "function": "f", "lineno": 1}] * 100_000, frame()
    ),
    "vars": lambda: event_of(
        frame(vars={"total": "1", "count": "0"} | {f"v{n}": "1" for n in range(100_000)})
    ),
    "exceptions": lambda: {
        **crash(),
        "exception": {"values": [*crash()["exception"]["values"]] * 100_000},
    },
    "context-lines": lambda: event_of(frame(pre_context=["x"] * 1_000_000)),
}  # fmt: skip


@pytest.mark.parametrize("name", CROWDS)
def test_crowds_cost_a_bounded_amount(name: str, ground: Ground) -> None:
    judged = ground.judge(CROWDS[name]())
    assert judged.error is None
    if name in ("foreign-frames", "context-lines"):
        assert judged.reproduced, judged.document["summary"]


def test_a_release_names_no_more_than_a_commit(ground: Ground) -> None:
    git = ["git", "-C", str(ground.tree), "-c", "user.name=x", "-c", "user.email=x@example.invalid"]
    for words in (["init", "-q"], ["add", "--all"], ["commit", "-q", "-m", "x"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    config = ground.tree / ".git" / "config"
    config.write_text(
        config.read_text()
        + f'[core]\n\tfsmonitor = "touch {ground.canary}"\n\tpager = "touch {ground.canary}"\n'
        f'[alias]\n\trev-parse = "!touch {ground.canary}"\n'
        f'[filter "x"]\n\tsmudge = "touch {ground.canary}"\n'
    )
    ground.write({".gitattributes": "* filter=x\n"})
    for release in ("--upload-pack=x", "@{-1}", ":/x"):
        assert ground.judge(crash(release=release)).reproduced
