"""Hold what a replay missed behind the wall against the machine outside it.

A crash that comes of the wall (a file that it hides, a program that it lacks) is none for whoever
runs the test in the open.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reproof.domain.event import JSON, ExceptionValue

_ACCESS = {"unreadable": os.R_OK, "unwritable": os.W_OK}


def hidden_path(report: Mapping[str, JSON] | None) -> str | None:
    """Return a path that the code asked for in vain behind the wall, and that is there outside."""
    notes = _notes(report)
    home = notes.get("home")
    for pair in _rows(notes.get("paths")):
        match pair:
            case [str() as path, str() as what] if "\0" not in path:
                places = [path]
                if isinstance(home, str) and path.startswith(home + "/"):
                    places.append(str(Path.home()) + path[len(home) :])
                for place in places:
                    there = os.access(place, _ACCESS[what]) if what in _ACCESS else None
                    if there is None:
                        there = os.path.lexists(place)
                    if there:
                        return place
    return None


def started_program(report: Mapping[str, JSON] | None) -> str | None:
    """Return a program the code started, or tried to start though it is there outside."""
    for name in _rows(_notes(report).get("programs")):
        if isinstance(name, str) and "\0" not in name and shutil.which(name) is not None:
            return name
    return None


def missed_variable(report: Mapping[str, JSON] | None, raised: ExceptionValue) -> str | None:
    """Return an environment variable that was not set, unless the captured crash says the same."""
    for name in _rows(_notes(report).get("variables")):
        if isinstance(name, str) and not (
            raised.type == "KeyError" and raised.message == repr(name)
        ):
            return name
    return None


def _notes(report: Mapping[str, JSON] | None) -> Mapping[str, JSON]:
    notes = (report or {}).get("outside")
    return notes if isinstance(notes, dict) else {}


def _rows(value: JSON | None) -> list[JSON]:
    return value if isinstance(value, list) else []
