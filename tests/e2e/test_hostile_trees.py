"""Trees that fight back: configurations, modules and targets that lie, kill, hang or clean up.

Whatever they do stays behind the wall. A forged success is never believed; a true crash among
hostile surroundings still reproduces.
"""

# ruff: noqa: ANN401

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from reproof.sandbox.select import probe_all
from support import emitted
from support.hostile import SECRET, Ground, event_of, frame_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from reproof.domain.event import JSON

WALL = probe_all()["bubblewrap"]
pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not WALL.usable, reason=f"no bubblewrap sandbox here: {WALL.detail}"),
]

RATE = """\
def rate(total, count):
    return total / count
"""
KILLER = "import os\nos._exit(0)\n"
ON_COLLECT = """\
import os


def pytest_collection_modifyitems(items):
    items.clear()


def pytest_configure(config):
    os._exit(0)
"""
ON_REPORT = """\
import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    outcome.get_result().outcome = "passed"


@pytest.fixture(autouse=True)
def patched(monkeypatch):
    import app.calc

    monkeypatch.setattr(app.calc, "rate", lambda *args: None)
"""


@pytest.fixture(scope="module", autouse=True)
def _formatted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Hold what the module's cases emitted to the formatter, all at once."""
    yield
    emitted.check_format(tmp_path_factory.mktemp("emitted"))


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ground:
    return Ground(tmp_path, monkeypatch)


def crash(source: str, *, marker: str = "total / count", **changes: Any) -> dict[str, Any]:
    variables: JSON = {"total": "1", "count": "0"}
    return event_of(
        frame_of(source, "app/calc.py", marker, "rate", variables),
        **changes,
    )


BROKEN = ("native_crash", "environment", "different_exception")
"""What a tree may do to its own proof."""

AROUND: dict[str, dict[str, str]] = {
    "pytest-options": {"pytest.ini": "[pytest]\naddopts = --fail --no-such-option\n"},
    "pytest-plugin": {"pytest.ini": "[pytest]\naddopts = -p killer\n", "killer.py": KILLER},
    "pytest-python-files": {"pytest.ini": "[pytest]\npython_files = nothing_*.py\n"},
    "broken-configuration": {"pyproject.toml": "[tool.pytest.ini_options\n\0"},
    "out-of-the-tree": {"pytest.ini": "[pytest]\ntestpaths = ../private/outside /etc -p\n"},
    "conftest-kills": {"conftest.py": ON_COLLECT},
    "conftest-in-tests-kills": {"tests/conftest.py": ON_COLLECT},
    "conftest-patches": {"conftest.py": ON_REPORT},
    "sitecustomize": {"sitecustomize.py": KILLER, "usercustomize.py": KILLER},
    "a-pth-file": {"x.pth": "import os; os._exit(0)\n"},
    "named-as-json": {"json.py": KILLER, "os.py": KILLER, "sys.py": KILLER, "ast.py": KILLER},
    "named-as-unittest": {"unittest/__init__.py": KILLER, "unittest/mock.py": KILLER},
    "named-as-pytest": {"pytest.py": KILLER, "_pytest/__init__.py": KILLER},
    "named-as-the-harness": {"_reproof_guest/__init__.py": KILLER, "_reproof_guest.py": KILLER},
    "named-as-the-product": {"reproof/__init__.py": KILLER, "reproof.py": KILLER},
    "setup": {"setup.py": KILLER, "noxfile.py": KILLER, "tox.ini": "[pytest]\naddopts = -x-\n"},
    "environment-files": {".env": "REPROOF_SANDBOX=process\nLD_PRELOAD=/x.so\n"},
}
"""What stands beside a true crash."""


@pytest.mark.parametrize("name", AROUND)
def test_surroundings_forge_nothing(name: str, ground: Ground) -> None:
    ground.write({"app/__init__.py": "", "app/calc.py": RATE, **AROUND[name]})
    judged = ground.judge(crash(RATE))
    if name == "named-as-pytest":
        # it takes the place of what would run the test, and so its own proof away
        assert judged.reason in BROKEN
    else:
        assert judged.reproduced, judged.document["summary"]


