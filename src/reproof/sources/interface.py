"""Where event payloads come from: one interface, one implementation per kind of place."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class RawPayload:
    """Bytes that claim to be an event, untouched, and where they were found."""

    content: bytes
    origin: str
    """For a person: a path, a URL, or `standard input`."""


class EventSource(ABC):
    """Fetches payloads; what they mean is `reproof.sources.payload`'s to say."""

    @abstractmethod
    def fetch(self, ref: str) -> Sequence[RawPayload]:
        """Return the payloads that `ref` names: at least one, in a stable order.

        Raises `InputError` when `ref` names nothing that can be read.
        """
