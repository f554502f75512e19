"""Python source in colour, for a person's terminal; the only user of `rich`, slow to load."""

from __future__ import annotations

from io import StringIO

from rich.console import Console
from rich.syntax import Syntax

from reproof.cli.console import printable


def colored(source: str) -> str:
    """Return `source` highlighted with ANSI colours; control characters in it are escaped first."""
    out, text = StringIO(), printable(source)
    width = max(len(line) for line in [*text.splitlines(), ""]) + 1  # narrower would cut lines off
    console = Console(file=out, force_terminal=True, color_system="standard", width=width)
    console.print(Syntax(text, "python", theme="ansi_dark", background_color="default"))
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip().splitlines())
