"""Why a crash was not reproduced: the closed list of reasons, and the value that carries one.

The codes are part of the public contract (`docs/refusals.md` documents each; a test compares).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class RefusalReason(StrEnum):
    """Stable codes; a code is never removed and never changes meaning."""

    FIXED = "fixed"
    PASSED = "passed"
    FLAKY = "flaky"
    DIFFERENT_EXCEPTION = "different_exception"
    DIFFERENT_LOCATION = "different_location"
    LOW_FIDELITY = "low_fidelity"
    OPAQUE_VALUE_USED = "opaque_value_used"
    UNRECOVERABLE_VALUE = "unrecoverable_value"
    REDACTED_VALUE_NEEDED = "redacted_value_needed"
    TRUNCATED_VALUE_NEEDED = "truncated_value_needed"
    SOURCE_NOT_FOUND = "source_not_found"
    SOURCE_DRIFT = "source_drift"
    CALLERS_CHANGED = "callers_changed"
    AMBIGUOUS_SOURCE = "ambiguous_source"
    NO_APP_FRAME = "no_app_frame"
    MODULE_LEVEL_STATE = "module_level_state"
    ASYNC_STATE = "async_state"
    DB_STATE = "db_state"
    GLOBAL_STATE = "global_state"
    MISSING_FIXTURE = "missing_fixture"
    NETWORK_NEEDED = "network_needed"
    FILE_NEEDED = "file_needed"
    NONDETERMINISTIC = "nondeterministic"
    NATIVE_CRASH = "native_crash"
    ENVIRONMENT = "environment"
    TIMEOUT = "timeout"
    RESOURCE_LIMIT = "resource_limit"
    UNSUPPORTED_PLATFORM = "unsupported_platform"
    MALFORMED_EVENT = "malformed_event"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """One reasoned "no": what was tried, what was missing, and what would get it."""

    reason: RefusalReason
    summary: str
    """One sentence for a person; event text in it is already escaped for a terminal."""
    hint: str = ""
    """The cheapest next step (an option, a capture setting, a `--param`), or empty."""
