"""From a frame's production path to a file and line of this tree, checked against the source text.

A path is only a claim; the event's source context is what decides.  Nothing here reads a disk: the
tree is handed in as a `SourceTree`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from reproof.domain.refusal import Refusal, RefusalReason
from reproof.domain.text import shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reproof.domain.event import Event, Frame

MAX_LINES_SEARCHED = 200_000
MIN_PARTS_UNFLAGGED = 2
MIN_CUT = 20
"""A cut line with less text than this says too little to be recognised."""
_LIBRARY = re.compile(
    r"(?:^|/)(?:site-packages|dist-packages)/|(?:^|/)lib/python\d(?:\.\d+)?/|^<|\.pyx$|\.pxi$|\.pxd$"
)


class SourceTree(Protocol):
    """The target's source, read-only; paths are tree-relative POSIX paths that stay inside."""

    def read(self, path: str) -> str | None:
        """Return the text, or `None` when there is no such readable file inside the tree."""
        ...

    def exists(self, path: str) -> bool:
        """Say whether a regular file stands there."""
        ...

    def python_files(self) -> Sequence[str]:
        """Return every Python file, sorted."""
        ...


class Agreement(StrEnum):
    """How the tree's text compares with the event's source context."""

    EXACT = "exact"
    MOVED = "moved"
    DRIFT = "text differs"
    UNCHECKED = "no context"
    NOT_FOUND = "not found"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a frame stands in this tree."""

    index: int
    """Position in the event's frame list, outermost 0."""
    frame: Frame
    path: str | None
    line: int | None
    agreement: Agreement
    in_app: bool
    """Our decision: the code belongs to this tree."""
    candidates: tuple[str, ...] = ()
    """Files that agree equally well, when the tie could not be broken."""

    @property
    def source_match(self) -> str:
        """Return the verdict's `source_match` text."""
        moved = (self.line or 0) - (self.frame.lineno or 0)
        return f"moved by {moved} lines" if self.agreement is Agreement.MOVED else self.agreement


def locate(event: Event, tree: SourceTree, source_map: Mapping[str, str]) -> tuple[Place, ...]:
    """Place every frame of the exception that escaped, outermost first."""
    finder = _Finder(tree, source_map)
    return tuple(finder.place(i, frame) for i, frame in enumerate(event.raised.frames))


def refuse_unplaced(places: Sequence[Place]) -> Refusal | None:
    """Return why the crash point cannot be found in the tree, or `None` when it can."""
    if not places:
        return Refusal(
            reason=RefusalReason.NO_APP_FRAME,
            summary="the exception came without a stack, so there is no frame to enter",
            hint="capture the exception where it is raised, or with attach_stacktrace",
        )
    crash = crash_place(places)
    if crash is None:
        return Refusal(
            reason=RefusalReason.NO_APP_FRAME,
            summary=f"none of the {len(places)} frames lies in this tree",
            hint="name the tree with --repo, or map paths with --source-map PROD=LOCAL",
        )
    where = shown(crash.frame.abs_path or crash.frame.filename or "?")
    if crash.candidates:
        return Refusal(
            reason=RefusalReason.AMBIGUOUS_SOURCE,
            summary=f"{where} agrees equally well with {', '.join(map(shown, crash.candidates))}",
            hint="say which with --source-map PROD=LOCAL",
        )
    if crash.path is None:
        return Refusal(
            reason=RefusalReason.SOURCE_NOT_FOUND,
            summary=f"the crash frame's file {where} is not in this tree",
            hint="name the tree with --repo, or map the path with --source-map PROD=LOCAL",
        )
    if crash.agreement is Agreement.DRIFT:
        return Refusal(
            reason=RefusalReason.SOURCE_DRIFT,
            summary=f"{shown(crash.path)} no longer holds the captured line "
            f"{shown((crash.frame.context_line or '').strip())}",
            hint="check out the revision that crashed, or tag it with the event's release",
        )
    return None


def crash_place(places: Sequence[Place]) -> Place | None:
    """Return the innermost frame that is in-app, located or not."""
    return next((place for place in reversed(places) if place.in_app), None)


