"""A path is a claim; the captured source text decides."""

from __future__ import annotations

from dataclasses import replace

import pytest

from builders import DictTree, event_of, frame_at
from reproof.domain.event import Frame
from reproof.domain.refusal import RefusalReason
from reproof.reproducer.locate import Agreement, Place, agreement_of, locate, refuse_unplaced

TEXT = """\
import json


def load(path):
    with open(path) as file:
        return json.load(file)


def rate(total, count):
    return total / count
"""
FILES = {"shop/rates.py": TEXT}
CRASH = frame_at(FILES, "shop/rates.py", "return total / count", "rate")


def _changed(frame: Frame, **changes: object) -> Frame:
    return replace(frame, **changes)  # type: ignore[arg-type]


def _place(
    frame: Frame, files: dict[str, str] | None = None, source_map: dict[str, str] | None = None
) -> Place:
    return locate(event_of(frame), DictTree(files or FILES), source_map or {})[0]


@pytest.mark.parametrize(
    "path",
    [
        "/srv/app/shop/rates.py",
        "shop/rates.py",
        "./shop/rates.py",
        "C:\\app\\shop\\rates.py",
        "\\\\host\\share\\shop\\rates.py",
        "/tree/src/shop/rates.py",
        "rates.py",
    ],
)
def test_leading_components_are_stripped(path: str) -> None:
    place = _place(_changed(CRASH, abs_path=path, filename=path))

    assert (place.path, place.line, place.agreement) == ("shop/rates.py", 10, Agreement.EXACT)
    assert place.in_app
    assert place.source_match == "exact"


def test_the_dotted_module_finds_a_file_that_the_path_does_not() -> None:
    frame = _changed(CRASH, abs_path="/x/frozen.zip", filename="frozen.zip", module="shop.rates")

    assert _place(frame).path == "shop/rates.py"
    assert _place(frame, {"src/shop/rates.py": TEXT}).path == "src/shop/rates.py"
    assert _place(_changed(frame, module="shop"), {"shop/__init__.py": TEXT}).path == (
        "shop/__init__.py"
    )


def test_a_unique_base_name_is_enough_when_its_text_agrees() -> None:
    assert _place(CRASH, {"other/rates.py": TEXT}).path == "other/rates.py"


def test_text_further_down_has_moved() -> None:
    place = _place(CRASH, {"shop/rates.py": "# new\n\n" + TEXT})

    assert (place.line, place.agreement) == (12, Agreement.MOVED)
    assert place.source_match == "moved by 2 lines"


def test_text_that_is_gone_is_drift() -> None:
    place = _place(CRASH, {"shop/rates.py": TEXT.replace("total / count", "total // count")})

    assert place.agreement is Agreement.DRIFT
    refusal = refuse_unplaced([place])
    assert refusal is not None
    assert refusal.reason is RefusalReason.SOURCE_DRIFT


def test_without_context_the_line_is_only_believed() -> None:
    bare = _changed(CRASH, context_line=None, pre_context=(), post_context=())

    assert _place(bare).agreement is Agreement.UNCHECKED
    assert _place(_changed(bare, lineno=500)).agreement is Agreement.DRIFT


def test_the_context_chooses_between_files_of_one_name() -> None:
    files = {"a/rates.py": TEXT, "b/rates.py": "import os\n"}
    frame = _changed(CRASH, abs_path="/srv/rates.py", filename="rates.py")
    place = _place(frame, files)

    assert place.path == "a/rates.py"
    assert place.candidates == ()


def test_an_unbroken_tie_names_the_candidates() -> None:
    files = {"a/rates.py": TEXT, "b/rates.py": TEXT}
    place = _place(_changed(CRASH, abs_path="/srv/rates.py", filename="rates.py"), files)

    assert set(place.candidates) == {"a/rates.py", "b/rates.py"}
    refusal = refuse_unplaced([place])
    assert refusal is not None
    assert refusal.reason is RefusalReason.AMBIGUOUS_SOURCE
    assert "a/rates.py" in refusal.summary
    assert "b/rates.py" in refusal.summary


def test_a_longer_common_tail_breaks_a_tie() -> None:
    place = _place(CRASH, {"a/shop/rates.py": TEXT, "b/rates.py": TEXT})

    assert (place.path, place.candidates) == ("a/shop/rates.py", ())


def test_a_source_map_breaks_a_tie() -> None:
    files = {"a/rates.py": TEXT, "b/rates.py": TEXT}
    frame = _changed(CRASH, abs_path="/srv/prod/rates.py", filename="rates.py")

    assert _place(frame, files, {"/srv/prod": "b"}).path == "b/rates.py"
    assert _place(frame, files, {"/srv/prod/": "b/"}).path == "b/rates.py"


@pytest.mark.parametrize(
    "path",
    [
        "../shop/rates.py",
        "/srv/../../etc/shop/rates.py",
        "shop/rates.py\0.py",
        "shop/\0/rates.py",
        "",
        ".",
        "/",
        "<string>",
        "<frozen importlib._bootstrap>",
        "x" * 5000,
        "/".join(["a"] * 3000),
        "\ud800.py",
    ],
)
def test_a_path_that_is_none_finds_nothing(path: str) -> None:
    frame = _changed(CRASH, abs_path=path, filename=path, module=None)
    files = {"shop/rates.py": "x = 1\n", "shop/other.py": TEXT}
    place = _place(frame, files)

    assert place.path is None or place.agreement is not Agreement.EXACT


