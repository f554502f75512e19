"""Programs that crash for a reason which their event does not carry, and some whose event does.

Each crashes in a process of its own under the real SDK. What is lost must never be what makes a
replay crash alike: an answer "reproduced" would then be for another crash.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from reproof.pipeline import Options, reproduce
from reproof.settings import load
from reproof.sources.interface import RawPayload

if TYPE_CHECKING:
    from pathlib import Path

    from reproof.verdict.judgement import Verdict

pytestmark = pytest.mark.integration

RUNNER = """\
import json, sys

import sentry_sdk

sys.path.insert(0, ".")
events = []
sentry_sdk.init(
    dsn="http://key@127.0.0.1:9/1", before_send=lambda e, h: events.append(e), shutdown_timeout=0
)
driver = compile(sys.stdin.read(), "<driver>", "exec")
try:
    exec(driver, {"__name__": "driver"})
except Exception as error:
    while error.__traceback__.tb_frame.f_code.co_filename in (__file__, "<driver>"):
        error.__traceback__ = error.__traceback__.tb_next
    sentry_sdk.capture_exception(error)
with open(sys.argv[1], "w") as file:
    json.dump(events[0], file, default=str)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A module `app`, and how it is made to crash."""

    name: str
    app: str
    driver: str
    fixed: str | None = None
    """The module as it is in the tree, where that is another one."""
    reasons: tuple[str, ...] = ()
    """Any of these refusals is right; none: it must be reproduced."""


CONNECTION = """\
class Connection:
    def __init__(self, limit):
        self.limit = limit

    def go(self, n):
{body}
"""
LOST = ("opaque_value_used", "unrecoverable_value")


def _connection(name: str, *body: str, kind: str = "3") -> Program:
    return Program(
        name=name,
        app=CONNECTION.format(body="\n".join("        " + line for line in body)),
        driver=f"import app\napp.Connection({kind}).go(4)",
        reasons=LOST,
    )


LOOKS = [
    Program(
        name="eleven names: one is asked for None",
        app="""\
def run(a1, a2, a3, a4, a5, a6, a7, a8, a9, b1, c1, c2):
    if c2 is None:
        step = 0
    elif c1 is not None:
        step = 1
    return a1 / (step - 1)
""",
        driver="import app\napp.run(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)",
        reasons=LOST,
    ),
    Program(
        name="a stand-in is compared with a constant of the module",
        app="""\
class Missing: ...
MISSING = Missing()


def fetch(data, key, default):
    if default is not MISSING:
        return data[key + "x"]
    return data[key]
""",
        driver="import app\nclass D: pass\napp.fetch({'a': 1}, 'b', D())",
        reasons=LOST,
    ),
    Program(
        name="an object is compared with a constant of its class",
        app="""\
class Mode: ...
DEFAULT = Mode()


def pick(mode, n):
    if mode is DEFAULT:
        return n
    raise ValueError("bad mode")
""",
        driver="import app\napp.pick(app.Mode(), 3)",
        reasons=LOST,
    ),
    Program(
        name="C code says nothing of the type that it refuses",
        app="def clean(text, chars):\n    return text.strip(chars)\n",
        driver="import app\nclass X: pass\napp.clean('abc', X())",
        reasons=LOST,
    ),
    _connection(
        "an attribute is asked for with a default",
        'if getattr(self, "limit", 0) < 5:',
        '    raise RuntimeError("no limit")',
    ),
    _connection(
        "an attribute is asked for",
        'if not hasattr(self, "limit") or n:',
        '    raise RuntimeError("no limit")',
    ),
    _connection(
        "a missing attribute is translated",
        "try:",
        "    return int(self.limit)",
        "except (AttributeError, ValueError):",
        '    raise RuntimeError("bad limit") from None',
        kind='"x"',
    ),
    Program(
        name="a missing attribute is the crash, and __init__ the place to mend it",
        app="""\
class Base:
    def __init__(self):
        self.log = []


class Child(Base):
    def __init__(self, n):
        self.n = n

    def add(self, x):
        self.log.append(x)
""",
        driver="import app\napp.Child(3).add(4)",
        reasons=LOST,
    ),
    Program(
        name="an attribute of the class hides the object's",
        app="""\
