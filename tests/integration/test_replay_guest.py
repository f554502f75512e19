"""Replays, controls and inspections in real sessions, on the oldest and on new interpreters."""

from __future__ import annotations

import dataclasses
import os
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from reproof.domain.run import Job, JobKind, Limits
from reproof.errors import InterpreterError
from reproof.provision.guest import guest_path
from reproof.provision.interpreter import describe
from reproof.sandbox.interface import SessionSpec
from reproof.sandbox.select import choose

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reproof.domain.run import RunRecord
    from reproof.sandbox.interface import Session

pytestmark = pytest.mark.integration
VERSIONS = [(3, 8), (3, 13)]

TARGET = """
    import dataclasses, functools, os, sys, typing

    class Hidden(type):
        def __getattribute__(cls, name):
            raise RuntimeError(name)

    class Odd(metaclass=Hidden):
        pass

    @dataclasses.dataclass
    class Order:
        kind: typing.ClassVar[str] = "o"
        number: int
        note: str = dataclasses.field(default="", repr=False)

        def total(self):
            return self.number / 0

    @dataclasses.dataclass
    class Written:
        number: int

        def __repr__(self):
            return "Written(number=1)"

    class Point(typing.NamedTuple):
        x: int
        y: int = 0

    class Outer:
        class Inner:
            def method(self):
                pass

    class Lazy:
        @property
        def __class__(self):
            raise RuntimeError

    lazy = Lazy()
    order = Order(1)

    @functools.lru_cache(maxsize=1)
    def cached():
        pass

    def divide(value):
        return 1 / value

    def use(value):
        return value.name

    def close():
        sys.stdout.close()
        sys.stderr.close()
        sys.__stdout__.close()
        os.close(1)
        raise ValueError("closed")

    def limit():
        sys.setrecursionlimit(60)
        raise ValueError("low")

    def recurse(n=0):
        return recurse(n + 1)

    def leave(error):
        raise error
"""


