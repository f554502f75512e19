"""The verdict's document: every key is there, also the empty ones, and it is plain JSON."""

from __future__ import annotations

import json

from reproof.domain.event import IssueInfo
from reproof.domain.refusal import RefusalReason
from reproof.domain.run import Isolation
from reproof.verdict.judgement import (
    Attempt,
    CrashPoint,
    EmittedTest,
    EntryReport,
    EnvironmentReport,
    ExceptionReport,
    Status,
    ValueReport,
    Verdict,
)
from reproof.verdict.rules import Fidelity

EMPTY = Verdict(status=Status.NOT_REPRODUCED, reason=RefusalReason.PASSED, summary="nothing")
FULL = Verdict(
    status=Status.REPRODUCED,
    reason=None,
    summary="yes",
    issue=IssueInfo(id="A-1", count=3),
    event_id="ab",
    exception=ExceptionReport(type="A", module=None, message="m", chain=("B", "C")),
    crash_point=CrashPoint(
        file="a.py", line=3, function="f", context_line="x", source_match="exact"
    ),
    entry=EntryReport(
        file="a.py",
        function="f",
        frame_index=0,
        reach="outer",
        bypassed=("g",),
        kind="function",
        call="f()",
    ),
    values=(ValueReport(name="a", provenance="literal", text="1", round_trip=None),),
    fidelity=Fidelity(score=1.0),
    attempts=(Attempt(entry="a.f", outcome="reproduced", detail="", duration_s=0.1),),
    surroundings={"tz": "UTC"},
    test=EmittedTest(path="tests/test_a.py", sha256="0", bytes=3),
    test_text="secret text of the module",
    isolation=Isolation(
        backend="b", level="namespaces", network="none", uid=1, limits={}, achieved={}
    ),
    environment=EnvironmentReport(python="3.12.1", kind="venv", packages=3, lock_sha256="0"),
)


def test_full_and_empty_have_the_same_keys() -> None:
    full, empty = FULL.to_json(), EMPTY.to_json()

    assert set(full) == set(empty)
    assert full["schema"] == "reproof/verdict/1"


def test_the_document_is_plain_json() -> None:
    for verdict in (FULL, EMPTY):
        assert json.loads(json.dumps(verdict.to_json())) == verdict.to_json()


def test_codes_are_texts_and_nothing_is_null_that_is_known() -> None:
    full, empty = FULL.to_json(), EMPTY.to_json()

    assert (full["status"], full["reason"]) == ("reproduced", None)
    assert (empty["status"], empty["reason"]) == ("not_reproduced", "passed")
    assert empty["exception"] is None
    assert full["exception"] == {"type": "A", "module": None, "message": "m", "chain": ["B", "C"]}
    surroundings = full["surroundings"]
    assert isinstance(surroundings, dict)
    assert surroundings == {"time": None, "tz": "UTC", "hash_seed": None, "argv": None}


def test_the_modules_text_is_not_part_of_it() -> None:
    assert "secret text" not in json.dumps(FULL.to_json())
