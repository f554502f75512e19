from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reproof.provision.distributions import distributions, mismatches
from reproof.provision.interpreter import describe
from unit.provision.test_interpreter import make_base, make_venv

if TYPE_CHECKING:
    from pathlib import Path

SITE = "lib/python3.12/site-packages"


def install(prefix: Path, *names: str, site: str = SITE) -> None:
    for name in names:
        (prefix / site / name).mkdir(parents=True)


class TestDistributions:
    def test_names_are_normalized(self, tmp_path: Path) -> None:
        venv = make_venv(tmp_path / "venv", make_base(tmp_path / "base"))
        install(
            venv,
            "Foo_Bar.baz-1.0.dist-info",
            "zope.event-5.0.0-py3.12.egg-info",
            "local-1.0+cu12.dist-info",
            "no_version.egg-info",
            "broken.dist-info",
            "package",
        )
        assert distributions(describe(venv)) == {
            "foo-bar-baz": "1.0",
            "zope-event": "5.0.0",
            "local": "1.0+cu12",
        }

    @pytest.mark.parametrize(("flag", "seen"), [("true", True), ("false", False)])
    def test_system_packages_only_where_the_venv_says_so(
        self, tmp_path: Path, flag: str, *, seen: bool
    ) -> None:
        base = make_base(tmp_path / "base")
        config = f"home = {base.parent}\ninclude-system-site-packages = {flag}\nversion = 3.12.1\n"
        venv = make_venv(tmp_path / "venv", base, config=config)
        install(tmp_path / "base", "system-1.dist-info", "both-1.dist-info")
        install(venv, "both-2.dist-info")

        found = distributions(describe(venv))

        assert found["both"] == "2"
        assert ("system" in found) is seen

    def test_debian_folders(self, tmp_path: Path) -> None:
        base = make_base(tmp_path / "usr")
        install(tmp_path / "usr", "apt-1.dist-info", site="lib/python3/dist-packages")
        assert distributions(describe(base)) == {"apt": "1"}


class TestMismatches:
    def test_same_in_another_spelling(self) -> None:
        event = {"Foo_bar": "1.0", "x": "v2.0.0", "y": "1.0RC1"}
        assert mismatches(event, {"foo-bar": "1.0", "x": "2", "y": "1.0rc1"}) == []

    def test_other_and_missing(self) -> None:
        assert mismatches({"b": "1.10", "a": "1"}, {"b": "1.1"}) == [
            "a 1 in the event, not installed here",
            "b 1.10 in the event, 1.1 here",
        ]

    def test_tools_do_not_count(self) -> None:
        assert mismatches({"pip": "1", "setuptools": "2", "sentry_sdk": "2"}, {}) == []

    def test_hostile_names_are_escaped(self) -> None:
        (sentence,) = mismatches({"a\x1b[2J": "1\n2"}, {})
        assert sentence.isprintable()
