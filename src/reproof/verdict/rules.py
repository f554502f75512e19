"""The rules that decide whether one replay is the captured crash.

    1  exception   the escaping exception is of the captured class, with the captured causes
    2  place       it was raised through the captured crash point, along the captured in-app frames
    3  phase       it came from the call under test, not from the harness, import or set-up
    4  untouched   no unrecovered value was used, nothing timed out, no limit was hit
    5  again       it holds in every confirming run (`confirm`, decided by the caller over runs)

A replay that breaks a rule is never reproduced; the first broken rule names the refusal.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from reproof.domain.refusal import RefusalReason
from reproof.domain.run import RunEnd
from reproof.domain.text import shown
from reproof.verdict.capture import agrees
from reproof.verdict.diagnose import withheld
from reproof.verdict.expectation import Below, Group
from reproof.verdict.seen import read_replay

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reproof.domain.run import RunRecord
    from reproof.verdict.expectation import Expectation, ExpectedFrame
    from reproof.verdict.seen import SeenException, SeenFrame, SeenReplay

StatementOf = "Callable[[str, int], str | None]"

_COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>"})
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
_FOLDERS = re.compile(r"(?<![\w.])/(?:[^\s/'\"]+/)+(?=[^\s/'\"]+\.\w+)")
"""The folders before a file's name, which differ by machine. A route has no suffix."""
_LIMITS_THEMSELVES = frozenset({"MemoryError", "RecursionError"})
SHIP_AT = 0.9
"""Fidelity a test needs to count as evidence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fidelity:
    """How much of the capture a replay matched; 0 unless rules 1 to 4 hold."""

    score: float = 0.0
    location: float = 0.0
    message: float = 0.0
    locals: float = 0.0
    compared_locals: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one replay showed."""

    reason: RefusalReason | None
    """The first broken rule as a refusal; `None` when rules 1 to 4 hold and fidelity suffices."""
    detail: str
    fidelity: Fidelity = field(default_factory=Fidelity)
    entered: int | None = None
    """Index (in the event's frames) of the outermost captured frame that the replay ran through."""
    sentinel_uses: tuple[tuple[str, str], ...] = ()
    raised: tuple[str, str] | None = None
    """(class name, message) of what the replay raised, for diagnosis."""

    @property
    def reproduced(self) -> bool:
        """Say whether the replay is the captured crash."""
        return self.reason is None


def judge_replay(
    expected: Expectation,
    record: RunRecord,
    statement_of: Callable[[str, int], str | None],
) -> Outcome:
    """Apply rules 1 to 4 and fidelity to one run's record."""
    limit = _limit(record, expected)
    if limit is not None:
        return limit
    seen = read_replay(record.report)
    if seen is None:
        return Outcome(
            reason=RefusalReason.RESOURCE_LIMIT
            if record.host.limits_hit
            else RefusalReason.NATIVE_CRASH,
            detail=f"the run ended without a report ({_end(record)})",
        )
    if seen.sentinel_uses:
        name, operation = seen.sentinel_uses[0]
        return Outcome(
            reason=RefusalReason.OPAQUE_VALUE_USED,
            sentinel_uses=seen.sentinel_uses,
            detail=f"{shown(name)} was used ({shown(operation)})",
        )
    broken = _phase(seen)
    if broken is not None:
        return broken
    call = seen.phase("call")
    if call is None or call.exception is None or call.outcome != "failed":
        said = shown(call.outcome) if call else "without a result"
        return Outcome(reason=RefusalReason.PASSED, detail=f"the test does not fail, it is {said}")
    return _judge_exception(expected, call.exception, statement_of)


def _judge_exception(
    expected: Expectation,
    found: SeenException,
    statement_of: Callable[[str, int], str | None],
) -> Outcome:
    """Apply rules 1 and 2, and fidelity."""
    raised = (found.type, found.message)
    wrong = _exception(expected, found)
    if wrong:
        return Outcome(reason=RefusalReason.DIFFERENT_EXCEPTION, detail=wrong, raised=raised)
    matched, wrong = _stack(expected, found, statement_of)
    if wrong:
        return Outcome(reason=RefusalReason.DIFFERENT_LOCATION, detail=wrong, raised=raised)
    if withheld(found.type, found.message) is RefusalReason.NETWORK_NEEDED:
        # the wall has no network: inside it this class of failure proves nothing
        return Outcome(
            reason=RefusalReason.NETWORK_NEEDED,
            raised=raised,
            detail="it is a failure to reach the network, which the sandbox does not have",
        )
    fidelity = _fidelity(expected, found, matched)
    entered = matched[0][0].index if matched else None
    if fidelity.score < SHIP_AT:
        return Outcome(
            reason=RefusalReason.LOW_FIDELITY,
            fidelity=fidelity,
            entered=entered,
            raised=raised,
            detail=_why_low(expected, found, fidelity),
        )
    return Outcome(
        reason=None, detail="raised as captured", fidelity=fidelity, entered=entered, raised=raised
    )


