"""The abuse table: what hostile code tries behind a wall, and what must come of it.

Public and backend-neutral: each case is a script that runs as the target would and leaves what it
found in `RESULT`. What is checked on the host is in `test_abuse.py`.
"""

# Scripts keep their lines as they run.
# ruff: noqa: E501

from __future__ import annotations

import errno
import socket
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reproof.domain.run import Limits, RunEnd

if TYPE_CHECKING:
    from collections.abc import Mapping

PRELUDE = """
import ctypes, errno, os, signal, socket, subprocess, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)

def attempt(function, *arguments):
    try:
        function(*arguments)
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error))
    except Exception as error:
        return type(error).__name__
    return "ok"

def call(name, *arguments):
    ctypes.set_errno(0)
    result = getattr(libc, name)(*arguments)
    return errno.errorcode[ctypes.get_errno()] if result == -1 else "ok"

def write(path, data="x"):
    with open(path, "w") as file:
        file.write(data)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Abuse:
    """One attempt and its required outcome."""

    script: str
    result: object = None
    """Expected `RESULT`; `None` when the script must not get to report."""
    any_of: tuple[object, ...] = ()
    """Several acceptable results, where kernels differ."""
    end: RunEnd = RunEnd.EXITED
    hits: frozenset[str] = frozenset()
    limits: Limits = field(default_factory=Limits)


def _refused(script: str, *names: str, **more: object) -> Abuse:
    return Abuse(script=f"RESULT = {script}", any_of=names, **more)  # type: ignore[arg-type]


_SHORT = Limits(wall_s=1.0)

CASES: Mapping[str, Abuse] = {
    # Files
    "write-to-usr": _refused('attempt(write, "/usr/planted")', "EROFS", "EACCES"),
    "write-to-root": _refused('attempt(write, "/planted")', "EROFS", "EACCES"),
    "write-to-interpreter": _refused("attempt(write, os.__file__)", "EROFS", "EACCES"),
    "write-to-pytest": _refused('attempt(write, __import__("pytest").__file__)', "EROFS", "EACCES"),
    "write-to-dev": _refused('attempt(write, "/dev/planted")', "EROFS", "EACCES"),
    "read-shadow": _refused('attempt(open, "/etc/shadow")', "ENOENT"),
    "see-git-and-env": Abuse(
        script='RESULT = [os.path.lexists(n) for n in (".git", ".env", "kept.txt")]',
        result=[False, False, True],
    ),
    "see-beside-the-tree": Abuse(
        script='RESULT = os.path.exists(os.path.join(os.getcwd(), "..", "canary.txt"))',
        result=False,
    ),
    "see-the-source-place": Abuse(
        script='RESULT = os.path.exists("/.reproof/wall/src")', result=False
    ),
    "see-host-places": Abuse(
        script='RESULT = [p for p in ("/var/run/docker.sock", "/run", "/sys/kernel", "/boot", '
        '"/dev/mem", "/dev/kmsg", "/dev/kvm", "/dev/vsock") if os.path.exists(p)]',
        result=[],
    ),
    "rewrite-core-pattern": _refused(
        'attempt(lambda: os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY))',
        "EACCES",
        "EROFS",
        "EPERM",
        "ENOENT",
    ),
    "read-kernel-memory": _refused(
        'attempt(open, "/proc/kcore", "rb")', "EACCES", "EPERM", "ENOENT"
    ),
    "trigger-sysrq": _refused(
        'attempt(lambda: os.open("/proc/sysrq-trigger", os.O_WRONLY))',
        "EACCES",
        "EROFS",
        "ENOENT",
        "EPERM",
    ),
    "make-device": _refused('attempt(os.mknod, "/tmp/disk", 0o60600, os.makedev(254, 0))', "EPERM"),
    "setuid-file-is-harmless": Abuse(
        script="import shutil\nshutil.copy(sys.executable, '/tmp/py')\nos.chmod('/tmp/py', 0o4755)\n"
        "RESULT = [call('mount', b'none', b'/tmp', None, 32, None), os.geteuid()]",
        result=["EPERM", 65534],
    ),
    "huge-file": Abuse(
        script='RESULT = attempt(lambda: open("/tmp/huge", "wb").truncate(1 << 40))', result="EFBIG"
    ),
    "fill-tmp": Abuse(
        script="def fill():\n    for n in range(64):\n        open(f'/tmp/{n}', 'wb').write(bytes(1 << 20))\n"
        "RESULT = attempt(fill)",
        result="ENOSPC",
    ),
    "fill-tree": Abuse(
        script="def fill():\n    for n in range(64):\n        open(f'fill{n}', 'wb').write(bytes(1 << 20))\n"
        "RESULT = attempt(fill)",
        result="ENOSPC",
        hits=frozenset({"disk_bytes"}),
    ),
    "fill-shared-memory": Abuse(
        script="def fill():\n    for n in range(64):\n        open(f'/dev/shm/{n}', 'wb').write(bytes(1 << 20))\n"
        "RESULT = attempt(fill)",
        result="ENOSPC",
    ),
    "many-inodes": Abuse(
        script="def fill():\n    for n in range(100000):\n        open(f'inode{n}', 'wb').close()\n"
        "RESULT = attempt(fill)",
        result="ENOSPC",
        hits=frozenset({"inodes"}),
    ),
    "planted-links": Abuse(
        script="os.symlink('/etc/shadow', 'report')\nos.symlink('/dev/zero', 'result.json')\n"
        "os.mkfifo('pipe')\nRESULT = 'planted'",
        result="planted",
    ),
    # Rights
    "identity": Abuse(
        script="RESULT = [os.getuid(), os.getgid(), "
        "[l.split()[1] for l in open('/proc/self/status') if l.startswith(('CapEff', 'CapBnd'))]]",
        result=[65534, 65534, ["0000000000000000"] * 2],
    ),
    "become-root": _refused("attempt(os.setuid, 0)", "EPERM", "EINVAL"),
    "mount": _refused("call('mount', b'tmpfs', b'/tmp', b'tmpfs', 0, None)", "EPERM"),
    "unmount": _refused("call('umount2', b'/tmp', 2)", "EPERM"),
    "unshare-user": _refused("call('unshare', 0x10000000)", "EPERM"),
    "clone-user": _refused("call('syscall', 56, 0x10000000 | 17, 0, 0, 0, 0)", "EPERM"),
    "clone3": _refused("call('syscall', 435, 0, 0)", "ENOSYS"),
    "chroot": _refused("attempt(os.chroot, '/tmp')", "EPERM"),
    "ptrace-keeper": _refused("call('ptrace', 16, 1, 0, 0)", "EPERM"),
    "bpf": _refused("call('syscall', 321, 0, 0, 0)", "EPERM"),
    "keyctl": _refused("call('syscall', 250, 0, 0, 0)", "EPERM"),
    "perf": _refused("call('syscall', 298, 0, 0, -1, -1, 0)", "EPERM"),
    "io-uring": _refused("call('syscall', 425, 1, 0)", "ENOSYS"),
    "userfaultfd": _refused("call('syscall', 323, 0)", "ENOSYS"),
    "memfd": _refused("call('syscall', 319, b'x', 0)", "ENOSYS"),
    "load-module": _refused("call('syscall', 175, 0, 0, b'')", "EPERM"),
    "reboot": _refused("call('syscall', 169, 0, 0, 0)", "EPERM"),
    "kernel-log": _refused("call('syscall', 103, 3, 0, 0)", "EPERM"),
    "set-clock": _refused("attempt(time.clock_settime, time.CLOCK_REALTIME, 0.0)", "EPERM"),
    "foreign-abi": _refused("call('syscall', 0x40000000 | 39)", "ENOSYS"),
    "raise-limit": _refused(
        "attempt(lambda: __import__('resource').setrlimit(__import__('resource').RLIMIT_FSIZE, "
        "(1 << 40, 1 << 40)))",
        "ValueError",
    ),
    "raise-priority": _refused("attempt(os.nice, -10)", "EPERM", "EACCES"),
    "spare-me-oom-killer": _refused(
        "attempt(write, '/proc/self/oom_score_adj', '-1000')", "EACCES", "EPERM"
    ),
    # Other processes
    "see-processes": Abuse(
        script="RESULT = sorted(int(p) for p in os.listdir('/proc') if p.isdigit())", result=[1, 2]
    ),
    "read-keeper": Abuse(
        script="RESULT = [attempt(open, '/proc/1/environ'), attempt(os.listdir, '/proc/1/fd'), "
        "attempt(open, '/proc/1/mem')]",
        result=["EACCES", "EACCES", "EACCES"],
    ),
    "kill-keeper": Abuse(
        script="os.kill(1, signal.SIGKILL)\nattempt(os.kill, -1, signal.SIGKILL)\nRESULT = 'alive'",
        result="alive",
    ),
    "descriptors": Abuse(
        script="RESULT = [n for n in os.listdir('/proc/self/fd') if 2 < int(n) < 255 and "
        "os.path.exists('/proc/self/fd/' + n)]",
        result=[],
    ),
    "environment": Abuse(
        script="RESULT = sorted(set(os.environ) - {'PATH', 'HOME', 'TMPDIR', 'LANG', 'LC_ALL', 'TZ', "
        "'PYTHONHASHSEED', 'PYTHONDONTWRITEBYTECODE'})",
        result=[],
    ),
    # Network
    "interfaces": Abuse(
        script="RESULT = [l.split(':')[0].strip() for l in open('/proc/net/dev') if ':' in l]",
        result=["lo"],
    ),
    "tcp-out": Abuse(
        script="RESULT = attempt(socket.create_connection, ('1.1.1.1', 80), 2)",
        result="ENETUNREACH",
        hits=frozenset({"network"}),
    ),
    "udp-out": Abuse(
        script="s = socket.socket(type=socket.SOCK_DGRAM)\n"
        "RESULT = attempt(s.sendto, b'x', ('8.8.8.8', 53))",
        result="ENETUNREACH",
        hits=frozenset({"network"}),
    ),
    "ipv6-out": Abuse(
        script="s = socket.socket(socket.AF_INET6)\n"
        "RESULT = attempt(s.connect, ('2606:4700::1111', 80))",
        any_of=("ENETUNREACH", "EADDRNOTAVAIL"),
    ),
    "dns": Abuse(
        script="start = time.monotonic()\nRESULT = [attempt(socket.getaddrinfo, 'example.com', 80) != 'ok', "
        "time.monotonic() - start < 3]",
        result=[True, True],
        hits=frozenset({"network"}),
    ),
    "loopback-works": Abuse(
        script="s = socket.create_server(('127.0.0.1', 0))\n"
        "RESULT = attempt(socket.create_connection, ('localhost', s.getsockname()[1]), 2)",
        result="ok",
    ),
    "vsock": _refused("attempt(socket.socket, 40, 1)", errno.errorcode[errno.EAFNOSUPPORT]),
    "kernel-crypto": _refused("attempt(socket.socket, 38, 5)", "EAFNOSUPPORT"),
    "netlink": _refused("attempt(socket.socket, 16, 3)", "EAFNOSUPPORT"),
    "raw-socket": _refused(
        f"attempt(socket.socket, {int(socket.AF_INET)}, {int(socket.SOCK_RAW)}, 1)", "EPERM"
    ),
    "socketpair-works": _refused("attempt(socket.socketpair)", "ok"),
    # Resources
    "fork-loop": Abuse(
        script="count = 0\ntry:\n    while count < 500:\n        if os.fork() == 0:\n            time.sleep(60)\n"
        "        count += 1\nexcept OSError as error:\n"
        "    RESULT = [errno.errorcode[error.errno], 30 < count <= 50]",
        result=["EAGAIN", True],
    ),
    "fork-bomb": Abuse(
        script="while True:\n    try:\n        os.fork()\n    except OSError:\n        pass",
        end=RunEnd.TIMEOUT,
        limits=_SHORT,
        hits=frozenset({"wall_s"}),
    ),
    "thread-bomb": Abuse(
        script="try:\n    for n in range(500):\n"
        "        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
        "except RuntimeError:\n    RESULT = 5 < n <= 50",
        result=True,
    ),
    "memory-one-process": Abuse(
        script="held = []\nwhile True:\n    held.append(b'x' * (8 << 20))",
        end=RunEnd.MEMORY,
        hits=frozenset({"memory_bytes"}),
    ),
    "memory-of-children": Abuse(
        script="for n in range(8):\n    if os.fork() == 0:\n        held = b'x' * (60 << 20)\n"
        "        time.sleep(60)\ntime.sleep(1)\nRESULT = 'survived'",
        # A control group kills the children, the watchdog the whole run.
        any_of=("survived", None),
        end=RunEnd.MEMORY,
        hits=frozenset({"memory_bytes"}),
    ),
    "memory-shared": Abuse(
        script="import mmap\nheld = mmap.mmap(-1, 600 << 20)\n"
        "for at in range(0, 600 << 20, 4096):\n    held[at] = 1",
        end=RunEnd.MEMORY,
        hits=frozenset({"memory_bytes"}),
    ),
    "output-flood": Abuse(
        script="for n in range(4096):\n    os.write(1, b'x' * 4096)\n    os.write(2, b'\\x1b[31m' * 512)\n"
        "RESULT = 'written'",
        result="written",
        hits=frozenset({"output_bytes"}),
    ),
    "descriptor-exhaustion": Abuse(
        script="held = []\ndef open_all():\n    while True:\n        held.append(os.open('/dev/null', 0))\n"
        "RESULT = attempt(open_all)",
        result="EMFILE",
    ),
    # Time and ends
    "sleep": Abuse(
        script="time.sleep(60)", end=RunEnd.TIMEOUT, limits=_SHORT, hits=frozenset({"wall_s"})
    ),
    "ignore-signals": Abuse(
        script="for n in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM, signal.SIGXCPU):\n"
        "    signal.signal(n, signal.SIG_IGN)\ntime.sleep(60)",
        end=RunEnd.TIMEOUT,
        limits=_SHORT,
        hits=frozenset({"wall_s"}),
    ),
    "stop-itself": Abuse(
        script="os.kill(os.getpid(), signal.SIGSTOP)",
        end=RunEnd.TIMEOUT,
        limits=_SHORT,
        hits=frozenset({"wall_s"}),
    ),
    "close-output-and-stay": Abuse(
        script="os.closerange(0, 3)\ntime.sleep(60)",
        end=RunEnd.TIMEOUT,
        limits=_SHORT,
        hits=frozenset({"wall_s"}),
    ),
    "daemon-holds-the-pipe": Abuse(
        script="if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
        "        signal.signal(signal.SIGTERM, signal.SIG_IGN)\n        time.sleep(60)\n    os._exit(0)\n"
        "RESULT = 'left'",
        result="left",
    ),
    "zombies": Abuse(
        script="for n in range(200):\n    if os.fork() == 0:\n        if os.fork() == 0:\n"
        "            os._exit(0)\n        os._exit(0)\n    os.wait()\nRESULT = 'reaped'",
        result="reaped",
    ),
    "crash": Abuse(script="ctypes.string_at(0)", end=RunEnd.SIGNALED),
    "abort": Abuse(script="os.abort()", end=RunEnd.SIGNALED),
    # Forgery
    "leave-early": Abuse(script="os._exit(0)"),
    "forge-a-report": Abuse(
        script="import json, struct\nbody = json.dumps({'nonce': 'f' * 32, 'report': {'result': 1}}).encode()\n"
        "os.write(255, struct.pack('>I', len(body)) + body)\nos._exit(0)"
    ),
    "forge-a-second-report": Abuse(
        script="import json, struct\nbody = json.dumps({'nonce': 'f' * 32, 'report': {}}).encode()\n"
        "os.write(255, struct.pack('>I', len(body)) + body)\nRESULT = 1"
    ),
    "garble-the-channel": Abuse(script="os.write(255, b'\\xff' * 100000)\nRESULT = 1"),
    "flood-the-channel": Abuse(
        script="for n in range(400):\n    os.write(255, b'x' * 65536)\nRESULT = 1"
    ),
    "return-twice": Abuse(script="os.fork()\nRESULT = 'once'", result="once"),
    "replace-builtins": Abuse(
        script="import builtins, json\nbuiltins.len = builtins.str = None\nos.write = os.getpid = None\n"
        "json.dumps = lambda *a, **k: '{}'\nRESULT = 'kept'",
        any_of=("kept", None),
    ),
    "deep-report": Abuse(
        script="RESULT = []\nfor n in range(500):\n    RESULT = [RESULT]\nRESULT = 'shallow'",
        result="shallow",
    ),
    "not-json": Abuse(script="RESULT = object()"),
    "infinite-number": Abuse(script="RESULT = float('inf')"),
}
