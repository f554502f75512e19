"""Exceptions are described whatever their classes do, and never at too great a length."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest
from sentry_sdk.utils import get_error_message

from reproof.sandbox._guest import serialize, tracing

if TYPE_CHECKING:
    from pathlib import Path

REQUEST: dict[str, Any] = {"test": "/tree/test_x.py", "root": "/tree", "roots": [], "sdk": None}


class LoudError(Exception):
    def __str__(self) -> str:
        raise KeyboardInterrupt


class MuteError(Exception):
    def __str__(self) -> str:
        raise ValueError

    def __repr__(self) -> str:
        return "Mute!"


class LostError(MuteError):
    def __repr__(self) -> str:
        raise ValueError


class ToldError(Exception):
    message = "told"


class DetailedError(Exception):
    detail = ("a", 1)


class Text(str):
    __slots__ = ()

    def __getitem__(self, key: object) -> str:
        raise RuntimeError

    def __str__(self) -> str:
        return self


@pytest.mark.parametrize(
    "error",
    [
        ValueError("x"),
        ValueError("x", 2),
        KeyError("k"),
        MuteError(),
        LostError(),
        ToldError(),
        DetailedError(),
    ],
)
def test_the_message_is_the_one_the_sdk_sends(error: Exception) -> None:
    error.__notes__ = ["one", 2, "two"]  # type: ignore[list-item]
    assert tracing.describe(error, REQUEST)["message"] == get_error_message(error)


def test_a_text_that_raises_anything_is_told() -> None:
    assert tracing.describe(LoudError(), REQUEST)["message"] == "<str() raised KeyboardInterrupt>"
    assert tracing.describe(ValueError(Text("abc")), REQUEST)["message"] == "abc"


def test_a_message_is_cut_and_can_be_encoded() -> None:
    told = tracing.describe(ValueError("\ud800" + "x" * 100_000), REQUEST)["message"]
    assert len(told) == tracing.MAX_MESSAGE
    assert told.encode()[:4] == b"\xef\xbf\xbdx"


def test_chains_may_be_cyclic_or_endless() -> None:
    one, two = ValueError(1), KeyError(2)
    one.__context__, two.__context__ = two, one
    assert [c["type"] for c in tracing.describe(one, REQUEST)["chain"]] == ["KeyError"]
    last = first = ValueError(0)
    for number in range(100_000):
        following = ValueError(number)
        last.__context__ = following
        last = following
    told = tracing.describe(first, REQUEST)["chain"]
    assert [c["message"] for c in told] == [str(n) for n in reversed(range(tracing.MAX_CHAIN))]
    while first is not None:  # freed one by one: all at once is too deep
        first.__context__, first = None, first.__context__  # type: ignore[assignment]


def test_from_none_hides_the_context() -> None:
    error = ValueError()
    error.__context__, error.__suppress_context__ = KeyError(), True
    assert tracing.describe(error, REQUEST)["chain"] == []


def test_a_class_that_hides_what_it_is_is_read_all_the_same() -> None:
    class Meta(type):
        def __getattribute__(cls, name: str) -> Any:  # noqa: ANN401
            raise RuntimeError(name)

    class HiddenError(Exception, metaclass=Meta):
        def __getattribute__(self, name: str) -> Any:  # noqa: ANN401
            raise SystemExit(name)

    told = tracing.describe(HiddenError(), REQUEST)
    assert (told["type"], told["module"]) == ("HiddenError", __name__)
    odd = type("Odd", (Exception,), {"__module__": property(lambda _self: 1)})
    assert tracing.describe(odd(), REQUEST)["module"] == ""


def test_groups_are_bounded_in_depth_and_number() -> None:
    deep: Exception = ValueError("in")
    for _ in range(100):
        deep = ExceptionGroup("g", [deep])
    json.dumps(tracing.describe(deep, REQUEST))
    wide: Exception = ExceptionGroup("a", [ValueError()] * 50)
    for _ in range(6):
        wide = ExceptionGroup("b", [wide] * 50)
    told = tracing.describe(wide, REQUEST)
    assert json.dumps(told).count('"message"') <= tracing.MAX_MEMBERS + 1
    small = tracing.describe(ExceptionGroup("g", [ValueError(), KeyError()]), REQUEST)
    assert [m["type"] for m in small["members"]] == ["ValueError", "KeyError"]
    assert "members" not in tracing.describe(ValueError(), REQUEST)


def crash_in(text: str, path: str, **names: object) -> BaseException:
    try:
        exec(compile(text, path, "exec"), {"__name__": "pkg.mod", **names})  # noqa: S102
    except BaseException as error:  # noqa: BLE001
        return error
    raise AssertionError


def test_frames_tell_where_they_are() -> None:
    frames = tracing.describe(crash_in("a = 1\n1 / 0", "/tree/pkg/mod.py"), REQUEST)["frames"]
    last = frames[-1]
    assert (last["file"], last["in_tree"], last["line"]) == ("pkg/mod.py", True, 2)
    assert (last["module"], last["locals"]["a"]) == ("pkg.mod", "1")
    outside = tracing.describe(crash_in("1 / 0", "/treehouse/m.py"), REQUEST)["frames"][-1]
    assert not outside["in_tree"]
    assert "locals" not in outside


def test_code_without_a_file_is_not_of_the_tree(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    told = tracing.describe(crash_in("1 / 0", "<string>"), {**REQUEST, "root": str(tmp_path)})
    assert (told["frames"][-1]["file"], told["frames"][-1]["in_tree"]) == ("<string>", False)


def test_only_frames_from_the_test_on_are_told() -> None:
    frames = tracing.describe(crash_in("1 / 0", REQUEST["test"]), REQUEST)["frames"]
    assert [(f["is_test"], f["in_tree"]) for f in frames] == [(True, False)]


def test_huge_variables_do_not_cost_the_report() -> None:
    names = {f"v{n}": ["\U0001f600" * 90_000] * 9 for n in range(9)}
    error = crash_in("small = 1\n1 / 0", "/tree/m.py", **names)
    told = tracing.describe(error, REQUEST)
    variables = told["frames"][-1]["locals"]
    assert variables["small"] == "1"
    assert serialize.OVER_BUDGET in variables.values()
    assert len(json.dumps(told)) < 2 * tracing.LOCALS_BYTES


def test_a_deep_recursion_keeps_both_ends() -> None:
    text = "def f(n):\n    return f(n + 1)\nf(0)"
    before = sys.getrecursionlimit()
    frames = tracing.describe(crash_in(text, "/tree/m.py"), REQUEST)["frames"]
    assert len(frames) <= tracing.MAX_FRAMES
    assert frames[-1]["locals"]["n"].isdigit()
    assert sum("locals" in f for f in frames) == tracing.MAX_FRAMES_WITH_LOCALS
    assert sys.getrecursionlimit() == before
