"""What the class and message of another exception say was missing."""

from __future__ import annotations

import pytest

from reproof.domain.refusal import RefusalReason as Reason
from reproof.verdict.diagnose import withheld


@pytest.mark.parametrize(
    ("kind", "message", "reason"),
    [
        ("gaierror", "[Errno -2] Name or service not known", Reason.NETWORK_NEEDED),
        ("ConnectionRefusedError", "[Errno 111]", Reason.NETWORK_NEEDED),
        ("MaxRetryError", "", Reason.NETWORK_NEEDED),
        ("ModuleNotFoundError", "No module named 'x'", Reason.ENVIRONMENT),
        ("ImportError", "cannot import name", Reason.ENVIRONMENT),
        ("FileNotFoundError", "[Errno 2] No such file: 'x'", Reason.FILE_NEEDED),
        ("OperationalError", "no such table: users", Reason.DB_STATE),
        ("ProgrammingError", 'relation "users" does not exist', Reason.DB_STATE),
        ("RuntimeError", "no running event loop", Reason.ASYNC_STATE),
        ("RuntimeError", "Event loop is closed", Reason.ASYNC_STATE),
        ("RuntimeError", "Working outside of application context.", Reason.GLOBAL_STATE),
        ("ImproperlyConfigured", "settings are not configured", Reason.GLOBAL_STATE),
        ("ValueError", "bad", None),
        ("RuntimeError", "bad", None),
        ("", "", None),
        ("KeyError", "'a'", None),
    ],
)
def test_what_was_withheld(kind: str, message: str, reason: Reason | None) -> None:
    assert withheld(kind, message) is reason


@pytest.mark.parametrize("message", ["x" * 1_000_000, "relation " * 2_000])
def test_a_long_message_costs_little(message: str) -> None:
    assert withheld("ValueError", message) is None
