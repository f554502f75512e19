from __future__ import annotations

import sys
from pathlib import Path

import pytest

from reproof.errors import InputError, InterpreterError
from reproof.provision.interpreter import describe, find_interpreter


def make_base(root: Path, minor: str = "3.12", *, binary: str | None = None) -> Path:
    """Lay out what an installation looks like; its "interpreter" cannot even be started."""
    (root / "bin").mkdir(parents=True)
    executable = root / "bin" / (binary or f"python{minor}")
    executable.write_bytes(b"\x7fELF")
    executable.chmod(0o755)
    library = root / "lib" / f"python{minor}"
    (library / "site-packages").mkdir(parents=True)
    (library / "os.py").touch()
    return executable


def make_venv(root: Path, base: Path, minor: str = "3.12", config: str | None = None) -> Path:
    (root / "bin").mkdir(parents=True)
    (root / "bin" / "python").symlink_to(base)
    (root / "lib" / f"python{minor}" / "site-packages").mkdir(parents=True)
    text = f"home = {base.parent}\nversion = {minor}.4\n" if config is None else config
    (root / "pyvenv.cfg").write_text(text)
    return root


class TestDescribe:
    def test_a_venv(self, tmp_path: Path) -> None:
        base = make_base(tmp_path / "base")
        venv = make_venv(tmp_path / "venv", base)

        found = describe(venv)

        assert found.executable == venv / "bin" / "python"
        assert found.version == (3, 12)
        assert found.prefix == venv
        assert found.base_prefix == tmp_path / "base"
        assert found.real_executable == base
        assert describe(venv / "bin" / "python") == found

    def test_version_info_as_uv_and_virtualenv_write_it(self, tmp_path: Path) -> None:
        base = make_base(tmp_path / "base", binary="python")
        config = f"HOME={base.parent}\nversion_info = 3.12.1.final.0\n"
        assert describe(make_venv(tmp_path / "v", base, config=config)).version == (3, 12)

    def test_without_a_version_the_library_folder_tells(self, tmp_path: Path) -> None:
        base = make_base(tmp_path / "base", binary="python")
        venv = make_venv(tmp_path / "v", base, config=f"home = {base.parent}\n")
        assert describe(venv).version == (3, 12)

    def test_an_installation(self, tmp_path: Path) -> None:
        make_base(tmp_path / "base", "3.8")
        (tmp_path / "base" / "bin" / "python3").symlink_to("python3.8")
        found = describe(tmp_path / "base")
        assert found.version == (3, 8)
        assert found.prefix == found.base_prefix == tmp_path / "base"

    def test_a_link_to_an_installation_from_elsewhere(self, tmp_path: Path) -> None:
        base = make_base(tmp_path / "base")
        (tmp_path / "bin").mkdir()
        link = tmp_path / "bin" / "py"
        link.symlink_to(base)
        found = describe(link)
        assert (found.executable, found.prefix) == (link, tmp_path / "base")

    def test_free_threaded(self, tmp_path: Path) -> None:
        executable = make_base(tmp_path / "base", "3.14t")
        assert describe(executable).version == (3, 14)

    @pytest.mark.parametrize("minor", ["3.7", "3.15", "2.7"])
    def test_unsupported_versions(self, tmp_path: Path, minor: str) -> None:
        with pytest.raises(InterpreterError, match=f"is Python {minor}"):
            describe(make_base(tmp_path / "base", minor))

    def test_base_upgraded_under_a_venv(self, tmp_path: Path) -> None:
        base = make_base(tmp_path / "base", "3.13")
        venv = make_venv(tmp_path / "venv", base, "3.12")
        with pytest.raises(InterpreterError, match=r"made for Python 3\.12, .* now 3\.13"):
            describe(venv)

    def test_base_gone(self, tmp_path: Path) -> None:
        venv = make_venv(tmp_path / "venv", tmp_path / "gone" / "bin" / "python3.12")
        with pytest.raises(InterpreterError, match="which is gone"):
            describe(venv)

    def test_library_gone(self, tmp_path: Path) -> None:
        base = make_base(tmp_path / "base")
        (tmp_path / "base" / "lib" / "python3.12" / "os.py").unlink()
        with pytest.raises(InterpreterError, match="standard library"):
            describe(make_venv(tmp_path / "venv", base))

    def test_a_config_cannot_make_the_root_the_base(self, tmp_path: Path) -> None:
        base = make_base(tmp_path / "base")
        config = "home = /\nversion = 3.12.0\n"
        found = describe(make_venv(tmp_path / "venv", base, config=config))
        assert found.base_prefix == tmp_path / "base"

    def test_pypy(self, tmp_path: Path) -> None:
        with pytest.raises(InterpreterError, match=r"pypy3\.10"):
            describe(make_base(tmp_path / "base", "3.10", binary="pypy3.10"))

    def test_a_shim(self, tmp_path: Path) -> None:
        shim = tmp_path / "python3"
        shim.write_text("#!/bin/sh\nexec something\n")
        shim.chmod(0o755)
        with pytest.raises(InterpreterError, match="is a script"):
            describe(shim)

    def test_not_executable(self, tmp_path: Path) -> None:
        executable = make_base(tmp_path / "base")
        executable.chmod(0o644)
        with pytest.raises(InterpreterError, match="may not be executed"):
            describe(executable)

    @pytest.mark.parametrize("name", ["missing", "empty", "a\x1b[31m\nb"])
    def test_nothing_there(self, tmp_path: Path, name: str) -> None:
        (tmp_path / "empty").mkdir()
        with pytest.raises(InterpreterError) as caught:
            describe(tmp_path / name)
        assert caught.value.hint
        assert caught.value.message.isprintable()

    def test_the_running_interpreter_agrees(self) -> None:
        found = describe(Path(sys.executable))
        assert found.version == sys.version_info[:2]
        assert str(found.prefix) == sys.prefix
        assert str(found.base_prefix) == sys.base_prefix


