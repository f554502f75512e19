"""Nothing that is committed names the machine it was written on or a package index's address."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from support.project import ROOT, tracked_files

if TYPE_CHECKING:
    from pathlib import Path

MACHINE = re.compile(r"/(?:work|root|home/\w+|Users/\w+|opt/pypi\S*)/(?!\.|x\b)")
INDEX_HOST = re.compile(r"(?:pypi\.org|pythonhosted\.org|npmjs\.org|debian\.org)")
PIN = re.compile(r"^[\w.-]+==.*?(?=^[\w.-]+==|\Z)", re.MULTILINE | re.DOTALL)
TEXT = {".py", ".md", ".toml", ".txt", ".json", ".sh", ".yml", ""}


def text_files() -> list[Path]:
    return [path for path in tracked_files() if path.suffix in TEXT and "data" not in path.parts]


def holding(pattern: re.Pattern[str], paths: list[Path]) -> dict[str, list[str]]:
    found = {path: pattern.findall(path.read_text("utf-8", errors="replace")) for path in paths}
    return {str(path.relative_to(ROOT)): hits for path, hits in found.items() if hits}


def test_no_address_of_a_package_index_is_committed() -> None:
    assert holding(INDEX_HOST, text_files()) == {}


def test_no_path_of_a_machine_is_committed() -> None:
    """Tests are apart: they make up paths that stand for a user's."""
    shipped = [path for path in text_files() if not path.is_relative_to(ROOT / "tests")]
    assert holding(MACHINE, shipped) == {}


def test_the_pins_are_hashed() -> None:
    for path in sorted((ROOT / "requirements").glob("*.txt")):
        pins = PIN.findall(path.read_text())
        assert pins
        assert [pin.split()[0] for pin in pins if "--hash=sha256:" not in pin] == []


def test_the_smaller_pin_files_agree_with_the_largest() -> None:
    def pins(name: str) -> set[str]:
        text = (ROOT / "requirements" / name).read_text()
        return set(re.findall(r"^([\w.-]+==\S+)", text, re.MULTILINE))

    assert pins("bootstrap.txt") <= pins("run.txt") <= pins("dev.txt")
