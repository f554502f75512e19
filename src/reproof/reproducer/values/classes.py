"""What is known about the classes that a captured repr may name.

The facts are found elsewhere (by asking the code under test behind the wall); here is only their
shape, and `DictLookup`, which answers from a table.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


_FORMERLY_STANDARD = frozenset(
    {
        "_bootlocale", "aifc", "asynchat", "asyncore", "audioop", "binhex", "cgi", "cgitb", "chunk",
        "crypt", "distutils", "dummy_threading", "formatter", "imghdr", "imp", "lib2to3", "macpath",
        "mailcap", "msilib", "nis", "nntplib", "ossaudiodev", "parser", "pipes", "smtpd", "sndhdr",
        "spwd", "sunau", "symbol", "telnetlib", "uu", "xdrlib",
    }
)  # fmt: skip
"""Gone from a newer Python than the oldest that a target may have."""


class ClassKind(StrEnum):
    """How instances of a class are made and shown."""

    ENUM = "enum"
    DATACLASS = "dataclass"
    NAMEDTUPLE = "namedtuple"
    ATTRS = "attrs"
    PYDANTIC = "pydantic"
    EXCEPTION = "exception"
    PLAIN = "plain"
    FUNCTION = "function"
    """Not a class: a function found under that name."""


@dataclass(frozen=True, slots=True)
class FieldFact:
    """One field of a record class."""

    name: str
    init: bool = True
    has_default: bool = False
    keyword_only: bool = False
    init_name: str | None = None
    """The parameter's name where it is not the field's (attrs' private names, aliases)."""


@dataclass(frozen=True, slots=True)
class ParameterFact:
    """One parameter of the constructor, without `self`."""

    name: str
    kind: str = "positional_or_keyword"
    """As `inspect` names it: `positional_only`, `positional_or_keyword`, `var_positional`,
    `keyword_only`, `var_keyword`."""
    has_default: bool = False


@dataclass(frozen=True, slots=True)
class ClassFact:
    """One class (or function) that goes by a name."""

    module: str
    qualname: str
    kind: ClassKind = ClassKind.PLAIN
    fields: tuple[FieldFact, ...] = ()
    members: tuple[tuple[str, str], ...] = ()
    """Enum members, aliases included: name and `repr` of the member's value."""
    parameters: tuple[ParameterFact, ...] | None = None
    """`None` when the signature is not known."""
    properties: tuple[str, ...] = ()
    """Attributes that cannot be set: read-only properties."""
    repr_is_generated: bool = False
    """`__repr__` is the one that the record kind writes, not the author's own."""


def is_standard(module: str) -> bool:
    """Say whether a module is Python's own, of this version or of one that can be a target's.

    An event is anybody's to send. What it names there must not become a callback, nor be called
    with arguments of its choice: it could choose `exec`, `os.system` or `Popen`.
    """
    top = module.partition(".")[0]
    return top in sys.stdlib_module_names or top in _FORMERLY_STANDARD


class ClassLookup(Protocol):
    """Finds classes and functions by the name a repr shows."""

    def find(self, name: str) -> Sequence[ClassFact]:
        """Return what goes by a bare or dotted name, the likeliest first."""
        ...


@dataclass(frozen=True, slots=True)
class DictLookup:
    """A lookup over a fixed set of facts: by bare name, qualified name or full dotted name."""

    facts: tuple[ClassFact, ...] = field(default=())

    @classmethod
    def of(cls, facts: Iterable[ClassFact]) -> DictLookup:
        """Return a lookup over the given facts, in their order."""
        return cls(tuple(facts))

    def find(self, name: str) -> Sequence[ClassFact]:
        """Return the facts whose dotted name ends in `name`."""
        return [
            fact
            for fact in self.facts
            if name
            in {
                f"{fact.module}.{fact.qualname}",
                fact.qualname,
                fact.qualname.rpartition(".")[2],
            }
        ]


NOTHING_KNOWN = DictLookup()
