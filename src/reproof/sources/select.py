"""From what the user typed to the source that can fetch it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from reproof.domain.text import shown
from reproof.errors import InputError
from reproof.sources.files import STDIN, FileSource

if TYPE_CHECKING:
    from reproof.sources.interface import EventSource

_URL = re.compile(r"(?i)[a-z][a-z0-9+.-]*://|(?:www\.|[a-z0-9-]+\.)?sentry\.io/")
_BARE_ID = re.compile(
    r"(?i)[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9]+"
    r"|[a-z0-9_][a-z0-9_-]*-[0-9a-z]{1,8}"
)


def choose(ref: str) -> EventSource:
    """Return the source for `ref`; whether it names something there is for `fetch` to say.

    Raises `InputError` for URLs and bare ids: this version reads no server.
    """
    if _URL.match(ref):
        raise _unsupported("URLs", ref)
    if ref != STDIN and _BARE_ID.fullmatch(ref) and not _exists(ref):
        raise _unsupported("bare issue and event ids", ref)
    return FileSource()


def _unsupported(what: str, ref: str) -> InputError:
    return InputError(
        f"{what} are not supported yet in this version: {shown(ref, 120)}",
        hint="save the event's JSON (in Sentry: the event's `JSON` link) and give that file",
    )


def _exists(ref: str) -> bool:
    try:
        return Path(ref).exists()
    except OSError:
        # Unreadable is not missing: reading it will say why.
        return True
