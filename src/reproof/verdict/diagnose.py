"""The true reason behind a replay that raised something else: what the sandbox withheld.

Read off the class (and, for databases, the message) of what the replay raised.
"""

from __future__ import annotations

import re

from reproof.domain.refusal import RefusalReason

_NETWORK = frozenset(
    {
        "gaierror",
        "ConnectionRefusedError",
        "ConnectionError",
        "ConnectTimeout",
        "ConnectError",
        "NewConnectionError",
        "NameResolutionError",
        "MaxRetryError",
        "URLError",
        "ClientConnectorError",
        "ServerTimeoutError",
        "EndpointConnectionError",
    }
)
_DATABASE = re.compile(
    r"no such (?:table|column)|relation .* does not exist|Unknown database"
    r"|could not connect to server|unable to open database|database is locked",
    re.IGNORECASE,
)
_FILE = frozenset({"FileNotFoundError", "NotADirectoryError", "IsADirectoryError"})
_LOOP = re.compile(r"no running event loop|attached to a different loop|Event loop is closed")


def withheld(kind: str, message: str) -> RefusalReason | None:
    """Return what a raised class and message say was missing around the call, if anything."""
    if kind in _NETWORK:
        return RefusalReason.NETWORK_NEEDED
    if kind in ("ModuleNotFoundError", "ImportError"):
        return RefusalReason.ENVIRONMENT
    if kind in _FILE:
        return RefusalReason.FILE_NEEDED
    if _DATABASE.search(message):
        return RefusalReason.DB_STATE
    if _LOOP.search(message):
        return RefusalReason.ASYNC_STATE
    if kind in ("RuntimeError", "LookupError", "ImproperlyConfigured") and re.search(
        r"outside of (?:application|request) context|not configured|settings are not configured",
        message,
    ):
        return RefusalReason.GLOBAL_STATE
    return None
