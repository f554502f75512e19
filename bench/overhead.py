"""How much longer `reproof repro` takes than the bare pytest run of the test it emits.

Both are timed in turn, in one run, on the shipped demo; the figure is the ratio of the medians. The
start-up of `reproof --help` is measured the same way against an interpreter that does nothing.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING

from reproof import demo

if TYPE_CHECKING:
    from collections.abc import Mapping

REPROOF = str(Path(sys.executable).with_name("reproof"))


def seconds(command: list[str], expected: int, **where: object) -> float:
    """Return how long `command` took; its exit status must be the expected one."""
    cwd, env = where.get("cwd"), where.get("env")
    started = perf_counter()
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=str(cwd) if cwd else None,
        env={**os.environ, **env} if isinstance(env, dict) else None,
    )
    took = perf_counter() - started
    if done.returncode != expected:
        sys.exit(f"{command}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return took


def interleaved(rounds: int, first: Mapping[str, object], second: Mapping[str, object]) -> None:
    """Time two commands in turn and print both medians and their ratio."""
    times: dict[str, list[float]] = {str(first["name"]): [], str(second["name"]): []}
    for number in range(rounds + 1):
        for one in (first, second):
            took = seconds(**{k: v for k, v in one.items() if k != "name"})  # type: ignore[arg-type]
            if number:  # the first round warms the caches
                times[str(one["name"])].append(took)
    (name, mine), (other, theirs) = times.items()
    a, b = statistics.median(mine), statistics.median(theirs)
    print(
        f"{name}: {a:.3f} s; {other}: {b:.3f} s; ratio {a / b:.2f}, "
        f"difference {1000 * (a - b):.0f} ms (medians of {rounds})"
    )


def main() -> None:
    """Measure both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    interleaved(
        rounds,
        {"name": "reproof --help", "command": [REPROOF, "--help"], "expected": 0},
        {"name": "bare python", "command": [sys.executable, "-c", "pass"], "expected": 0},
    )
    with TemporaryDirectory() as folder:
        tree = demo.install(Path(folder), git=shutil.which("git"))
        out = Path(folder) / "out"
        repro = [REPROOF, "repro", str(demo.EVENT), "--repo", str(tree), "--env", sys.executable]
        repro += ["--out", str(out), "--json"]
        seconds(repro, 0)
        (test,) = out.glob("test_*.py")
        bare = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test)]
        interleaved(
            rounds,
            {"name": "reproof repro", "command": repro, "expected": 0},
            {
                "name": "bare pytest",
                "command": bare,
                "expected": 1,
                "cwd": tree,
                "env": {
                    "PYTHONPATH": str(tree),
                    "PYTHONDONTWRITEBYTECODE": "1",
                    # The development environment's plugins would make the bare run look slow.
                    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
                },
            },
        )


if __name__ == "__main__":
    main()
