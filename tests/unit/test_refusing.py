"""The sentence and the next step for a crash that was not reproduced."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from builders import case_of, event_of, frame_at, record_of, recovery_of
from reproof.domain.refusal import RefusalReason as Reason
from reproof.domain.run import RunEnd
from reproof.refusing import explain, gone, of_import, of_inspection
from reproof.reproducer.facts import Facts
from reproof.reproducer.plan import Plan, plans_for
from reproof.verdict.rules import Outcome

if TYPE_CHECKING:
    from reproof.domain.event import JSON

FILES = {"shop.py": "def rate(total, count):\n    return total / count  # @rate\n"}


@dataclass
class _Bench:
    expired: bool = False


@dataclass
class _Search:
    outcomes: list[tuple[Plan, Outcome]]
    bench: _Bench = field(default_factory=_Bench)


def _case(variables: dict[str, JSON]) -> tuple[Any, Plan]:
    event = event_of(frame_at(FILES, "shop.py", "@rate", "rate", variables, module="shop"))
    plans = list(plans_for(recovery_of(FILES, event), 0))
    return case_of(FILES, event), plans[-1]


KNOWN: dict[str, JSON] = {"total": "10", "count": "0"}


def _explained(variables: dict[str, JSON], *outcomes: Outcome) -> tuple[Reason, str, str]:
    case, plan = _case(variables)
    search: Any = _Search([(plan, o) for o in outcomes])
    refusal = explain(search, case)
    return refusal.reason, refusal.summary, refusal.hint


def test_the_nearest_replay_speaks() -> None:
    reason, summary, _ = _explained(
        KNOWN,
        Outcome(reason=Reason.PASSED, detail="the call returned normally"),
        Outcome(reason=Reason.LOW_FIDELITY, detail="fidelity 0.85"),
    )

    assert reason is Reason.LOW_FIDELITY
    assert "fidelity 0.85" in summary
    assert "1 passed" in summary
    assert "shop.rate" in summary


@pytest.mark.parametrize(
    ("captured", "reason"),
    [
        ("[Filtered]", Reason.REDACTED_VALUE_NEEDED),
        ("'aaa...", Reason.TRUNCATED_VALUE_NEEDED),
        ("<Odd object at 0x1>", Reason.OPAQUE_VALUE_USED),
    ],
)
def test_a_value_that_was_needed_says_what_became_of_it(captured: str, reason: Reason) -> None:
    outcome = Outcome(
        reason=Reason.OPAQUE_VALUE_USED, detail="", sentinel_uses=(("total", ".rate"),)
    )
    found, summary, hint = _explained({"total": captured, "count": "0"}, outcome)

    assert found is reason
    assert "total.rate" in summary
    assert "--param" in hint


@pytest.mark.parametrize(
    ("raised", "reason"),
    [
        (("gaierror", ""), Reason.NETWORK_NEEDED),
        (("FileNotFoundError", ""), Reason.FILE_NEEDED),
        (("ValueError", ""), Reason.DIFFERENT_EXCEPTION),
    ],
)
def test_another_exception_may_say_what_was_withheld(
    raised: tuple[str, str], reason: Reason
) -> None:
    outcome = Outcome(reason=Reason.DIFFERENT_EXCEPTION, detail="x", raised=raised)

    assert _explained(KNOWN, outcome)[0] is reason


def test_nothing_to_enter_names_the_function() -> None:
    assert _explained(KNOWN)[0] is Reason.UNRECOVERABLE_VALUE
    assert "rate" in _explained(KNOWN)[1]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (record_of({"names": {}}), None),
        (record_of(None, end=RunEnd.TIMEOUT), Reason.TIMEOUT),
        (record_of(None, end=RunEnd.MEMORY), Reason.RESOURCE_LIMIT),
        (record_of(None, limits_hit=("processes",)), Reason.RESOURCE_LIMIT),
        (record_of(None), Reason.NATIVE_CRASH),
    ],
)
def test_an_inspection_that_the_wall_stopped(record: Any, reason: Reason | None) -> None:  # noqa: ANN401
    refusal = of_inspection(record, 128)

    assert (refusal.reason if refusal else None) is reason


def test_a_module_that_cannot_be_imported() -> None:
    case, _ = _case(KNOWN)
    refusal = of_import(Facts(errors={"shop": "No module named 'x\x1b[2J'"}), case)

    assert refusal is not None
    assert refusal.reason is Reason.ENVIRONMENT
    assert refusal.summary.isprintable()
    assert of_import(Facts(errors={"other": "x"}), case) is None


def test_red_there_and_another_crash_here() -> None:
    refusal = gone(Outcome(reason=Reason.DIFFERENT_LOCATION, detail="elsewhere"))

    assert refusal.reason is Reason.DIFFERENT_LOCATION
    assert "elsewhere" in refusal.summary