@dataclasses.dataclass
class Target:
    session: Session
    tree: Path
    folder: str = "odd folder (1)"

    def _common(self) -> dict[str, Any]:
        return {"root": str(self.tree), "roots": [str(self.tree)], "sdk": None}

    def run(self, kind: JobKind, **request: Any) -> RunRecord:  # noqa: ANN401
        job = Job(kind=kind, request={**self._common(), **request}, limits=Limits(wall_s=20))
        return self.session.run(job)

    def replay(
        self,
        body: str,
        watch: tuple[str, ...] = (),
        environment: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        path = f"{self.folder}/test_it.py"
        request = {**self._common(), "test": f"{self.tree}/{path}", "sentinels": list(watch)}
        record = self.session.run(
            Job(
                kind=JobKind.REPLAY,
                request=request,
                files={path: textwrap.dedent(body).encode()},
                environment=environment or {},
                limits=Limits(wall_s=20),
            )
        )
        assert record.report is not None, (record.host, record.host.stderr.decode())
        assert record.host.nonce_ok
        return dict(record.report)

    def crash(self, call: str, head: str = "", **more: Any) -> dict[str, Any]:  # noqa: ANN401
        body = f"import target\n{head}\ndef test_it():\n    {call}\n"
        report = self.replay(body, **more)
        assert report["collected"] == 1
        found = [p for p in report["phases"] if p["when"] == "call"]
        assert found, report
        return {**found[-1]["exception"], "report": report}


@pytest.fixture(scope="module", params=VERSIONS, ids=lambda v: f"{v[0]}.{v[1]}")
def target(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Target]:
    version: tuple[int, int] = request.param
    name = f"{version[0]}.{version[1]}"
    home = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found = sorted((home / "versions").glob(f"{name}.*/bin/python"))
    if not found:
        pytest.skip(f"there is no Python {name} here")
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "reproof"
    try:
        guest = guest_path(version, cache, environment=dict(os.environ))
    except InterpreterError as error:
        pytest.skip(f"no pytest for Python {name} can be fetched here: {error.message[:100]}")
    tree = tmp_path_factory.mktemp("tree")
    (tree / "target.py").write_text(textwrap.dedent(TARGET))
    (tree / "conftest.py").write_text("raise RuntimeError('read')")
    (tree / "pytest.ini").write_text("[pytest]\naddopts = --nonsense\n")
    folder = tree / Target.folder
    folder.mkdir()
    (folder / "conftest.py").write_text("raise RuntimeError('read')")
    (folder / "setup.cfg").write_text("[tool:pytest]\naddopts = --nonsense\n")
    spec = SessionSpec(tree=tree, interpreter=describe(found[-1]), guest_path=guest)
    with choose("auto").open(spec) as session:
        yield Target(session, tree)


def test_a_crash_is_described_from_the_test_on(target: Target) -> None:
    told = target.crash("target.divide(0)")
    assert (told["type"], told["module"]) == ("ZeroDivisionError", "builtins")
    assert told["message"] == "division by zero"
    assert [(f["function"], f["is_test"]) for f in told["frames"]] == [
        ("test_it", True),
        ("divide", False),
    ]
    assert told["frames"][-1]["file"] == "target.py"
    assert told["frames"][-1]["text"] == "return 1 / value"
    assert told["frames"][-1]["locals"] == {"value": "0"}
    assert told["report"]["exit"] == 1


def test_a_folder_may_have_pytests_own_marks(target: Target) -> None:
    odd = dataclasses.replace(target, folder="a [b]::c")
    told = odd.crash("target.leave(ValueError(target.os.getcwd()))")
    assert [(f["function"], f["is_test"]) for f in told["frames"]] == [
        ("test_it", True),
        ("leave", False),
    ]
    assert told["message"] == str(target.tree)


def test_settings_from_outside_do_not_matter(target: Target) -> None:
    outside = {
        "PYTEST_ADDOPTS": "--nonsense",
        "PYTEST_PLUGINS": "no_such_plugin",
        "PYTHONWARNINGS": "error",
    }
    call = "import warnings; warnings.warn('old', DeprecationWarning); target.divide(0)"
    told = target.crash(call, environment=outside)
    assert told["type"] == "ZeroDivisionError"


@pytest.mark.parametrize("error", ["SystemExit(3)", "KeyboardInterrupt('k')", "BaseException('b')"])
def test_what_ends_a_session_is_an_exception_of_the_call(target: Target, error: str) -> None:
    told = target.crash(f"target.leave({error})")
    assert f"{told['type']}(" == error[: error.index("(") + 1]
    assert told["frames"][-1]["function"] == "leave"


@pytest.mark.parametrize("name", ["SystemExit", "KeyboardInterrupt", "ImportError", "ValueError"])
def test_an_import_that_raises_is_a_failed_collection(target: Target, name: str) -> None:
    report = target.replay(f"raise {name}('i')\ndef test_it(): pass\n")
    assert report["collected"] == 0
    (phase,) = report["phases"]
    assert (phase["when"], phase["exception"]["type"]) == ("collect", name)


def test_closing_the_streams_does_not_lose_the_report(target: Target) -> None:
    told = target.crash("target.close()")
    assert (told["type"], told["message"]) == ("ValueError", "closed")


def test_leaving_without_a_word_is_the_hosts_to_tell(target: Target) -> None:
    path = f"{target.folder}/test_it.py"
    job = Job(
        kind=JobKind.REPLAY,
        request={**target._common(), "test": f"{target.tree}/{path}", "sentinels": []},
        files={path: b"import os\ndef test_it(): os._exit(7)\n"},
    )
    record = target.session.run(job)
    assert (record.report, record.host.exit_code) == (None, 7)


def test_recursion_and_its_limit(target: Target) -> None:
    assert target.crash("target.limit()")["message"] == "low"
    told = target.crash("target.recurse()")
    assert told["type"] == "RecursionError"
    assert told["frames"][-1]["function"] == "recurse"
    assert told["frames"][-1]["locals"]["n"].isdigit()


def test_an_assertion_of_the_test_and_a_pass(target: Target) -> None:
    assert target.crash("assert [1] == [2]")["type"] == "AssertionError"
    report = target.replay("def test_it(): pass\n")
    assert report["exit"] == 0
    assert [(p["when"], p["outcome"]) for p in report["phases"]] == [
        ("setup", "passed"),
        ("call", "passed"),
        ("teardown", "passed"),
    ]


def test_a_stand_in_counts_only_when_the_target_uses_it(target: Target) -> None:
    head = "from unittest.mock import sentinel"
    used = target.crash("target.use(sentinel.order)", head, watch=("order",))
    assert used["report"]["sentinel_uses"] == [["order", ".name"]]
    call = "target.leave.__globals__['leave'](ValueError(1)) if sentinel.order is None else (lambda held: target.divide(0))(sentinel.order)"  # noqa: E501
    unused = target.crash(call, head, watch=("order",))
    assert unused["report"]["sentinel_uses"] == []


def test_names_are_found_and_hostile_classes_do_no_harm(target: Target) -> None:
    names = [
        "Order", "Written", "Point", "Inner", "Outer.Inner", "Outer.Inner.method", "Odd", "cached",
        "target.divide", "len", "functools.partial", "nothing",
    ]  # fmt: skip
    record = target.run(
        JobKind.INSPECT, imports=["target", "no_such"], names=names, instances=["target.Order"]
    )
    assert record.report is not None, record.host.stderr.decode()
    report: Any = record.report
    assert report["errors"] == {"no_such": "ModuleNotFoundError: No module named 'no_such'"}
    found = {name: facts[0] for name, facts in report["names"].items()}
    assert set(names) - set(found) == {"nothing"}
    order = found["Order"]
    assert (order["kind"], order["repr_is_generated"]) == ("dataclass", True)
    assert order["fields"] == [["number", True, False, False], ["note", True, True, False]]
    assert not found["Written"]["repr_is_generated"]
    assert found["Point"]["fields"] == [["x", True, False, False], ["y", True, True, False]]
    assert found["Point"]["repr_is_generated"]
    assert found["Inner"]["qualname"] == "Outer.Inner"
    assert found["Outer.Inner.method"]["kind"] == "function"
    assert [t["qualname"] for t in report["tuples"]] == ["Point"]
    assert report["instances"] == {"target.Order": [["target", "order"]]}


def test_values_are_built_without_the_call(target: Target) -> None:
    source = "import target\ndef build():\n    return {'order': target.Order(1), 'n': [2]}\n"
    record = target.run(JobKind.CONTROL, source=source)
    assert record.report == {"ok": True, "values": {"order": "Order(number=1)", "n": ["2"]}}
    failed: Any = target.run(JobKind.CONTROL, source="def build():\n    raise SystemExit(1)\n")
    assert failed.report["ok"] is False
    assert failed.report["exception"]["type"] == "SystemExit"
