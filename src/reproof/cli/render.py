"""A verdict in words: pure, from the `reproof/verdict/1` document, one line at a time.

Every text that comes from the event is escaped here; what is returned may go to a terminal as it
is. Colour marks what the words already say, never more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reproof.cli.console import COLORS, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reproof.domain.event import JSON

MAX_TEXT = 300
"""Characters of one field; the JSON document has it whole."""
MAX_NAMES = 8
"""Names in one list: an event may have thousands of frames."""


def verdict_lines(
    document: Mapping[str, JSON], *, color: bool = False, verbose: bool = False
) -> Iterator[str]:
    """Yield the lines that tell a verdict to a person."""
    reproduced = document.get("status") == "reproduced"
    head = "reproduced" if reproduced else f"not reproduced: {_text(document.get('reason'))}"
    yield f"{_paint(head, 'green' if reproduced else 'yellow', on=color)}: {_crash(document)}"
    yield f"  {_text(document.get('summary'))}"
    for label, text in _facts(document):
        if text:
            yield f"  {_paint(f'{label:<11}', 'dim', on=color)} {text}"
    if verbose:
        yield from (f"  value       {line}" for line in _values(document))
        yield from (f"  attempt     {line}" for line in _attempts(document))
    for advice in _items(document, "advice"):
        yield f"  {_paint('hint:', 'cyan', on=color)} {_text(advice)}"


def _crash(document: Mapping[str, JSON]) -> str:
    kind = _get(document, "exception", "type") or "the crash"
    function = _get(document, "crash_point", "function")
    if not function:
        return kind
    place = f"{_get(document, 'crash_point', 'file')}:{_get(document, 'crash_point', 'line')}"
    return f"{kind} in {function} ({place})"


def _facts(document: Mapping[str, JSON]) -> Iterator[tuple[str, str]]:
    message = _get(document, "exception", "message")
    yield "message", "" if message in _text(document.get("summary")) else message
    yield "entry", _entry(document)
    yield "fidelity", _fidelity(document)
    yield "confirmed", _confirmations(document)
    yield "revision", _get(document, "differential", "crash_revision")
    yield "sandbox", _sandbox(document)
    yield "python", _get(document, "environment", "python")
    mismatches = _items(_object(document, "environment"), "mismatches")
    yield "differs", ", ".join(_text(item) for item in mismatches[:5])
    yield (
        "redacted",
        ", ".join(
            f"{_text(count)} x {_text(name)}"
            for name, count in _object(document, "redactions").items()
        ),
    )
    yield "test", _get(document, "test", "path")
    yield "run it", _get(document, "test", "command")


def _entry(document: Mapping[str, JSON]) -> str:
    call = _get(document, "entry", "call") or _get(document, "entry", "function")
    if not call:
        return ""
    bypassed = _items(_object(document, "entry"), "bypassed")
    names = [_text(name) for name in bypassed[:MAX_NAMES]]
    if len(bypassed) > MAX_NAMES:
        names.append(f"{len(bypassed) - MAX_NAMES} more")
    past = f", bypassing {', '.join(names)}" if names else ""
    return f"{call} ({_get(document, 'entry', 'reach')}{past})"


def _fidelity(document: Mapping[str, JSON]) -> str:
    fidelity = _object(document, "fidelity")
    if "score" not in fidelity:
        return ""
    parts = ", ".join(
        f"{name} {_number(fidelity.get(name))}" for name in ("location", "message", "locals")
    )
    compared = _text(fidelity.get("compared_locals", 0))
    return f"{_number(fidelity.get('score'))} ({parts} over {compared} captured values)"


def _confirmations(document: Mapping[str, JSON]) -> str:
    confirmations = _object(document, "confirmations")
    if not confirmations.get("runs"):
        return ""
    control = "passed" if confirmations.get("control_passed") else "did not pass"
    agreeing, runs = _text(confirmations.get("agreeing")), _text(confirmations.get("runs"))
    return f"{agreeing} of {runs} runs agree, the control run {control}"


def _sandbox(document: Mapping[str, JSON]) -> str:
    sandbox = _object(document, "sandbox")
    if not sandbox.get("backend"):
        return ""
    network = _text(sandbox.get("network"))
    missing = [_text(name) for name in _items(sandbox, "not_achieved")]
    without = f"; not achieved: {', '.join(missing)}" if missing else ""
    level = _text(sandbox.get("level"))
    return f"{_text(sandbox.get('backend'))} ({level}, network {network}){without}"


def _values(document: Mapping[str, JSON]) -> Iterator[str]:
    for value in _items(document, "values"):
        if isinstance(value, dict):
            name, text = _text(value.get("name")), _text(value.get("text"))
            yield f"{name} = {text} ({_text(value.get('provenance'))})"


def _attempts(document: Mapping[str, JSON]) -> Iterator[str]:
    for attempt in _items(document, "attempts"):
        if isinstance(attempt, dict):
            detail = _text(attempt.get("detail"))
            outcome = _text(attempt.get("outcome"))
            yield f"{_text(attempt.get('entry'))}: {outcome}{' - ' if detail else ''}{detail}"


def _object(document: Mapping[str, JSON], key: str) -> Mapping[str, JSON]:
    found = document.get(key)
    return found if isinstance(found, dict) else {}


def _items(document: Mapping[str, JSON], key: str) -> list[JSON]:
    found = document.get(key)
    return found if isinstance(found, list) else []


def _get(document: Mapping[str, JSON], key: str, field: str) -> str:
    return _text(_object(document, key).get(field))


def _text(value: JSON) -> str:
    """Return one field on one line, escaped and bounded; nothing for what is not there."""
    if value is None:
        return ""
    text = str(value)
    if len(text) > MAX_TEXT:
        text = f"{text[:MAX_TEXT]}... ({len(text)} characters)"
    return printable(text).replace("\n", "\\n").replace("\t", " ")


def _number(value: JSON) -> str:
    return f"{value:.2f}" if isinstance(value, (int, float)) else "?"


def _paint(text: str, name: str, *, on: bool) -> str:
    return f"\x1b[{COLORS[name]}m{text}\x1b[0m" if on else text
