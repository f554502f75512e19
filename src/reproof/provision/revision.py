"""Which commit crashed, and what the source looked like there. Reads only; never the user's tree.

Every function takes a folder that may or may not be (in) a git repository. Questions about what is
there are then answered with "nothing"; what needs a given commit raises `RepositoryError`. Paths
are relative to that folder, with `/`.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reproof.domain.text import shown
from reproof.errors import RepositoryError
from reproof.provision.git import read_objects, run_git
from reproof.provision.tree import DirectoryTree, is_relative, source_text

if TYPE_CHECKING:
    from collections.abc import Iterable

_FULL_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_TRAILING_ID = re.compile(r"(?:^|[@/:+._-]|[+._-]g)(?P<id>[0-9a-f]{7,64})$")
_MAX_RELEASE = 250
"""Sentry's own limit for the name of a release."""
_SEPARATORS = re.compile(r"[-_.]+")
_BEFORE_VERSION = "@/-_"
_GENERIC = frozenset({"rel", "release", "releases", "ver", "version", "versions"})
"""What tags carry before a version that is no project's name."""
_EXECUTABLE = "100755"
_REGULAR = frozenset({"100644", "100664", _EXECUTABLE})
_LINK = "120000"


@dataclass(frozen=True, slots=True)
class _Blob:
    """One file of a revision."""

    mode: str
    id: str
    size: int
    path: str


def head(repo: Path) -> str | None:
    """Return the id of the commit that is checked out."""
    return _commit(repo, "HEAD")


def resolve(repo: Path, ref: str) -> str:
    """Return the full id of the commit that the user's `--ref` names: a branch, a tag, an id.

    Raises `RepositoryError` if there is none.
    """
    found = None if "\0" in ref else _commit(repo, ref)
    if found is None:
        if head(repo) is None:
            problem = "the source folder is no git repository (or has no commit, or git is missing)"
        else:
            problem = f"the repository has no commit {shown(ref)}"
        raise RepositoryError(problem, hint="name a branch, a tag or a commit id with --ref")
    return found


def find_crash_revision(repo: Path, release: str | None) -> str | None:
    """Return the full id of the commit that `release` names, if this repository holds it.

    Tried in this order: a whole commit id at the end of the release, a tag of that name or version
    (`1.2`, `v1.2`, and with the project's name before it: `shop@1.2`, `shop-v1.2`, `shop/1.2`), an
    abbreviated id at the end. A tag that belongs to another name is not taken, and where tags of
    equal standing name different commits, none is.
    """
    if not release or len(release) > _MAX_RELEASE or not release.isprintable():
        return None
    trailing = _TRAILING_ID.search(release.lower())
    if trailing is not None and _FULL_ID.fullmatch(trailing["id"]):
        return _commit(repo, trailing["id"])
    found = _tagged(repo, release)
    if found is None and trailing is not None:
        found = _abbreviated(repo, trailing["id"])
    if found is None and "+" in release:
        # What stands behind a plus names a build, not another source.
        found = _tagged(repo, release.partition("+")[0])
    return found


def file_at(repo: Path, rev: str, path: str) -> str | None:
    """Return the text of a file at a commit (a full id), or `None` if it was not there."""
    if not _FULL_ID.fullmatch(rev) or not is_relative(path):
        return None
    content = run_git(repo, "cat-file", "blob", f"{rev}:./{path}")
    return None if content is None else source_text(content)


def history_versions(repo: Path, path: str, limit: int) -> list[tuple[str, str]]:
    """Return up to `limit` commits that changed the file, newest first, with its text at each."""
    if not is_relative(path) or "\n" in path or limit < 1:
        return []
    listed = run_git(repo, "rev-list", f"--max-count={limit:d}", "HEAD", "--", path)
    revisions = (listed or b"").decode("ascii").split()
    contents = read_objects(repo, [f"{rev}:./{path}" for rev in revisions])
    return [
        (rev, source_text(content))
        for rev, content in zip(revisions, contents, strict=True)
        if content is not None
    ]


def changed_files(repo: Path, rev: str, tree: Path | None = None) -> set[str]:
    """Return the files that differ between a commit and a folder as it is on the disk now.

    The folder is the repository's own, or `tree` (an export of another commit, say). Changed,
    deleted or no longer regular files, whatever their kind, and Python files that the commit does
    not have. Line ends do not count as a difference.

    Raises `RepositoryError` if the commit cannot be read: "nothing has changed" would be a claim.
    """
    folder = repo if tree is None else tree
    root = os.path.realpath(folder)
    blobs = [blob for blob in _blobs(repo, rev) if blob.mode in _REGULAR]
    changed = {blob.path for blob in blobs if not _is_same(f"{root}/{blob.path}", blob)}
    known = {blob.path for blob in blobs}
    return changed | {path for path in DirectoryTree(folder).python_files() if path not in known}


def export(repo: Path, rev: str, into: Path) -> None:
    """Write the files of a commit below `into`, which must be empty or absent.

    Byte for byte as committed: no filters, no line-end conversion. Submodules are left out, as are
    symbolic links that lead out of `into`.

    Raises `RepositoryError` if the commit cannot be read or holds a path that cannot be written.
    """
    blobs = _blobs(repo, rev)
    into.mkdir(parents=True, exist_ok=True)
    root = os.path.realpath(into)
    # Links last: no file can then be written through one.
    blobs.sort(key=lambda blob: blob.mode == _LINK)
    for blob, content in zip(blobs, read_objects(repo, [blob.id for blob in blobs]), strict=True):
        if not _is_writable(blob.path) or content is None:
            raise RepositoryError(
                f"the commit {rev[:12]} holds a file that cannot be taken out: {shown(blob.path)}",
                hint="run `git fsck` in the repository",
            )
        try:
            _write(f"{root}/{blob.path}", blob, content)
        except OSError as error:
            raise RepositoryError(
                f"cannot write {shown(blob.path)} of commit {rev[:12]}: {error.strerror}",
                hint="check the free space and permissions of the temporary folder",
            ) from error


