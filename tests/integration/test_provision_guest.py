"""The real thing: pytest fetched for a Python, imported by that Python."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from reproof.errors import InterpreterError
from reproof.provision.guest import guest_path

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.integration, pytest.mark.network]

OWN = sys.version_info[:2]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def own_guest(cache: Path) -> Path:
    try:
        return guest_path(OWN, cache, environment=dict(os.environ))
    except InterpreterError as error:
        pytest.skip(f"no packages can be fetched here: {error.message[:100]}")


def test_pytest_runs_from_it_alone(own_guest: Path, tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(
        "import time, time_machine\n"
        "def test_a():\n"
        "    with time_machine.travel(0, tick=False):\n"
        "        assert time.time() == 0\n"
    )
    program = (
        f"import sys; sys.path.append({str(own_guest)!r}); import pytest\n"
        "assert pytest.__file__.startswith(sys.path[-1])\n"
        f"sys.exit(pytest.main(['-q', '-p', 'no:cacheprovider', {str(tmp_path)!r}]))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_byte_code_is_there_for_our_own_version(own_guest: Path) -> None:
    assert list((own_guest / "_pytest" / "__pycache__").glob("main.*.pyc"))


def test_a_warm_cache_needs_no_installer(
    own_guest: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbid(*_: object, **__: object) -> None:
        pytest.fail("a process was started")

    monkeypatch.setattr(subprocess, "run", forbid)
    started = time.perf_counter()
    for _ in range(20):
        assert guest_path(OWN, cache) == own_guest
    # 0.3 ms each where this was written; the bound leaves room for a busy machine.
    assert time.perf_counter() - started < 20 * 0.005


def test_another_minor_is_fetched_without_an_interpreter_of_it(
    own_guest: Path, cache: Path
) -> None:
    made = guest_path((3, 8), cache, environment=dict(os.environ))
    assert (made / "pytest" / "__init__.py").is_file()
    assert list(made.glob("_time_machine.cpython-38-*.so"))
    assert not (made / "_pytest" / "__pycache__").exists()
