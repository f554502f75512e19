from __future__ import annotations

from pathlib import Path

import pytest

from reproof import settings
from reproof.errors import SettingsError
from reproof.settings import TABLE, load


def test_nothing_said_means_the_documented_defaults(tmp_path: Path) -> None:
    found = load(tmp_path, {"HOME": "/home/ada"})
    assert (found.timeout, found.test_timeout, found.memory_mib) == (60.0, 15.0, None)
    assert (found.sandbox, found.env, found.out) == ("auto", "auto", None)
    assert found.warnings == ()


def test_the_environment_wins_over_dotenv_and_dotenv_over_pyproject(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.reproof]\ntimeout = 11\ntest-timeout = 12\nmemory-mib = 512\nout = "a"\n'
    )
    (tmp_path / ".env").write_text("REPROOF_TIMEOUT=21\nexport REPROOF_TEST_TIMEOUT='22'\n")
    found = load(tmp_path, {"REPROOF_TIMEOUT": "31"})
    assert (found.timeout, found.test_timeout, found.memory_mib) == (31.0, 22.0, 512)
    assert found.out == "a"


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_each_setting_reaches_its_field_from_the_environment(row: object, tmp_path: Path) -> None:
    values = {"timeout": "5", "test_timeout": "6", "memory_mib": "64", "cache_dir": "/c"}
    name, env = row.name, row.env  # type: ignore[attr-defined]  # parametrize hands out objects
    found = load(tmp_path, {env: values.get(name, "word")})
    expected = {"timeout": 5.0, "test_timeout": 6.0, "memory_mib": 64, "cache_dir": Path("/c")}
    assert getattr(found, name) == expected.get(name, "word")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("REPROOF_SANDBOX=process", id="no-wall"),
        pytest.param("REPROOF_ENV=/home/victim/.ssh", id="a-folder-to-bind"),
        pytest.param("REPROOF_CACHE_DIR=.", id="where-pytest-comes-from"),
    ],
)
def test_dotenv_of_a_source_tree_cannot_choose_what_protects_the_user(
    text: str, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text(text)
    found = load(tmp_path, {"HOME": "/home/ada", "XDG_CACHE_HOME": "/cache"})
    assert (found.sandbox, found.env, found.cache_dir) == ("auto", "auto", Path("/cache/reproof"))
    assert [text.partition("=")[0] in warning for warning in found.warnings] == [True]


def test_pyproject_of_a_source_tree_cannot_choose_it_either(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.reproof]\nsandbox = "process"\ntypo = 1\n')
    found = load(tmp_path, {})
    assert found.sandbox == "auto"
    assert len(found.warnings) == 2


def test_a_token_in_dotenv_is_not_looked_at(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("SENTRY_AUTH_TOKEN=s3cret\nUV_INDEX_URL=https://evil.invalid\n")
    found = load(tmp_path, {})
    assert "s3cret" not in repr(found)
    assert "evil" not in repr(found)


@pytest.mark.parametrize("path", ["/etc/cron.d", "../elsewhere", "a/../../b"])
def test_a_project_can_name_only_an_output_folder_inside_itself(path: str, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(f"REPROOF_OUT={path}\n")
    with pytest.raises(SettingsError, match="REPROOF_OUT"):
        load(tmp_path, {})
    (tmp_path / ".env").unlink()
    assert load(tmp_path, {"REPROOF_OUT": path}).out == path


@pytest.mark.parametrize(
    ("env", "value"),
    [
        pytest.param("REPROOF_TIMEOUT", "soon", id="not-a-number"),
        pytest.param("REPROOF_TIMEOUT", "0", id="zero"),
        pytest.param("REPROOF_TIMEOUT", "inf", id="infinite"),
        pytest.param("REPROOF_MEMORY_MIB", "15", id="too-little-memory"),
        pytest.param("REPROOF_MEMORY_MIB", "1e3", id="not-a-whole-number"),
        pytest.param("REPROOF_OUT", "a\0b", id="nul"),
    ],
)
def test_a_malformed_value_names_the_variable_and_what_was_expected(
    env: str, value: str, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError) as caught:
        load(tmp_path, {env: value})
    expected = next(row.expected for row in TABLE if row.env == env)
    assert caught.value.message.startswith(f"{env}: ")
    assert expected in caught.value.message


def test_broken_toml_matters_only_when_it_is_about_us(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project\n")
    load(tmp_path, {})
    (tmp_path / "pyproject.toml").write_text("[tool.reproof\n")
    with pytest.raises(SettingsError, match=r"pyproject\.toml"):
        load(tmp_path, {})


@pytest.mark.parametrize("text", ["tool.reproof = 3\n", "[tool]\nreproof = [1]\n"])
def test_a_table_that_is_none_is_malformed(text: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(f"# tool.reproof\n{text}")
    with pytest.raises(SettingsError, match="not a table"):
        load(tmp_path, {})


def test_odd_project_files_are_as_good_as_none(tmp_path: Path) -> None:
    (tmp_path / ".env").mkdir()
    (tmp_path / "pyproject.toml").write_bytes(b"\xff\xfe[tool.x]" + b"x" * 300_000)
    assert load(tmp_path, {}).timeout == 60.0


def test_a_relative_xdg_cache_home_is_ignored_as_its_specification_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    found = load(tmp_path, {"XDG_CACHE_HOME": "cache"})
    assert found.cache_dir == Path("/home/ada/.cache/reproof")


def test_only_what_uv_needs_is_handed_on(tmp_path: Path) -> None:
    env = {"UV_INDEX_URL": "x", "https_proxy": "p", "SSL_CERT_FILE": "c", "AWS_SECRET": "no"}
    told = set(load(tmp_path, env).for_uv) - {"UV_SYSTEM_CERTS"}
    assert told == {"UV_INDEX_URL", "https_proxy", "SSL_CERT_FILE"}


def test_uv_trusts_what_the_system_trusts_unless_told_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = tmp_path / "bundle.crt"
    monkeypatch.setattr(settings, "CERTIFICATES", (str(bundle),))
    assert "UV_SYSTEM_CERTS" not in load(tmp_path, {}).for_uv
    bundle.touch()
    assert load(tmp_path, {}).for_uv["UV_SYSTEM_CERTS"] == "true"
    assert load(tmp_path, {"UV_SYSTEM_CERTS": "0"}).for_uv["UV_SYSTEM_CERTS"] == "0"
