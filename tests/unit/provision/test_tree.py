from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from reproof.errors import RepositoryError
from reproof.provision.tree import MAX_FILE_BYTES, DirectoryTree, source_text

if TYPE_CHECKING:
    from pathlib import Path


def write(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path)


class TestListing:
    def test_python_files_sorted(self, tmp_path: Path) -> None:
        write(tmp_path, "b.py", "a/z.py", "a/b/c.py", "a/readme.txt", "py")
        assert list(DirectoryTree(tmp_path).python_files()) == ["a/b/c.py", "a/z.py", "b.py"]

    def test_what_is_not_the_projects_own(self, tmp_path: Path) -> None:
        write(
            tmp_path,
            *(f"{name}/x.py" for name in (".git", "node_modules", ".venv", "venv", ".tox")),
            "pkg/__pycache__/x.py",
            "odd/pyvenv.cfg",
            "odd/lib/x.py",
            "env/settings.py",
        )
        assert list(DirectoryTree(tmp_path).python_files()) == ["env/settings.py"]

    def test_a_root_that_is_an_environment_is_listed_all_the_same(self, tmp_path: Path) -> None:
        write(tmp_path, "pyvenv.cfg", "lib/x.py")
        assert list(DirectoryTree(tmp_path).python_files()) == ["lib/x.py"]

    def test_links(self, tmp_path: Path) -> None:
        root = tmp_path / "root"
        write(tmp_path, "root/pkg/a.py", "outside.py", "elsewhere/x.py")
        (root / "inner.py").symlink_to("pkg/a.py")
        (root / "escape.py").symlink_to(tmp_path / "outside.py")
        (root / "folder").symlink_to(tmp_path / "elsewhere")
        (root / "loop").symlink_to(root)
        (root / "loop.py").symlink_to("loop.py")
        assert list(DirectoryTree(root).python_files()) == ["inner.py", "pkg/a.py"]

    def test_a_pipe_is_no_file(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe.py")
        tree = DirectoryTree(tmp_path)
        assert list(tree.python_files()) == []
        assert tree.read("pipe.py") is None


class TestReading:
    def test_line_ends(self, tmp_path: Path) -> None:
        (tmp_path / "a.py").write_bytes(b"a\r\nb\rc\n")
        assert DirectoryTree(tmp_path).read("a.py") == "a\nb\nc\n"

    @pytest.mark.parametrize(
        "path", ["../outside.py", "pkg/../../outside.py", "/etc/passwd", "", "a\0.py", "missing.py"]
    )
    def test_outside_or_missing(self, tmp_path: Path, path: str) -> None:
        write(tmp_path, "root/pkg/a.py", "outside.py")
        tree = DirectoryTree(tmp_path / "root")
        assert tree.read(path) is None
        assert not tree.exists(path)

    def test_links_out_by_file_and_by_folder(self, tmp_path: Path) -> None:
        write(tmp_path, "root/pkg/a.py", "root2/outside.py")
        (tmp_path / "root" / "file.py").symlink_to(tmp_path / "root2" / "outside.py")
        (tmp_path / "root" / "folder").symlink_to(tmp_path / "root2")
        tree = DirectoryTree(tmp_path / "root")
        for path in ("file.py", "folder/outside.py", "folder"):
            assert tree.read(path) is None
            assert not tree.exists(path)

    def test_a_link_inside_is_read(self, tmp_path: Path) -> None:
        write(tmp_path, "pkg/a.py")
        (tmp_path / "link.py").symlink_to("pkg/a.py")
        tree = DirectoryTree(tmp_path)
        assert tree.read("link.py") == "pkg/a.py"
        assert tree.exists("link.py")

    def test_a_linked_root(self, tmp_path: Path) -> None:
        write(tmp_path, "real/a.py")
        (tmp_path / "link").symlink_to("real")
        assert DirectoryTree(tmp_path / "link").read("a.py") == "real/a.py"

    def test_a_folder_exists_but_has_no_text(self, tmp_path: Path) -> None:
        write(tmp_path, "pkg/a.py")
        tree = DirectoryTree(tmp_path)
        assert tree.exists("pkg")
        assert tree.read("pkg") is None

    def test_size_limit(self, tmp_path: Path) -> None:
        (tmp_path / "fits.py").write_bytes(b"#" * MAX_FILE_BYTES)
        (tmp_path / "large.py").write_bytes(b"#" * (MAX_FILE_BYTES + 1))
        tree = DirectoryTree(tmp_path)
        assert tree.read("fits.py") == "#" * MAX_FILE_BYTES
        assert tree.read("large.py") is None


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"x = '\xc3\xa9'", "x = 'é'"),
        (b"\xef\xbb\xbfx = 1", "x = 1"),
        (b"# -*- coding: latin-1 -*-\nx = '\xe9'", "# -*- coding: latin-1 -*-\nx = 'é'"),
        (b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n\x80", None),
        (b"# coding: no-such-thing\nx", "# coding: no-such-thing\nx"),
        (b"x = '\xe9'", "x = '\ufffd'"),
        (b"# coding: utf-8\nx = '\xff'", "# coding: utf-8\nx = '\ufffd'"),
        (b"", ""),
    ],
)
def test_source_text(content: bytes, text: str | None) -> None:
    if text is None:
        assert source_text(content).endswith("€")
    else:
        assert source_text(content) == text


@pytest.mark.parametrize("coding", ["rot13", "hex", "zlib"])
def test_a_declared_encoding_that_is_no_text_encoding(coding: str) -> None:
    assert source_text(f"# coding: {coding}\nx = 1\n".encode()).endswith("x = 1\n")


def test_a_missing_root_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RepositoryError, match="cannot list"):
        DirectoryTree(tmp_path / "missing")


def test_a_file_as_root_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, "a.py")
    with pytest.raises(RepositoryError, match="cannot list"):
        DirectoryTree(tmp_path / "a.py")
