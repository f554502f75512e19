"""Sample `reproof/verdict/1` documents, written by hand from the interface's description."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reproof.domain.event import JSON

_REPRODUCED: dict[str, JSON] = {
    "schema": "reproof/verdict/1",
    "status": "reproduced",
    "reason": None,
    "summary": "Raises ZeroDivisionError in Invoice.rate as captured",
    "issue": {
        "id": "4711",
        "url": "",
        "event_id": "ab" * 16,
        "first_seen": "",
        "last_seen": "",
        "count": 3,
    },
    "exception": {
        "type": "ZeroDivisionError",
        "module": "builtins",
        "message": "division by zero",
        "chain": [],
    },
    "crash_point": {
        "file": "billing/calc.py",
        "line": 18,
        "function": "Invoice.rate",
        "context_line": "rate = total / count",
        "source_match": "exact",
    },
    "entry": {
        "file": "billing/api.py",
        "function": "quote",
        "frame_index": 1,
        "reach": "outer",
        "bypassed": ["handle"],
        "kind": "function",
        "call": "quote(total=12, count=0)",
    },
    "values": [{"name": "count", "provenance": "literal", "text": "0", "round_trip": True}],
    "fidelity": {
        "score": 1.0,
        "location": 1.0,
        "message": 1.0,
        "locals": 1.0,
        "compared_locals": 7,
    },
    "attempts": [
        {"entry": "handle", "outcome": "opaque_value_used", "detail": "request", "duration_s": 0.1},
        {"entry": "quote", "outcome": "reproduced", "detail": "", "duration_s": 0.1},
    ],
    "confirmations": {"runs": 3, "agreeing": 3, "control_passed": True},
    "differential": {"crash_revision": None, "there": None, "here": None},
    "surroundings": {"time": None, "tz": None, "hash_seed": None, "argv": None},
    "test": {"path": "tests/test_4711_rate.py", "sha256": "0" * 64, "bytes": 321},
    "sandbox": {
        "backend": "bubblewrap",
        "level": "namespaces",
        "network": "none",
        "uid": 65534,
        "limits": {"memory_bytes": 134217728},
        "achieved": {"memory": "cgroup1"},
        "not_achieved": ["cpu"],
    },
    "environment": {
        "python": "3.11.7",
        "kind": "current",
        "packages": 12,
        "lock_sha256": "",
        "mismatches": [],
    },
    "redactions": {"email": 2},
    "artifact": None,
    "pull_request": None,
    "advice": [],
    "timings": {"total_s": 1.2, "fetch_s": 0.0, "plan_s": 0.1, "sandbox_s": 1.0, "tests_run": 5},
}


def reproduced() -> dict[str, JSON]:
    """Return a complete document of a reproduced crash."""
    return copy.deepcopy(_REPRODUCED)


def not_reproduced(reason: str = "opaque_value_used") -> dict[str, JSON]:
    """Return a document of a refusal: the parts it did not get to are null."""
    document = reproduced()
    document.update(
        status="not_reproduced",
        reason=reason,
        summary="The replay used db.execute, which the event does not hold",
        entry=None,
        fidelity=None,
        confirmations=None,
        test=None,
        advice=["give it with --param db=..."],
    )
    return document
