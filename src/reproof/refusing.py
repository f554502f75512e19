"""Why nothing reproduced: the most telling of what was tried, in one sentence, with a next step."""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING

from reproof.domain.refusal import Refusal, RefusalReason
from reproof.domain.run import MIB, RunEnd
from reproof.domain.text import shown
from reproof.reproducer.evaluate import module_globals
from reproof.reproducer.locate import changed_around
from reproof.reproducer.source import EntryKind, changes_global, own_nodes
from reproof.reproducer.values.provenance import Provenance, UnknownCause
from reproof.verdict.diagnose import withheld

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from reproof.case import Case
    from reproof.domain.run import RunRecord
    from reproof.reproducer.facts import Facts
    from reproof.reproducer.locate import SourceTree
    from reproof.reproducer.plan import Plan
    from reproof.search import Found, Search
    from reproof.verdict.rules import Outcome

_OF_CAUSE = {
    str(UnknownCause.REDACTED): (
        RefusalReason.REDACTED_VALUE_NEEDED,
        "was redacted before it was sent",
    ),
    str(UnknownCause.TRUNCATED): (
        RefusalReason.TRUNCATED_VALUE_NEEDED,
        "was cut before it was sent",
    ),
}
_HINT = "supply it with --param NAME=LITERAL, or capture it (custom_repr of the SDK)"


def of_inspection(record: RunRecord, memory_mib: int) -> Refusal | None:
    """Return why the target could not even be imported, if the wall stopped that."""
    host = record.host
    if host.end is RunEnd.TIMEOUT:
        return Refusal(
            reason=RefusalReason.TIMEOUT,
            summary=f"importing the target took longer than {host.wall_s:.0f} s",
            hint="raise it with --test-timeout",
        )
    if host.end is RunEnd.MEMORY or (record.report is None and host.limits_hit):
        return Refusal(
            reason=RefusalReason.RESOURCE_LIMIT,
            summary=f"importing the target needs more than {memory_mib} MiB",
            hint="raise it with --memory-mib",
        )
    if record.report is None:
        return Refusal(
            reason=RefusalReason.NATIVE_CRASH,
            summary=f"importing the target ended the interpreter "
            f"(exit {host.exit_code}, signal {host.signal})",
        )
    return None


def of_import(facts: Facts, case: Case) -> Refusal | None:
    """Return why the crash frame's module cannot be imported, if it cannot."""
    module = case.views[-1].site.module
    error = facts.errors.get(module)
    if error is None or any(v.site.kind is EntryKind.MODULE for v in case.views):
        return None
    return Refusal(
        reason=RefusalReason.ENVIRONMENT,
        summary=f"{shown(module)} cannot be imported here: {shown(error, 200)}",
        hint="name an environment that has its dependencies with --env",
    )


def explain(search: Search, case: Case) -> Refusal:
    """Return the refusal for a search that found nothing."""
    outcomes = search.outcomes
    if not outcomes:
        return _nothing_to_enter(case, out_of_time=search.bench.expired)
    needed = _needed_value(outcomes)
    if needed is not None:
        return needed
    plan, outcome = max(outcomes, key=lambda pair: _weight(pair[1], pair[0]))
    reason = outcome.reason or RefusalReason.PASSED
    if reason is RefusalReason.DIFFERENT_EXCEPTION and outcome.raised is not None:
        reason = withheld(*outcome.raised) or reason
    state = _changing_globals(case)
    if (
        state
        and reason in (RefusalReason.PASSED, RefusalReason.DIFFERENT_EXCEPTION)
        and not any(v.unknown is not None or v.stale for _, v in plan.values)
    ):
        return Refusal(
            reason=RefusalReason.GLOBAL_STATE,
            summary=f"{', '.join(map(shown, state))} is changed while the program runs, and "
            f"what it held is not in the event; without it: {outcome.detail}",
            hint="capture the module's state with the event, or enter further out",
        )
    tried = Counter(o.reason for _, o in outcomes)
    others = ", ".join(f"{count} {name}" for name, count in tried.most_common() if name != reason)
    entry = f"{plan.view.site.module}.{plan.view.site.qualname}"
    summary = f"{len(outcomes)} replays, the nearest through {shown(entry)}: {outcome.detail}"
    if others:
        summary += f" (also: {others})"
    return Refusal(reason=_by_missing(reason, outcomes), summary=summary, hint=_hint(reason, plan))


