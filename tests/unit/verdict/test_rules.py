"""The judge's truth table: one right replay is accepted, each other crash has its own refusal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from builders import (
    expectation_of,
    expected_frame,
    record_of,
    report_of,
    seen_exception,
    seen_frame,
    test_frame,
)
from reproof.domain.refusal import RefusalReason as Reason
from reproof.domain.run import RunEnd
from reproof.verdict.expectation import Below, Expectation, Group
from reproof.verdict.rules import Outcome, judge_replay, normal_message

OUTER = expected_frame("shop/desk.py", "quote", 30, index=0, statement="rate(total, n)")
CRASH = expected_frame(
    index=1, statement="return total / count", variables={"total": "10", "count": "0"}
)
WANT = expectation_of(OUTER, CRASH)
SEEN_OUTER = seen_frame("shop/desk.py", "quote", 30)
SEEN_CRASH = seen_frame(variables={"total": "10", "count": "0"})
STATEMENTS = {
    ("shop/rates.py", 12): "return total / count",
    ("shop/rates.py", 13): "return total / count",
    ("shop/rates.py", 20): "return total / other",
}


def _statement(path: str, line: int) -> str | None:
    return STATEMENTS.get((path, line))


def _judge(report: object, want: Expectation = WANT) -> Outcome:
    assert report is None or isinstance(report, dict)
    return judge_replay(want, record_of(report), _statement)


def _raised(*frames: object, **changes: object) -> dict[str, object]:
    stack = frames or (test_frame(), SEEN_OUTER, SEEN_CRASH)
    return report_of(seen_exception(*stack, **changes))  # type: ignore[arg-type,return-value]


def test_the_captured_crash_is_accepted_with_full_fidelity() -> None:
    outcome = _judge(_raised())

    assert outcome.reproduced
    assert outcome.fidelity.score == 1.0
    assert outcome.fidelity.compared_locals == 2
    assert outcome.entered == 0


def test_an_inner_entry_is_accepted_and_says_where_it_entered() -> None:
    outcome = _judge(_raised(test_frame(), SEEN_CRASH))

    assert outcome.reproduced
    assert outcome.entered == 1


@pytest.mark.parametrize(
    ("report", "reason"),
    [
        pytest.param(_raised(kind="TypeError"), Reason.DIFFERENT_EXCEPTION, id="other-class"),
        pytest.param(
            _raised(kind="MyZeroDivisionError", module="shop.errors"),
            Reason.DIFFERENT_EXCEPTION,
            id="subclass",
        ),
        pytest.param(
            _raised(module="shop.errors"),
            Reason.DIFFERENT_EXCEPTION,
            id="namesake-of-a-builtin",
        ),
        pytest.param(
            _raised(chain=[("KeyError", "builtins")]),
            Reason.DIFFERENT_EXCEPTION,
            id="a-cause-too-many",
        ),
        pytest.param(
            _raised(members=[seen_exception()]), Reason.DIFFERENT_EXCEPTION, id="a-group-instead"
        ),
        pytest.param(
            _raised(test_frame(), seen_frame("shop/other.py")),
            Reason.DIFFERENT_LOCATION,
            id="other-file",
        ),
        pytest.param(
            _raised(test_frame(), seen_frame(function="rates")),
            Reason.DIFFERENT_LOCATION,
            id="other-function",
        ),
        pytest.param(
            _raised(test_frame(), seen_frame(line=20)), Reason.DIFFERENT_LOCATION, id="other-line"
        ),
        pytest.param(
            _raised(test_frame(), SEEN_CRASH, seen_frame("shop/deep.py", "inner", 3)),
            Reason.DIFFERENT_LOCATION,
            id="raised-deeper-in-the-tree",
        ),
        pytest.param(
            _raised(test_frame(), SEEN_CRASH, seen_frame("/lib/x.py", "div", 3, in_tree=False)),
            Reason.DIFFERENT_LOCATION,
            id="raised-in-a-library",
        ),
        pytest.param(
            _raised(test_frame(), seen_frame("shop/desk.py", "refund", 50), SEEN_CRASH),
            Reason.DIFFERENT_LOCATION,
            id="by-another-way",
        ),
        pytest.param(
            _raised(test_frame(), seen_frame("shop/desk.py", "quote", 31), SEEN_CRASH),
            Reason.DIFFERENT_LOCATION,
            id="from-another-line-of-the-caller",
        ),
        pytest.param(
            _raised(test_frame()), Reason.DIFFERENT_EXCEPTION, id="raised-by-the-test-itself"
        ),
        pytest.param(
            _raised(test_frame(), kind="ImportError"), Reason.ENVIRONMENT, id="import-in-the-test"
        ),
        pytest.param(
            _raised(test_frame(), seen_frame("/lib/x.py", "rate", in_tree=False)),
            Reason.DIFFERENT_EXCEPTION,
            id="no-frame-of-the-tree",
        ),
        pytest.param(report_of(None), Reason.PASSED, id="passed"),
        pytest.param(
            report_of(seen_exception(), when="teardown"), Reason.PASSED, id="failed-in-teardown"
        ),
        pytest.param(
            report_of(seen_exception(), when="setup"), Reason.DIFFERENT_EXCEPTION, id="in-setup"
        ),
        pytest.param(
            report_of(seen_exception(), when="collect", collected=0),
            Reason.DIFFERENT_EXCEPTION,
            id="in-collection",
        ),
        pytest.param(
            report_of(seen_exception(kind="ModuleNotFoundError"), when="collect", collected=0),
            Reason.ENVIRONMENT,
            id="import-in-collection",
        ),
        pytest.param(
            report_of(None, collected=0, collect_error="boom"),
            Reason.ENVIRONMENT,
            id="collection-error",
        ),
        pytest.param(
            report_of(seen_exception(), collected=0), Reason.ENVIRONMENT, id="no-test-collected"
        ),
        pytest.param(
            report_of(seen_exception(), collected=2), Reason.ENVIRONMENT, id="two-tests-collected"
        ),
        pytest.param(
            report_of(
                seen_exception(test_frame(), SEEN_OUTER, SEEN_CRASH), uses=[("db", ".execute")]
            ),
            Reason.OPAQUE_VALUE_USED,
            id="stand-in-used",
        ),
        pytest.param(None, Reason.NATIVE_CRASH, id="no-report"),
        pytest.param({"exit": 1}, Reason.NATIVE_CRASH, id="a-report-without-phases"),
    ],
)
def test_another_crash_is_refused(report: dict[str, object] | None, reason: Reason) -> None:
    outcome = _judge(report)

    assert not outcome.reproduced
    assert outcome.reason is reason
    assert outcome.detail
    assert outcome.fidelity.score == 0


RIGHT = report_of(seen_exception(test_frame(), SEEN_OUTER, SEEN_CRASH))


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        pytest.param(record_of(RIGHT, end=RunEnd.TIMEOUT), Reason.TIMEOUT, id="timeout"),
        pytest.param(record_of(RIGHT, end=RunEnd.MEMORY), Reason.RESOURCE_LIMIT, id="memory"),
        pytest.param(record_of(RIGHT, nonce_ok=False), Reason.NATIVE_CRASH, id="foreign-nonce"),
        pytest.param(
            record_of(RIGHT, end=RunEnd.SIGNALED, exit_code=None, signal=11),
            Reason.NATIVE_CRASH,
            id="signal",
        ),
        pytest.param(
            record_of(None, limits_hit=("processes",)), Reason.RESOURCE_LIMIT, id="limit-no-report"
        ),
        pytest.param(
            record_of(RIGHT, limits_hit=("disk_bytes",)), Reason.RESOURCE_LIMIT, id="limit-hit"
        ),
    ],
)
def test_what_the_host_measured_comes_before_what_the_guest_says(
    record: object, reason: Reason
) -> None:
    assert judge_replay(WANT, record, _statement).reason is reason  # type: ignore[arg-type]


def test_a_test_that_does_not_fail_is_no_evidence() -> None:
    want = expectation_of(CRASH, kind="Skipped", module="_pytest.outcomes", message="")
    report = report_of(
        seen_exception(
            test_frame(), SEEN_CRASH, kind="Skipped", module="_pytest.outcomes", message=""
        )
    )
    assert _judge(report, want).reproduced
    phases = report["phases"]
    assert isinstance(phases, list)
    assert isinstance(phases[1], dict)
    phases[1]["outcome"] = "skipped"
    report["exit"] = 0

    assert not _judge(report, want).reproduced


def test_a_memory_limit_may_be_the_captured_crash() -> None:
    want = expectation_of(CRASH, kind="MemoryError", message="")
    report = report_of(seen_exception(test_frame(), SEEN_CRASH, kind="MemoryError", message=""))

    assert judge_replay(want, record_of(report, end=RunEnd.MEMORY), _statement).reproduced


def test_a_statement_of_several_lines_may_report_any_of_them() -> None:
    assert _judge(_raised(test_frame(), seen_frame(line=13))).reproduced


def test_a_moved_line_costs_half_of_the_location() -> None:
    want = expectation_of(replace(CRASH, moved=True))
    outcome = _judge(_raised(test_frame(), SEEN_CRASH), want)

    assert outcome.reproduced
    assert outcome.fidelity.location == 0.5
    assert outcome.fidelity.score == pytest.approx(0.925)


def test_the_library_function_below_must_be_the_same() -> None:
    want = expectation_of(CRASH, below=Below("loads", "__init__.py"))

    def below(function: str) -> dict[str, object]:
        deep = seen_frame("/lib/json/__init__.py", function, 3, in_tree=False)
        return _raised(test_frame(), SEEN_CRASH, deep)

    assert _judge(below("loads"), want).reproduced
    assert _judge(below("load"), want).reason is Reason.DIFFERENT_LOCATION
    elsewhere = replace(want, below=Below("loads", "pickle.py"))
    assert _judge(below("loads"), elsewhere).reason is Reason.DIFFERENT_LOCATION
    assert _judge(_raised(test_frame(), SEEN_CRASH), want).reason is Reason.DIFFERENT_LOCATION


@pytest.mark.parametrize(
    ("chain", "same"),
    [
        ([("KeyError", "builtins"), ("LookupFailed", "shop.errors")], True),
        ([("LookupFailed", "shop.errors"), ("KeyError", "builtins")], False),
        ([("LookupFailed", "shop.errors")], False),
        ([("KeyError", "builtins"), ("LookupFailed", "other.errors")], False),
        ([("KeyError", "builtins"), ("LookupFailed", "shop.errors"), ("A", "b")], False),
        ([], False),
    ],
)
def test_causes_must_be_the_captured_ones_in_their_order(
    chain: list[tuple[str, str]], same: bool
) -> None:
    want = expectation_of(CRASH, causes=(("KeyError", None), ("LookupFailed", "shop.errors")))
    outcome = _judge(_raised(test_frame(), SEEN_CRASH, chain=chain), want)

    assert outcome.reason is (None if same else Reason.DIFFERENT_EXCEPTION)


@pytest.mark.parametrize(
    ("want_module", "got_module", "same"),
    [
        ("shop.errors", "shop.errors", True),
        ("shop.errors", "shop.other", False),
        ("shop.errors", "builtins", False),
        ("__main__", "shop.desk", True),
        ("__main__", "builtins", False),
        (None, "shop.errors", False),
    ],
)
def test_the_class_is_compared_with_its_module_where_the_event_gives_one(
    want_module: str | None, got_module: str, same: bool
) -> None:
    want = expectation_of(CRASH, kind="RateError", module=want_module)
    report = _raised(test_frame(), SEEN_CRASH, kind="RateError", module=got_module)

    assert _judge(report, want).reproduced is same


def _member(kind: str, *members: dict[str, object]) -> dict[str, object]:
    return seen_exception(kind=kind, members=members or None)  # type: ignore[arg-type,return-value]


@pytest.mark.parametrize(
    ("members", "same"),
    [
        ([_member("ValueError"), _member("ExceptionGroup", _member("KeyError"))], True),
        ([_member("ExceptionGroup", _member("KeyError")), _member("ValueError")], False),
        ([_member("ValueError"), _member("KeyError")], False),
        ([_member("ValueError")], False),
        ([], False),
        (None, False),
    ],
)
def test_groups_are_compared_as_trees(members: list[dict[str, object]] | None, same: bool) -> None:
    tree = Group(
        "ExceptionGroup", (Group("ValueError"), Group("ExceptionGroup", (Group("KeyError"),)))
    )
    want = replace(expectation_of(CRASH, kind="ExceptionGroup"), group=tree)
    report = _raised(test_frame(), SEEN_CRASH, kind="ExceptionGroup", members=members)

    assert _judge(report, want).reason is (None if same else Reason.DIFFERENT_EXCEPTION)


def test_the_causes_of_a_group_count_too() -> None:
    want = replace(
        expectation_of(CRASH, kind="ExceptionGroup"), group=Group("ExceptionGroup", (Group("A"),))
    )
    report = _raised(
        test_frame(),
        SEEN_CRASH,
        kind="ExceptionGroup",
        members=[_member("A")],
        chain=[("KeyError", "builtins")],
    )

    assert _judge(report, want).reason is Reason.DIFFERENT_EXCEPTION


def test_another_message_is_low_fidelity() -> None:
    outcome = _judge(_raised(message="float division by zero"))

    assert outcome.reason is Reason.LOW_FIDELITY
    assert outcome.fidelity.score == pytest.approx(0.85)
    assert "message" in outcome.detail


@pytest.mark.parametrize(
    ("variables", "score"),
    [
        ({"total": "10", "count": "0"}, 1.0),
        ({"total": "11", "count": "0"}, 0.9),
        ({"total": "11", "count": "1"}, 0.8),
    ],
)
def test_locals_are_a_fifth_of_fidelity(variables: dict[str, str], score: float) -> None:
    outcome = _judge(_raised(test_frame(), seen_frame(variables={**variables})))

    assert outcome.fidelity.score == pytest.approx(score)
    assert outcome.reproduced is (score >= 0.9)


def test_endless_recursion_is_the_same_whichever_line_comes_last() -> None:
    walk = [
        expected_frame("shop/tree.py", "walk", 7, index=i, statement="walk(n)") for i in range(9)
    ]
    want = expectation_of(*walk, kind="RecursionError", message="maximum recursion depth exceeded")
    deep = [seen_frame("shop/tree.py", "walk", 7)] * 50 + [seen_frame("shop/tree.py", "walk", 6)]

    def outcome(*frames: dict[str, object]) -> Outcome:
        report = _raised(
            test_frame(), *frames, kind="RecursionError", message=want.exception.message
        )
        return _judge(report, want)

    assert outcome(*deep).reproduced  # type: ignore[arg-type]
    other = [seen_frame("shop/tree.py", "climb", 20)] * 50
    assert outcome(*other).reason is Reason.DIFFERENT_LOCATION  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["<listcomp>", "<dictcomp>", "<setcomp>"])
def test_a_comprehension_has_a_frame_of_its_own_only_before_python_3_12(name: str) -> None:
    captured = expectation_of(OUTER, replace(CRASH, function="rate"), replace(CRASH, function=name))

    assert _judge(_raised(), captured).reproduced
    inlined = expectation_of(OUTER, CRASH)
    own = seen_frame(function=name)
    assert _judge(_raised(test_frame(), SEEN_OUTER, SEEN_CRASH, own), inlined).reproduced


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("<Cart object at 0x7f0112>", "<Cart object at 0x8e0212>", True),
        ("bad rate 3", "bad rate 4", False),
        ("cannot open '/srv/app/a.csv'", "cannot open '/tree/a.csv'", True),
        ("cannot open '/srv/app/a.csv'", "cannot open '/srv/app/b.csv'", False),
        ("", "bad", False),
        ("no route /api/v1/users", "no route /api/v2/users", False),
        ("bad date 1/2/2024", "bad date 1/9/2024", False),
    ],
)
def test_messages_are_compared_without_addresses_and_folders(
    one: str, other: str, same: bool
) -> None:
    assert (normal_message(one) == normal_message(other)) is same


def test_hostile_text_is_escaped_in_the_detail() -> None:
    outcome = _judge(_raised(kind="Evil\x1b[31m\u202e", message="\n\x00"))

    assert outcome.reason is Reason.DIFFERENT_EXCEPTION
    assert outcome.detail.isprintable()
