"""What goes into a run's tree, where there is no overlay and where there is one."""

from __future__ import annotations

import base64
import os
from typing import TYPE_CHECKING

import pytest

from reproof.sandbox._guest import isolate

if TYPE_CHECKING:
    from pathlib import Path


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    (tree / ".git").mkdir(parents=True)
    (tree / "tests").mkdir()
    (tree / "tests" / "kept.py").write_text("kept")
    (tree / "linked").symlink_to("tests")
    os.mkfifo(tree / "pipe")
    return tree


def test_copy_leaves_out_hidden_names_and_pipes_and_keeps_links(tree: Path, tmp_path: Path) -> None:
    isolate.copy_tree(str(tree), str(tmp_path / "copy"), [".git"])
    assert sorted(path.name for path in (tmp_path / "copy").iterdir()) == ["linked", "tests"]
    assert (tmp_path / "copy" / "linked").is_symlink()
    assert (tmp_path / "copy" / "tests" / "kept.py").read_text() == "kept"


def test_files_are_put_into_the_layer_and_never_into_the_tree(tree: Path, tmp_path: Path) -> None:
    layer = tmp_path / "layer"
    layer.mkdir()
    isolate.put_files(str(layer), str(tree), {"tests/new.py": encoded(b"new")})
    assert (layer / "tests" / "new.py").read_bytes() == b"new"
    assert not (tree / "tests" / "new.py").exists()


def test_file_behind_a_link_of_the_tree_is_refused(tree: Path, tmp_path: Path) -> None:
    layer = tmp_path / "layer"
    layer.mkdir()
    with pytest.raises(OSError, match="symbolic link"):
        isolate.put_files(str(layer), str(tree), {"linked/new.py": encoded(b"new")})


def test_file_replaces_an_existing_one(tree: Path) -> None:
    isolate.put_files(str(tree), str(tree), {"tests/kept.py": encoded(b"new")})
    assert (tree / "tests" / "kept.py").read_bytes() == b"new"
