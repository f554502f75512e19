"""A place to try a hostile event or tree, and everything that must hold whatever was tried.

`Ground` owns a tree, a home folder with secrets, an output folder and a canary that no payload may
touch. `Ground.judge` runs the real pipeline and applies the rules that hold for every case.
"""

# What links and odd names are matters here.
# ruff: noqa: ANN401, PTH115, PTH118, PTH119, PTH123

from __future__ import annotations

import json
import os
import re
import stat
import sys
import time
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import jsonschema

from reproof import settings
from reproof.cli.documents import as_json_text, error_document
from reproof.cli.render import verdict_lines
from reproof.errors import ReproofError
from reproof.library import reproduce
from support import emitted
from support.project import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import pytest

    from reproof.domain.event import JSON
    from reproof.verdict.judgement import Verdict

SECRET = "tulip-9f31-never-told"  # noqa: S105 -- the canary's value, made up
SETTINGS = settings.load(ROOT)
"""Read before any test moves HOME: where pytest for the sandbox is kept."""
SCHEMA = jsonschema.Draft202012Validator(
    json.loads((files("reproof") / "schemas" / "verdict-1.json").read_text())
)
MAX_SECONDS = 20.0
PROGRAMS = re.compile(r"(git|bwrap|uv|python[0-9.]*)")


@dataclass
class _Watch:
    """What this process must not do while it judges."""

    forbidden: str
    """A folder whose files nobody opens."""
    canary: str
    seen: list[str]


_watches: list[_Watch] = []


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if not _watches:
        return
    watch = _watches[-1]
    if event in ("os.system", "os.exec", "os.spawn"):
        watch.seen.append(f"{event}: {arguments!r:.200}")
    elif event == "subprocess.Popen":
        program = os.path.basename(str(arguments[1][0]))
        if not PROGRAMS.fullmatch(program) or any(watch.canary in str(a) for a in arguments[1]):
            watch.seen.append(f"started {program}")
    elif event == "open":
        if str(arguments[0]).startswith(watch.forbidden):
            watch.seen.append(f"opened {arguments[0]}")
    elif event == "exec":
        code = arguments[0]
        if code.co_filename[:1] == "<" and watch.canary in repr(code.co_consts):
            watch.seen.append(f"executed {code.co_filename}")


sys.addaudithook(_audit)


@dataclass(frozen=True, kw_only=True)
class Judged:
    """The answer to one case, checked."""

    verdict: Verdict | None
    error: ReproofError | None
    document: dict[str, JSON]
    test: str
    """The text that was emitted, or nothing."""

    @property
    def reproduced(self) -> bool:
        return self.document["status"] == "reproduced"

    @property
    def reason(self) -> str:
        return str(self.document["reason"])