FORGERY = """\
import json, os
lie = json.dumps({"ok": True, "exit": 1, "collected": 1, "nonce": "0" * 32, "phases": [
    {"when": "call", "outcome": "failed", "exception": {"type": "ZeroDivisionError",
     "module": "builtins", "message": "division by zero", "chain": [], "frames": []}}]}).encode()
for fd in range(1, 31):
    try:
        os.write(fd, lie + b"\\n")
    except OSError:
        pass
print(lie.decode())
"""
AT_IMPORT: dict[str, str] = {
    "loops": "while True: pass",
    "sleeps": "import time; time.sleep(99)",
    "exits": "raise SystemExit(0)",
    "leaves": "import os; os._exit(0)",
    "interrupts": "raise KeyboardInterrupt",
    "closes-generator": "raise GeneratorExit",
    "kills-its-group": "import os, signal; os.kill(0, signal.SIGKILL)",
    "crashes": "import ctypes; ctypes.string_at(0)",
    "forges": FORGERY,
    "forges-and-leaves": FORGERY + "os._exit(1)",
    "eats-memory": "x = [bytearray(2**20) for _ in range(4000)]",
    "prints": "print('\\x1b[2J' * 3_000_000)",
    "raises-controls": "raise ValueError('\\x1b[2J\\x1b]0;x\\x07\\u202e\\0' * 1000)",
    "raises-the-unprintable": "class E(Exception):\n    def __str__(self): raise self\nraise E",
}
"""What the module does when it is imported; the function itself is right."""
RIGHT = "def rate(total, count):\n    return count and total / count\n"


@pytest.mark.parametrize("name", AT_IMPORT)
def test_an_import_forges_nothing(name: str, ground: Ground) -> None:
    source = RIGHT + AT_IMPORT[name] + "\n"
    ground.write({"app/__init__.py": "", "app/calc.py": source})
    judged = ground.judge(crash(source), test_timeout_s=1.5, timeout_s=8.0, memory_mib=300)
    assert not judged.reproduced
    assert judged.error is None


def body(*lines: str, last: str = "return count and total / count") -> str:
    inner = "".join(f"    {line}\n" for line in lines)
    head = "import builtins, gc, os, shutil, sys, threading\n\n\n"
    return f"{head}def rate(total, count):\n{inner}    {last}\n"


INSIDE: dict[str, str] = {
    "exits": body("sys.exit(1)"),
    "raises-exit": body("raise SystemExit('division by zero')"),
    "interrupts": body("raise KeyboardInterrupt"),
    "closes-generator": body("raise GeneratorExit"),
    "leaves": body("os._exit(1)"),
    "deletes-its-tree": body("shutil.rmtree(os.path.dirname(os.path.dirname(__file__)), True)"),
    "closes-everything": body("os.closerange(0, 256)"),
    "forges": body(*FORGERY.replace("    try", "    try").splitlines()),
    "steals": body("raise ZeroDivisionError(str(dict(os.environ)) + open('/etc/hostname').read())"),
    "reads-home": body(
        "import pathlib, glob",
        "found = [open(p).read() for p in glob.glob('/tmp/**/.netrc', recursive=True)]",
        "found += [str(p) for p in pathlib.Path.home().glob('*')]",
        "found += [open(p).read() for p in glob.glob('/proc/*/environ')]",
        "raise ZeroDivisionError(str(found))",
    ),
    "another-place": body("raise ZeroDivisionError('division by zero')"),
    "compiled-elsewhere": body(
        "text = 'def rate(total, count):\\n    1 / 0\\nrate(1, 0)'",
        "exec(compile('\\n' * 60 + text, __file__, 'exec'))",
    ),
    "fake-class": body(
        "kind = type('ZeroDivisionError', (Exception,), {'__module__': 'builtins'})",
        "raise kind('division by zero')",
    ),
    "fake-traceback": body(
        "error = ZeroDivisionError('division by zero')",
        "raise error.with_traceback(None)",
    ),
    "daemon": body(
        "threading.Thread(target=lambda: [None for _ in iter(int, 1)], daemon=True).start()"
    ),
    "forks": body("[os.fork() for _ in range(4)]"),
    "hooks": body("sys.excepthook = sys.displayhook = lambda *a: os._exit(1)", "sys.exit(1)"),
    "patches-pytest": body(
        "import _pytest.runner as r",
        "r.runtestprotocol = r.call_and_report = lambda *a, **k: []",
    ),
    "patches-the-harness": body(
        "[m.__dict__.clear() for n, m in list(sys.modules.items()) if 'reproof' in n]"
    ),
    "floods": body("[os.write(1, b'\\x1b[2J' * 100_000) for _ in range(50)]"),
}
"""What the function does; none of it is the captured division at its last line."""


@pytest.mark.parametrize("name", INSIDE)
def test_a_function_forges_nothing(name: str, ground: Ground) -> None:
    source = INSIDE[name]
    ground.write({"app/__init__.py": "", "app/calc.py": source})
    judged = ground.judge(crash(source), test_timeout_s=2.0, timeout_s=8.0)
    assert not judged.reproduced
    assert judged.error is None
    assert SECRET not in str(judged.document)


