"""The cache of guest folders, with an installer of our own in the place of `uv`."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

import pytest

from reproof.errors import InterpreterError
from reproof.provision import guest, installer
from reproof.provision.guest import guest_path

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class Installer:
    """Writes a small package instead of fetching real ones, and counts how often it was asked."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, int]] = []
        self.together: threading.Barrier | None = None

    def __call__(
        self,
        version: tuple[int, int],
        lock: Path,
        target: Path,
        *,
        environment: Mapping[str, str],
        timeout_s: float,
    ) -> None:
        self.calls.append(version)
        assert lock.is_file()
        for name in ("pytest/__init__.py", "_pytest/main.py", "_pytest/nodes.py", "bin/pytest"):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_text(f"# {name}\n")
        if self.together is not None:
            self.together.wait(timeout=10)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Installer:
    made = Installer()
    monkeypatch.setattr(installer, "install", made)
    return made


def test_made_once(fake: Installer, tmp_path: Path) -> None:
    first = guest_path((3, 12), tmp_path / "cache")
    assert (first / "pytest" / "__init__.py").is_file()
    assert not (first / "bin").exists()
    assert guest_path((3, 12), tmp_path / "cache") == first
    assert fake.calls == [(3, 12)]
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [first.name]


def test_one_folder_per_minor(fake: Installer, tmp_path: Path) -> None:
    assert len({guest_path((3, minor), tmp_path) for minor in range(8, 15)}) == 7


@pytest.mark.parametrize("damage", ["file", "package", "marker", "marker text", "extra"])
def test_a_damaged_folder_is_made_again(fake: Installer, tmp_path: Path, damage: str) -> None:
    made = guest_path((3, 8), tmp_path)
    match damage:
        case "file":
            (made / "_pytest" / "main.py").unlink()
        case "package":
            (made / "_pytest").rename(tmp_path / "elsewhere")
        case "marker":
            (made / ".complete.json").unlink()
        case "marker text":
            (made / ".complete.json").write_text('{"": 2')
        case _:
            (made / "sitecustomize.py").touch()

    assert guest_path((3, 8), tmp_path) == made

    assert fake.calls == [(3, 8), (3, 8)]
    assert sorted(path.name for path in (made / "_pytest").iterdir()) == ["main.py", "nodes.py"]
    assert not (made / "sitecustomize.py").exists()


def test_byte_code_written_later_is_no_damage(fake: Installer, tmp_path: Path) -> None:
    made = guest_path((3, 8), tmp_path)
    (made / "__pycache__").mkdir()
    (made / "_pytest" / "__pycache__").mkdir()
    guest_path((3, 8), tmp_path)
    assert len(fake.calls) == 1


def test_two_at_once(fake: Installer, tmp_path: Path) -> None:
    fake.together = threading.Barrier(2)
    found: list[Path] = []
    threads = [
        threading.Thread(target=lambda: found.append(guest_path((3, 9), tmp_path)))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(fake.calls) == 2
    assert len(found) == 2
    assert found[0] == found[1]
    assert [path.name for path in tmp_path.iterdir()] == [found[0].name]
    expected = json.loads((found[0] / ".complete.json").read_text())
    assert expected == {"": 2, "pytest": 1, "_pytest": 2}


def test_a_failed_build_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise InterpreterError("no network")

    monkeypatch.setattr(installer, "install", fail)
    with pytest.raises(InterpreterError, match="no network"):
        guest_path((3, 8), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_cache_that_cannot_be_written(fake: Installer, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(InterpreterError, match="cannot be stored"):
        guest_path((3, 8), tmp_path / "cache")


@pytest.mark.parametrize("version", [(3, 7), (3, 15), (2, 7)])
def test_unsupported(tmp_path: Path, version: tuple[int, int]) -> None:
    with pytest.raises(InterpreterError, match="is not supported"):
        guest_path(version, tmp_path)


@pytest.mark.parametrize("minor", range(8, 15))
def test_locks_pin_and_hash_everything_and_name_no_index(minor: int) -> None:
    text = (guest._LOCKS / f"py3.{minor}.txt").read_text()
    requirements = text.partition("\n")[2].replace("\\\n", " ").splitlines()
    assert {line.partition("==")[0] for line in requirements} >= {
        "pytest",
        "pluggy",
        "time-machine",
    }
    for line in requirements:
        assert "==" in line.split()[0]
        assert "--hash=sha256:" in line
    assert "://" not in text


class TestInstaller:
    def run(self, tmp_path: Path, script: str, **environment: str) -> None:
        program = tmp_path / "uv"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(installer, "find_uv_bin", lambda: str(program))
            lock = guest._LOCKS / "py3.8.txt"
            installer.install(
                (3, 8), lock, tmp_path / "out", environment=environment, timeout_s=1.0
            )

    def test_only_what_an_installer_needs_is_passed_on(self, tmp_path: Path) -> None:
        self.run(
            tmp_path,
            f"env > {tmp_path}/seen",
            SECRET_TOKEN="x",  # noqa: S106  # no secret
            UV_TARGET="/elsewhere",
            UV_INDEX_URL="index",
            https_proxy="proxy",
            PIP_INDEX_URL="pip-index",
            SSL_CERT_FILE="cert",
            PIP_CERT="other-cert",
            PYTHONPATH="/evil",
        )
        seen = dict(line.split("=", 1) for line in (tmp_path / "seen").read_text().splitlines())
        assert {key: value for key, value in seen.items() if key not in {"PWD", "_", "SHLVL"}} == {
            "UV_INDEX_URL": "index",
            "https_proxy": "proxy",
            "UV_DEFAULT_INDEX": "pip-index",
            "SSL_CERT_FILE": "cert",
            "PYC_INVALIDATION_MODE": "UNCHECKED_HASH",
        }

    def test_failure_says_why_on_one_line(self, tmp_path: Path) -> None:
        with pytest.raises(InterpreterError) as caught:
            self.run(tmp_path, r"printf 'error: no\n  Caused by: \033[31mdns\n' >&2; exit 2")
        assert "error: no; Caused by: \\x1b[31mdns" in caught.value.message
        assert "index" in caught.value.hint

    def test_time_out(self, tmp_path: Path) -> None:
        with pytest.raises(InterpreterError, match="no answer within 1 s"):
            self.run(tmp_path, "exec sleep 20")
