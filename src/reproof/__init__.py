"""A crash event in, a failing pytest out, checked in a sandbox, with evidence.

    verdict = reproof.reproduce(Path("event.json").read_bytes(), repo=".")
    verdict.status      # reproduced, not_reproduced
    verdict.reason      # a RefusalReason when not
    verdict.to_json()   # the document that `reproof repro --json` writes

`Event` and what it is made of are in `reproof.domain.event`; every exception of ours is a
`ReproofError`. Names are loaded when first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reproof.domain.event import Event
    from reproof.domain.refusal import Refusal, RefusalReason
    from reproof.errors import ReproofError
    from reproof.library import reproduce
    from reproof.verdict.judgement import Status, Verdict

__all__ = [
    "Event",
    "Refusal",
    "RefusalReason",
    "ReproofError",
    "Status",
    "Verdict",
    "reproduce",
]

_HOMES = {
    "Event": "reproof.domain.event",
    "Refusal": "reproof.domain.refusal",
    "RefusalReason": "reproof.domain.refusal",
    "ReproofError": "reproof.errors",
    "Status": "reproof.verdict.judgement",
    "Verdict": "reproof.verdict.judgement",
    "reproduce": "reproof.library",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - nothing is loaded until it is used

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
