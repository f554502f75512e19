"""Every setting, in one table, and the only place where the outside world is asked for them.

Strongest first: the command line, the environment, `.env` in the project root, `[tool.reproof]` in
its `pyproject.toml`, the default. The project's two files come with the source tree, which may be
somebody else's: they can set only what cannot weaken the sandbox or point outside the tree (the
`project` column), and nothing else of a `.env` is looked at.

What is not here: options that make sense for one run only (`--ref`, `--param`); see `cli.repro`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from reproof.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MAX_FILE_BYTES = 256 * 1024
"""A project file larger than this is not read for settings."""


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value <= 24 * 3600:
        raise ValueError(text)
    return value


def _mebibytes(text: str) -> int:
    value = int(text)
    if not 16 <= value <= 1024 * 1024:  # noqa: PLR2004 - the bounds stand in the help text
        raise ValueError(text)
    return value


def _words(text: str) -> str:
    if not text.strip() or "\0" in text:
        raise ValueError(text)
    return text


def _path_inside(text: str) -> str:
    path = PurePosixPath(_words(text))
    if path.is_absolute() or ".." in path.parts:
        raise ValueError(text)
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One row of the table."""

    name: str
    """Field of `Settings`."""
    env: str
    """Environment variable, and the name in `.env`."""
    key: str | None
    """Name in `[tool.reproof]`; `None` when a project may not set it."""
    default: str
    """As the documentation shows it."""
    expected: str
    """What a value must be, for the error message."""
    help: str
    parse: Callable[[str], float | str]
    parse_project: Callable[[str], float | str] | None = None
    """Stricter reading for a value from the project's own files; `parse` when absent."""

    @property
    def project(self) -> bool:
        """Whether the project's own files may set it."""
        return self.key is not None


TABLE: tuple[Setting, ...] = (
    Setting(
        name="timeout",
        env="REPROOF_TIMEOUT",
        key="timeout",
        default="60",
        expected="a number of seconds above 0, at most 86400",
        help="Wall-clock seconds for one crash, everything included.",
        parse=_seconds,
    ),
    Setting(
        name="test_timeout",
        env="REPROOF_TEST_TIMEOUT",
        key="test-timeout",
        default="15",
        expected="a number of seconds above 0, at most 86400",
        help="Wall-clock seconds for one run of a test in the sandbox.",
        parse=_seconds,
    ),
    Setting(
        name="memory_mib",
        env="REPROOF_MEMORY_MIB",
        key="memory-mib",
        default="128, raised once by itself when the target cannot be imported under it",
        expected="a whole number of MiB from 16 to 1048576",
        help="Memory of one test run with all its processes, in MiB.",
        parse=_mebibytes,
    ),
    Setting(
        name="out",
        env="REPROOF_OUT",
        key="out",
        default="the project's test folder as its pytest configuration names it, else `tests`",
        expected="a folder (inside the project, where the project's own files name it)",
        help="Where the emitted test is written.",
        parse=_words,
        parse_project=_path_inside,
    ),
    Setting(
        name="sandbox",
        env="REPROOF_SANDBOX",
        key=None,
        default="auto",
        expected="`auto` or the name of a backend",
        help="Which sandbox runs the tests. `reproof doctor` lists those usable here.",
        parse=_words,
    ),
    Setting(
        name="env",
        env="REPROOF_ENV",
        key=None,
        default="auto",
        expected="`auto`, `current` or a path",
        help="The Python environment the crashed code runs in.",
        parse=_words,
    ),
    Setting(
        name="cache_dir",
        env="REPROOF_CACHE_DIR",
        key=None,
        default="`$XDG_CACHE_HOME/reproof`, else `~/.cache/reproof`",
        expected="a folder",
        help="Where pytest for each Python version is kept once fetched.",
        parse=_words,
    ),
)

READ_AS_THEY_ARE: Mapping[str, str] = {
    "XDG_CACHE_HOME": "the user's cache folder",
    "VIRTUAL_ENV": "the active environment, used by `--env auto` and `--env current`",
    "PATH": "where `git` and Python interpreters are looked for",
    "NO_COLOR": "no colour when set to anything",
    "TERM": "no colour and no live progress when it is `dumb`",
}
"""Conventional variables that keep their meaning; documented beside the table."""

PASSED_TO_UV = (
    "UV_", "PIP_", "SSL_", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
    "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NETRC", "HOME", "TMPDIR", "XDG_",
)  # fmt: skip
"""Beginnings of names (any case) handed on when `uv` fetches pytest: proxies, mirrors, caches."""

