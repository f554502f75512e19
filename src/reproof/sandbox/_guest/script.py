"""The kind of the conformance suite: run one file of the tree as a program, whatever it does."""

from __future__ import annotations

import runpy
from typing import Any


def run(request: dict[str, Any]) -> dict[str, Any]:
    """Run `request["path"]` and return what it left in its global `RESULT`."""
    names = runpy.run_path(request["path"], run_name="__main__")
    return {"result": names.get("RESULT")}
