"""Import lines as a person sorts them: standard library, installed, this tree."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reproof.reproducer.values.expression import Import

WIDTH = 88


def import_lines(imports: Iterable[Import], own: str) -> list[str]:
    """Return import lines in three groups; `own` is the tree's top-level package."""
    groups: list[list[tuple[tuple[int, str], str]]] = [[], [], []]
    froms: dict[str, list[Import]] = {}
    for one in imports:
        if one.module == "builtins":
            continue
        if one.name is None:
            alias = f" as {one.alias}" if one.alias else ""
            line = f"import {one.module}{alias}"
            groups[_group(one.module, own)].append(((0, one.module), line))
        else:
            froms.setdefault(one.module, []).append(one)
    for module, names in froms.items():
        groups[_group(module, own)].append(((1, module), _from_line(module, names)))
    blocks = ["\n".join(line for _, line in sorted(g)) for g in groups if g]
    return "\n\n".join(blocks).split("\n") if blocks else []


def _group(module: str, own: str) -> int:
    top = module.partition(".")[0]
    if top == own:
        return 2
    return 0 if top in sys.stdlib_module_names else 1


def _from_line(module: str, names: list[Import]) -> str:
    told = sorted(
        {f"{n.name} as {n.alias}" if n.alias else str(n.name) for n in names},
        key=lambda t: (not t.isupper(), not t[:1].isupper(), t),
    )
    line = f"from {module} import {', '.join(told)}"
    if len(line) <= WIDTH:
        return line
    return f"from {module} import (\n" + "".join(f"    {t},\n" for t in told) + ")"