CERTIFICATES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
)
"""Where systems keep the authorities they trust; one of these makes `uv` trust them too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What was found; `None` means that nobody said, and the default applies."""

    timeout: float = 60.0
    test_timeout: float = 15.0
    memory_mib: int | None = None
    out: str | None = None
    sandbox: str = "auto"
    env: str = "auto"
    cache_dir: Path
    virtual_env: str | None = None
    search_path: str = ""
    no_color: bool = False
    dumb_terminal: bool = False
    for_uv: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    """One sentence for each setting that a project file named and may not set."""


def load(project: Path, environ: Mapping[str, str] | None = None) -> Settings:
    """Read the settings for a run on `project`. Raises `SettingsError` for a malformed value."""
    environ = os.environ if environ is None else environ
    warnings: list[str] = []
    found: dict[str, float | str] = {}
    for source, values in (
        ("[tool.reproof] in pyproject.toml", _from_pyproject(project, warnings)),
        (".env", _from_dotenv(project, warnings)),
    ):
        for setting in TABLE:
            if setting.env in values:
                parse = setting.parse_project or setting.parse
                found[setting.name] = _parsed(setting, values[setting.env], source, parse)
    for setting in TABLE:
        if environ.get(setting.env):
            found[setting.name] = _parsed(setting, environ[setting.env], setting.env, setting.parse)
    cache = found.pop("cache_dir", None)
    return Settings(
        cache_dir=Path(str(cache)) if cache else _default_cache(environ),
        virtual_env=environ.get("VIRTUAL_ENV") or None,
        search_path=environ.get("PATH", os.defpath),
        no_color=bool(environ.get("NO_COLOR")),
        dumb_terminal=environ.get("TERM") == "dumb",
        for_uv=_for_uv(environ),
        warnings=tuple(warnings),
        **found,  # type: ignore[arg-type]  # TABLE pairs each name with a parser of its type
    )


def _parsed(
    setting: Setting, text: str, source: str, parse: Callable[[str], float | str]
) -> float | str:
    try:
        return parse(text)
    except ValueError:
        raise SettingsError(
            f"{source}: {setting.env} is {text[:60]!r}, expected {setting.expected}",
            hint=f"docs/settings.md describes `{setting.name}`",
        ) from None


def _for_uv(environ: Mapping[str, str]) -> dict[str, str]:
    """Return what `uv` is told; a company's own authority is usually known to the system only."""
    told = {k: v for k, v in environ.items() if k.upper().startswith(PASSED_TO_UV)}
    if any(Path(bundle).is_file() for bundle in CERTIFICATES):
        told.setdefault("UV_SYSTEM_CERTS", "true")
    return told


def _default_cache(environ: Mapping[str, str]) -> Path:
    base = environ.get("XDG_CACHE_HOME", "")
    # The specification says that a relative value is invalid and to be ignored.
    root = Path(base) if base.startswith("/") else Path("~/.cache").expanduser()
    return root / "reproof"


def _from_dotenv(project: Path, warnings: list[str]) -> dict[str, str]:
    """Take the names of the table, and no other, out of the project's `.env`."""
    known = {setting.env: setting for setting in TABLE}
    values: dict[str, str] = {}
    for line in _read(project / ".env").splitlines():
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        setting = known.get(name.strip())
        if not equals or setting is None:
            continue
        if not setting.project:
            warnings.append(_ignored(setting.env, ".env"))
            continue
        value = value.strip()
        if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        if value:
            values[setting.env] = value
    return values


def _from_pyproject(project: Path, warnings: list[str]) -> dict[str, str]:
    text = _read(project / "pyproject.toml")
    if "tool.reproof" not in text:
        return {}
    import tomllib  # noqa: PLC0415 - most projects have no such table, and starting must be quick

    try:
        table = tomllib.loads(text).get("tool", {}).get("reproof", {})
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(
            f"pyproject.toml: {error}", hint="its [tool.reproof] table cannot be read as it is"
        ) from error
    if not isinstance(table, dict):
        raise SettingsError("pyproject.toml: tool.reproof is not a table")
    known = {setting.key: setting for setting in TABLE if setting.key}
    barred = {setting.name.replace("_", "-") for setting in TABLE if not setting.project}
    values: dict[str, str] = {}
    for key, value in table.items():
        if key in barred:
            warnings.append(_ignored(key, "[tool.reproof]"))
        elif key not in known:
            names = ", ".join(sorted(known))
            warnings.append(f"[tool.reproof] has an unknown key {key[:60]!r} (known: {names})")
        else:
            values[known[key].env] = str(value)
    return values


def _ignored(name: str, source: str) -> str:
    return (
        f"{name} in the project's {source} is ignored: only you may choose it, not the source tree"
    )


def _read(path: Path) -> str:
    """Return a small regular file's text, or nothing: these files are optional."""
    try:
        if not path.is_file() or path.stat().st_size > MAX_FILE_BYTES:
            return ""
        return path.read_bytes().decode("utf-8-sig", errors="replace")
    except OSError:
        return ""
