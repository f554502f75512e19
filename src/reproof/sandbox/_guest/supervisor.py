"""One process a session: the target's interpreter, warm with pytest, that forks for each run.

It keeps capabilities inside its own user namespace, so it never runs code of the target and is in
another process namespace than every run.
"""

from __future__ import annotations

import gc
import importlib
import os
import select
import signal
import socket
import sys
import traceback
from typing import Any, NoReturn

from . import isolate, keeper, syscalls, wire

_KINDS = ("replay", "control", "inspect", "selfcheck")


def main(channel_number: int, stdlib: list[str]) -> NoReturn:
    """Serve runs until the host hangs up."""
    channel = socket.socket(fileno=channel_number)
    os.set_inheritable(channel_number, False)
    _close_others(channel_number)
    wire.send(channel, {"event": "hello", "version": list(sys.version_info[:3])})
    setup, _none = wire.receive(channel)
    if setup is None:
        os._exit(0)
    setup["stdlib"] = stdlib
    try:
        _warm(setup)
        if setup["namespaces"]:
            isolate.hide_process()
        namespace = os.open("/proc/self/ns/pid", os.O_RDONLY) if setup["namespaces"] else -1
    except BaseException:  # noqa: BLE001 - the host must hear why
        wire.send(channel, {"event": "failed", "reason": traceback.format_exc()[-4000:]})
        os._exit(1)
    wire.send(channel, {"event": "ready"})
    while True:
        run, descriptors = wire.receive(channel)
        if run is None:
            os._exit(0)
        if "kill" in run:
            continue  # it crossed the end of the run it was meant for
        _serve(channel, setup, run, descriptors, namespace)


def _close_others(keep: int) -> None:
    if not os.path.isdir("/proc/self/fd"):
        return  # started with nothing else open, as the host's side sees to
    for name in os.listdir("/proc/self/fd"):
        number = int(name)
        if number > 2 and number != keep:  # noqa: PLR2004
            try:
                os.close(number)
            except OSError:
                continue  # the listing's own descriptor


def _warm(setup: dict[str, Any]) -> None:
    """Import pytest, its parts and the kinds; freeze them so that forks share their pages."""
    sys.path.append(setup["guest_site"])
    importlib.import_module("pytest")
    plugins = importlib.import_module("_pytest.config").default_plugins
    for name in plugins:
        importlib.import_module("_pytest." + name)
    for kind in _KINDS:
        try:
            importlib.import_module("_reproof_guest." + kind)
        except ImportError:
            continue  # warming is a courtesy: the run that asks for it will say why
    gc.freeze()


def _serve(
    channel: socket.socket,
    setup: dict[str, Any],
    run: dict[str, Any],
    descriptors: list[int],
    namespace: int,
) -> None:
    """Fork one keeper and tell the host when it, and with it the whole run, is gone."""
    alive, life = os.pipe()
    try:
        if namespace >= 0:
            syscalls.unshare(syscalls.NEW_PROCESSES)
        child = os.fork()
        if child == 0:
            os.close(alive)
            channel.close()
            keeper.main(setup, run, descriptors, life)
    except OSError as error:
        os.close(alive)
        os.close(life)
        for number in descriptors:
            os.close(number)
        wire.send(channel, {"event": "ended", "run": run["run"], "refused": str(error)})
        return
    finally:
        if namespace >= 0:
            syscalls.enter_namespace(namespace, syscalls.NEW_PROCESSES)
    os.close(life)
    for number in descriptors:
        os.close(number)
    # Without a process namespace the keeper must live long enough to kill the others.
    deadly = signal.SIGKILL if namespace >= 0 else signal.SIGTERM
    _await_end(channel, run["run"], alive, (child, deadly))
    os.close(alive)
    status = os.waitpid(child, 0)[1]
    wire.send(channel, {"event": "ended", "run": run["run"], "keeper": status})


def _await_end(channel: socket.socket, number: int, alive: int, deadly: tuple[int, int]) -> None:
    """Return when the keeper has let go of its end; kill it when the host says so."""
    poll = select.poll()
    poll.register(alive, select.POLLIN)
    poll.register(channel, select.POLLIN)
    while True:
        ready = {descriptor for descriptor, _event in poll.poll()}
        if alive in ready:
            return
        message, _none = wire.receive(channel)
        if message is None:
            os._exit(0)
        if message.get("kill") == number:
            os.kill(*deadly)
