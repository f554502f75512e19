"""The order of the search, its bounds, and what a found plan had to pass."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from builders import (
    case_of,
    event_of,
    frame_at,
    record_of,
    recovery_of,
    report_of,
    seen_exception,
    seen_frame,
    test_frame,
)
from reproof.domain.refusal import RefusalReason
from reproof.domain.run import Isolation, Job, JobKind, Limits, RunRecord
from reproof.refusing import explain
from reproof.search import CONFIRMATIONS, MAX_ATTEMPTS, Bench, Found, Search

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from reproof.domain.event import JSON

FILES = {
    "shop.py": (
        "def quote(order):\n    return rate(order, 0)  # @quote\n\n\n"
        "def rate(total, count):\n    return total / count  # @rate\n"
    )
}
EVENT = event_of(
    frame_at(FILES, "shop.py", "@quote", "quote", {"order": "10"}, module="shop"),
    frame_at(FILES, "shop.py", "@rate", "rate", {"total": "10", "count": "0"}, module="shop"),
    kind="ZeroDivisionError",
    message="division by zero",
)
CRASH = seen_frame("shop.py", "rate", 6, variables={"total": "10", "count": "0"})
OUTER = seen_frame("shop.py", "quote", 2, variables={"order": "10"})
WHOLE = report_of(seen_exception(test_frame(), OUTER, CRASH))
INNER = report_of(seen_exception(test_frame(), CRASH))
PASSED = report_of(None)
GOOD_CONTROL: dict[str, JSON] = {"ok": True, "values": {}}


class FakeSession:
    """Answers jobs from a function; keeps what was asked."""

    def __init__(self, answer: Callable[[Job], RunRecord]) -> None:
        self.answer = answer
        self.jobs: list[Job] = []

    @property
    def isolation(self) -> Isolation:
        return Isolation(
            backend="fake", level="none", network="none", uid=0, limits={}, achieved={}
        )

    def run(self, job: Job) -> RunRecord:
        self.jobs.append(job)
        return self.answer(job)

    def close(self) -> None:
        """Do nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class Silent:
    def stage(self, name: str) -> None:
        """Say nothing."""

    def attempt(self, entry: str, outcome: str) -> None:
        """Say nothing."""


def _text(job: Job) -> str:
    return b"".join(job.files.values()).decode()


def _search(answer: Callable[[Job], RunRecord], *, seconds: float = 60) -> Search:
    bench = Bench(
        session=FakeSession(answer),
        root="/tree",
        roots=("/tree",),
        folder="tests",
        sdk=(2, 75, 0),
        limits=Limits(),
        deadline=time.monotonic() + seconds,
    )
    return Search(
        bench=bench,
        recovery=recovery_of(FILES, EVENT),
        expected=case_of(FILES, EVENT).expected,
        progress=Silent(),
    )


def _answers(
    outer: Sequence[dict[str, JSON]], inner: Sequence[dict[str, JSON]], control: dict[str, JSON]
) -> Callable[[Job], RunRecord]:
    """Answer replays of each entry in turn, the last answer for ever."""
    told = {"quote": list(outer), "rate": list(inner)}

    def answer(job: Job) -> RunRecord:
        if job.kind is JobKind.CONTROL:
            return record_of(control)
        reports = told["quote" if "import quote" in _text(job) else "rate"]
        return record_of(reports.pop(0) if len(reports) > 1 else reports[0])

    return answer


def test_the_outermost_plan_that_holds_is_found_and_confirmed() -> None:
    search = _search(_answers([WHOLE], [INNER], GOOD_CONTROL))
    found = search.run()

    assert isinstance(found, Found)
    assert found.plan.view.site.name == "quote"
    assert (found.confirmations.runs, found.confirmations.agreeing) == (
        CONFIRMATIONS,
        CONFIRMATIONS,
    )
    assert found.confirmations.control_passed
    assert [a.outcome for a in search.attempts] == ["reproduced"]


def test_an_inner_plan_serves_where_the_outer_one_does_not_hold() -> None:
    found = _search(_answers([PASSED], [INNER], GOOD_CONTROL)).run()

    assert found is not None
    assert found.plan.view.site.name == "rate"


@pytest.mark.parametrize(
    ("replays", "control", "reason"),
    [
        ([WHOLE, WHOLE, PASSED], GOOD_CONTROL, RefusalReason.FLAKY),
        ([WHOLE, PASSED], GOOD_CONTROL, RefusalReason.FLAKY),
        ([WHOLE], {"ok": False}, RefusalReason.ENVIRONMENT),
        ([WHOLE], {}, RefusalReason.ENVIRONMENT),
        ([WHOLE], {"ok": 1}, RefusalReason.ENVIRONMENT),
        (
            [WHOLE],
            {"ok": True, "values": {"order": "11"}},
            RefusalReason.UNRECOVERABLE_VALUE,
        ),
        ([PASSED], GOOD_CONTROL, RefusalReason.PASSED),
    ],
)
def test_a_plan_that_fails_the_control_or_a_confirmation_is_not_found(
    replays: list[dict[str, JSON]], control: dict[str, JSON], reason: RefusalReason
) -> None:
    search = _search(_answers(replays, [PASSED], control))

    assert search.run() is None
    assert search.outcomes[0][1].reason is reason
    assert all(a.outcome != "reproduced" for a in search.attempts)
    assert explain(search, case_of(FILES, EVENT)).summary


def test_the_confirming_runs_use_the_very_bytes_of_the_test() -> None:
    search = _search(_answers([WHOLE], [INNER], GOOD_CONTROL))
    found = search.run()
    session = search.bench.session

    assert found is not None
    assert isinstance(session, FakeSession)
    replays = [j for j in session.jobs if j.kind is JobKind.REPLAY]
    assert len(replays) == 1 + CONFIRMATIONS
    assert {_text(j) for j in replays} == {found.emitted.text}
    assert not any(j.request.get("sentinels") for j in replays[1:])


def test_out_of_time_nothing_is_begun() -> None:
    search = _search(_answers([WHOLE], [INNER], GOOD_CONTROL), seconds=-1)

    assert search.run() is None
    assert search.attempts == []
    assert explain(search, case_of(FILES, EVENT)).reason is RefusalReason.TIMEOUT


def test_the_number_of_attempts_is_bounded() -> None:
    search = _search(_answers([PASSED], [PASSED], GOOD_CONTROL))
    search.run()

    assert 2 <= len(search.attempts) <= MAX_ATTEMPTS


def test_a_run_gets_no_more_time_than_the_case_has_left() -> None:
    search = _search(_answers([PASSED], [PASSED], GOOD_CONTROL), seconds=3)
    search.run()
    session = search.bench.session

    assert isinstance(session, FakeSession)
    assert all(job.limits.wall_s <= 3 for job in session.jobs)
