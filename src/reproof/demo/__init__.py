"""A real crash to try the product on: a small application, and the event its crash sent.

`app/` is the application (a ferry line's booking desk), `event.json` what `sentry_sdk` captured
when a worker thread of it crashed (`bench/capture_demo.py` makes it again). Neither is imported
here: to this package the application is data, and it runs only in the sandbox.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
EVENT = HERE / "event.json"
RELEASE_TAG = "v2026.11.1"
"""The event's release, as a tag of the repository that `install` makes."""

_IDENTITY = ("-c", "user.name=reproof demo", "-c", "user.email=demo@example.invalid")
_OWN_RULES = ("-c", "core.hooksPath=/dev/null", "-c", "commit.gpgsign=false")


def install(into: Path, *, git: str | None) -> Path:
    """Copy the application to `into/ferry-line` and return that folder.

    With `git` (the program's path) it becomes a repository with one tagged commit, as a checkout
    would be; without, or when git fails, it stays a plain folder, which the product also takes.
    """
    tree = into / "ferry-line"
    shutil.copytree(HERE / "app", tree, ignore=shutil.ignore_patterns("__pycache__"))
    (tree / "tests").mkdir()
    if git is not None:
        for words in (
            ["init", "-q"],
            ["add", "--all"],
            ["commit", "-q", "-m", "Release 2026.11.1"],
            ["tag", RELEASE_TAG],
        ):
            command = [git, "-C", str(tree), *_IDENTITY, *_OWN_RULES, *words]
            if subprocess.run(command, capture_output=True, check=False).returncode:
                shutil.rmtree(tree / ".git", ignore_errors=True)
                break
    return tree
