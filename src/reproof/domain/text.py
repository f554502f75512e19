"""Event text made fit to be shown to a person."""

from __future__ import annotations


def shown(text: str, limit: int = 80) -> str:
    r"""Return `text` on one line of at most `limit` characters, safe for a terminal.

    Escaped as `repr` escapes, but without quotes: whatever is not printable (control and ANSI
    characters, bidirectional overrides, zero-width and private ones, lone surrogates) becomes
    `\n`, `\x1b`, `\u202e`. A backslash that was there stays single, so that captured `repr` text
    reads as it was sent. What is too long ends in `…`.
    """
    # An escape is at most ten characters, so nothing past `limit` of them can be needed: a hostile
    # ten-megabyte string costs no more than a short one.
    head = text[: limit + 1]
    pieces: list[str] = []
    length = 0
    for character in head:
        piece = character if character.isprintable() else _escape(character)
        if length + len(piece) > limit:
            return _shortened(pieces, limit)
        pieces.append(piece)
        length += len(piece)
    return "".join(pieces)


def _shortened(pieces: list[str], limit: int) -> str:
    """Drop pieces (never half an escape) until the mark for "more" fits."""
    length = sum(map(len, pieces))
    while pieces and length + 1 > limit:
        length -= len(pieces.pop())
    return "".join(pieces) + "…"


def _escape(character: str) -> str:
    return repr(character)[1:-1]
