"""The JSON documents that a run writes when it has no verdict, or more than one.

A verdict's own document is made by the pipeline. What is here has the same keys, so that a reader
of `reproof/verdict/1` never meets a missing one (`schemas/verdict-1.json` is the contract).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reproof.domain.event import JSON

VERDICT_SCHEMA = "reproof/verdict/1"
VERDICTS_SCHEMA = "reproof/verdicts/1"


def error_document(code: str, message: str, hint: str) -> dict[str, JSON]:
    """Return a `reproof/verdict/1` document for a run that ended before it could judge."""
    return {
        "schema": VERDICT_SCHEMA,
        "status": "error",
        "reason": None,
        "summary": message,
        "error": {"code": code, "message": message, "hint": hint},
        "issue": {
            "id": "",
            "url": "",
            "event_id": "",
            "first_seen": "",
            "last_seen": "",
            "count": 0,
        },
        "exception": None,
        "crash_point": None,
        "entry": None,
        "values": [],
        "fidelity": None,
        "attempts": [],
        "confirmations": None,
        "differential": None,
        "surroundings": None,
        "test": None,
        "sandbox": None,
        "environment": None,
        "redactions": {},
        "artifact": None,
        "pull_request": None,
        "advice": [hint] if hint else [],
        "timings": {
            "total_s": 0.0,
            "fetch_s": 0.0,
            "plan_s": 0.0,
            "sandbox_s": 0.0,
            "tests_run": 0,
        },
    }


def combined(documents: Sequence[dict[str, JSON]]) -> dict[str, JSON]:
    """Return the one document of a run: the verdict itself, or several under one roof."""
    if len(documents) == 1:
        return documents[0]
    return {"schema": VERDICTS_SCHEMA, "verdicts": list(documents)}


def as_json_text(document: Mapping[str, JSON]) -> str:
    """Return `document` as ASCII JSON text: safe on any terminal and in any encoding."""
    import json  # noqa: PLC0415 - `--help` has no use for it

    return json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False)
