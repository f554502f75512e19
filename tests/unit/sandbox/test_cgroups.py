"""The groups here are plain folders: what is written where, and how counters are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reproof.domain.run import Limits
from reproof.sandbox.cgroups import Usage, _Version1, _Version2

if TYPE_CHECKING:
    from pathlib import Path

LIMITS = Limits(memory_bytes=1 << 20, processes=10, cpu_share=0.25)


def fill(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)


@pytest.fixture
def second(tmp_path: Path) -> Path:
    fill(
        tmp_path / "group",
        {
            "cgroup.procs": "",
            "memory.max": "max",
            "memory.swap.max": "max",
            "memory.events": "low 0\noom 3\noom_kill 3\n",
            "memory.peak": "4096",
            "pids.max": "max",
            "pids.events": "max 1\n",
            "cpu.max": "max 100000",
            "cpu.stat": "usage_usec 1000000\nuser_usec 5\n",
        },
    )
    return tmp_path / "group"


def test_version_2_sets_limits_and_reads_differences(second: Path) -> None:
    meter = _Version2(second, {"memory", "pids", "cpu"})
    meter.begin(LIMITS)
    assert (second / "memory.max").read_text() == str(1 << 20)
    assert (second / "memory.swap.max").read_text().startswith("0")
    assert (second / "cpu.max").read_text().startswith("250000 1000000")
    assert (second / "pids.max").read_text().startswith("12")
    fill(second, {"memory.events": "oom_kill 4\n", "cpu.stat": "usage_usec 3500000\n"})
    assert meter.end() == Usage(cpu_s=2.5, peak_memory_bytes=4096, memory_hit=True)
    # The second run must not inherit the first one's kill, processor time or peak.
    meter.begin(LIMITS)
    assert meter.end() == Usage(cpu_s=0.0, peak_memory_bytes=None)


def test_version_2_without_a_cpu_controller_does_not_claim_it(second: Path) -> None:
    assert _Version2(second, {"memory", "pids"}).covers == {"memory_bytes", "processes"}


def test_version_1_sets_limits_and_reads_differences(tmp_path: Path) -> None:
    groups = {name: tmp_path / name for name in ("memory", "cpu", "pids", "cpuacct")}
    fill(
        groups["memory"],
        {
            "memory.limit_in_bytes": "9223372036854771712",
            "memory.max_usage_in_bytes": "77",
            "memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n",
        },
    )
    fill(groups["cpu"], {"cpu.cfs_period_us": "", "cpu.cfs_quota_us": ""})
    fill(groups["pids"], {"pids.max": "", "pids.events": "max 0\n"})
    fill(groups["cpuacct"], {"cpuacct.usage": "1000000000"})
    meter = _Version1(groups)
    meter.begin(LIMITS)
    assert int((groups["memory"] / "memory.limit_in_bytes").read_text()[:7]) == 1 << 20
    assert (groups["cpu"] / "cpu.cfs_quota_us").read_text() == "250000"
    fill(groups["memory"], {"memory.max_usage_in_bytes": "99", "memory.oom_control": "oom_kill 2"})
    fill(groups["pids"], {"pids.events": "max 5\n"})
    fill(groups["cpuacct"], {"cpuacct.usage": "1500000000"})
    assert meter.end() == Usage(cpu_s=0.5, peak_memory_bytes=99, processes_hit=True)
    assert (groups["cpu"] / "cpu.cfs_quota_us").read_text().startswith("-1")
