"""Texts that senders, scrubbers and servers put where a value was."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from reproof.reproducer.values.provenance import Unknown, UnknownCause, unknown

if TYPE_CHECKING:
    from reproof.domain.event import JSON

_REDACTED = re.compile(r"\[Filtered\]|\[REDACTED[^\]\n]{0,80}\]|\[redacted\]", re.IGNORECASE)
_MARKERS = (
    ("<broken repr>", UnknownCause.BROKEN_REPR),
    ("<failed to serialize", UnknownCause.FAILED_TO_SERIALIZE),
    ("<cyclic>", UnknownCause.CYCLIC),
)
_RANGE_ENTRY = 4


def is_redacted(content: str) -> bool:
    """Tell whether a string's content (not its repr) is a scrubber's mark."""
    return _REDACTED.fullmatch(content) is not None


def marked(text: str) -> Unknown | None:
    """Return the reason when a leaf's text is a marker and not a value."""
    bare = text.strip()
    if is_redacted(bare) or is_redacted(bare.removeprefix("'").removesuffix("'")):
        return unknown(UnknownCause.REDACTED, text)
    for prefix, cause in _MARKERS:
        if bare.startswith(prefix):
            return unknown(cause, text)
    if bare == "..." or (bare.startswith("<") and bare.endswith("...")):
        return unknown(UnknownCause.TRUNCATED, text)
    return None


def annotated(captured: JSON, meta: JSON) -> Unknown | None:
    """Return the reason when `_meta` says that this value was cut or scrubbed."""
    own = meta.get("") if isinstance(meta, dict) else None
    if not isinstance(own, dict):
        return None
    text = captured if isinstance(captured, str) else ""
    length = own.get("len")
    if isinstance(captured, list | dict) and isinstance(length, int) and length > len(captured):
        return unknown(UnknownCause.TRUNCATED, text)
    remarks = own.get("rem")
    for remark in remarks if isinstance(remarks, list) else []:
        if not isinstance(remark, list) or not remark:
            continue
        if remark[0] != "!limit":
            return unknown(UnknownCause.REDACTED, text)
        # Without a range it only says that the value was written as text for its depth.
        if len(remark) >= _RANGE_ENTRY and isinstance(captured, str):
            return unknown(UnknownCause.TRUNCATED, text)
    return None