class Rate:
    rate = 0

    def __init__(self, rate):
        self.rate = rate

    def go(self, n):
        if self.rate == 0 or self.rate == 3:
            raise ValueError("rate")
""",
        driver="import app\napp.Rate(3).go(4)",
        reasons=LOST,
    ),
    Program(
        name="defaults are not the object's state",
        app="""\
class Conf:
    def __init__(self, limit=0):
        self.limit = limit


def go(conf, n):
    if conf.limit in (0, 7):
        raise ValueError("limit")
""",
        driver="import app\napp.go(app.Conf(7), 3)",
        reasons=LOST,
    ),
]
BEFORE = [
    Program(
        name="the function takes the key out itself",
        app='def go(data):\n    data.pop("k", None)\n    return data["k"]\n',
        driver="import app\napp.go({'k': 1, 'j': 2})",
        reasons=("unrecoverable_value",),
    ),
    Program(
        name="a function that it calls takes the key out",
        app="""\
def strip(data):
    data.pop("k", None)


def go(data):
    strip(data)
    return data["k"]
""",
        driver="import app\napp.go({'k': 1, 'j': 2})",
        reasons=("unrecoverable_value",),
    ),
    Program(
        name="a closure empties it",
        app="""\
def go(data):
    def empty():
        data.clear()
    empty()
    return data["k"]
""",
        driver="import app\napp.go({'k': 1})",
        reasons=("unrecoverable_value",),
    ),
    Program(
        name="twenty items are shown as ten",
        app="def go(rows, i):\n    return rows[i]\n",
        driver="import app\napp.go(list(range(20)), 40)",
        reasons=("truncated_value_needed", "low_fidelity"),
    ),
    Program(
        name="one of two dicts is shown with ten keys",
        app="def go(a, b, k):\n    return a[k] + b[k]\n",
        driver="import app\napp.go({f'k{i}': i for i in range(20)}, {'k1': 1}, 'k15')",
        reasons=("truncated_value_needed",),
    ),
]
AROUND = [
    Program(
        name="a file that the wall hides",
        app="def go(name):\n    return open(name).read()\n",
        driver="""\
import app
def refuse(name):
    raise PermissionError(13, "Permission denied", name)
app.open = refuse
app.go("/etc/shadow")
""",
        reasons=("file_needed", "different_location", "low_fidelity", "different_exception"),
    ),
    Program(
        name="a variable that is not set, behind a translation",
        app="""\
import os


class Bad(Exception): ...


def go(n):
    try:
        return int(os.environ["WRONG_VERDICTS_N"]) / n
    except (KeyError, ZeroDivisionError):
        raise Bad("config") from None
""",
        driver="import app, os\nos.environ['WRONG_VERDICTS_N'] = '4'\napp.go(0)",
        reasons=("environment",),
    ),
    Program(
        name="a program's answer",
        app="""\
import subprocess


def go(code):
    subprocess.run(["sh", "-c", code], check=True)
""",
        driver="import app\napp.go('exit 3')",
        reasons=("environment", "resource_limit"),
    ),
]
FIXED = [
    Program(
        name="the caller was mended, and the test can only enter below it",
        app="""\
def inner(found, key):
    return found[key]


class Service:
    def __init__(self, x):
        self.x = x

    def outer(self, key):
        return inner({"a": 1}, key + self.x)
""",
        fixed="""\
def inner(found, key):
    return found[key]


class Service:
    def __init__(self, x):
        self.x = x

    def outer(self, key):
        if key == "z":
            return None
        return inner({"a": 1}, key + self.x)
""",
        driver="import app\napp.Service('q').outer('z')",
        reasons=("callers_changed",),
    ),
    Program(
        name="an attribute of the class was mended",
        app="class T:\n    step = 0\n\n    def go(self, n):\n        return n / self.step\n",
        fixed="class T:\n    step = 1\n\n    def go(self, n):\n        return n / self.step\n",
        driver="import app\napp.T().go(3)",
        reasons=(*LOST, "passed"),
    ),
]
TRUE = [
    Program(
        name="plain values",
        app="def go(total, people):\n    return total / people\n",
        driver="import app\napp.go(10, 0)",
    ),
    Program(
        name="a method of an object whose state the locals tell",
        app="""\
