"""Sessions from opening to the last trace: what they show, survive and leave behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from conformance.sessions import make_guest_path, make_spec, make_tree, own_interpreter, run_script
from reproof.domain.run import Limits, RunEnd
from reproof.errors import SandboxBrokenError, SandboxUnavailableError
from reproof.sandbox.interface import Interpreter, SessionSpec
from reproof.sandbox.select import choose, probe_all

if TYPE_CHECKING:
    from reproof.sandbox.session import WarmSession

AVAILABLE = probe_all()["bubblewrap"]
ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.integration
walled = pytest.mark.skipif(not AVAILABLE.usable, reason=f"bubblewrap: {AVAILABLE.detail}")
BACKENDS = [pytest.param("bubblewrap", marks=walled), "process"]


@pytest.fixture(scope="module")
def guest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_guest_path(tmp_path_factory.mktemp("guest"))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return make_tree(tmp_path)


def open_session(name: str, spec: SessionSpec) -> WarmSession:
    return cast("WarmSession", choose(name).open(spec))


def processes_of(marker: str) -> list[int]:
    found = []
    for path in Path("/proc").iterdir():
        try:
            if path.name.isdigit() and marker in (path / "environ").read_bytes().decode("latin-1"):
                found.append(int(path.name))
        except OSError:
            continue
    return found


@pytest.mark.parametrize("name", BACKENDS)
def test_session_runs_reports_and_ends(name: str, tree: Path, guest: Path) -> None:
    with open_session(name, make_spec(tree, guest)) as session:
        assert session.isolation.backend == name
        assert run_script(session, tree, "RESULT = open('kept.txt').read()").report == {
            "result": "kept"
        }
        assert run_script(session, tree, "import os; os._exit(3)").host.exit_code == 3
        record = run_script(session, tree, "import time; time.sleep(60)", Limits(wall_s=0.5))
        assert record.host.end is RunEnd.TIMEOUT
        record = run_script(session, tree, "import os; os.kill(os.getpid(), 9)")
        assert (record.host.end, record.host.signal) == (RunEnd.SIGNALED, 9)
        hidden = "import os; RESULT = [os.path.lexists('.git'), os.path.lexists('.env')]"
        assert run_script(session, tree, hidden).report == {"result": [False, False]}
    session.close()
    with pytest.raises(SandboxBrokenError):
        run_script(session, tree, "RESULT = 1")


def test_process_backend_says_that_there_is_no_wall(tree: Path, guest: Path) -> None:
    with open_session("process", make_spec(tree, guest)) as session:
        isolation = session.isolation
    assert (isolation.level, isolation.network) == ("none", "host")
    assert {"network", "user", "memory_bytes", "system_calls"} <= set(isolation.not_achieved)


def test_process_backend_kills_a_daemon_and_leaves_no_folder(
    tree: Path, guest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    daemon = (
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
        "        time.sleep(60)\n    os._exit(0)\nRESULT = 1"
    )
    marker = f"reproof-marker-{os.getpid()}"
    with open_session("process", make_spec(tree, guest, environment={"M": marker})) as session:
        assert run_script(session, tree, daemon).report == {"result": 1}
        assert len(processes_of(marker)) == 1  # the supervisor
        stuck = daemon.replace("RESULT = 1", "time.sleep(60)")
        run_script(session, tree, stuck, Limits(wall_s=0.5))
        assert len(processes_of(marker)) == 1
    assert processes_of(marker) == []
    assert list((tmp_path / "temporary").iterdir()) == []


@walled
def test_killing_the_host_process_kills_everything_inside(
    tree: Path, guest: Path, tmp_path: Path
) -> None:
    marker = f"reproof-marker-{os.getpid()}"
    script = tmp_path / "host.py"
    script.write_text(
        textwrap.dedent(f"""
        import sys
        sys.path[:0] = [{str(ROOT / "src")!r}, {str(ROOT / "tests")!r}]
        from pathlib import Path
        from conformance.sessions import make_spec, run_script
        from reproof.sandbox.select import choose
        tree = Path({str(tree)!r})
        spec = make_spec(tree, Path({str(guest)!r}), environment={{"M": {marker!r}}})
        session = choose("bubblewrap").open(spec)
        session.isolation
        print("up", flush=True)
        run_script(session, tree, "import time, os; os.fork(); time.sleep(60)")
        """)
    )
    host = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True)
    assert host.stdout is not None
    with host, host.stdout:
        assert host.stdout.readline() == "up\n"
        deadline = time.monotonic() + 10
        while len(processes_of(marker)) < 5 and time.monotonic() < deadline:
            time.sleep(0.02)
        # bubblewrap twice, supervisor, keeper, worker and its child; some hide their environment.
        assert len(processes_of(marker)) >= 4
        host.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 3
    while processes_of(marker) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert processes_of(marker) == []


@walled
def test_many_sessions_leave_no_process_mount_or_group(tree: Path, guest: Path) -> None:
    def traces() -> tuple[int, int, list[str]]:
        mounts = len(Path("/proc/self/mounts").read_text().splitlines())
        groups = [str(p) for p in Path("/sys/fs/cgroup").glob(f"**/reproof-{os.getpid()}-*")]
        return mounts, len(list(Path("/proc/self/fd").iterdir())), groups

    marker = f"reproof-marker-{os.getpid()}"
    before = traces()
    for _ in range(3):
        spec = make_spec(tree, guest, environment={"M": marker})
        with open_session("bubblewrap", spec) as session:
            run_script(session, tree, "RESULT = 1")
    assert traces() == before
    assert processes_of(marker) == []


@walled
def test_session_that_is_never_used_closes_at_once(tree: Path, guest: Path) -> None:
    started = time.monotonic()
    open_session("bubblewrap", make_spec(tree, guest)).close()
    assert time.monotonic() - started < 2.5


@walled
def test_interpreter_that_does_not_start_is_explained(tree: Path, guest: Path) -> None:
    python = Path("/usr/bin/no-such-python")
    spec = SessionSpec(
        tree=tree,
        interpreter=Interpreter(
            executable=python,
            version=(3, 11),
            prefix=Path("/usr"),
            base_prefix=Path("/usr"),
            real_executable=python,
        ),
        guest_path=guest,
    )
    with (
        open_session("bubblewrap", spec) as session,
        pytest.raises(SandboxUnavailableError, match="no-such-python"),
    ):
        run_script(session, tree, "RESULT = 1")


@walled
def test_guest_folder_without_pytest_is_explained(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with (
        open_session("bubblewrap", make_spec(tree, tmp_path / "empty")) as session,
        pytest.raises(SandboxUnavailableError, match="No module named 'pytest'"),
    ):
        run_script(session, tree, "RESULT = 1")


@walled
def test_modules_of_the_tree_win_over_those_that_came_with_pytest(tree: Path, guest: Path) -> None:
    (tree / "packaging").mkdir()
    (tree / "packaging" / "__init__.py").write_text("MINE = True")
    script = (
        "import packaging, pytest\n"
        "RESULT = [getattr(packaging, 'MINE', False), pytest.__file__.startswith('/.reproof/')]"
    )
    with open_session("bubblewrap", make_spec(tree, guest)) as session:
        assert run_script(session, tree, script).report == {"result": [True, True]}


@walled
def test_tree_that_is_pytest_itself_is_imported_instead_of_ours(tree: Path, guest: Path) -> None:
    (tree / "pluggy").mkdir()
    (tree / "pluggy" / "__init__.py").write_text("MINE = True")
    (tree / "pytest.py").write_text("MINE = True")
    script = "import pluggy, pytest\nRESULT = [pluggy.MINE, pytest.MINE]"
    with open_session("bubblewrap", make_spec(tree, guest)) as session:
        assert run_script(session, tree, script).report == {"result": [True, True]}


@walled
def test_import_roots_come_first_and_the_environment_is_the_targets(
    tree: Path, guest: Path
) -> None:
    (tree / "src").mkdir()
    (tree / "src" / "mine.py").write_text("VALUE = 1")
    script = "import mine, sys\nRESULT = [mine.VALUE, sys.prefix, sys.executable, sys.path[0]]"
    with open_session("bubblewrap", make_spec(tree, guest, import_roots=("src", ""))) as session:
        record = run_script(session, tree, script)
    python = own_interpreter()
    expected = [1, str(python.prefix), str(python.executable), str(tree / "src")]
    assert record.report == {"result": expected}


@walled
@pytest.mark.parametrize("seed", [0, 7])
def test_hash_seed_of_the_session_decides_the_order_of_sets(
    tree: Path, guest: Path, seed: int
) -> None:
    script = "RESULT = [hash('reproof'), __import__('sys').flags.hash_randomization]"
    bare = subprocess.run(
        [sys.executable, "-c", "print(hash('reproof'))"],
        env={"PYTHONHASHSEED": str(seed)},
        capture_output=True,
        text=True,
        check=True,
    )
    with open_session("bubblewrap", make_spec(tree, guest, hash_seed=seed)) as session:
        record = run_script(session, tree, script)
    assert record.report == {"result": [int(bare.stdout), int(seed != 0)]}


@walled
def test_target_starts_its_own_interpreter_inside(tree: Path, guest: Path) -> None:
    script = (
        "import subprocess, sys\n"
        "RESULT = subprocess.check_output([sys.executable, '-c', 'print(6 * 7)'], text=True)"
    )
    with open_session("bubblewrap", make_spec(tree, guest)) as session:
        assert run_script(session, tree, script).report == {"result": "42\n"}


@walled
@pytest.mark.skipif(os.getuid() != 0, reason="only root can own what another user may not read")
def test_tree_of_root_is_readable_and_writable_in_the_overlay(tree: Path, guest: Path) -> None:
    (tree / "below").chmod(0o700)
    (tree / "kept.txt").chmod(0o600)
    script = (
        "with open('kept.txt', 'a') as f:\n    f.write('!')\n"
        "with open('below/kept.txt', 'a') as f:\n    f.write('!')\n"
        "RESULT = [open('kept.txt').read(), open('below/kept.txt').read()]"
    )
    with open_session("bubblewrap", make_spec(tree, guest)) as session:
        assert run_script(session, tree, script).report == {"result": ["kept!", "kept!"]}
    assert (tree / "kept.txt").read_text() == "kept"
