"""Where a test is put, and that nobody's file is ever replaced."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from reproof import emit
from reproof.emit import free_path, write_test
from reproof.emit import test_folder as folder_of
from reproof.errors import OutputError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("name", "content", "folder"),
    [
        ("pyproject.toml", '[tool.pytest.ini_options]\ntestpaths = ["checks"]\n', "checks"),
        ("pyproject.toml", '[tool.pytest.ini_options]\ntestpaths = "a/b other"\n', "a/b"),
        ("pytest.ini", "[pytest]\ntestpaths = checks more\n", "checks"),
        ("tox.ini", "[pytest]\ntestpaths =\n    checks\n    more\n", "checks"),
        ("setup.cfg", "[tool:pytest]\ntestpaths = checks\n", "checks"),
        ("setup.cfg", "[pytest]\ntestpaths = checks\n", "tests"),
        ("pyproject.toml", "not toml [", "tests"),
        ("pyproject.toml", 'tool = "x"\n', "tests"),
        ("pyproject.toml", "[tool.pytest.ini_options]\ntestpaths = 3\n", "tests"),
        ("pyproject.toml", "[tool.pytest.ini_options]\ntestpaths = [3, {}]\n", "tests"),
        ("pytest.ini", "testpaths without a section\n", "tests"),
        ("pytest.ini", "[pytest]\ntestpaths = %(nope)s/x\n", "%(nope)s/x"),
        ("pytest.ini", "[pytest]\ntestpaths = ../outside\n", "tests"),
        ("pytest.ini", "[pytest]\ntestpaths = /etc\n", "tests"),
        ("pytest.ini", "[pytest]\ntestpaths = a/../../outside\n", "tests"),
        ("pytest.ini", "[pytest]\ntestpaths = -rf\n", "tests"),
        ("pytest.ini", "[pytest]\ntestpaths = */tests src/tests\n", "src/tests"),
        ("pytest.ini", "[pytest]\ntestpaths = test_one.py\n", "tests"),
        ("pytest.ini", "[pytest]\ntestpaths = ../outside inside\n", "inside"),
        ("pyproject.toml", '[tool.pytest.ini_options]\ntestpaths = ["a\\u0000b"]\n', "tests"),
        ("pyproject.toml", "x = " + "[" * 20_000 + "\n", "tests"),
    ],
)
def test_the_folder_is_the_one_that_pytest_is_told(
    tmp_path: Path, name: str, content: str, folder: str
) -> None:
    (tmp_path / name).write_text(content)

    assert folder_of(tmp_path) == tmp_path / folder


def test_without_configuration_it_is_tests(tmp_path: Path) -> None:
    assert folder_of(tmp_path) == tmp_path / "tests"


def test_pytest_ini_wins_over_pyproject_as_in_pytest(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.pytest.ini_options]\ntestpaths = ["b"]\n')
    (tmp_path / "pytest.ini").write_text("[pytest]\ntestpaths = a\n")

    assert folder_of(tmp_path) == tmp_path / "a"


def test_a_link_that_leads_out_of_the_tree_is_ignored(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    repo.mkdir()
    (repo / "out").symlink_to(tmp_path)
    (repo / "loop").symlink_to("loop")
    (repo / "pytest.ini").write_text("[pytest]\ntestpaths = out loop/x\n")

    assert folder_of(repo) in (repo / "tests", repo / "loop/x")


def test_a_file_is_written_whole_with_its_parents(tmp_path: Path) -> None:
    path = write_test(tmp_path / "a" / "b", "test_x.py", b"x = 1\n")

    assert path == tmp_path / "a" / "b" / "test_x.py"
    assert path.read_bytes() == b"x = 1\n"
    assert [one.name for one in path.parent.iterdir()] == ["test_x.py"]


def test_the_same_bytes_keep_their_file(tmp_path: Path) -> None:
    first = write_test(tmp_path, "test_x.py", b"x = 1\n")
    stamp = first.stat().st_mtime_ns

    assert write_test(tmp_path, "test_x.py", b"x = 1\n") == first
    assert first.stat().st_mtime_ns == stamp
    assert [one.name for one in tmp_path.iterdir()] == ["test_x.py"]


def test_another_file_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_bytes(b"mine\n")
    (tmp_path / "test_x_2.py").mkdir()
    path = write_test(tmp_path, "test_x.py", b"x = 1\n")

    assert path.name == "test_x_3.py"
    assert (tmp_path / "test_x.py").read_bytes() == b"mine\n"


@pytest.mark.parametrize("target", ["victim.py", "missing.py"])
def test_a_link_at_the_target_is_not_followed(tmp_path: Path, target: str) -> None:
    (tmp_path / "victim.py").write_bytes(b"x = 1\n")
    (tmp_path / "test_x.py").symlink_to(target)
    path = write_test(tmp_path, "test_x.py", b"x = 1\n")

    assert path.name == "test_x_2.py"
    assert (tmp_path / "victim.py").read_bytes() == b"x = 1\n"
    assert not (tmp_path / "missing.py").exists()


def test_no_free_name_is_an_error_with_a_hint(tmp_path: Path) -> None:
    for number in range(1, emit.MAX_VARIANTS):
        name = "test_x.py" if number == 1 else f"test_x_{number}.py"
        (tmp_path / name).write_bytes(b"mine\n")

    with pytest.raises(OutputError) as caught:
        free_path(tmp_path, "test_x.py", b"x = 1\n")
    assert caught.value.hint


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")

    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(OutputError):
            write_test(folder, "test_x.py", b"x = 1\n")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_rights_is_an_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(OutputError):
        write_test(tmp_path, "test_x.py", b"x = 1\n")
    tmp_path.chmod(0o700)


def test_a_write_that_fails_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "link", full)

    with pytest.raises(OutputError, match="No space left"):
        write_test(tmp_path, "test_x.py", b"x = 1\n")
    assert [one.name for one in tmp_path.iterdir()] == []


def test_a_file_that_appears_meanwhile_is_not_taken_for_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(folder: Path, name: str, content: bytes, data: bytes | None = None) -> Path:
        path = free_path(folder, name, content)
        path.write_bytes(b"somebody else's\n")
        return path

    monkeypatch.setattr(emit, "free_path", late)

    with pytest.raises(OutputError):
        write_test(tmp_path, "test_x.py", b"x = 1\n")
    assert (tmp_path / "test_x.py").read_bytes() == b"somebody else's\n"
    assert [one.name for one in tmp_path.iterdir()] == ["test_x.py"]
