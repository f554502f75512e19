"""The kind that runs nothing: it shows that the wall stands and what can be seen from inside."""

from __future__ import annotations

import os
import sys
from typing import Any


def run(request: dict[str, Any]) -> dict[str, Any]:
    """Return the interpreter's own view; with `say`, repeat it (to prove the way back)."""
    return {
        "executable": sys.executable,
        "prefix": sys.prefix,
        "path": list(sys.path),
        "folder": os.getcwd(),
        "say": request.get("say"),
    }
