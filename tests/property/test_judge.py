"""However a right report is changed into another crash, the judge does not accept it."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from builders import (
    expectation_of,
    expected_frame,
    record_of,
    report_of,
    seen_exception,
    seen_frame,
    test_frame,
)
from reproof.domain.run import RunEnd
from reproof.verdict.expectation import Below
from reproof.verdict.rules import judge_replay
from reproof.verdict.seen import read_replay

if TYPE_CHECKING:
    from collections.abc import Callable

STACK = (
    expected_frame("shop/app.py", "main", 5, index=0, statement="quote(order)"),
    expected_frame("shop/desk.py", "quote", 30, index=1, statement="rate(total, n)"),
    expected_frame(index=3, variables={"total": "10", "count": "0"}),
)
WANT = expectation_of(
    *STACK,
    kind="RateError",
    module="shop.errors",
    message="no rate",
    causes=(("KeyError", None), ("LookupError", None)),
    below=Below("divide", "maths.py"),
)
RIGHT: dict[str, Any] = report_of(
    seen_exception(
        test_frame(),
        seen_frame("shop/app.py", "main", 5),
        seen_frame("shop/desk.py", "quote", 30),
        seen_frame(variables={"total": "10", "count": "0"}),
        seen_frame("/env/lib/maths.py", "divide", 9, in_tree=False),
        kind="RateError",
        module="shop.errors",
        message="no rate",
        chain=[("KeyError", "builtins"), ("LookupError", "builtins")],
    )
)
NAMES = st.text("abcXYZ_<>.", min_size=1, max_size=8)
LINES = st.integers(-1, 100)


def _exception(report: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = report["phases"][1]["exception"]
    return found


def _set(key: str, value: object) -> Callable[[dict[str, Any]], None]:
    return lambda report: _exception(report).update({key: value})


def _frame(index: int, key: str, value: object) -> Callable[[dict[str, Any]], None]:
    return lambda report: _exception(report)["frames"][index].update({key: value})


def _cut(count: int) -> Callable[[dict[str, Any]], None]:
    def change(report: dict[str, Any]) -> None:
        del _exception(report)["frames"][-count:]

    return change


def _top(key: str, value: object) -> Callable[[dict[str, Any]], None]:
    return lambda report: report.update({key: value})


def _when(value: str) -> Callable[[dict[str, Any]], None]:
    return lambda report: report["phases"][1].update({"when": value})


def _deeper(name: str, *, in_tree: bool) -> Callable[[dict[str, Any]], None]:
    frame = seen_frame(f"shop/{name}.py", name, 1, in_tree=in_tree)
    return lambda report: _exception(report)["frames"].append(frame)


MUTATIONS = st.one_of(
    NAMES.filter(lambda n: n != "RateError").map(lambda n: _set("type", n)),
    NAMES.map(lambda n: _set("module", n)),
    st.lists(st.sampled_from(["KeyError", "LookupError", "ValueError"]), max_size=4)
    .filter(lambda names: names != ["KeyError", "LookupError"])
    .map(lambda names: _set("chain", [{"type": n, "module": "builtins"} for n in names])),
    st.just(_set("members", [])),
    st.just(_set("members", [seen_exception()])),
    st.builds(lambda i, n: _frame(i, "file", n), st.integers(1, 3), NAMES),
    st.builds(lambda i, n: _frame(i, "function", n), st.integers(1, 4), NAMES),
    st.builds(
        lambda i, n: _frame(i, "line", n),
        st.integers(1, 3),
        LINES.filter(lambda n: n not in (5, 30, 12)),
    ),
    st.just(_frame(3, "in_tree", value=False)),
    st.integers(1, 5).map(_cut),
    NAMES.map(lambda n: _deeper(n, in_tree=True)),
    NAMES.filter(lambda n: n != "divide").map(lambda n: _deeper(n, in_tree=False)),
    st.integers(-2, 5).filter(lambda n: n != 1).map(lambda n: _top("collected", n)),
    st.lists(st.tuples(NAMES, NAMES).map(list), min_size=1).map(
        lambda uses: _top("sentinel_uses", uses)
    ),
    st.sampled_from(["setup", "collect", "teardown", "", "CALL"]).map(_when),
    NAMES.map(lambda n: _top("collect_error", n)),
    st.sampled_from([None, [], {}, "x", 3]).map(lambda v: _top("phases", v)),
)


def test_the_report_that_is_changed_here_is_right() -> None:
    assert judge_replay(WANT, record_of(RIGHT), lambda _p, _l: None).reproduced


@given(MUTATIONS)
@settings(max_examples=300, deadline=None)
def test_no_change_into_another_crash_is_accepted(change: Callable[[dict[str, Any]], None]) -> None:
    report = copy.deepcopy(RIGHT)
    change(report)

    outcome = judge_replay(WANT, record_of(report), lambda _p, _l: None)
    assert not outcome.reproduced
    assert outcome.detail


@given(
    st.sampled_from(list(RunEnd)),
    st.none() | st.integers(1, 15),
    st.booleans(),
)
def test_a_run_that_did_not_end_well_is_never_accepted(
    end: RunEnd, signal: int | None, nonce_ok: bool
) -> None:
    outcome = judge_replay(
        WANT, record_of(RIGHT, end=end, signal=signal, nonce_ok=nonce_ok), lambda _p, _l: None
    )
    well = end in (RunEnd.EXITED, RunEnd.SIGNALED) and signal is None and nonce_ok

    assert outcome.reproduced is well


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["phases", "exception", "frames", "chain", "members", "type", "line"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@given(st.dictionaries(st.sampled_from(list(RIGHT)), ANY_JSON))
def test_a_report_of_any_shape_is_read_and_refused(parts: dict[str, Any]) -> None:
    read_replay(parts)

    assert not judge_replay(WANT, record_of(parts), lambda _p, _l: None).reproduced