class _Finder:
    def __init__(self, tree: SourceTree, source_map: Mapping[str, str]) -> None:
        self._tree = tree
        self._map = source_map
        self._by_name: dict[str, list[str]] | None = None
        self._lines: dict[str, list[str]] = {}

    def place(self, index: int, frame: Frame) -> Place:
        """Find the file, then the line; decide whether the frame is the application's."""
        path_text = (frame.abs_path or frame.filename or "").replace("\\", "/")
        library = bool(_LIBRARY.search(path_text))
        scored = sorted(
            (
                (self._agree(path, frame), weight, path)
                for path, weight in self._candidates(frame).items()
            ),
            key=lambda item: (item[0][0], item[1]),
            reverse=True,
        )
        trusted = [s for s in scored if self._believable(s, frame, library=library)]
        if not trusted:
            in_app = frame.in_app is True and not library and path_text.endswith(".py")
            return Place(
                index=index,
                frame=frame,
                path=None,
                line=None,
                agreement=Agreement.NOT_FOUND,
                in_app=in_app,
            )
        (score, agreement, line), weight, path = trusted[0]
        ties = tuple(s[2] for s in trusted if s[0][0] == score and s[1] == weight)
        return Place(
            index=index,
            frame=frame,
            path=path,
            line=line,
            agreement=agreement,
            in_app=True,
            candidates=ties if len(ties) > 1 else (),
        )

    def _believable(
        self,
        scored: tuple[tuple[float, Agreement, int | None], int, str],
        frame: Frame,
        *,
        library: bool,
    ) -> bool:
        (_, agreement, _), weight, _ = scored
        if frame.in_app is True:
            return not (
                library
                and agreement in (Agreement.DRIFT, Agreement.UNCHECKED)
                and weight < MIN_PARTS_UNFLAGGED
            )
        # a frame nobody called in-app must prove by its text that it is this tree's
        proven = agreement in (Agreement.EXACT, Agreement.MOVED)
        return proven and (weight >= MIN_PARTS_UNFLAGGED or not library)

    def _candidates(self, frame: Frame) -> dict[str, int]:
        """Return tree paths with the number of trailing path components that agree."""
        found: dict[str, int] = {}
        for text in (frame.abs_path, frame.filename):
            for mapped, bonus in self._mapped((text or "").replace("\\", "/")):
                parts = [part for part in mapped.split("/") if part not in ("", ".")]
                if ".." in parts or not parts or any("\0" in part for part in parts):
                    continue
                for start in range(max(0, len(parts) - 40), len(parts)):
                    path = "/".join(parts[start:])
                    if path.endswith(".py") and self._tree.exists(path):
                        found[path] = max(found.get(path, 0), len(parts) - start + bonus)
        for path, weight in self._by_module(frame):
            found[path] = max(found.get(path, 0), weight)
        if not found:
            found = self._by_basename(frame)
        return found

    def _mapped(self, text: str) -> list[tuple[str, int]]:
        for prefix, local in sorted(self._map.items(), key=lambda m: len(m[0]), reverse=True):
            rest = text[len(prefix) :]
            if text.startswith(prefix) and (prefix.endswith("/") or rest[:1] in ("", "/")):
                return [(local.rstrip("/") + "/" + rest.lstrip("/"), 100), (text, 0)]
        return [(text, 0)]

    def _by_module(self, frame: Frame) -> list[tuple[str, int]]:
        module = frame.module or ""
        if not all(part.isidentifier() for part in module.split(".")):
            return []
        stem = module.replace(".", "/")
        return [
            (path, module.count(".") + 1)
            for root in ("", "src/", "lib/")
            for path in (f"{root}{stem}.py", f"{root}{stem}/__init__.py")
            if self._tree.exists(path)
        ]

    def _by_basename(self, frame: Frame) -> dict[str, int]:
        wanted = (frame.abs_path or frame.filename or "").replace("\\", "/").split("/")
        if not wanted[-1].endswith(".py"):
            return {}
        if self._by_name is None:
            self._by_name = {}
            for path in self._tree.python_files():
                self._by_name.setdefault(path.rpartition("/")[2], []).append(path)
        return {
            path: _common_tail(path.split("/"), wanted)
            for path in self._by_name.get(wanted[-1], [])
        }

    def _agree(self, path: str, frame: Frame) -> tuple[float, Agreement, int | None]:
        lines = self._lines.get(path)
        if lines is None:
            text = self._tree.read(path)
            lines = self._lines[path] = [] if text is None else text.split("\n")
        return agreement_of(lines, frame)


def agreement_of(lines: Sequence[str], frame: Frame) -> tuple[float, Agreement, int | None]:
    """Return (score 0..1, agreement, 1-based line) of one file's lines with a frame's context."""
    claimed = frame.lineno
    if frame.context_line is None or not frame.context_line.strip():
        inside = claimed is not None and 0 < claimed <= len(lines)
        return (0.2, Agreement.UNCHECKED, claimed) if inside else (0.0, Agreement.DRIFT, None)
    found = [
        (_around(lines, number, frame), number)
        for number, line in enumerate(lines[:MAX_LINES_SEARCHED], start=1)
        if _same(line, frame.context_line)
    ]
    if not found:
        return 0.0, Agreement.DRIFT, None
    top = max(score for score, _ in found)
    best = [number for score, number in found if score == top]
    if claimed in best:
        return 0.5 + 0.5 * top, Agreement.EXACT, claimed
    if len(best) > 1:
        # the same text in the same surroundings twice: no telling which one moved here
        return 0.1, Agreement.DRIFT, None
    return 0.4 + 0.5 * top, Agreement.MOVED, best[0]


def changed_around(tree: SourceTree, place: Place) -> bool:
    """Say whether the text at a frame's place, or near it, is not what the event shows."""
    if place.agreement is Agreement.DRIFT:
        return True
    text = None if place.path is None else tree.read(place.path)
    if text is None or place.line is None or place.agreement is Agreement.UNCHECKED:
        return False
    return _around(text.split("\n"), place.line, place.frame) < 1


def _around(lines: Sequence[str], number: int, frame: Frame) -> float:
    """Return the share of the captured lines around that stand around `number` too."""
    pairs: list[tuple[int, str]] = []
    pairs += [(number - len(frame.pre_context) + i, t) for i, t in enumerate(frame.pre_context)]
    pairs += [(number + 1 + i, t) for i, t in enumerate(frame.post_context)]
    # an empty captured line may stand for "past the end of the file"
    pairs = [(at, text) for at, text in pairs if text.strip()]
    if not pairs:
        return 1.0
    same = sum(1 for at, text in pairs if 0 < at <= len(lines) and _same(lines[at - 1], text))
    return same / len(pairs)


def _same(ours: str, captured: str) -> bool:
    ours, captured = ours.rstrip(), captured.rstrip()
    if ours == captured:
        return True
    # a sender's length limit cuts context lines, and marks the cut
    cut = captured.removesuffix("...")
    return len(cut) >= MIN_CUT and cut != captured and ours.startswith(cut)


def _common_tail(a: Sequence[str], b: Sequence[str]) -> int:
    count = 0
    for x, y in zip(reversed(a), reversed(b), strict=False):
        if x != y:
            break
        count += 1
    return count