def _end(record: RunRecord) -> str:
    host = record.host
    if host.signal is not None:
        return f"signal {host.signal}"
    return f"exit {host.exit_code}"


def _limit(record: RunRecord, expected: Expectation) -> Outcome | None:
    """Rule 4, the host's half: what the wall measured."""
    host = record.host
    hits = ", ".join(host.limits_hit) or host.end
    if host.end is RunEnd.TIMEOUT:
        return Outcome(
            reason=RefusalReason.TIMEOUT, detail=f"the run was stopped after {host.wall_s:.1f} s"
        )
    if host.end is RunEnd.MEMORY and expected.exception.type != "MemoryError":
        return Outcome(reason=RefusalReason.RESOURCE_LIMIT, detail=f"the run hit a limit: {hits}")
    if not host.nonce_ok and record.report is not None:
        return Outcome(
            reason=RefusalReason.NATIVE_CRASH, detail="the report did not carry this run's nonce"
        )
    if host.signal is not None:
        return Outcome(reason=RefusalReason.NATIVE_CRASH, detail=f"ended by signal {host.signal}")
    if host.limits_hit and expected.exception.type not in _LIMITS_THEMSELVES:
        return Outcome(reason=RefusalReason.RESOURCE_LIMIT, detail=f"the run hit a limit: {hits}")
    return None


def _phase(seen: SeenReplay) -> Outcome | None:
    """Rule 3: the failure must be the call's own."""
    for when in ("collect", "setup"):
        phase = seen.phase(when)
        if phase is not None and phase.exception is not None:
            return _harness(when, phase.exception)
    if seen.collect_error:
        return Outcome(
            reason=RefusalReason.ENVIRONMENT,
            detail=f"the test could not be collected: {shown(seen.collect_error, 200)}",
        )
    if seen.collected != 1:
        return Outcome(
            reason=RefusalReason.ENVIRONMENT,
            detail=f"expected one test, pytest collected {seen.collected}",
        )
    call = seen.phase("call")
    if call is not None and call.exception is not None:
        frames = call.exception.frames
        if not any(frame.in_tree for frame in frames):
            return _harness("call", call.exception)
    return None


def _harness(when: str, found: SeenException) -> Outcome:
    missing = found.type in ("ModuleNotFoundError", "ImportError")
    return Outcome(
        reason=RefusalReason.ENVIRONMENT if missing else RefusalReason.DIFFERENT_EXCEPTION,
        detail=f"{found.type}: {shown(found.message, 160)} came from the {when} phase of the test "
        "itself, not from the code under test",
        raised=(found.type, found.message),
    )


def _exception(expected: Expectation, found: SeenException) -> str | None:
    """Rule 1: return what differs."""
    want = expected.exception
    if not _same_class(want.type, want.module, found.type, found.module):
        return f"expected {shown(want.type)}, got {shown(found.type)}: {shown(found.message, 160)}"
    if expected.group is not None or found.members is not None:
        seen_group = _group(found)
        if expected.group != seen_group:
            return f"the group's members differ: {_outline(seen_group)}"
    if len(expected.causes) != len(found.chain) or not all(
        _same_class(a, b, c, d) for (a, b), (c, d) in zip(expected.causes, found.chain, strict=True)
    ):
        want_chain = ", ".join(c for c, _ in expected.causes) or "none"
        got_chain = ", ".join(c for c, _ in found.chain) or "none"
        return f"the causes differ: expected {shown(want_chain)}, got {shown(got_chain)}"
    return None


def _same_class(want: str, want_module: str | None, got: str, got_module: str) -> bool:
    if want != got:
        return False
    if want_module == "__main__":
        # a script's own classes are `__main__`'s there and a module's here
        return got_module != "builtins"
    return (want_module or "builtins") == got_module


def _group(found: SeenException) -> Group:
    return Group(found.type, tuple(_group(m) for m in found.members or ()), found.module)


def _outline(group: Group) -> str:
    inner = ", ".join(_outline(m) for m in group.members)
    return f"{shown(group.type)}({inner})" if inner else shown(group.type)


Matched = "list[tuple[ExpectedFrame, SeenFrame]]"