class Cart:
    def __init__(self, items, rate):
        self.items = items
        self.rate = rate

    def total(self, extra):
        items = self.items
        rate = self.rate
        return sum(items) / rate + extra
""",
        driver="import app\napp.Cart([1, 2], 0).total(3)",
    ),
    Program(
        name="a callback that is only asked for None",
        app="""\
def go(n, on_error):
    try:
        return 10 / n
    except ZeroDivisionError:
        if on_error is None:
            return 0
        raise
""",
        driver="import app\nclass C: pass\napp.go(0, C())",
    ),
    Program(
        name="a callback that is handed on and kept",
        app="""\
def keep(seen, it):
    seen["it"] = it


def go(n, it):
    few, more = n, n + 1
    keep({}, it)
    return n / (more - few - 1)
""",
        driver="import app\nclass C: pass\napp.go(2, C())",
    ),
    Program(
        name="an object of which only methods matter",
        app="""\
class Pay:
    def __init__(self, key):
        self.key = key

    def net(self, n):
        return n - n

    def go(self, n):
        return n / self.net(n)
""",
        driver="import app\napp.Pay('k').go(2)",
    ),
    Program(
        name="keys of two dicts that are shown as text",
        app="def go(a, b, k):\n    return a[k] + b[k]\n",
        driver="import app\napp.go({1: 2}, {2: 3}, 1)",
    ),
    Program(
        name="ten items of which the last decides",
        app="def go(rows):\n    return 1 / (rows[-1] - 9)\n",
        driver="import app\napp.go(list(range(10)))",
    ),
    Program(
        name="a variable that was not set",
        app='import os\n\n\ndef go(n):\n    return os.environ["WRONG_VERDICTS_X"]\n',
        driver="import app\napp.go(1)",
    ),
    Program(
        name="a file that is nowhere",
        app="def go(name):\n    return open(name).read()\n",
        driver="import app\napp.go('/srv/wrong-verdicts/none.csv')",
    ),
]


def _crash(program: Program, folder: Path) -> bytes:
    """Return the event of the program's crash, as the SDK makes it."""
    folder.mkdir()
    (folder / "app.py").write_text(program.app)
    runner = folder.parent / "runner.py"
    runner.write_text(RUNNER)
    into = folder.parent / "event.json"
    subprocess.run(
        [sys.executable, str(runner), str(into)],
        input=program.driver,
        text=True,
        cwd=folder,
        check=True,
        timeout=60,
    )
    return into.read_bytes()


def _judge(program: Program, tmp_path: Path) -> Verdict:
    content = _crash(program, tmp_path / "production")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "app.py").write_text(program.fixed or program.app)
    settings = load(tree)
    return reproduce(
        RawPayload(content=content, origin="event.json"),
        Options(
            repo=tree,
            out_dir=tmp_path / "out",
            cache_root=settings.cache_dir,
            passthrough_env=settings.for_uv,
            env=sys.executable,
        ),
    )


def _name(program: Program) -> str:
    return program.name.replace(" ", "-")


@pytest.mark.parametrize("program", [*LOOKS, *BEFORE, *AROUND, *FIXED], ids=_name)
def test_what_is_lost_makes_no_reproduction(program: Program, tmp_path: Path) -> None:
    verdict = _judge(program, tmp_path)

    assert str(verdict.reason) in program.reasons
    assert not list(tmp_path.glob("out/test_*"))


@pytest.mark.parametrize("program", TRUE, ids=_name)
def test_what_the_event_carries_is_reproduced(program: Program, tmp_path: Path) -> None:
    verdict = _judge(program, tmp_path)

    assert verdict.reason is None, verdict.to_json()
    crashed = json.loads((tmp_path / "event.json").read_bytes())["exception"]["values"][-1]
    (test,) = (tmp_path / "out").glob("test_*.py")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--tb=native", "-p", "no:cacheprovider", str(test)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "tree"), "TZ": "Europe/Berlin"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert run.returncode == 1, run.stdout
    assert f"{crashed['type']}: {crashed['value']}" in run.stdout
    own = [frame for frame in crashed["stacktrace"]["frames"] if frame["module"] == "app"]
    assert own[-1]["context_line"].strip() in run.stdout