def _changing_globals(case: Case) -> list[str]:
    """Return the module globals that the crash function reads and the module's code changes."""
    site = case.views[-1].site
    module = case.index.module(site.path)
    if site.node is None or module is None:
        return []
    read = {n.id for n in own_nodes(site.node) if isinstance(n, ast.Name)}
    held = {n for n, how in module_globals(module).items() if how == "value" and n in read}
    return sorted(name for name in held if changes_global(module, name))


def _by_missing(reason: RefusalReason, outcomes: Sequence[tuple[Plan, Outcome]]) -> RefusalReason:
    """Blame a value that is not known where a replay went another way without it."""
    if reason not in (
        RefusalReason.PASSED,
        RefusalReason.DIFFERENT_EXCEPTION,
        RefusalReason.DIFFERENT_LOCATION,
        RefusalReason.LOW_FIDELITY,
    ):
        return reason
    if all(any(v.unknown is not None or v.stale for _, v in plan.values) for plan, _ in outcomes):
        return RefusalReason.UNRECOVERABLE_VALUE
    return reason


def _nothing_to_enter(case: Case, *, out_of_time: bool) -> Refusal:
    if out_of_time:
        return Refusal(
            reason=RefusalReason.TIMEOUT,
            summary="time ran out before the first replay",
            hint="raise it with --timeout",
        )
    site = case.views[-1].site
    return Refusal(
        reason=RefusalReason.UNRECOVERABLE_VALUE,
        summary=f"{shown(site.qualname)} ({site.kind}) cannot be called from a test, and no frame "
        "outside it belongs to this tree",
        hint="capture the caller's frames too (their path must be in the tree)",
    )


def _needed_value(outcomes: Sequence[tuple[Plan, Outcome]]) -> Refusal | None:
    """Return the refusal for a value that the run looked at and the event did not carry."""
    for plan, outcome in outcomes:
        for name, operation in outcome.sentinel_uses:
            cause = next(
                (
                    str(v.unknown.cause)
                    for n, v in plan.values
                    if n == name and v.unknown is not None
                ),
                "",
            )
            reason, why = _OF_CAUSE.get(
                cause, (RefusalReason.OPAQUE_VALUE_USED, "was not captured")
            )
            return Refusal(
                reason=reason,
                hint=_HINT,
                summary=f"{shown(name)} {why}, and the code uses it ({_use(name, operation)})",
            )
        for name, value in plan.values:
            if value.unknown is not None and str(value.unknown.cause) in _OF_CAUSE:
                reason, why = _OF_CAUSE[str(value.unknown.cause)]
                return Refusal(
                    reason=reason,
                    hint=_HINT,
                    summary=f"{shown(name)} {why}; without it: {outcome.detail}",
                )
    return None


def _use(name: str, operation: str) -> str:
    """Return `user.profile`, or `__hash__ of state`."""
    if operation.startswith("."):
        return f"{shown(name)}{shown(operation)}"
    return f"{shown(operation)} of {shown(name)}"


def _weight(outcome: Outcome, plan: Plan) -> tuple[int, float, int]:
    order = [
        RefusalReason.ENVIRONMENT,
        RefusalReason.UNRECOVERABLE_VALUE,
        RefusalReason.PASSED,
        RefusalReason.DIFFERENT_EXCEPTION,
        RefusalReason.TIMEOUT,
        RefusalReason.RESOURCE_LIMIT,
        RefusalReason.NATIVE_CRASH,
        RefusalReason.DIFFERENT_LOCATION,
        RefusalReason.OPAQUE_VALUE_USED,
        RefusalReason.TRUNCATED_VALUE_NEEDED,
        RefusalReason.FLAKY,
        RefusalReason.LOW_FIDELITY,
    ]
    rank = order.index(outcome.reason) if outcome.reason in order else 0
    weak = sum(v.provenance is Provenance.SENTINEL for _, v in plan.values)
    return rank, outcome.fidelity.score, -weak


