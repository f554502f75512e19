"""Build a plan's arguments without making the call. Runs inside the wall, CPython 3.8-3.14.

Request keys: `source` (a module that defines `build() -> dict`), `root`, `roots`, `sdk`.
What it shows: importing the target and making the values raises nothing, and what each value looks
like when it is serialised again.
"""

from __future__ import annotations

from typing import Any

from . import serialize, tracing

_VALUES_BYTES = 4 << 20


def run(request: dict[str, Any]) -> dict[str, Any]:
    """Return `{"ok": True, "values": {name: JSON}}` or `{"ok": False, "exception": {...}}`."""
    tracing.prepare(request)
    namespace: dict[str, Any] = {"__name__": "control"}
    try:
        exec(compile(request["source"], "<control>", "exec"), namespace)  # noqa: S102 - our own text
        values = list(namespace["build"]().items())
    except BaseException as error:  # noqa: BLE001 - whatever the target raises is the finding
        described = tracing.describe(error, dict(request, test="<control>"))
        return {"ok": False, "exception": described}
    with tracing.deep_stack():
        told = {
            str(name): serialize.serialize(value, sdk=request.get("sdk")) for name, value in values
        }
        return {"ok": True, "values": tracing.within(told, [_VALUES_BYTES])}
