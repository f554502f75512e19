"""Runs `uv` to install a pinned list of wheels into a folder. No package code is executed."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from uv import find_uv_bin

from reproof.domain.text import shown
from reproof.errors import InterpreterError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_PASSED_ON = frozenset(
    {
        "ALL_PROXY", "CURL_CA_BUNDLE", "HOME", "HTTP_PROXY", "HTTPS_PROXY", "LANG", "NETRC",
        "NO_PROXY", "REQUESTS_CA_BUNDLE", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME",
    }
)  # fmt: skip
_PASSED_ON_PREFIXES = (
    "SSL_", "UV_CACHE_DIR", "UV_CONCURRENT", "UV_CONFIG_FILE", "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX",
    "UV_FIND_LINKS", "UV_HTTP", "UV_INDEX", "UV_INSECURE_HOST", "UV_KEYRING", "UV_NATIVE_TLS",
    "UV_OFFLINE", "UV_SYSTEM_CERTS",
)  # fmt: skip
"""Where packages come from. What changes the choice of packages or their place is left out."""

_PIP_NAMES = {
    "PIP_INDEX_URL": "UV_DEFAULT_INDEX",
    "PIP_EXTRA_INDEX_URL": "UV_EXTRA_INDEX_URL",
    "PIP_CERT": "SSL_CERT_FILE",
}
"""Users who set pip up mean its index for us as well; hashes make the source irrelevant."""


def install(
    version: tuple[int, int],
    lock: Path,
    target: Path,
    *,
    environment: Mapping[str, str],
    timeout_s: float,
) -> None:
    """Install the wheels that `lock` names, with their hashes, into `target`.

    Raises `InterpreterError` when `uv` is missing, fails, or takes longer than `timeout_s`.
    """
    minor = f"{version[0]}.{version[1]}"
    command = [
        _uv(), "pip", "install", "--quiet", "--no-progress", "--color", "never",
        "--target", str(target), "--python", sys.executable, "--python-version", minor,
        "--only-binary", ":all:", "--require-hashes", "--no-deps", "--link-mode", "copy",
        "--requirements", str(lock),
    ]  # fmt: skip
    if version == sys.version_info[:2]:
        # Byte code needs an interpreter of that version, and the only trusted one is our own.
        command.append("--compile-bytecode")
    target.mkdir()
    try:
        done = subprocess.run(
            command,
            # Not the caller's folder: a repository may hold a `uv.toml`.
            cwd=target,
            env=_environment(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise _failed(minor, f"no answer within {timeout_s:g} s") from error
    if done.returncode != 0:
        raise _failed(minor, _last_words(done.stderr))


def _uv() -> str:
    try:
        return find_uv_bin()
    except FileNotFoundError as error:
        raise InterpreterError(
            "the `uv` program, which comes with this one, is missing",
            hint="install this program again",
        ) from error


def _environment(given: Mapping[str, str]) -> dict[str, str]:
    kept = {
        name: value
        for name, value in given.items()
        if name.upper() in _PASSED_ON or name.startswith(_PASSED_ON_PREFIXES)
    }
    for theirs, ours in _PIP_NAMES.items():
        if given.get(theirs):
            kept.setdefault(ours, given[theirs])
    # Never compared with the source again: the folder is shown read-only inside the sandbox.
    kept["PYC_INVALIDATION_MODE"] = "UNCHECKED_HASH"
    return kept


def _last_words(stderr: bytes) -> str:
    """Return what `uv` said, on one line: its error comes first, causes follow."""
    lines = [line.strip() for line in stderr.decode("utf-8", "replace").splitlines()]
    return shown("; ".join(line for line in lines if line), 300) or "no reason given"


def _failed(minor: str, reason: str) -> InterpreterError:
    return InterpreterError(
        f"pytest for Python {minor} could not be installed for the sandbox: {reason}",
        hint="this needs the package index once: check the network, the proxy and the index "
        "settings (UV_DEFAULT_INDEX, HTTPS_PROXY, SSL_CERT_FILE), then run again",
    )