def _stack(
    expected: Expectation,
    found: SeenException,
    statement_of: Callable[[str, int], str | None],
) -> tuple[list[tuple[ExpectedFrame, SeenFrame]], str | None]:
    """Rule 2: pair captured in-app frames with seen ones, innermost first; say what differs."""
    seen = [f for f in found.frames if f.in_tree]
    if expected.exception.type == "RecursionError":
        return _recursion(expected, seen)
    seen = list(_without_comprehensions(seen, lambda f: f.function))
    stack = _without_comprehensions(list(expected.stack), lambda f: f.function)
    crash, at = stack[-1], seen[-1]
    if not _same_place(crash, at, statement_of):
        return [], (
            f"expected {shown(crash.function)} at {shown(crash.path)}:{crash.line}, got "
            f"{shown(at.function)} at {shown(at.file)}:{at.line}"
        )
    last = found.frames[-1]
    below = None if last.in_tree else Below(last.function, last.file.rpartition("/")[2])
    if expected.below != below:
        want_raised = expected.below.function if expected.below else crash.function
        got_raised = below.function if below else at.function
        return [], (
            f"expected it to be raised in {shown(want_raised or '?')}, "
            f"got {shown(got_raised or '?')}"
        )
    pairs = [(crash, at)]
    for want, got in zip(reversed(stack[:-1]), reversed(seen[:-1]), strict=False):
        if not _same_place(want, got, statement_of):
            return [], (
                f"reached the crash point by another way: expected "
                f"{shown(want.function)} at {shown(want.path)}:{want.line}, got "
                f"{shown(got.function)} at {shown(got.file)}:{got.line}"
            )
        pairs.append((want, got))
    pairs.reverse()
    return pairs, None


Framed = TypeVar("Framed")


def _without_comprehensions(
    frames: Sequence[Framed], function: Callable[[Framed], str]
) -> Sequence[Framed]:
    """Leave out frames that Python 3.12 no longer has: a comprehension's line is its function's."""
    kept = [frame for frame in frames if function(frame) not in _COMPREHENSIONS]
    return kept or frames


def _recursion(
    expected: Expectation, seen: list[SeenFrame]
) -> tuple[list[tuple[ExpectedFrame, SeenFrame]], str | None]:
    """Rule 2 for endless recursion: which of the loop's lines comes last is chance."""
    window = 40
    want = {(f.path, f.function) for f in expected.stack[-window:]}
    got = {(f.file, f.function) for f in seen[-window:]}
    first = next(
        (
            (w, s)
            for w, s in zip(expected.stack, seen, strict=False)
            if (w.path, w.function) == (s.file, s.function)
        ),
        None,
    )
    crash = (expected.crash.path, expected.crash.function)
    if crash not in got or first is None or not (want <= got or got <= want):
        return [], (
            f"expected a recursion through {shown(expected.crash.function)}, got one "
            f"through {', '.join(sorted(shown(f) for _, f in got))}"
        )
    return [first], None


def _same_place(
    want: ExpectedFrame, got: SeenFrame, statement_of: Callable[[str, int], str | None]
) -> bool:
    if (want.path, want.function) != (got.file, got.function):
        return False
    if want.line == got.line:
        return True
    # a statement of several lines reports any of them, by Python version
    return want.statement is not None and want.statement == statement_of(got.file, got.line)


def _fidelity(
    expected: Expectation, found: SeenException, matched: list[tuple[ExpectedFrame, SeenFrame]]
) -> Fidelity:
    location = 0.5 if expected.crash.moved else 1.0
    same = same_message(expected.exception.message or "", found.message)
    answers = [
        _same_local(want, got, name)
        for want, got in matched
        if got.variables is not None
        for name in want.variables
    ]
    compared = [answer for answer in answers if answer is not None]
    share = sum(compared) / len(compared) if compared else 1.0
    score = 0.5 + 0.15 * location + 0.15 * same + 0.20 * share
    return Fidelity(
        score=round(score, 4),
        location=location,
        message=float(same),
        locals=round(share, 4),
        compared_locals=len(compared),
    )


def _same_local(want: ExpectedFrame, got: SeenFrame, name: str) -> bool | None:
    seen = got.variables or {}
    if name in seen:
        return agrees(
            want.variables[name],
            seen[name],
            meta=want.meta.get(name),
            unordered=name in got.sets,
        )
    # some senders add expressions (`self.rate`); a plain name that is not there is a difference
    return False if name.isidentifier() else None


def _why_low(expected: Expectation, found: SeenException, fidelity: Fidelity) -> str:
    parts = []
    if not fidelity.message:
        parts.append(
            f"the message differs: expected {shown(expected.exception.message or '', 120)}"
            f", got {shown(found.message, 120)}"
        )
    if fidelity.locals < 1:
        parts.append(
            f"{fidelity.locals:.0%} of {fidelity.compared_locals} captured variables agree"
        )
    return f"fidelity {fidelity.score:.2f} is below {SHIP_AT}: " + "; ".join(parts)


def same_message(captured: str, seen: str) -> bool:
    """Say whether two messages are the same but for addresses, folders and the order of a set."""
    one, other = normal_message(captured), normal_message(seen)
    return one == other or ("{" in one and sorted(one) == sorted(other))


def normal_message(text: str) -> str:
    """Return a message as it is compared: without addresses and the folders of files."""
    return _FOLDERS.sub("", _ADDRESS.sub("0x", text)).strip()
