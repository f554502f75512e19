"""Small events, frames, trees and reports, for tests of what decides."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reproof.case import Case, build_case
from reproof.domain.event import Event, EventShape, ExceptionValue, Frame, IssueInfo
from reproof.domain.run import HostFacts, RunEnd, RunRecord
from reproof.reproducer.facts import Facts
from reproof.reproducer.recover import Recovery
from reproof.verdict.expectation import Below, Expectation, ExpectedFrame

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reproof.domain.event import JSON
    from reproof.reproducer.values.expression import Expression


@dataclass(frozen=True, slots=True)
class DictTree:
    """A source tree held in memory."""

    files: Mapping[str, str] = field(default_factory=dict)

    def read(self, path: str) -> str | None:
        """Return the text of a file."""
        return self.files.get(path)

    def exists(self, path: str) -> bool:
        """Say whether the file is there."""
        return path in self.files

    def python_files(self) -> Sequence[str]:
        """Return every Python file, sorted."""
        return sorted(path for path in self.files if path.endswith(".py"))


def line_of(text: str, marker: str) -> int:
    """Return the 1-based number of the only line that contains `marker`."""
    found = [n for n, line in enumerate(text.splitlines(), start=1) if marker in line]
    if len(found) != 1:
        raise AssertionError(f"{marker!r} stands on {len(found)} lines")
    return found[0]


def frame_at(
    files: Mapping[str, str],
    path: str,
    marker: str,
    function: str,
    variables: Mapping[str, JSON] | None = None,
    *,
    prefix: str = "/srv/app/",
    module: str | None = None,
) -> Frame:
    """Return the frame an SDK would send for the line of a file that contains `marker`."""
    lines = files[path].splitlines()
    number = line_of(files[path], marker)
    return Frame(
        filename=path,
        abs_path=prefix + path,
        module=module,
        function=function,
        lineno=number,
        context_line=lines[number - 1],
        pre_context=tuple(lines[max(0, number - 6) : number - 1]),
        post_context=tuple(lines[number : number + 5]),
        in_app=True,
        variables=variables,
    )


def event_of(
    *frames: Frame,
    kind: str = "ValueError",
    message: str | None = "bad",
    module: str | None = None,
    issue: str = "",
    event_id: str = "",
    earlier: Sequence[ExceptionValue] = (),
) -> Event:
    """Return an event whose escaping exception has the given frames, outermost first."""
    raised = ExceptionValue(type=kind, module=module, message=message, frames=frames)
    return Event(
        shape=EventShape.SDK,
        event_id=event_id,
        issue=IssueInfo(id=issue),
        sdk_version="2.75.0",
        runtime_version="3.12.1",
        exceptions=(*earlier, raised),
    )


def case_of(files: Mapping[str, str], event: Event) -> Case:
    """Return the case of an event whose frames all stand in the tree."""
    found = build_case(event, DictTree(files), {})
    if not isinstance(found, Case):
        raise AssertionError(f"refused: {found}")  # noqa: TRY004 -- a refusal is a valid answer
    return found


def recovery_of(
    files: Mapping[str, str],
    event: Event,
    *,
    facts: Facts | None = None,
    user: Mapping[str, Expression] | None = None,
) -> Recovery:
    """Return the recovery over an event's located frames."""
    case = case_of(files, event)
    return Recovery(
        event=event, index=case.index, views=case.views, facts=facts or Facts(), user=user or {}
    )


def expected_frame(
    path: str = "shop/rates.py",
    function: str = "rate",
    line: int = 12,
    *,
    index: int = 0,
    statement: str | None = "return total / count",
    moved: bool = False,
    variables: Mapping[str, JSON] | None = None,
) -> ExpectedFrame:
    """Return one captured in-app frame."""
    return ExpectedFrame(
        index=index,
        path=path,
        function=function,
        line=line,
        statement=statement,
        moved=moved,
        variables=variables or {},
    )


def expectation_of(
    *stack: ExpectedFrame,
    kind: str = "ZeroDivisionError",
    module: str | None = None,
    message: str | None = "division by zero",
    causes: tuple[tuple[str, str | None], ...] = (),
    below: Below | None = None,
) -> Expectation:
    """Return what a replay must show."""
    return Expectation(
        exception=ExceptionValue(type=kind, module=module, message=message),
        causes=causes,
        group=None,
        stack=stack or (expected_frame(),),
        below=below,
    )


def seen_frame(
    file: str = "shop/rates.py",
    function: str = "rate",
    line: int = 12,
    *,
    in_tree: bool = True,
    is_test: bool = False,
    variables: dict[str, JSON] | None = None,
) -> dict[str, JSON]:
    """Return one frame of a guest's report."""
    return {
        "file": file,
        "in_tree": in_tree,
        "is_test": is_test,
        "function": function,
        "qualname": None,
        "line": line,
        "module": None,
        "text": "",
        "locals": variables,
    }


def test_frame() -> dict[str, JSON]:
    """Return the frame of the emitted test itself."""
    return seen_frame("/tree/tests/test_x.py", "test_x", 5, in_tree=False, is_test=True)


test_frame.__test__ = False  # type: ignore[attr-defined]  # a builder, whatever its name says


def seen_exception(
    *frames: dict[str, JSON],
    kind: str = "ZeroDivisionError",
    module: str = "builtins",
    message: str = "division by zero",
    chain: Sequence[tuple[str, str]] = (),
    members: Sequence[dict[str, JSON]] | None = None,
) -> dict[str, JSON]:
    """Return an exception of a guest's report."""
    told: dict[str, JSON] = {
        "type": kind,
        "module": module,
        "message": message,
        "chain": [{"type": name, "module": where} for name, where in chain],
        "frames": [*(frames or (test_frame(), seen_frame()))],
    }
    if members is not None:
        told["members"] = [*members]
    return told


def report_of(
    exception: dict[str, JSON] | None,
    *,
    when: str = "call",
    collected: int = 1,
    collect_error: str | None = None,
    uses: Sequence[tuple[str, str]] = (),
) -> dict[str, JSON]:
    """Return a guest's report of one replay whose phase `when` ended in `exception`."""
    phases: list[JSON] = []
    if when not in ("collect", "setup"):
        phases.append({"when": "setup", "outcome": "passed"})
    phase: dict[str, JSON] = {"when": when, "outcome": "passed" if exception is None else "failed"}
    if exception is not None:
        phase["exception"] = exception
    phases.append(phase)
    if when != "collect":
        phases.append({"when": "teardown", "outcome": "passed"})
    return {
        "exit": 0 if exception is None else 1,
        "collected": collected,
        "collect_error": collect_error,
        "phases": phases,
        "sentinel_uses": [[name, operation] for name, operation in uses],
        "executable": "/env/bin/python",
        "python": [3, 12, 1],
    }


def record_of(
    report: Mapping[str, JSON] | None,
    *,
    end: RunEnd = RunEnd.EXITED,
    exit_code: int | None = 0,
    signal: int | None = None,
    nonce_ok: bool = True,
    limits_hit: tuple[str, ...] = (),
) -> RunRecord:
    """Return one run as the host measured it."""
    host = HostFacts(
        end=end,
        exit_code=exit_code,
        signal=signal,
        wall_s=1.5,
        nonce_ok=nonce_ok,
        limits_hit=limits_hit,
    )
    return RunRecord(host=host, report=report)