def _write(target: str, blob: _Blob, content: bytes) -> None:
    os.makedirs(os.path.dirname(target), exist_ok=True)  # noqa: PTH103, PTH120
    if blob.mode == _LINK:
        destination = content.decode("utf-8", "surrogateescape")
        if _stays_inside(blob.path, destination):
            os.symlink(destination, target)  # noqa: PTH211
        return
    mode = 0o755 if blob.mode == _EXECUTABLE else 0o644
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    with os.fdopen(handle, "wb") as stream:
        stream.write(content)


def _stays_inside(path: str, destination: str) -> bool:
    """Whether a link leads to a place in the tree, however the other links in it stand.

    `..` may only come first: there it climbs real folders. After a name it would climb from
    wherever that name leads.
    """
    parts = destination.split("/")
    ups = next((i for i, part in enumerate(parts) if part != ".."), len(parts))
    return (
        not destination.startswith("/")
        and "\0" not in destination
        and ups <= path.count("/")
        and ".." not in parts[ups:]
    )


def _is_writable(path: str) -> bool:
    parts = path.lower().split("/")
    return is_relative(path) and not {"", ".", ".git"} & set(parts)


def _blobs(repo: Path, rev: str) -> list[_Blob]:
    """Return the files and links of a commit below the folder; raise if it cannot be read."""
    listed = None
    if _FULL_ID.fullmatch(rev):
        listed = run_git(repo, "ls-tree", "-r", "-z", "-l", rev)
    if listed is None:
        raise RepositoryError(
            f"the commit {shown(rev, 64)} cannot be read from this repository",
            hint="fetch it (`git fetch --tags --unshallow`), or give another --ref",
        )
    found: list[_Blob] = []
    for record in listed.decode("utf-8", "surrogateescape").split("\0"):
        about, _, path = record.partition("\t")
        match about.split():
            case [mode, "blob", name, size] if size.isdigit():
                found.append(_Blob(mode, name, int(size), path))
            case _:
                # Submodules, and the empty text after the last record.
                pass
    return found


def _is_same(path: str, blob: _Blob) -> bool:
    try:
        status = os.lstat(path)
        # With other line ends it is larger, but at most twice as large.
        if not blob.size <= status.st_size <= 2 * blob.size or not os.path.isfile(path):  # noqa: PTH113
            return False
        content = Path(path).read_bytes()
    except OSError:
        # Deleted, or unreadable for whoever would run it.
        return False
    if _blob_id(content, blob) == blob.id:
        return True
    return b"\r\n" in content and _blob_id(content.replace(b"\r\n", b"\n"), blob) == blob.id


def _blob_id(content: bytes, like: _Blob) -> str:
    algorithm = "sha1" if len(like.id) == 40 else "sha256"  # noqa: PLR2004
    digest = hashlib.new(algorithm, b"blob %d\0" % len(content), usedforsecurity=False)
    digest.update(content)
    return digest.hexdigest()


def _commit(repo: Path, name: str) -> str | None:
    """Return the full id of the commit that a trusted or hexadecimal `name` stands for."""
    answer = run_git(
        repo, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"
    )
    full = (answer or b"").decode("ascii", "replace").strip()
    return full if _FULL_ID.fullmatch(full) else None


def _abbreviated(repo: Path, start: str) -> str | None:
    """Return the commit whose id starts so; not a branch that happens to be called so."""
    full = _commit(repo, start)
    return full if full is not None and full.startswith(start) else None


def _tagged(repo: Path, release: str) -> str | None:
    listed = run_git(
        repo, "for-each-ref", "--format=%(refname:strip=2)%00%(objectname)", "refs/tags"
    )
    records = (listed or b"").decode("utf-8", "surrogateescape").splitlines()
    tags = dict(record.split("\0", 1) for record in records if "\0" in record)
    for group in _tag_groups(tags, release):
        if group:
            commits = {_commit(repo, tags[tag]) for tag in group}
            return commits.pop() if len(commits) == 1 else None
    return None


def _tag_groups(tags: Iterable[str], release: str) -> Iterable[list[str]]:
    """Yield groups of tags of equal standing, best first."""
    yield [tag for tag in tags if tag == release]
    project, at, version = release.rpartition("@")
    bare = version.removeprefix("v")
    versions = (bare, f"v{bare}") if bare else ()
    own: list[str] = []
    generic: list[str] = []
    others: list[str] = []
    for tag in tags:
        for ending in versions:
            before = tag.removesuffix(ending)
            if before == tag or not before[:-1] or before[-1] not in _BEFORE_VERSION:
                continue
            if at and _normalized(before[:-1]) == _normalized(project):
                own.append(tag)
            elif before[:-1].lower() in _GENERIC:
                generic.append(tag)
            else:
                others.append(tag)
    yield own
    yield [tag for tag in tags if tag in versions]
    yield generic
    # Without a project in the release, whatever stands before the version is its name.
    yield [] if at else others


def _normalized(name: str) -> str:
    return _SEPARATORS.sub("-", name).lower()