class TestFind:
    def test_the_active_one_comes_first(self, tmp_path: Path) -> None:
        base = make_base(tmp_path / "base")
        active = make_venv(tmp_path / "active", base)
        make_venv(tmp_path / "repo" / ".venv", base)

        found = find_interpreter("auto", repo=tmp_path / "repo", virtual_env=str(active))

        assert (found.kind, found.interpreter.prefix) == ("active", active)

    @pytest.mark.parametrize("choice", ["auto", "current"])
    def test_the_repositorys_own(self, tmp_path: Path, choice: str) -> None:
        base = make_base(tmp_path / "base")
        make_venv(tmp_path / "repo" / "venv", base)
        (tmp_path / "repo" / ".venv").mkdir()

        found = find_interpreter(choice, repo=tmp_path / "repo", virtual_env=None)

        assert found.kind == "repository"
        assert found.interpreter.prefix == tmp_path / "repo" / "venv"
        assert found.notes == ()

    def test_a_broken_one_is_an_error_not_skipped(self, tmp_path: Path) -> None:
        make_venv(tmp_path / ".venv", tmp_path / "gone" / "python")
        make_venv(tmp_path / "venv", make_base(tmp_path / "base"))
        with pytest.raises(InterpreterError):
            find_interpreter("auto", repo=tmp_path, virtual_env=None)

    def test_our_own_is_taken_with_a_note(self, tmp_path: Path) -> None:
        found = find_interpreter("auto", repo=tmp_path, virtual_env="")
        assert found.kind == "own"
        assert str(found.interpreter.executable) == sys.executable
        assert len(found.notes) == 1
        assert sys.prefix in found.notes[0]

    def test_a_path_by_the_user(self, tmp_path: Path) -> None:
        venv = make_venv(tmp_path / "venv", make_base(tmp_path / "base"))
        found = find_interpreter(str(venv), repo=tmp_path, virtual_env="/nowhere")
        assert (found.kind, found.interpreter.prefix) == ("path", venv)

    def test_snapshot_is_not_there_yet(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="not available yet"):
            find_interpreter("snapshot", repo=tmp_path, virtual_env=None)
