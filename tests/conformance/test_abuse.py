"""Every abuse against the default wall, then what it left on the host: nothing."""

from __future__ import annotations

import hashlib
import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from conformance.abuse import CASES, PRELUDE, Abuse
from conformance.sessions import make_guest_path, make_spec, make_tree, run_script
from reproof.domain.run import Limits, RunEnd
from reproof.sandbox.select import choose, probe_all

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reproof.sandbox.session import WarmSession

AVAILABLE = probe_all()["bubblewrap"]
pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not AVAILABLE.usable, reason=f"bubblewrap: {AVAILABLE.detail}"),
]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tree(tmp_path_factory.mktemp("abuse"))


@pytest.fixture(scope="module")
def session(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WarmSession]:
    guest = make_guest_path(tmp_path_factory.mktemp("guest"))
    os.environ["REPROOF_CANARY"] = "secret"
    try:
        with cast("WarmSession", choose("bubblewrap").open(make_spec(tree, guest))) as opened:
            yield opened
    finally:
        del os.environ["REPROOF_CANARY"]


def fingerprint(tree: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(tree.rglob("*")):
        status = path.lstat()
        content = path.read_bytes() if path.is_file() else b""
        digest.update(f"{path} {status.st_mode} {status.st_mtime_ns} ".encode() + content)
    return digest.hexdigest()


@pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in CASES.items()])
def test_abuse_has_the_required_outcome_and_leaves_nothing(
    case: Abuse, session: WarmSession, tree: Path
) -> None:
    before = fingerprint(tree)
    record = run_script(session, tree, PRELUDE + case.script, case.limits)
    assert record.host.end is case.end, record.host
    result = None if record.report is None else record.report["result"]
    assert result in case.any_of if case.any_of else result == case.result, record.host
    assert case.hits <= set(record.host.limits_hit), record.host.limits_hit
    assert record.host.nonce_ok is (record.report is not None)
    assert len(record.host.stdout) <= case.limits.output_bytes
    assert record.host.wall_s < case.limits.wall_s + 2
    assert fingerprint(tree) == before
    assert run_script(session, tree, "RESULT = 'alive'").report == {"result": "alive"}


def test_isolation_is_measured_and_never_maps_to_root(session: WarmSession) -> None:
    isolation = session.isolation
    assert isolation.backend == "bubblewrap"
    assert isolation.network == "none"
    assert isolation.uid == (65534 if os.getuid() == 0 else os.getuid())
    assert isolation.achieved["tree"] == "overlay"
    by_group = str(isolation.achieved.get("cpu_share", "")).startswith("cgroup")
    assert isolation.not_achieved == (() if by_group else ("cpu_share",))
    assert isolation.achieved["memory_bytes"] in ("cgroup1", "cgroup2", "watchdog")


def test_nothing_of_one_run_is_seen_by_the_next(session: WarmSession, tree: Path) -> None:
    leave = (
        "import builtins, os, sys\n"
        "for path in ('/tmp/left', '/dev/shm/left', 'left.txt', os.path.expanduser('~/left')):\n"
        "    open(path, 'w').write('x')\n"
        "os.environ['LEFT'] = builtins.LEFT = sys.LEFT = 'x'\n"
        "import ctypes\nRESULT = ctypes.CDLL(None).shmget(77, 4096, 0o1600)\n"
    )
    look = (
        "import builtins, ctypes, os, sys\n"
        "paths = ('/tmp/left', '/dev/shm/left', 'left.txt', os.path.expanduser('~/left'))\n"
        "RESULT = [os.path.exists(p) for p in paths] + ['LEFT' in os.environ, "
        "hasattr(builtins, 'LEFT'), hasattr(sys, 'LEFT'), "
        "ctypes.CDLL(None).shmget(77, 4096, 0) != -1]\n"
    )
    assert run_script(session, tree, leave).report is not None
    assert run_script(session, tree, look).report == {"result": [False] * 8}
    assert not (tree / "left.txt").exists()


def test_files_of_the_host_loopback_and_abstract_sockets_are_out_of_reach(
    session: WarmSession, tree: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as unix:
        unix.bind(f"\0reproof-{os.getpid()}")
        unix.listen()
        script = (
            f"address = ('127.0.0.1', {tcp.getsockname()[1]})\n"
            "RESULT = [attempt(socket.create_connection, address, 2),"
            f"attempt(socket.socket(socket.AF_UNIX).connect, '\\0reproof-{os.getpid()}')]"
        )
        record = run_script(session, tree, PRELUDE + script)
    assert record.report == {"result": ["ECONNREFUSED", "ECONNREFUSED"]}


def test_loopback_is_not_taken_for_an_attempt_to_leave(session: WarmSession, tree: Path) -> None:
    script = CASES["loopback-works"].script + "\nsocket.getaddrinfo('localhost', 80)"
    assert run_script(session, tree, PRELUDE + script).host.limits_hit == ()


def test_processor_time_is_capped_over_the_whole_run(session: WarmSession, tree: Path) -> None:
    if not str(session.isolation.achieved.get("cpu_share", "")).startswith("cgroup"):
        pytest.skip("cpu_share: no control group here")
    spin = "import os\nfor n in range(3):\n    os.fork()\nwhile True:\n    pass"
    record = run_script(session, tree, spin, Limits(wall_s=3.0, cpu_share=0.5))
    assert record.host.end is RunEnd.TIMEOUT
    assert record.host.cpu_s is not None
    # Three periods of one second at a half, and one more may have begun.
    assert record.host.cpu_s <= 2.2


def test_true_size_of_output_is_counted_beyond_the_cap(session: WarmSession, tree: Path) -> None:
    script = "import os\nfor n in range(300):\n    os.write(1, b'\\x00' * 10000)"
    record = run_script(session, tree, script, Limits(output_bytes=5000))
    assert record.host.stdout == b"\0" * 5000
    assert record.host.stdout_size == 3_000_000
    assert record.host.stderr_size == 0
    assert record.host.limits_hit == ("output_bytes",)


def test_crash_is_told_by_its_signal_and_leaves_no_core(session: WarmSession, tree: Path) -> None:
    record = run_script(session, tree, "import ctypes\nctypes.string_at(0)")
    assert (record.host.end, record.host.signal, record.host.exit_code) == (
        RunEnd.SIGNALED,
        11,
        None,
    )
    assert record.report is None


def test_files_of_a_job_appear_in_new_and_existing_folders(
    session: WarmSession, tree: Path
) -> None:
    script = (
        b"import time\n"
        b"RESULT = [open(n).read() for n in ('below/new.txt', 'below/kept.txt', 'a/b/c.txt')]\n"
        b"RESULT.append(time.tzname[0])"
    )
    files = {"attempt.py": script, "below/new.txt": b"n", "a/b/c.txt": b"c"}
    record = session._run(
        "script", {"path": str(tree / "attempt.py")}, files, {"TZ": "Asia/Tokyo"}, Limits()
    )
    assert record.report == {"result": ["n", "kept", "c", "JST"]}
    assert not (tree / "a").exists()


def test_memory_of_the_host_stays_flat_over_many_runs(session: WarmSession, tree: Path) -> None:
    def open_descriptors() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    run_script(session, tree, "RESULT = 1")
    before = open_descriptors()
    for _ in range(20):
        run_script(session, tree, "RESULT = 1")
    assert open_descriptors() == before
