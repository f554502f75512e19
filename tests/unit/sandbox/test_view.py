from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reproof.domain.run import Limits
from reproof.errors import InputError, InterpreterError
from reproof.sandbox.interface import Interpreter, SessionSpec
from reproof.sandbox.session import base_environment, check_name, resource_limits
from reproof.sandbox.view import SOURCE, links_on, plan_view

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """A base installation, a versionless link to it, an environment on it, and a tree."""
    root = tmp_path.resolve()
    (root / "pythons" / "3.12.1" / "bin").mkdir(parents=True)
    (root / "pythons" / "3.12.1" / "bin" / "python3.12").touch()
    (root / "pythons" / "3.12").symlink_to("3.12.1")
    (root / "venv" / "bin").mkdir(parents=True)
    (root / "venv" / "bin" / "python").symlink_to(root / "pythons" / "3.12" / "bin" / "python3.12")
    (root / "tree").mkdir()
    (root / "guest").mkdir()
    return root


def spec(world: Path, *, tree: str = "tree", prefix: str = "venv") -> SessionSpec:
    executable = world / "venv" / "bin" / "python"
    return SessionSpec(
        tree=world / tree,
        interpreter=Interpreter(
            executable=executable,
            version=(3, 12),
            prefix=world / prefix,
            base_prefix=world / "pythons" / "3.12",
            real_executable=executable.resolve(),
        ),
        guest_path=world / "guest",
    )


def test_view_shows_environment_and_installation_at_their_own_paths(world: Path) -> None:
    targets = {bind.target for bind in plan_view(spec(world)).binds}
    assert {world / "venv", world / "pythons" / "3.12.1"} <= targets
    assert world not in targets
    assert world / "tree" not in targets


def test_view_keeps_links_that_lie_outside_what_is_shown(world: Path) -> None:
    links = dict(plan_view(spec(world)).links)
    assert links[world / "pythons" / "3.12"] == "3.12.1"
    # Inside a folder that is shown whole, the link comes with it.
    assert world / "venv" / "bin" / "python" not in links


def test_view_shows_the_source_only_at_the_hidden_place(world: Path) -> None:
    binds = plan_view(spec(world)).binds
    assert [bind.target for bind in binds if bind.source == world / "tree"] == [SOURCE]


def test_view_leaves_an_environment_inside_the_tree_to_the_overlay(world: Path) -> None:
    (world / "tree" / "inner").mkdir()
    targets = {bind.target for bind in plan_view(spec(world, prefix="tree/inner")).binds}
    assert world / "tree" / "inner" not in targets


def test_view_refuses_a_tree_that_is_no_folder(world: Path) -> None:
    with pytest.raises(InputError, match="not a folder"):
        plan_view(spec(world, tree="missing"))


@pytest.mark.parametrize("tree", ["/", "/usr", "/tmp"])  # noqa: S108
def test_view_refuses_to_show_more_than_a_project(world: Path, tree: str) -> None:
    with pytest.raises(InputError, match="more than a project"):
        plan_view(spec(world, tree=tree))


def test_view_refuses_an_interpreter_folder_that_holds_the_home(world: Path) -> None:
    with pytest.raises(InterpreterError, match="would show"):
        plan_view(spec(world, prefix="/"))


def test_links_on_a_loop_ends(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert len(links_on(tmp_path / "a" / "c")) <= 40


@pytest.mark.parametrize("name", ["", "/etc/passwd", "../x", "a/../../x", "a\0b", "a/"])
def test_names_that_leave_the_tree_are_refused(name: str) -> None:
    with pytest.raises(InputError):
        check_name(name)


def test_environment_is_an_allow_list_with_the_spec_on_top(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "x")
    environment = base_environment(spec(world))
    assert "SECRET" not in environment
    assert environment["PYTHONHASHSEED"] == "0"
    assert environment["PATH"].startswith(f"{world}/venv/bin:")


def test_rlimits_stand_in_only_for_what_no_group_enforces() -> None:
    limits = Limits(wall_s=10.0, cpu_share=0.5)
    alone = resource_limits(limits, frozenset(), walled=True)
    assert alone["CPU"] == 5
    assert alone["AS"] == 1 << 30
    metered = resource_limits(limits, frozenset({"memory_bytes", "cpu_share"}), walled=True)
    assert not {"CPU", "AS"} & set(metered)
    assert metered["CORE"] == 0
    assert "NPROC" not in resource_limits(limits, frozenset(), walled=False)