DIVIDES = "return total / count"
STILL: dict[str, str] = {
    "recursion-limit": body("sys.setrecursionlimit(70)", last=DIVIDES),
    "replaced-isinstance": body("builtins.isinstance = lambda *a: True", last=DIVIDES),
    "replaced-repr": body("builtins.repr = lambda *a: os._exit(0)", last=DIVIDES),
    "replaced-import": body("builtins.__import__ = None", last=DIVIDES),
    "replaced-everything": body(
        "builtins.len = builtins.type = builtins.str = builtins.open = None", last=DIVIDES
    ),
    "thread": body("threading.Thread(target=len, args=([],)).start()", last=DIVIDES),
    "tracer": body("sys.settrace(lambda *a: None)", "sys.setprofile(None)", last=DIVIDES),
    "no-collector": body("gc.disable()", "gc.callbacks.append(print)", last=DIVIDES),
    "no-streams": body("sys.stdout = sys.stderr = sys.stdin = None", last=DIVIDES),
    "other-folder": body("os.chdir('/')", last=DIVIDES),
    "deletes-its-tree": body(
        "shutil.rmtree(os.path.dirname(os.path.dirname(__file__)), True)", last=DIVIDES
    ),
    "hostile-locals": body(
        "class Evil:",
        "    def __repr__(self): os._exit(0)",
        "    __eq__ = __hash__ = __len__ = __iter__ = __bool__ = __repr__",
        "    __class__ = property(__repr__)",
        "evil = Evil",
        last=DIVIDES,
    ),
}
"""The division is true, whatever else the function does first."""


@pytest.mark.parametrize("name", STILL)
def test_a_true_crash_in_a_hostile_function(name: str, ground: Ground) -> None:
    ground.write({"app/__init__.py": "", "app/calc.py": STILL[name]})
    judged = ground.judge(crash(STILL[name]), test_timeout_s=3.0)
    assert judged.error is None
    if name in UNPROVABLE:
        assert judged.reproduced or judged.reason in BROKEN, judged.document["summary"]
    else:
        assert judged.reproduced, judged.document["summary"]


UNPROVABLE = ("replaced-isinstance", "replaced-repr", "replaced-everything")
"""Without these builtins nothing can look at the exception any more."""

TRAPS = """\
class Order:
    def __init__(self, sku):
        self.sku = sku

    def __repr__(self):
        raise SystemExit(0)

    __eq__ = __hash__ = __repr__


def rate(total, count, order):
    return total / count
"""


def test_an_object_that_cannot_be_shown_is_no_evidence(ground: Ground) -> None:
    ground.write({"app/__init__.py": "", "app/calc.py": TRAPS})
    variables: JSON = {"total": "1", "count": "0", "order": "Order(sku='x')"}
    frame = frame_of(TRAPS, "app/calc.py", "total / count", "rate", variables)
    judged = ground.judge(event_of(frame))
    assert judged.error is None


OWN_FILES = ("conftest.py", "setup.py", "tests/test_rate.py", "tests/test_abababab_rate.py",
             "pytest.py", "tests/conftest.py", "sitecustomize.py")  # fmt: skip


@pytest.mark.parametrize("path", OWN_FILES)
def test_frames_in_files_that_python_or_pytest_load(path: str, ground: Ground) -> None:
    ground.write({path: RATE})
    variables: JSON = {"total": "1", "count": "0"}
    event = event_of(frame_of(RATE, path, "total / count", "rate", variables))
    judged = ground.judge(event, out=ground.tree / "out")
    assert judged.error is None
    assert (ground.tree / path).read_text() == RATE


def test_the_name_of_the_test_is_taken_by_the_crashing_file(ground: Ground) -> None:
    path = "tests/test_abababab_rate.py"
    ground.write({path: RATE})
    frame = frame_of(RATE, path, "total / count", "rate", {"total": "1", "count": "0"})
    ground.judge(event_of(frame), out=ground.tree / "tests")
    assert (ground.tree / path).read_text() == RATE


def test_an_out_folder_that_leads_away_is_not_written_through(ground: Ground) -> None:
    ground.write(
        {"app/__init__.py": "", "app/calc.py": RATE, "pytest.ini": "[pytest]\ntestpaths=t\n"}
    )
    (ground.out / "test_abababab_rate.py").symlink_to(ground.outside / "planted.py")
    judged = ground.judge(crash(RATE))
    assert judged.reproduced
    assert not (ground.outside / "planted.py").exists()
    assert judged.document["test"]["path"].endswith("test_abababab_rate_2.py")  # type: ignore[call-overload,index,union-attr]
