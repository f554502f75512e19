"""The crash event, as every reader of it agrees to see it: Sentry's nouns, frozen, shape-free.

Made only by `reproof.sources.payload` from untrusted JSON. Nothing here is trusted: a string in an
`Event` is what somebody sent, of any length and content. Types are right, meaning is not checked.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias, Union

if TYPE_CHECKING:
    from collections.abc import Mapping

JSON: TypeAlias = Union[bool, int, float, str, list["JSON"], dict[str, "JSON"], None]  # noqa: UP007

EMPTY: Mapping[str, JSON] = MappingProxyType({})


class EventShape(StrEnum):
    """Which dialect the payload spoke; told apart by its keys, never by its origin."""

    SDK = "sdk"
    """What the SDK put into the envelope, and a server's `/json/` download."""
    API = "api"
    """The web API's `entries[]` form, GlitchTip's included."""
    BUGSINK = "bugsink"
    """A Bugsink event: the SDK's payload under `data`."""
    WEBHOOK = "webhook"
    """An alert's payload: the event under `data.event`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One stack frame, outermost first in its stack."""

    filename: str | None = None
    abs_path: str | None = None
    module: str | None = None
    function: str | None = None
    lineno: int | None = None
    """1-based line of the statement that was running."""
    context_line: str | None = None
    pre_context: tuple[str, ...] = ()
    post_context: tuple[str, ...] = ()
    in_app: bool | None = None
    """The sender's opinion; `None` when it gave none. Ours is decided by `reproducer.locate`."""
    variables: Mapping[str, JSON] | None = None
    """Captured locals as sent (leaves are `repr` text); `None` when none were captured."""
    variables_total: int | None = None
    """How many locals there were before the sender cut them, where it says so."""
    meta: Mapping[str, JSON] = field(default_factory=lambda: EMPTY)
    """The `_meta` annotations for `variables` (what was cut or scrubbed, and by whom)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExceptionValue:
    """One exception of the chain or group."""

    type: str
    """`__name__` of the class."""
    module: str | None = None
    """Defining module; `None` for builtins and when the sender left it out."""
    message: str | None = None
    frames: tuple[Frame, ...] = ()
    """Outermost call first, crash frame last; empty when it was never raised."""
    frames_omitted: int = 0
    """Frames missing from the middle of `frames`: cut by the sender, the server or the reader."""
    mechanism: str | None = None
    handled: bool | None = None
    exception_id: int | None = None
    parent_id: int | None = None
    source: str | None = None
    """`__cause__`, `__context__` or `exceptions[n]`, where the sender says it."""
    is_group: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueInfo:
    """What the server knows about the issue this event belongs to; empty strings when unknown."""

    id: str = ""
    url: str = ""
    first_seen: str = ""
    last_seen: str = ""
    count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A crash event with at least one exception."""

    shape: EventShape
    event_id: str = ""
    issue: IssueInfo = field(default_factory=IssueInfo)
    platform: str = "python"
    timestamp: str | None = None
    """ISO 8601, UTC."""
    release: str | None = None
    environment: str | None = None
    transaction: str | None = None
    exceptions: tuple[ExceptionValue, ...]
    """Oldest cause first; the one raised last, which escaped, is the last (Sentry's order)."""
    modules: Mapping[str, str] = field(default_factory=dict)
    """Installed distributions and their versions."""
    runtime_name: str | None = None
    runtime_version: str | None = None
    sdk_name: str | None = None
    sdk_version: str | None = None
    request: Mapping[str, JSON] | None = None
    """The web request in the SDK's shape (`url, method, query_string, headers, data`)."""
    extra: Mapping[str, JSON] = field(default_factory=lambda: EMPTY)
    meta: Mapping[str, JSON] = field(default_factory=lambda: EMPTY)
    """The `_meta` annotations (what was cut or scrubbed) of `request` and `extra`, by that name."""
    tags: Mapping[str, str] = field(default_factory=dict)
    argv: tuple[str, ...] | None = None
    """`extra["sys.argv"]` where it was captured whole."""

    @property
    def raised(self) -> ExceptionValue:
        """The exception that escaped."""
        return self.exceptions[-1]
