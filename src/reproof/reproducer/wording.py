"""What a test is called and what it says about itself.

Text from the event is quoted here and nowhere else: nothing in it can end a string or a line.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from reproof.domain.text import shown
from reproof.reproducer.source import EntryKind

if TYPE_CHECKING:
    from reproof.domain.event import Event
    from reproof.reproducer.plan import Plan


def test_name(plan: Plan, event: Event) -> str:
    """Return `test_rate_zero_division_error`."""
    site = plan.view.site
    subject = site.module.rpartition(".")[2] if site.kind is EntryKind.MODULE else site.name
    words = [subject.strip("_") or "call", snake(event.raised.type)]
    return "test_" + "_".join(re.sub(r"\W", "_", w, flags=re.ASCII)[:60] for w in words if w)


def file_name(plan: Plan, event: Event) -> str:
    """Return `test_<issue>_<function>.py`, safe whatever the event says."""
    known = event.issue.id or event.event_id
    # an id of 32 digits names nothing to a person: its first eight tell it from the others
    known = known[:8] if re.fullmatch(r"[0-9a-fA-F-]{32,36}", known) else known
    issue = re.sub(r"[^A-Za-z0-9]+", "_", known).strip("_")[:40]
    site = plan.view.site
    subject = site.module.rpartition(".")[2] if site.kind is EntryKind.MODULE else site.name
    subject = re.sub(r"\W", "_", subject.strip("_"), flags=re.ASCII)[:60] or "crash"
    return "_".join(["test", *([issue] if issue else []), subject]) + ".py"


def data_name(test: str) -> str:
    """Return the path of the data file beside a test file."""
    return test.removesuffix(".py") + ".json"


def snake(name: str) -> str:
    """Return `zero_division_error` for `ZeroDivisionError`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def _quoted(text: str, limit: int = 200) -> str:
    """Return event text fit for a docstring: one line, printable, nothing can end the string."""
    clean = shown(text, limit).replace("\u2026", "...")
    clean = clean.encode("ascii", "backslashreplace").decode()
    clean = clean.replace("\\", "\\\\").replace('"""', "'''")
    return clean[:-1] + "'" if clean.endswith('"') else clean


def _tail(path: str) -> str:
    """Return a path as sent, or the end of one that is absolute: the rest is a server's."""
    parts = path.replace("\\", "/").split("/")
    return path if parts[0] else "/".join(parts[-3:])


def headline(plan: Plan, event: Event) -> str:
    """Return the module's docstring: exception, issue and crash point."""
    crash = event.raised
    where = plan.view.site
    issue = f" (issue {_quoted(event.issue.id, 40)})" if event.issue.id else ""
    frame = next((f for f in reversed(crash.frames) if f.context_line), None)
    kind = _quoted(crash.type, 60).replace('"', "'").strip() or "Exception"
    lines = [f"{kind} in {where.module}.{where.qualname}{issue}."]
    if frame is not None:
        lines += [
            "",
            (
                f"Crash point: {_quoted(_tail(frame.filename or '?'), 80)}:{frame.lineno}: "
                f"{_quoted((frame.context_line or '').strip(), 80)}"
            ),
        ]
    if event.event_id:
        lines += [f"Event: {_quoted(event.event_id, 40)}"]
    return "\n".join(line.rstrip() for line in lines) + ("\n" if len(lines) > 1 else "")


def promise(event: Event, *, expect_raises: bool) -> str:
    """Return the test's docstring."""
    what = _quoted(f"{event.raised.type}: {event.raised.message or ''}".rstrip(": "), 70)
    return f"It raises {what}" if expect_raises else f"It raised {what}"
