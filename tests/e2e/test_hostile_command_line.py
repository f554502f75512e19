"""Hostile events through the command: what it prints must be valid, and act on no terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from reproof.sandbox.select import probe_all
from support.hostile import SECRET, Ground, check_document, event_of, frame_of, snapshot

if TYPE_CHECKING:
    from pathlib import Path

    from reproof.domain.event import JSON

WALL = probe_all()["bubblewrap"]
pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not WALL.usable, reason=f"no bubblewrap sandbox here: {WALL.detail}"),
]

SOURCE = """\
def rate(total, count, note):
    return total / count
"""
ESCAPES = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202e\r\n\0\b\ud800"


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ground:
    # the command finds pytest for the sandbox below the user's own cache folder
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111
    made = Ground(tmp_path, monkeypatch)
    monkeypatch.setenv("XDG_CACHE_HOME", cache)
    made.write({"app/__init__.py": "", "app/calc.py": SOURCE})
    return made


def hostile(**changes: JSON) -> bytes:
    variables: JSON = {"total": "1", "count": "0", "note": repr(ESCAPES)}
    frame = frame_of(SOURCE, "app/calc.py", "total / count", "rate", variables)
    event = event_of(frame, release=ESCAPES, groupID=ESCAPES, tags={ESCAPES: ESCAPES})
    return json.dumps(event | changes).encode()


def words(ground: Ground, crash: str, *more: str) -> list[str]:
    tree, out = str(ground.tree), str(ground.out)
    command = [sys.executable, "-m", "reproof.cli.main", "repro", crash, "--repo", tree]
    return [*command, "--out", out, "--env", sys.executable, *more]


def run(ground: Ground, crash: str, *more: str, stdin: bytes = b"") -> tuple[int, str, str]:
    """Run the command on pipes; nothing but the out folder may change."""
    before = snapshot(ground.root, ground.out)
    done = subprocess.run(
        words(ground, crash, *more), input=stdin, capture_output=True, timeout=60, check=False
    )
    assert snapshot(ground.root, ground.out) == before
    out, err = done.stdout.decode(), done.stderr.decode()
    assert "Traceback" not in out + err
    assert SECRET not in out + err
    return done.returncode, out, err


def is_quiet(text: str) -> bool:
    """Whether nothing in it acts on a terminal."""
    return all(char.isprintable() or char in "\n\t" for char in text)


@pytest.mark.parametrize("verbose", [False, True])
def test_in_words(verbose: bool, ground: Ground) -> None:
    status, out, err = run(ground, "-", *["--verbose"] * verbose, stdin=hostile())
    assert (status, is_quiet(out), is_quiet(err)) == (0, True, True)
    assert "ZeroDivisionError" in out


def test_as_json(ground: Ground) -> None:
    status, out, err = run(ground, "-", "--json", stdin=hostile())
    assert (status, err) == (0, "")
    assert out.isascii()
    check_document(json.loads(out))


@pytest.mark.parametrize(
    "event",
    [
        pytest.param(hostile(platform=ESCAPES), id="platform"),
        pytest.param(hostile(exception={"values": [{"type": ESCAPES}]}), id="type"),
        pytest.param(b'{"detail": "\\u001b[2J\\u202e"}', id="detail"),
        pytest.param(json.dumps({ESCAPES: 1}).encode(), id="keys"),
        pytest.param(b"\x1b[2J", id="not-json"),
        pytest.param(b"", id="empty"),
    ],
)
def test_refusals_in_words(event: bytes, ground: Ground) -> None:
    status, out, err = run(ground, "-", stdin=event)
    assert (status, is_quiet(out), is_quiet(err)) == (1, True, True)


@pytest.mark.parametrize(
    "more",
    [
        pytest.param(["--ref", "--upload-pack=\x1b[2J"], id="ref"),
        pytest.param(["--sandbox", "\x1b[2J"], id="sandbox"),
        pytest.param(["--param", "total=__import__('os')"], id="param"),
        pytest.param(["--\x1b[2J"], id="option"),
    ],
)
def test_errors_in_words(more: list[str], ground: Ground) -> None:
    status, out, err = run(ground, "-", *more, stdin=hostile())
    assert (status, is_quiet(out), is_quiet(err)) == (2, True, True)


def test_a_folder_with_hostile_names(ground: Ground) -> None:
    folder = ground.root / "events"
    folder.mkdir()
    (folder / "\x1b[2J\u202e.json").write_bytes(hostile())
    (folder / "--help.json").write_bytes(b"[" * 100_000)
    (folder / "link.json").symlink_to(ground.home / ".netrc")
    (folder / "loop.json").symlink_to("loop.json")
    os.mkfifo(folder / "pipe.json")
    status, out, err = run(ground, str(folder), "--verbose")
    assert (status, is_quiet(out), is_quiet(err)) == (1, True, True)
    status, out, err = run(ground, str(folder), "--json", "--quiet")
    assert (status, err) == (1, "")
    verdicts = json.loads(out)["verdicts"]
    assert sorted(one["status"] for one in verdicts) == ["not_reproduced"] * 2 + ["reproduced"]
    for one in verdicts:
        check_document(one)


def test_on_a_terminal(ground: Ground) -> None:
    """On a pseudo-terminal only the product's own colour and line codes may appear."""
    event = ground.root / "event.json"
    event.write_bytes(hostile())
    main, other = pty.openpty()
    run_ = subprocess.Popen(
        words(ground, str(event), "--verbose"), stdin=other, stdout=other, stderr=other
    )
    os.close(other)
    told = b""
    while True:
        try:
            chunk = os.read(main, 65536)
        except OSError:
            # the other side is closed
            break
        told += chunk
    os.close(main)
    assert run_.wait(60) == 0
    text = told.decode()
    for code in own_codes(text):
        text = text.replace(code, "")
    assert is_quiet(text.replace("\r\n", "\n").replace("\r", ""))
    assert SECRET not in text


def own_codes(text: str) -> set[str]:
    """Return the colour codes in a text, and the one that clears a line."""
    return set(re.findall("\x1b\\[[0-9;]*m", text)) | {"\x1b[2K"}
