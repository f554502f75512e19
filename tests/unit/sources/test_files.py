from __future__ import annotations

import os
from io import BytesIO
from typing import TYPE_CHECKING

import pytest

from reproof.errors import InputError
from reproof.sources import files
from reproof.sources.files import FileSource
from reproof.sources.interface import RawPayload
from reproof.sources.select import choose

if TYPE_CHECKING:
    from pathlib import Path


class TestFileSource:
    def test_a_file_of_any_name(self, tmp_path: Path) -> None:
        path = tmp_path / "crash.txt"
        path.write_bytes(b"\xff anything")
        assert FileSource().fetch(str(path)) == (RawPayload(b"\xff anything", str(path)),)

    def test_a_folder_in_the_order_of_names(self, tmp_path: Path) -> None:
        for name in ("b.json", "a.envelope", "C.JSON", "notes.txt", ".hidden.txt"):
            (tmp_path / name).write_text(name)
        (tmp_path / "folder.json").mkdir()
        found = FileSource().fetch(str(tmp_path))
        assert [payload.content for payload in found] == [b"C.JSON", b"a.envelope", b"b.json"]

    def test_standard_input(self) -> None:
        found = FileSource(BytesIO(b"{}")).fetch("-")
        assert found == (RawPayload(b"{}", "standard input"),)

    def test_a_pipe(self, tmp_path: Path) -> None:
        reading, writing = os.pipe()
        os.write(writing, b"{}")
        os.close(writing)
        try:
            (found,) = FileSource().fetch(f"/dev/fd/{reading}")
        finally:
            os.close(reading)
        assert found.content == b"{}"

    @pytest.mark.parametrize(
        "ref", ["", "a\0b", "missing.json", "x" * 5000, "file/below", "odd\x1b[31m.json"]
    )
    def test_nothing_to_read(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ref: str
    ) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "file").touch()
        with pytest.raises(InputError) as caught:
            FileSource().fetch(ref)
        assert caught.value.hint
        assert caught.value.message.isprintable()

    def test_a_folder_without_events(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="no event file") as caught:
            FileSource().fetch(str(tmp_path))
        assert "*.json" in caught.value.hint

    def test_too_large(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(files, "MAX_BYTES", 2**20)
        (tmp_path / "fits.json").write_bytes(b" " * 2**20)
        assert len(FileSource().fetch(str(tmp_path))[0].content) == 2**20
        (tmp_path / "large.json").write_bytes(b" " * (2**20 + 1))
        with pytest.raises(InputError, match="more than 1 MiB"):
            FileSource().fetch(str(tmp_path / "large.json"))

    @pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")
    def test_forbidden(self, tmp_path: Path) -> None:
        (tmp_path / "a.json").touch(mode=0)
        with pytest.raises(InputError, match="Permission"):
            FileSource().fetch(str(tmp_path / "a.json"))


class TestChoose:
    @pytest.mark.parametrize(
        "ref",
        [
            "https://acme.sentry.io/issues/1234/",
            "HTTP://localhost:8123/issues/issue/1/event/2/",
            "sentry.io/organizations/acme/issues/1/",
            "acme.sentry.io/issues/1",
            "ftp://x",
        ],
    )
    def test_urls_are_not_supported_yet(self, ref: str) -> None:
        with pytest.raises(InputError, match="URLs are not supported yet"):
            choose(ref)

    @pytest.mark.parametrize(
        "ref",
        ["1234567", "SHOP-1A2", "my-proj-1A", "f" * 32, "7bca4a60-2200-48af-82bd-de665de91730"],
    )
    def test_bare_ids_are_not_supported_yet(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ref: str
    ) -> None:
        monkeypatch.chdir(tmp_path)
        with pytest.raises(InputError, match="ids are not supported yet"):
            choose(ref)
        # A file of that name is what was meant.
        (tmp_path / ref).touch()
        assert isinstance(choose(ref), FileSource)

    @pytest.mark.parametrize("ref", ["-", "event.json", "./crash-1", "", "a b-1", ".."])
    def test_paths(self, ref: str) -> None:
        assert isinstance(choose(ref), FileSource)