def _hint(reason: RefusalReason, plan: Plan) -> str:
    missing = [n for n, v in plan.values if v.unknown is not None or v.stale]
    if missing:
        return f"supply {', '.join(map(shown, missing))} with --param, or capture it"
    return {
        RefusalReason.PASSED: "the crash may depend on state that the event does not carry, or be "
        "fixed here; tag the revision that crashed with the event's release to tell them apart",
        RefusalReason.ENVIRONMENT: "name an environment that has the dependencies with --env",
        RefusalReason.TIMEOUT: "raise it with --test-timeout",
        RefusalReason.RESOURCE_LIMIT: "raise it with --memory-mib",
        RefusalReason.FILE_NEEDED: "put the file into the tree",
    }.get(reason, "see `attempts` for everything that was tried")


def callers_changed(found: Found, here: Case, changed: AbstractSet[str]) -> Refusal | None:
    """Return why a test that is red on a changed tree proves nothing there, if so.

    A fix is often made above the crash point, or where an object got its state. A test that enters
    below that, or that sets the state by hand, stays red for ever.
    """
    entered = found.plan.view.place.index
    skipped = [v.site for v in here.views if v.place.index < entered]
    moved = [s for s in skipped if s.path in changed]
    if moved:
        names = ", ".join(shown(s.qualname) for s in moved[:3])
        return Refusal(
            reason=RefusalReason.CALLERS_CHANGED,
            summary=f"the test enters below {names}, which changed since the crash",
            hint="capture the outer frames' values, so that the test can enter there",
        )
    made = [
        n
        for n, v in found.plan.values
        if v.provenance
        in (Provenance.PARTIAL, Provenance.SENTINEL, Provenance.DEDUCED, Provenance.BUILT)
    ]
    if made and changed:
        return Refusal(
            reason=RefusalReason.CALLERS_CHANGED,
            summary=f"{', '.join(map(shown, made))} was rebuilt from what is known, and "
            "the code that makes it may have changed since the crash",
            hint="run on the revision that crashed, or capture the object's state",
        )
    return None


def callers_differ(found: Found, case: Case, tree: SourceTree) -> Refusal | None:
    """Return why a test proves nothing where the callers are not those that the event shows.

    Without the revision that crashed, the lines around each frame are all that tells.
    """
    entered = found.plan.view.place.index
    moved = [
        place
        for place in case.places
        if place.in_app and place.index < entered and changed_around(tree, place)
    ]
    if not moved:
        return None
    names = ", ".join(shown(place.frame.function or "?") for place in moved[:3])
    return Refusal(
        reason=RefusalReason.CALLERS_CHANGED,
        summary=f"the test enters below {names}, whose text is not the one in the event",
        hint="check out the revision that crashed, or tag it with the event's release",
    )


def by_order(outcome: Outcome) -> Refusal:
    """Return the refusal for a crash that comes and goes with the order of a set."""
    return Refusal(
        reason=RefusalReason.NONDETERMINISTIC,
        summary=f"it raises as captured with one hash seed and not with another: {outcome.detail}",
        hint="the order of a set or of hashes decides; set PYTHONHASHSEED=0 to see it",
    )


def gone(outcome: Outcome) -> Refusal:
    """Return the refusal for a crash that is there on its revision and is another one here."""
    return Refusal(
        reason=outcome.reason or RefusalReason.DIFFERENT_EXCEPTION,
        summary="red on the revision that crashed; on this tree the same test does something "
        f"else: {outcome.detail}",
    )


__all__ = [
    "MIB",
    "callers_changed",
    "callers_differ",
    "explain",
    "gone",
    "of_import",
    "of_inspection",
]
