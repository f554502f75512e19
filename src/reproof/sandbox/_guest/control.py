"""Build a plan's arguments without making the call.  Runs inside the wall, CPython 3.8-3.14.

Request keys: ``source`` (a module that defines ``build() -> dict``), ``root``, ``roots``, ``sdk``.
What it shows: importing the target and making the values raises nothing, and what each value looks
like when it is serialised again.
"""

from . import serialize, tracing


def run(request):
    """Return ``{"ok": True, "values": {name: JSON}}`` or ``{"ok": False, "exception": {...}}``."""
    tracing.prepare_path(request)
    request = dict(request, test="<control>")
    namespace = {"__name__": "control"}
    try:
        exec(compile(request["source"], "<control>", "exec"), namespace)
        values = namespace["build"]()
    except BaseException as error:  # whatever the target raises is the finding, not a failure here
        return {"ok": False, "exception": tracing.describe(error, request)}
    return {"ok": True, "values": {name: serialize.serialize(value, sdk=request.get("sdk"))
                                   for name, value in values.items()}}
