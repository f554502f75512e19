"""A `name(...)` form of a captured repr, its arguments decoded."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from reproof.reproducer.values import expression as make
from reproof.reproducer.values.place import combine
from reproof.reproducer.values.provenance import Decoded, Provenance

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reproof.reproducer.values.expression import Expression

Keywords: TypeAlias = "list[tuple[str, Expression]]"
Builder: TypeAlias = "Callable[[Sequence[Expression], Keywords], Expression | None]"


@dataclass(frozen=True, slots=True)
class Call:
    """The name as spelt, and what each argument decodes to."""

    name: str
    positional: tuple[Decoded, ...]
    keywords: tuple[tuple[str, Decoded], ...]
    text: str
    limit: int

    def build(
        self,
        builder: Builder,
        *,
        provenance: Provenance = Provenance.CONSTRUCTED,
        note: str = "",
        ambiguous: bool = False,
    ) -> Decoded:
        """Return what the builder makes of the arguments; `None` from it means "not this one"."""
        split = len(self.positional)
        names = [name for name, _ in self.keywords]

        def whole(parts: Sequence[Expression]) -> Expression | None:
            return builder(parts[:split], list(zip(names, parts[split:], strict=True)))

        return combine(
            [*self.positional, *(value for _, value in self.keywords)],
            whole,
            limit=self.limit,
            text=self.text,
            provenance=provenance,
            note=note,
            ambiguous=ambiguous,
        )


def kind_of(node: ast.expr) -> str:
    """Return a word for what a decoded node is: `int`, `str`, `list`, or the name it calls."""
    match node:
        case ast.Constant(value=value):
            return "none" if value is None else type(value).__name__
        case ast.UnaryOp(operand=operand):
            return kind_of(operand)
        case ast.List():
            return "list"
        case ast.Tuple():
            return "tuple"
        case ast.Set():
            return "set"
        case ast.Dict():
            return "dict"
        case ast.Call(func=ast.Name(id=name)):
            return name
        case ast.Call(func=ast.Attribute(attr=name)):
            return name
        case _:
            return "other"


def constructor(
    target: Expression, positional: Sequence[Expression], keywords: Keywords
) -> Expression:
    """Return the call of the target with the same arguments."""
    return make.call(target, positional, keywords)