@pytest.mark.parametrize("module", ["..shop", "shop..rates", "/etc/passwd", "shop rates", "\0"])
def test_a_module_that_is_no_dotted_name_finds_nothing(module: str) -> None:
    frame = _changed(CRASH, abs_path="/x/frozen.zip", filename="frozen.zip", module=module)

    assert _place(frame).path is None


def test_a_mapping_cannot_leave_the_tree() -> None:
    place = _place(CRASH, {"x.py": "x = 1\n"}, {"/srv/app": "../.."})

    assert place.path is None


@pytest.mark.parametrize(
    "path",
    [
        "/env/lib/python3.12/site-packages/shop/util.py",
        "/usr/lib/python3/dist-packages/shop/util.py",
        "/usr/lib/python3.12/json/decoder.py",
        "pandas/_libs/index.pyx",
    ],
)
def test_a_library_frame_is_not_in_app_whatever_the_sender_says(path: str) -> None:
    frame = Frame(abs_path=path, filename=path, function="f", lineno=3, context_line="    x = 1")

    assert not _place(_changed(frame, in_app=True)).in_app
    assert not _place(_changed(frame, in_app=None)).in_app


def test_a_library_with_a_namesake_in_the_tree_stays_a_library() -> None:
    frame = _changed(CRASH, abs_path="/e/site-packages/lib/rates.py", filename="lib/rates.py")
    place = _place(frame, {"shop/rates.py": "x = 1\n"})

    assert not place.in_app
    assert refuse_unplaced([place]) is not None


def test_the_tree_installed_as_a_package_is_in_app() -> None:
    path = "/env/lib/python3.12/site-packages/shop/rates.py"
    place = _place(_changed(CRASH, abs_path=path, in_app=False))

    assert (place.path, place.in_app) == ("shop/rates.py", True)


def test_an_unflagged_frame_must_prove_that_it_is_the_trees() -> None:
    unflagged = _changed(CRASH, in_app=None)

    assert _place(unflagged).in_app
    assert not _place(unflagged, {"shop/rates.py": "x = 1\n"}).in_app


def test_no_frames_and_no_app_frames_are_refusals() -> None:
    for places in ([], [_place(_changed(CRASH, in_app=False), {"x.py": ""})]):
        refusal = refuse_unplaced(places)
        assert refusal is not None
        assert refusal.reason is RefusalReason.NO_APP_FRAME


def test_an_app_file_that_is_missing_is_source_not_found() -> None:
    refusal = refuse_unplaced([_place(CRASH, {"x.py": ""})])

    assert refusal is not None
    assert refusal.reason is RefusalReason.SOURCE_NOT_FOUND


def test_a_hostile_path_is_escaped_in_the_refusal() -> None:
    refusal = refuse_unplaced(
        [_place(_changed(CRASH, abs_path="/x\x1b[2J\u202e.py"), {"y.py": ""})]
    )

    assert refusal is not None
    assert refusal.summary.isprintable()


LINES = ["def a():", "    x = 1", "    return x", "def b():", "    y = 2", "    return x"]


def test_a_line_that_stands_twice_in_equal_surroundings_is_drift() -> None:
    lines = ["x = 1", "raise E", "x = 1", "raise E"]
    frame = Frame(lineno=40, context_line="raise E", pre_context=("x = 1",))

    assert agreement_of(lines, frame)[1] is Agreement.DRIFT


def test_a_line_that_moved_is_chosen_by_its_surroundings() -> None:
    frame = Frame(lineno=9, context_line="    return x", pre_context=("def b():", "    y = 2"))

    assert agreement_of(LINES, frame)[1:] == (Agreement.MOVED, 6)


def test_the_claimed_line_loses_when_only_another_has_the_surroundings() -> None:
    # three lines were put in above; `return x` of another function now stands at the old number
    frame = Frame(lineno=3, context_line="    return x", pre_context=("def b():", "    y = 2"))

    assert agreement_of(LINES, frame)[1:] == (Agreement.MOVED, 6)


def test_a_context_line_that_the_sender_cut_still_agrees() -> None:
    line = "    return total / count * factor * another_factor"
    frame = Frame(lineno=1, context_line=line[:30] + "...")

    assert agreement_of([line], frame)[1] is Agreement.EXACT
    assert agreement_of([line], Frame(lineno=1, context_line="    r..."))[1] is Agreement.DRIFT


def test_a_form_feed_does_not_count_as_a_line() -> None:
    # Python counts lines by newlines alone, and so do the numbers in an event
    text = "import json\n\x0c\ndef rate(total, count):\n    return total / count\n"
    frame = Frame(
        abs_path="/srv/shop/rates.py",
        function="rate",
        lineno=4,
        context_line="    return total / count",
        in_app=True,
    )
    place = _place(frame, {"shop/rates.py": text})

    assert (place.line, place.agreement) == (4, Agreement.EXACT)