class Ground:
    """One temporary world: `home` and `outside` are the user's, `tree` is the target's."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.tree, self.out = root / "tree", root / "out"
        self.private = root / "private"
        self.home, self.outside = self.private / "home", self.private / "outside"
        self.canary = root / "canary"
        for folder in (self.tree, self.out, self.home, self.outside):
            folder.mkdir(parents=True)
        (self.home / ".netrc").write_text(f"machine x password {SECRET}\n")
        (self.home / ".pypirc").write_text(f"password = {SECRET}\n")
        (self.outside / "stolen.py").write_text(f"def rate():\n    raise ValueError('{SECRET}')\n")
        monkeypatch.setenv("HOME", str(self.home))
        monkeypatch.setenv("REPROOF_CANARY", SECRET)

    def write(self, sources: Mapping[str, str | bytes]) -> None:
        """Put files into the tree."""
        for path, content in sources.items():
            target = self.tree / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content if isinstance(content, bytes) else content.encode())

    def judge(
        self,
        event: Mapping[str, JSON] | bytes,
        *,
        out: Path | None = None,
        memory_mib: int = 700,
        **options: Any,
    ) -> Judged:
        """Run the pipeline on the event and check all that must hold whatever it says."""
        event = event if isinstance(event, bytes) else json.dumps(event).encode()
        folder = out or self.out
        before = snapshot(self.root, folder)
        verdict, error = self._watched(
            lambda: reproduce(
                event,
                self.tree,
                env=sys.executable,
                out_dir=out or self.out,
                cache_dir=SETTINGS.cache_dir,
                uv_environment=SETTINGS.for_uv,
                **options,
            ),
            memory_mib,
        )
        assert snapshot(self.root, folder) == before, "something changed outside the out folder"
        document = verdict.to_json() if verdict else _as_document(error)
        check_document(document)
        text = self._check_test(document, folder, verdict)
        return Judged(verdict=verdict, error=error, document=document, test=text)

    def _watched(
        self, act: Callable[[], Verdict], memory_mib: int
    ) -> tuple[Verdict | None, ReproofError | None]:
        watch = _Watch(str(self.private), str(self.canary), [])
        resident = _reset_peak()
        started = time.monotonic()
        _watches.append(watch)
        try:
            found: tuple[Verdict | None, ReproofError | None] = (act(), None)
        except ReproofError as error:
            found = (None, error)
        finally:
            _watches.pop()
        assert time.monotonic() - started < MAX_SECONDS
        assert _peak() - resident < memory_mib, "too much memory for one event"
        assert watch.seen == []
        assert not os.path.lexists(self.canary), "the payload ran"
        return found

    def _check_test(
        self, document: Mapping[str, JSON], folder: Path, verdict: Verdict | None
    ) -> str:
        told = document.get("test")
        written = [p for p in folder.rglob("*") if p.is_file()] if folder != self.tree else []
        if not isinstance(told, dict):
            assert document["status"] != "reproduced"
            assert verdict is None or not verdict.test_text
            return ""
        path = folder / os.path.basename(str(told["path"]))
        assert str(path) == str(told["path"])
        assert path in written
        content = path.read_bytes()
        assert sha256(content).hexdigest() == told["sha256"]
        text = content.decode()
        tops = {p.name.removesuffix(".py") for p in self.tree.iterdir()}
        emitted.check(path.name, text, tops | {"src"})
        assert SECRET not in text
        assert str(self.private) not in text
        return text


def check_document(document: Mapping[str, JSON]) -> None:
    """Check that a document is valid, tells no secret, and cannot act on a terminal."""
    text = as_json_text(document)
    assert text.isascii()
    SCHEMA.validate(json.loads(text))
    assert SECRET not in text
    assert document["summary"]
    if document["status"] == "error":
        told = document["error"]
        assert isinstance(told, dict)
        assert told["code"] != "internal"
        assert told["hint"]
        return
    for verbose in (False, True):
        for line in verdict_lines(document, verbose=verbose):
            assert line.isprintable(), f"{line!r} would act on a terminal"
            assert len(line) < 3000


def _as_document(error: ReproofError | None) -> dict[str, JSON]:
    assert error is not None
    return error_document(error.code, error.message, error.hint)


def snapshot(root: Path, leave_out: Path) -> dict[str, tuple[int, str]]:
    """Return what is on the disk below `root`, contents included, without one folder."""
    found: dict[str, tuple[int, str]] = {}
    for folder, names, others in os.walk(root):
        names[:] = [n for n in names if os.path.join(folder, n) != str(leave_out)]
        for name in [*names, *others]:
            path = os.path.join(folder, name)
            status = os.lstat(path)
            content = ""
            if stat.S_ISLNK(status.st_mode):
                content = os.readlink(path)
            elif stat.S_ISREG(status.st_mode):
                with open(path, "rb") as stream:
                    content = sha256(stream.read()).hexdigest()
            found[path] = (status.st_mode, content)
    return found


def _reset_peak() -> float:
    """Forget the highest memory so far; return what is in use, in MiB."""
    with open("/proc/self/clear_refs", "w") as stream:
        stream.write("5")
    return _memory("VmRSS")


def _peak() -> float:
    return _memory("VmHWM")


def _memory(key: str) -> float:
    with open("/proc/self/status") as stream:
        line = next(line for line in stream if line.startswith(key))
    return int(line.split()[1]) / 1024


def frame_of(
    source: str, path: str, marker: str, function: str, variables: Any = None, **more: Any
) -> dict[str, Any]:
    """Return the frame an SDK sends for the only line of `source` that contains `marker`."""
    lines = source.splitlines()
    (number,) = [n for n, line in enumerate(lines, 1) if marker in line]
    frame: dict[str, Any] = {
        "filename": path,
        "abs_path": f"/srv/{path}",
        "module": path.removesuffix(".py").replace("/", "."),
        "function": function,
        "lineno": number,
        "in_app": True,
        "pre_context": [*lines[max(0, number - 6) : number - 1]],
        "context_line": lines[number - 1],
        "post_context": [*lines[number : number + 5]],
        "vars": variables,
    }
    return frame | more


def event_of(
    *frames: Any, kind: Any = "ZeroDivisionError", message: Any = "division by zero", **top: Any
) -> dict[str, Any]:
    """Return the event an SDK sends for an exception with these frames."""
    raised: dict[str, Any] = {
        "type": kind,
        "module": None,
        "value": message,
        "stacktrace": {"frames": [*frames]},
    }
    event: dict[str, Any] = {
        "event_id": "ab" * 16,
        "platform": "python",
        "sdk": {"name": "sentry.python", "version": "2.75.0"},
        "contexts": {"runtime": {"name": "CPython", "version": "3.11.7"}},
        "exception": {"values": [raised]},
    }
    return event | top
