"""The process that runs the target's code: it gives up its rights, then runs one kind.

What it says is a claim: it shares an interpreter with the code under test.
"""

from __future__ import annotations

import base64
import importlib
import json
import os
import signal
import sys
import traceback
from typing import TYPE_CHECKING, Any, NoReturn

from . import interpreter, isolate, syscalls, wire

if TYPE_CHECKING:
    from collections.abc import Sequence

_BROKEN_WALL = 71
_BROKEN_KIND = 70


def main(
    setup: dict[str, Any],
    run: dict[str, Any],
    outputs: tuple[int, int],
    channel: int,
    inherited: Sequence[int],
) -> NoReturn:
    """Run the kind that was asked for and say what it returned."""
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        if sys.platform == "linux":
            syscalls.die_with_parent(signal.SIGKILL)
        os.setsid()
        for number in inherited:
            os.close(number)
        channel = _arrange_descriptors(outputs, channel, run["rlimits"].get("NOFILE", 256))
        _lock(setup, run, channel)
        interpreter.enter(run.get("tree") or setup["shown_tree"], setup, run["environment"])
    except BaseException:  # noqa: BLE001 - no code runs behind half a wall
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(_BROKEN_WALL)
    _run_kind(run, channel)


def _arrange_descriptors(outputs: tuple[int, int], channel: int, open_files: int) -> int:
    """Have 0, 1, 2 and, out of the way of tests that count, the channel; nothing else."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(outputs[0], 1)
    os.dup2(outputs[1], 2)
    last = max(open_files, 8) - 1
    os.dup2(channel, last, inheritable=False)
    for name in os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else ():
        number = int(name)
        if number > 2 and number != last:  # noqa: PLR2004
            try:
                os.close(number)
            except OSError:
                continue  # the listing's own descriptor
    return last


def _lock(setup: dict[str, Any], run: dict[str, Any], channel: int) -> None:
    """Give up rights and say what the kernel confirms of it, before any of the target's code."""
    isolate.limit_resources(run["rlimits"])
    isolate.offer_to_oom_killer()
    if not setup["namespaces"]:
        os.write(channel, wire.frame({}))
        return
    isolate.give_up_rights(base64.b64decode(setup["seccomp"]))
    status = isolate.read_status()
    wrong = [
        name for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb") if int(status[name], 16)
    ]
    wrong += [
        name for name, mode in (("NoNewPrivs", "1"), ("Seccomp", "2")) if status[name] != mode
    ]
    if wrong:
        raise OSError("the kernel did not confirm: {}".format(", ".join(wrong)))
    os.write(channel, wire.frame(status))


def _run_kind(run: dict[str, Any], channel: int) -> NoReturn:
    # Held here because the target may replace what these names mean in the modules.
    write, leave, me, get_id = os.write, os._exit, os.getpid(), os.getpid
    dumps, errors, output = json.dumps, sys.stderr, sys.stdout
    frame, show = wire.frame, traceback.print_exc
    nonce = run["nonce"]
    try:
        report = importlib.import_module("_reproof_guest." + run["kind"]).run(run["request"])
        if get_id() != me:
            leave(0)  # a fork the target made came back through our frames: it has no say
        data = memoryview(frame(json.loads(dumps({"nonce": nonce, "report": report}))))
        output.flush()
        errors.flush()
        while data:
            data = data[write(channel, data) :]
    except BaseException:  # noqa: BLE001 - the exit code tells
        try:
            show()
            errors.flush()
        finally:
            leave(_BROKEN_KIND)
    leave(0)
