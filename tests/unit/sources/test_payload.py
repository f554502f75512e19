"""Every dialect of an event gives the same `Event`; whatever is no event gives a reason."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reproof.domain.event import Event, EventShape, Frame
from reproof.domain.refusal import Refusal, RefusalReason
from reproof.sources.payload import decode, parse, split
from reproof.sources.stack import MAX_FRAMES

if TYPE_CHECKING:
    from reproof.domain.event import JSON

EVENTS = Path(__file__).parents[2] / "data" / "events"


def load(name: str) -> JSON:
    value = decode((EVENTS / name).read_bytes())
    assert not isinstance(value, Refusal)
    return value


def event(payload: JSON) -> Event:
    parsed = parse(payload)
    assert isinstance(parsed, Event), parsed
    return parsed


def refusal(payload: JSON) -> Refusal:
    parsed = parse(payload)
    assert isinstance(parsed, Refusal)
    assert parsed.summary.isprintable()
    return parsed


def sdk(frame: dict[str, JSON] | None = None, **more: JSON) -> dict[str, JSON]:
    """Return a small event; `more` replaces or adds top-level keys."""
    frames: list[JSON] = [{"filename": "a.py", "lineno": 3, **(frame or {})}]
    value: JSON = {"type": "ValueError", "value": "v", "stacktrace": {"frames": frames}}
    return {"platform": "python", "exception": {"values": [value]}, **more}


def api(values: list[JSON], **more: JSON) -> dict[str, JSON]:
    """Return an event whose exception is not the first of its entries."""
    entries: list[JSON] = [
        {"type": "breadcrumbs", "data": {"values": []}},
        {"type": "exception", "data": {"values": values}},
    ]
    return {"platform": "python", "entries": entries, **more}


def only_frame(payload: JSON) -> Frame:
    (frame,) = event(payload).raised.frames
    return frame


class TestRecordedEvents:
    @pytest.mark.parametrize(
        ("name", "shape"),
        [
            ("sdk-group.json", EventShape.SDK),
            ("with-attachment.envelope", EventShape.SDK),
            ("glitchtip-json.json", EventShape.SDK),
            ("glitchtip-latest.json", EventShape.API),
            ("api-flask-form.json", EventShape.API),
            ("bugsink-event.json", EventShape.BUGSINK),
        ],
    )
    def test_shape(self, name: str, shape: EventShape) -> None:
        found = event(load(name))
        assert found.shape is shape
        assert found.release == "shop@1.4.2"
        assert found.runtime_name == "CPython"
        assert found.modules["flask"]
        assert found.raised.frames[-1].lineno
        assert found.raised.frames[-1].context_line

    def test_sdk_and_api_agree_on_what_both_say(self) -> None:
        one, other = event(load("sdk-group.json")), event(load("api-group.json"))
        assert [(e.type, e.message, e.exception_id, e.parent_id, e.source, e.is_group)
                for e in one.exceptions] == [
            ("TypeError", one.exceptions[0].message, 4, 3, "exceptions[0]", False),
            ("ExceptionGroup", "inner", 3, 0, "exceptions[1]", True),
            ("ValueError", one.exceptions[2].message, 2, 0, "exceptions[0]", False),
            ("KeyError", "'ctx'", 1, 0, "__cause__", False),
            ("ExceptionGroup", "bad rows", 0, None, None, True),
        ]  # fmt: skip
        assert [
            (e.type, e.message, e.exception_id, e.parent_id, e.source, e.is_group)
            for e in other.exceptions
        ] == [
            (e.type, e.message, e.exception_id, e.parent_id, e.source, e.is_group)
            for e in one.exceptions
        ]
        ours = [f for e in one.exceptions for f in e.frames]
        theirs = [f for e in other.exceptions for f in e.frames]
        for mine, served in zip(ours, theirs, strict=True):
            for key in ("filename", "abs_path", "module", "function", "lineno", "context_line"):
                assert getattr(mine, key) == getattr(served, key)
            assert mine.pre_context[-1:] == served.pre_context[-1:]
            assert mine.post_context[:1] == served.post_context[:1]

    def test_glitchtips_two_answers_agree(self) -> None:
        stored, served = event(load("glitchtip-json.json")), event(load("glitchtip-latest.json"))
        assert stored.exceptions == served.exceptions
        assert stored.event_id == served.event_id == "f432e3b30f404ebd8df0ddf00ef195c2"
        assert stored.timestamp == "2026-11-30T21:21:31.010376Z"
        assert served.timestamp == "2026-11-30T21:21:31.010000Z"
        assert served.issue.id == "1"

    def test_request_in_both_spellings(self) -> None:
        one, other = event(load("sdk-flask-form.json")), event(load("api-flask-form.json"))
        assert one.request is not None
        assert other.request is not None
        for key in ("url", "method", "data", "env", "headers"):
            assert one.request[key] == other.request[key]

    def test_number_of_locals_before_the_cut(self) -> None:
        outer, inner = event(load("sdk-many-locals-meta.json")).raised.frames
        assert (outer.variables_total, inner.variables_total) == (20, 14)
        assert inner.variables is not None
        assert len(inner.variables) == 10

    def test_bugsink_says_which_issue(self) -> None:
        found = event(load("bugsink-event.json"))
        assert found.issue.id == "2375eec1-5831-4388-ba23-11663b4acda2"
        assert found.event_id == "e6929eab16034c03ae319999a54f9a61"
        assert set(found.raised.frames[-1].meta) == {"password", "token", "api_key", "session"}

    @pytest.mark.parametrize(
        ("name", "said"),
        [("bugsink-issues.json", "list of 4"), ("bugsink-events.json", "without its `data`")],
    )
    def test_answers_that_hold_no_event(self, name: str, said: str) -> None:
        found = refusal(load(name))
        assert found.reason is RefusalReason.MALFORMED_EVENT
        assert said in found.summary


class TestWrappings:
    @pytest.mark.parametrize(
        "wrap",
        [
            lambda e: {"action": "triggered", "data": {"event": e, "triggered_rule": "r"}},
            lambda e: {"event": e, "project": "p"},
        ],
    )
    def test_webhooks(self, wrap: object) -> None:
        assert callable(wrap)
        found = event(wrap(sdk(issue_id="77", web_url="https://x.example/77", event_id="e")))
        assert found.shape is EventShape.WEBHOOK
        assert (found.issue.id, found.issue.url) == ("77", "https://x.example/77")

    def test_a_list_of_one(self) -> None:
        assert event([sdk()]) == event(sdk())
        assert event({"results": [sdk()], "next": None}) == event(sdk())

    def test_a_list_of_several_is_split_by_who_wants_them_all(self) -> None:
        assert refusal([sdk(), sdk()]).reason is RefusalReason.MALFORMED_EVENT
        assert [type(parse(one)) for one in split([sdk(), 1])] == [Event, Refusal]

    def test_old_forms_of_the_exception(self) -> None:
        value: JSON = {"type": "ValueError", "stacktrace": {"frames": [{"filename": "a.py"}]}}
        forms: list[JSON] = [value, [value]]
        for held in forms:
            assert event({"platform": "python", "exception": held}).raised.type == "ValueError"


class TestRefusals:
    @pytest.mark.parametrize(
        "payload", [None, True, 1, "text", [], [1, 2], {}, {"a": 1}, {"detail": "Not \x1b found"},
                    {"shortId": "A-1", "platform": "python", "level": "error", "count": "3"}]
    )  # fmt: skip
    def test_no_event(self, payload: JSON) -> None:
        assert refusal(payload).reason is RefusalReason.MALFORMED_EVENT

    def test_deep(self) -> None:
        payload: JSON = 1
        for _ in range(5_000):
            payload = [payload]
        assert refusal(sdk(extra={"x": payload})).reason is RefusalReason.MALFORMED_EVENT

    @pytest.mark.parametrize("platform", ["javascript", "native", "pythonic", "\x1b[31m"])
    def test_other_platforms(self, platform: str) -> None:
        found = refusal(sdk(platform=platform))
        assert found.reason is RefusalReason.UNSUPPORTED_PLATFORM

    def test_no_platform_with_and_without_python_frames(self) -> None:
        assert event(sdk(platform=None)).raised.type == "ValueError"
        sender: JSON = {"name": "sentry.python.flask"}
        assert only_frame(sdk({"filename": "x"}, platform=1, sdk=sender)).filename == "x"
        found = refusal(sdk({"filename": "app.js"}, platform=None))
        assert found.reason is RefusalReason.UNSUPPORTED_PLATFORM

    @pytest.mark.parametrize(
        ("exception", "said"),
        [
            (None, "no exception, only the message: hello"),
            ({"values": []}, "no exception"),
            ({"values": None}, "no exception"),
            ("nonsense", "no exception"),
            ({"values": [{"type": "ValueError"}]}, "ValueError has no stack frames"),
            ({"values": [{"type": "E", "stacktrace": None}]}, "E has no stack frames"),
            ({"values": [{"type": "E", "stacktrace": {"frames": [None]}}]}, "no stack frames"),
        ],
    )
    def test_nothing_to_enter(self, exception: JSON, said: str) -> None:
        payload = sdk(exception=exception, logentry={"formatted": "hello"}, event_id="e")
        found = refusal(payload)
        assert found.reason is RefusalReason.NO_APP_FRAME
        assert said in found.summary
        assert found.hint

    @pytest.mark.parametrize("last", [None, 1, {}, {"type": None, "value": "v"}, {"type": ""}])
    def test_a_cause_never_stands_in_for_what_escaped(self, last: JSON) -> None:
        cause: JSON = {"type": "KeyError", "stacktrace": {"frames": [{"filename": "a.py"}]}}
        found = refusal(sdk(exception={"values": [cause, last]}))
        assert found.reason is RefusalReason.MALFORMED_EVENT


class TestFrames:
    def test_api_context_is_split_at_the_line(self) -> None:
        context: list[JSON] = [[1, "one"], [2, "two"], [3, "three"], [4, "four"]]
        frame = only_frame(sdk({"lineno": None, "lineNo": 3, "context": context}))
        assert frame.pre_context == ("one", "two")
        assert frame.context_line == "three"
        assert frame.post_context == ("four",)

    def test_a_hole_in_the_context_ends_it(self) -> None:
        context: list[JSON] = [[1, "one"], [3, "three"], [4, None], [5, "five"], "x", [6]]
        frame = only_frame(sdk({"context": context}))
        assert (frame.pre_context, frame.post_context) == ((), ())

    def test_lines_around_count_from_the_line(self) -> None:
        frame = only_frame(
            sdk({"context_line": "", "pre_context": ["a", None], "post_context": ["b"]})
        )
        assert (frame.pre_context, frame.context_line, frame.post_context) == ((), "", ("b",))

    @pytest.mark.parametrize("sent", [7, "7", 7.0])
    def test_line_numbers(self, sent: JSON) -> None:
        assert only_frame(sdk({"lineno": sent})).lineno == 7
        assert only_frame(sdk({"lineno": None, "lineNo": sent})).lineno == 7

    @pytest.mark.parametrize("sent", [0, -1, True, "x", 10**30, math.nan, math.inf, [], "²"])
    def test_what_is_no_line_number(self, sent: JSON) -> None:
        assert only_frame(sdk({"lineno": sent})).lineno is None

    @pytest.mark.parametrize(
        ("sent", "read"), [(True, True), (None, None), ("yes", None), (1, None)]
    )
    def test_in_app_is_said_or_not(self, sent: JSON, *, read: bool | None) -> None:
        assert only_frame(sdk({"in_app": sent})).in_app is read
        assert only_frame(sdk({"inApp": sent})).in_app is read

    @pytest.mark.parametrize(("sent", "read"), [({}, {}), (None, None), ([], None), ("x", None)])
    def test_no_locals_is_not_the_same_as_none_captured(self, sent: JSON, read: JSON) -> None:
        assert only_frame(sdk({"vars": sent})).variables == read

    def test_the_order_of_locals_is_kept(self) -> None:
        frame = only_frame(sdk({"vars": {"z": "1", "a": "2"}}))
        assert list(frame.variables or {}) == ["z", "a"]

    def test_annotations_are_found_by_the_position_that_was_sent(self) -> None:
        frames: list[JSON] = [None, {"filename": "a.py", "vars": {"x": "1"}}]
        notes: JSON = {"1": {"vars": {"": {"len": 12}, "x": {"": {"len": 5}}}}}
        values: list[JSON] = [{"type": "E", "stacktrace": {"frames": frames}}]
        tree: JSON = {"values": {"0": {"stacktrace": {"frames": notes}}}}
        raw = sdk(exception={"values": values}, _meta={"exception": tree})
        # In the web API the exception is found by its place among the entries: the second here.
        served = api(values, _meta={"entries": {"1": {"data": tree}, "0": {"data": {"values": 1}}}})
        for payload in (raw, served):
            frame = only_frame(payload)
            assert frame.variables_total == 12
            assert frame.meta["x"] == {"": {"len": 5}}

    def test_a_huge_stack_keeps_both_ends(self) -> None:
        frames: list[JSON] = [{"filename": "a.py", "lineno": n} for n in range(1, 100_001)]
        payload = sdk(exception={"values": [{"type": "E", "stacktrace": {"frames": frames}}]})
        raised = event(payload).raised
        assert len(raised.frames) == MAX_FRAMES
        assert raised.frames_omitted == 100_000 - MAX_FRAMES
        assert (raised.frames[0].lineno, raised.frames[-1].lineno) == (1, 100_000)

    @pytest.mark.parametrize("key", ["frames_omitted", "framesOmitted"])
    def test_frames_that_the_server_left_out(self, key: str) -> None:
        stack: JSON = {"frames": [{"filename": "a.py"}], key: [125, 135]}
        payload = sdk(exception={"values": [{"type": "E", "stacktrace": stack}]})
        assert event(payload).raised.frames_omitted == 10


class TestFields:
    def test_an_empty_message_is_a_message(self) -> None:
        def message(value: JSON) -> str | None:
            frames: JSON = {"frames": [{"filename": "a.py"}]}
            raised: JSON = {"type": "E", "value": value, "stacktrace": frames}
            return event(sdk(exception={"values": [raised]})).raised.message

        sent: list[JSON] = ["", None, "x", 3, []]
        assert [message(value) for value in sent] == ["", None, "x", "3", None]

    @pytest.mark.parametrize(
        ("sent", "read"),
        [
            ("2026-11-30T20:58:04.116487Z", "2026-11-30T20:58:04.116487Z"),
            ("2026-11-30T22:58:04+02:00", "2026-11-30T20:58:04Z"),
            ("2026-11-30T20:58:04", "2026-11-30T20:58:04Z"),
            (0, "1970-01-01T00:00:00Z"),
            (1e300, None),
            (float("nan"), None),
            ("yesterday", None),
            ("0001-01-01T00:00:00+14:00", None),
            (True, None),
            ("9" * 10_000, None),
        ],
    )
    def test_timestamps(self, sent: JSON, read: str | None) -> None:
        assert event(sdk(timestamp=sent)).timestamp == read

    @pytest.mark.parametrize(
        ("sent", "read"),
        [("a@1", "a@1"), ({"version": "a@1", "ref": None}, "a@1"), (None, "tag"), ("", "tag")],
    )
    def test_release(self, sent: JSON, read: str) -> None:
        tags: JSON = [{"key": "release", "value": "tag"}, {"key": "environment", "value": "prod"}]
        found = event(sdk(release=sent, tags=tags))
        assert (found.release, found.environment) == (read, "prod")

    @pytest.mark.parametrize(
        ("sent", "read"),
        [
            (["app.py", "-x"], ("app.py", "-x")),
            ([""], ("",)),
            ([str(n) for n in range(9)], tuple(str(n) for n in range(9))),
            ([str(n) for n in range(10)], None),
            (["app.py", 1], None),
            (["app.py", "[Filtered]"], None),
            ([], None),
            ("app.py", None),
            (None, None),
        ],
    )
    def test_argv_only_when_it_is_whole(self, sent: JSON, read: tuple[str, ...] | None) -> None:
        assert event(sdk(extra={"sys.argv": sent})).argv == read

    def test_argv_that_is_marked_as_cut(self) -> None:
        notes: JSON = {"sys.argv": {"1": {"": {"len": 5000}}}}
        payload = sdk(extra={"sys.argv": ["a", "b..."]}, _meta={"extra": notes})
        assert event(payload).argv is None
        assert event(payload).meta["extra"] == notes

    def test_request_as_the_web_api_lists_it(self) -> None:
        value: JSON = {"type": "E", "stacktrace": {"frames": [{"filename": "a.py"}]}}
        payload = api([value])
        entries = payload["entries"]
        assert isinstance(entries, list)
        data: JSON = {
            "url": "https://x.example/",
            "method": None,
            "query": [["q", "a b"], ["q", "&"]],
            "headers": [["Host", "x"], ["Odd"], 3],
            "cookies": [],
            "data": {"n": 1},
        }
        entries.insert(0, {"type": "request", "data": data})
        assert event(payload).request == {
            "url": "https://x.example/",
            "query_string": "q=a+b&q=%26",
            "headers": {"Host": "x"},
            "data": {"n": 1},
        }

    def test_ill_typed_everything(self) -> None:
        for wrong in (None, 1, "x", [1], {"a": 1}, True):
            keys = (
                "modules", "contexts", "sdk", "tags", "extra", "request", "release", "_meta",
                "environment", "event_id", "timestamp", "transaction", "breadcrumbs",
            )  # fmt: skip
            found = event(sdk(**dict.fromkeys(keys, wrong)))
            assert found.raised.type == "ValueError"
