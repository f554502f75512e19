"""Reading git history: which commit a release names, and what is different from it now."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from reproof.errors import RepositoryError
from reproof.provision.revision import (
    changed_files,
    export,
    file_at,
    find_crash_revision,
    head,
    history_versions,
    resolve,
)

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed"),
]

GIT_ENVIRONMENT = {
    "PATH": os.defpath,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


def git(repo: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(repo), *arguments],
        env=GIT_ENVIRONMENT,
        capture_output=True,
        check=True,
        text=True,
    )
    return done.stdout.strip()


def commit(repo: Path, **files: str) -> str:
    for name, text in files.items():
        (repo / f"{name}.py").write_text(text)
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "change")
    return git(repo, "rev-parse", "HEAD")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    return folder


class TestFindCrashRevision:
    @pytest.mark.parametrize(
        ("tag", "release"),
        [
            ("1.4.2", "1.4.2"),
            ("v1.4.2", "1.4.2"),
            ("1.4.2", "v1.4.2"),
            ("v1.4.2", "shop@1.4.2"),
            ("shop-1.4.2", "shop@1.4.2"),
            ("shop@1.4.2", "shop@1.4.2"),
            ("shop/v1.4.2", "shop@1.4.2"),
            ("my_shop-1.4.2", "My.Shop@1.4.2"),
            ("shop-1.4.2", "1.4.2"),
            ("release-1.4.2", "shop@1.4.2"),
            ("v1.4.2", "shop@1.4.2+4711"),
            ("nightly", "nightly"),
        ],
    )
    def test_tag_that_means_the_release(self, repo: Path, tag: str, release: str) -> None:
        wanted = commit(repo, a="1")
        git(repo, "tag", tag)
        commit(repo, a="2")

        assert find_crash_revision(repo, release) == wanted

    def test_annotated_tag_gives_the_commit(self, repo: Path) -> None:
        wanted = commit(repo, a="1")
        git(repo, "tag", "-a", "-m", "first", "v1")
        assert find_crash_revision(repo, "shop@1") == wanted

    @pytest.mark.parametrize(
        ("tag", "release"),
        [
            ("other-1.4.2", "shop@1.4.2"),
            ("v11.4.2", "1.4.2"),
            ("v1.4.20", "1.4.2"),
            ("v1.4", "shop@1.4.2"),
        ],
    )
    def test_tag_of_something_else(self, repo: Path, tag: str, release: str) -> None:
        commit(repo, a="1")
        git(repo, "tag", tag)
        assert find_crash_revision(repo, release) is None

    def test_the_projects_own_tag_comes_before_the_bare_version(self, repo: Path) -> None:
        wanted = commit(repo, a="1")
        git(repo, "tag", "shop-1.0")
        commit(repo, a="2")
        git(repo, "tag", "v1.0")
        assert find_crash_revision(repo, "shop@1.0") == wanted

    def test_two_projects_with_that_version_are_ambiguous(self, repo: Path) -> None:
        commit(repo, a="1")
        git(repo, "tag", "shop-1.0")
        commit(repo, a="2")
        git(repo, "tag", "admin-1.0")
        assert find_crash_revision(repo, "1.0") is None

    @pytest.mark.parametrize(
        "form", ["{full}", "shop@{full}", "shop@{short}", "1.2.dev3+g{short}", "shop-{short}"]
    )
    def test_commit_id_at_the_end(self, repo: Path, form: str) -> None:
        wanted = commit(repo, a="1")
        commit(repo, a="2")
        release = form.format(full=wanted, short=wanted[:10])
        assert find_crash_revision(repo, release) == wanted

    def test_commit_that_is_not_here(self, repo: Path) -> None:
        commit(repo, a="1")
        assert find_crash_revision(repo, "shop@" + "0123456789" * 4) is None

    def test_a_branch_named_like_an_id_is_no_commit_id(self, repo: Path) -> None:
        commit(repo, a="1")
        # Forty-bit names can be branches; one that starts with all zeros is no id of ours.
        git(repo, "branch", "0000000000")
        assert find_crash_revision(repo, "shop@0000000000") is None

    @pytest.mark.parametrize(
        "release",
        [None, "", "--help", "--output=x", "-1", "HEAD", "main", "v1^{/x}", "a\nb", "x" * 300, "@"],
    )
    def test_names_that_are_no_release_of_this_repository(
        self, repo: Path, release: str | None
    ) -> None:
        commit(repo, a="1")
        git(repo, "tag", "v2")
        assert find_crash_revision(repo, release) is None
        assert sorted(path.name for path in repo.iterdir()) == [".git", "a.py"]


class TestWithoutRepository:
    def test_everything_is_empty(self, tmp_path: Path) -> None:
        (tmp_path / "a.py").write_text("1")
        assert head(tmp_path) is None
        assert find_crash_revision(tmp_path, "v1") is None
        assert file_at(tmp_path, "0" * 40, "a.py") is None
        assert history_versions(tmp_path, "a.py", 5) == []

    def test_what_needs_a_commit_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(RepositoryError):
            changed_files(tmp_path, "0" * 40)
        with pytest.raises(RepositoryError):
            export(tmp_path, "0" * 40, tmp_path / "out")
        with pytest.raises(RepositoryError, match="no git repository"):
            resolve(tmp_path, "main")

    def test_a_repository_without_commits_has_no_head(self, repo: Path) -> None:
        assert head(repo) is None

    def test_a_missing_folder_is_none(self, tmp_path: Path) -> None:
        assert head(tmp_path / "missing") is None


class TestResolve:
    def test_what_a_user_may_name(self, repo: Path) -> None:
        first = commit(repo, a="1")
        git(repo, "tag", "v1")
        second = commit(repo, a="2")
        assert {ref: resolve(repo, ref) for ref in ("v1", "main~1", first[:8])} == {
            "v1": first,
            "main~1": first,
            first[:8]: first,
        }
        assert resolve(repo, "main") == resolve(repo, "HEAD") == second

    @pytest.mark.parametrize("ref", ["missing", "", "--all", "-h", "a\0b", "HEAD:a.py"])
    def test_no_commit(self, repo: Path, ref: str) -> None:
        commit(repo, a="1")
        with pytest.raises(RepositoryError, match="no commit"):
            resolve(repo, ref)


class TestFileAt:
    def test_text_of_that_time(self, repo: Path) -> None:
        old = commit(repo, a="x = 1\r\n")
        commit(repo, a="x = 2\n")
        assert file_at(repo, old, "a.py") == "x = 1\n"

    def test_below_a_folder_of_the_repository(self, repo: Path) -> None:
        (repo / "service").mkdir()
        (repo / "service" / "b.py").write_text("b\n")
        rev = commit(repo, a="a\n")
        assert file_at(repo / "service", rev, "b.py") == "b\n"
        assert file_at(repo / "service", rev, "a.py") is None

    @pytest.mark.parametrize("path", ["missing.py", "../a.py", "/a.py", "", "-p"])
    def test_no_such_file(self, repo: Path, path: str) -> None:
        rev = commit(repo, a="1")
        assert file_at(repo, rev, path) is None

    @pytest.mark.parametrize("rev", ["HEAD", "--batch", "main", ""])
    def test_only_full_ids_are_revisions(self, repo: Path, rev: str) -> None:
        commit(repo, a="1")
        assert file_at(repo, rev, "a.py") is None


class TestHistoryVersions:
    def test_newest_first_and_only_changes_of_that_file(self, repo: Path) -> None:
        first = commit(repo, a="1\n")
        commit(repo, b="other\n")
        second = commit(repo, a="2\n")
        assert history_versions(repo, "a.py", 10) == [(second, "2\n"), (first, "1\n")]

    def test_limit(self, repo: Path) -> None:
        commit(repo, a="1")
        newest = commit(repo, a="2")
        assert history_versions(repo, "a.py", 1) == [(newest, "2")]

    def test_a_deletion_has_no_text(self, repo: Path) -> None:
        first = commit(repo, a="1", b="1")
        (repo / "a.py").unlink()
        commit(repo, b="2")
        assert history_versions(repo, "a.py", 10) == [(first, "1")]


class TestChangedFiles:
    def test_nothing_changed(self, repo: Path) -> None:
        assert changed_files(repo, commit(repo, a="1", b="2")) == set()

    def test_edited_deleted_and_new(self, repo: Path) -> None:
        rev = commit(repo, same="1", edited="1", deleted="1")
        (repo / "edited.py").write_text("2")
        (repo / "deleted.py").unlink()
        (repo / "new.py").write_text("1")
        (repo / "new.txt").write_text("not Python")
        assert changed_files(repo, rev) == {"edited.py", "deleted.py", "new.py"}

    def test_later_commits_count(self, repo: Path) -> None:
        rev = commit(repo, a="1")
        commit(repo, a="2")
        assert changed_files(repo, rev) == {"a.py"}

    def test_against_another_folder_than_the_repositorys(self, repo: Path, tmp_path: Path) -> None:
        old = commit(repo, a="1", b="1")
        new = commit(repo, a="2", b="1")
        (repo / "b.py").write_text("local edit, not to be looked at")
        export(repo, new, tmp_path / "out")
        assert changed_files(repo, old, tmp_path / "out") == {"a.py"}

    def test_line_ends_do_not_count(self, repo: Path) -> None:
        rev = commit(repo, a="x = 1\ny = 2\n")
        (repo / "a.py").write_bytes(b"x = 1\r\ny = 2\r\n")
        assert changed_files(repo, rev) == set()

    def test_a_file_replaced_by_a_folder_is_changed(self, repo: Path) -> None:
        rev = commit(repo, a="1")
        (repo / "a.py").unlink()
        (repo / "a.py").mkdir()
        assert changed_files(repo, rev) == {"a.py"}

    def test_an_unknown_commit_is_an_error_not_no_change(self, repo: Path) -> None:
        commit(repo, a="1")
        with pytest.raises(RepositoryError, match="0000"):
            changed_files(repo, "0" * 40)

    def test_configured_filters_never_run(self, repo: Path, tmp_path: Path) -> None:
        rev = commit(repo, a="1")
        ran = tmp_path / "ran"
        for kind in ("clean", "smudge"):
            git(repo, "config", f"filter.evil.{kind}", f"touch {ran}; cat")
        git(repo, "config", "core.fsmonitor", f"touch {ran}")
        (repo / ".gitattributes").write_text("*.py filter=evil\n")
        (repo / "a.py").write_text("3")

        assert changed_files(repo, rev) == {"a.py"}
        export(repo, rev, tmp_path / "out")

        assert not ran.exists()


class TestExport:
    def test_files_as_committed_and_the_users_tree_untouched(
        self, repo: Path, tmp_path: Path
    ) -> None:
        (repo / "deep" / "er").mkdir(parents=True)
        (repo / "deep" / "er" / "data.bin").write_bytes(b"\0\xff\r\n")
        rev = commit(repo, a="1")
        (repo / "a.py").write_text("local edit")
        before = sorted(p for p in repo.rglob("*"))

        export(repo, rev, tmp_path / "out")

        assert (tmp_path / "out" / "a.py").read_text() == "1"
        assert (tmp_path / "out" / "deep" / "er" / "data.bin").read_bytes() == b"\0\xff\r\n"
        assert (repo / "a.py").read_text() == "local edit"
        assert sorted(p for p in repo.rglob("*")) == before
        assert not (tmp_path / "out" / ".git").exists()

    def test_export_ignore_does_not_hide_files(self, repo: Path, tmp_path: Path) -> None:
        (repo / ".gitattributes").write_text("a.py export-ignore\n")
        export(repo, commit(repo, a="1"), tmp_path / "out")
        assert (tmp_path / "out" / "a.py").exists()

    def test_links_inside_are_kept_and_links_out_are_not(self, repo: Path, tmp_path: Path) -> None:
        (repo / "pkg").mkdir()
        (repo / "pkg" / "in.py").symlink_to("../a.py")
        (repo / "absolute.py").symlink_to("/etc/passwd")
        (repo / "up.py").symlink_to("../secret")
        (repo / "pkg" / "sub").symlink_to("..")
        (repo / "hop.py").symlink_to("pkg/sub/../../secret")

        export(repo, commit(repo, a="1"), tmp_path / "out")

        assert (tmp_path / "out" / "pkg" / "in.py").read_text() == "1"
        assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["a.py", "pkg"]

    def test_executable_bit(self, repo: Path, tmp_path: Path) -> None:
        (repo / "run").write_text("#!/bin/sh\n")
        (repo / "run").chmod(0o755)
        export(repo, commit(repo, a="1"), tmp_path / "out")
        assert os.access(tmp_path / "out" / "run", os.X_OK)
        assert not os.access(tmp_path / "out" / "a.py", os.X_OK)

    def test_names_that_are_not_text(self, repo: Path, tmp_path: Path) -> None:
        name = os.fsdecode(b"\xff\xe9 \n.py")
        (repo / name).write_text("odd")
        export(repo, commit(repo, a="1"), tmp_path / "out")
        assert (tmp_path / "out" / name).read_text() == "odd"

    def test_unknown_commit(self, repo: Path, tmp_path: Path) -> None:
        commit(repo, a="1")
        with pytest.raises(RepositoryError):
            export(repo, "--output=/tmp/x", tmp_path / "out")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_a_repository_of_another_user_can_be_read(repo: Path) -> None:
    wanted = commit(repo, a="1")
    for path in [repo, *repo.rglob("*")]:
        os.chown(path, 4711, 4711)
    assert head(repo) == wanted
    assert changed_files(repo, wanted) == set()
