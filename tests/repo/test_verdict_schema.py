"""The shipped JSON Schema is the interface's example, and holds what the command line writes."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from reproof.cli.documents import error_document
from reproof.domain.refusal import RefusalReason
from support import documents

if TYPE_CHECKING:
    from collections.abc import Callable

    from reproof.domain.event import JSON

INTERFACE: dict[str, set[str]] = {
    "issue": {"id", "url", "event_id", "first_seen", "last_seen", "count"},
    "exception": {"type", "module", "message", "chain"},
    "crash_point": {"file", "line", "function", "context_line", "source_match"},
    "entry": {"file", "function", "frame_index", "reach", "bypassed", "kind", "call"},
    "fidelity": {"score", "location", "message", "locals", "compared_locals"},
    "confirmations": {"runs", "agreeing", "control_passed"},
    "differential": {"crash_revision", "there", "here"},
    "surroundings": {"time", "tz", "hash_seed", "argv"},
    "test": {"path", "sha256", "bytes"},
    "sandbox": {"backend", "level", "network", "uid", "limits", "achieved", "not_achieved"},
    "environment": {"python", "kind", "packages", "lock_sha256", "mismatches"},
    "timings": {"total_s", "fetch_s", "plan_s", "sandbox_s", "tests_run"},
}
"""The objects of the published example and their keys: promised, so written out here."""

OTHERS = {
    "schema", "status", "reason", "summary", "values", "attempts", "redactions", "artifact",
    "pull_request", "advice",
}  # fmt: skip


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    text = (files("reproof") / "schemas" / "verdict-1.json").read_text("utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


@pytest.fixture(scope="module")
def validate(schema: dict[str, Any]) -> Callable[[dict[str, JSON]], None]:
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema).validate


def test_every_promised_key_is_required(schema: dict[str, Any]) -> None:
    assert set(schema["required"]) == OTHERS | set(INTERFACE)
    for name, keys in INTERFACE.items():
        assert set(schema["properties"][name]["required"]) == keys, name


def test_the_reasons_are_the_closed_list(schema: dict[str, Any]) -> None:
    assert schema["properties"]["reason"]["enum"] == [None, *RefusalReason]


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(documents.reproduced(), id="reproduced"),
        pytest.param(documents.not_reproduced(), id="refused"),
        pytest.param(error_document("bad_input", "no such file", ""), id="error"),
        pytest.param(documents.reproduced() | {"later": 1}, id="a-key-of-a-later-version"),
    ],
)
def test_what_we_write_is_valid(
    document: dict[str, JSON], validate: Callable[[dict[str, JSON]], None]
) -> None:
    validate(document)


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(documents.reproduced() | {"reason": "passed"}, id="both-yes-and-no"),
        pytest.param(documents.reproduced() | {"test": None}, id="reproduced-without-a-test"),
        pytest.param(documents.reproduced() | {"sandbox": None}, id="reproduced-without-a-wall"),
        pytest.param(documents.not_reproduced("because"), id="a-reason-of-our-own"),
        pytest.param(documents.not_reproduced() | {"reason": None}, id="no-without-a-reason"),
        pytest.param(documents.reproduced() | {"status": "error"}, id="error-without-error"),
        pytest.param(documents.reproduced() | {"status": "maybe"}, id="unknown-status"),
        pytest.param(documents.reproduced() | {"summary": ""}, id="nothing-to-say"),
    ],
)
def test_what_would_mislead_is_invalid(
    document: dict[str, JSON], validate: Callable[[dict[str, JSON]], None]
) -> None:
    with pytest.raises(jsonschema.ValidationError):
        validate(document)


@pytest.mark.parametrize("key", sorted(OTHERS | set(INTERFACE)))
def test_no_key_may_be_missing(key: str, validate: Callable[[dict[str, JSON]], None]) -> None:
    document = documents.reproduced()
    del document[key]
    with pytest.raises(jsonschema.ValidationError):
        validate(document)
