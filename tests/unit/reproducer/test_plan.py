"""From captured stacks over small modules to the calls that tests would make."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import pytest

from builders import event_of, frame_at, recovery_of
from reproof.reproducer.facts import Facts
from reproof.reproducer.plan import Plan, bypassed, mangled, plans_for
from reproof.reproducer.synthesize import synthesize
from reproof.reproducer.values.classes import ClassFact, ClassKind, ParameterFact
from reproof.reproducer.values.expression import Expression, constant
from reproof.reproducer.values.provenance import Provenance

if TYPE_CHECKING:
    from reproof.domain.event import JSON, Event
    from reproof.reproducer.recover import Recovery

SHOP = """\
import contextlib


def quote(order, cart):
    n = order["n"]
    label = make(n)
    return rate(10, n * 2)  # @quote


def show(order, cart):
    return cart.total(order["n"])  # @show


def rate(total, count, scale=1):
    count = count - 1
    return total / count  # @rate


def plain(total, count, scale=1):
    return total / count  # @plain


def both(*args, key, **kw):
    return args[9]  # @both


def exact(a, /, b=2, *, c=3):
    return 1 / 0  # @exact


class Cart:
    def __new__(cls, items):
        return items.missing  # @new

    def __init__(self, items):
        self.items = items / 0  # @init

    def total(self, k):
        rate = self.rate
        return rate / k  # @total

    def owner(self):
        return self.user.name  # @owner

    def __secret(self, a):
        return 1 / a  # @secret

    async def fetch(self, a):
        return 1 / a  # @fetch

    @property
    def size(self):
        return self.user.name  # @size

    @classmethod
    def make(cls, a):
        return 1 / a  # @make

    @staticmethod
    def parse(a):
        return 1 / a  # @parse

    def __call__(self, a):
        return 1 / a  # @call


def numbers(a):
    yield 1 / a  # @numbers


async def stream(a):
    yield 1 / a  # @stream


async def load(a):
    return 1 / a  # @load


@contextlib.contextmanager
def opened(a):
    yield 1 / a  # @opened


def outer(a):
    def inner(b):
        return 1 / b  # @inner

    return inner(a)


double = lambda n: 1 / n  # @lambda
"""
FILES = {"shop/desk.py": SHOP, "shop/__init__.py": ""}
OPAQUE = "<shop.desk.Cart object at 0x7f0012>"
CART = ClassFact("shop.desk", "Cart", ClassKind.PLAIN, parameters=(ParameterFact("items"),))
FACTS = Facts(names={"shop.desk.Cart": (CART,), "Cart": (CART,)})


def _stack(*frames: tuple[str, str, dict[str, JSON]], **raised: str) -> tuple[Event, Recovery]:
    made = [frame_at(FILES, "shop/desk.py", "@" + m, f, v) for m, f, v in frames]
    event = event_of(*made, **raised)  # type: ignore[arg-type]  # kind and message are texts
    return event, recovery_of(FILES, event, facts=FACTS)


def _plans(position: int, stack: tuple[Event, Recovery]) -> list[Plan]:
    return list(islice(plans_for(stack[1], position), 12))


def _calls(marker: str, function: str, variables: dict[str, JSON], **raised: str) -> list[str]:
    stack = _stack((marker, function, variables), **raised)
    return [synthesize(plan, stack[0]).call for plan in _plans(0, stack)]


@pytest.mark.parametrize(
    ("marker", "function", "variables", "call"),
    [
        ("plain", "plain", {"total": "10", "count": "0", "scale": "3"}, "plain(10, 0, scale=3)"),
        ("plain", "plain", {"total": "10", "count": "0", "scale": "1"}, "plain(10, 0)"),
        ("both", "both", {"args": ["1"], "key": "'k'", "kw": {"a": "2"}}, "both(1, key='k', a=2)"),
        ("both", "both", {"args": [], "key": "'k'", "kw": {}}, "both(key='k')"),
        ("both", "both", {"key": "'k'"}, "both(key='k')"),
        ("exact", "exact", {"a": "1", "b": "5", "c": "6"}, "exact(1, b=5, c=6)"),
        ("exact", "exact", {"a": "1", "b": "2", "c": "3"}, "exact(1)"),
        ("init", "__init__", {"self": OPAQUE, "items": "1"}, "Cart(1)"),
        ("new", "__new__", {"cls": "<class 'shop.desk.Cart'>", "items": "1"}, "Cart(1)"),
        ("make", "make", {"cls": "<class 'shop.desk.Cart'>", "a": "0"}, "Cart.make(0)"),
        ("parse", "parse", {"a": "0"}, "Cart.parse(0)"),
        ("numbers", "numbers", {"a": "0"}, "numbers(0)"),
        ("load", "load", {"a": "0"}, "load(0)"),
        ("opened", "opened", {"a": "0"}, "opened(0)"),
    ],
)
def test_a_call_is_written_as_its_parameters_demand(
    marker: str, function: str, variables: dict[str, JSON], call: str
) -> None:
    assert _calls(marker, function, variables)[0] == call


@pytest.mark.parametrize(
    ("marker", "function", "variables", "lines"),
    [
        ("numbers", "numbers", {"a": "0"}, ["list(numbers(0))"]),
        ("load", "load", {"a": "0"}, ["import asyncio", "asyncio.run(load(0))"]),
        ("stream", "stream", {"a": "0"}, ["async for _ in stream(0):", "asyncio.run(consume())"]),
        ("opened", "opened", {"a": "0"}, ["with opened(0):", "pass"]),
    ],
)
def test_what_does_not_run_by_being_called_is_driven(
    marker: str, function: str, variables: dict[str, JSON], lines: list[str]
) -> None:
    event, recovery = _stack((marker, function, variables))
    text = synthesize(_plans(0, (event, recovery))[0], event).text

    assert [line.strip() for line in text.splitlines() if line.strip() in lines] == lines


def test_a_rebound_parameter_takes_the_callers_value() -> None:
    stack = _stack(
        ("quote", "quote", {"order": {"n": "1"}, "n": "1"}),
        ("rate", "rate", {"total": "10", "count": "0", "scale": "1"}),
    )
    plans = _plans(1, stack)

    assert [synthesize(p, stack[0]).call for p in plans] == ["rate(10, 1 * 2)", "rate(10, 0)"]
    given = dict(plans[0].values)
    assert given["count"].provenance is Provenance.CALLER
    assert given["total"].provenance is Provenance.LITERAL


def test_the_outer_frame_is_an_entry_of_its_own() -> None:
    stack = _stack(
        ("quote", "quote", {"order": {"n": "1"}, "cart": "None", "n": "1"}),
        ("plain", "plain", {"total": "10", "count": "0"}),
    )

    assert synthesize(_plans(0, stack)[0], stack[0]).call == "quote({'n': 1}, None)"
    assert [v.site.name for v in bypassed(stack[1], 1)] == ["quote"]


def test_an_alias_gives_an_attribute_of_the_receiver() -> None:
    event, recovery = _stack(("total", "total", {"self": OPAQUE, "k": "0", "rate": "7"}))
    texts = [synthesize(p, event).text for p in _plans(0, (event, recovery))]

    assert "cart = Cart.__new__(Cart)\n    cart.rate = 7\n    cart.total(0)" in texts[0]


def test_the_exception_gives_an_attribute_of_the_receiver() -> None:
    event, recovery = _stack(
        ("owner", "owner", {"self": OPAQUE}),
        kind="AttributeError",
        message="'NoneType' object has no attribute 'name'",
    )
    plan = _plans(0, (event, recovery))[0]

    assert "cart.user = None" in synthesize(plan, event).text
    assert dict(plan.values)["self"].provenance is Provenance.PARTIAL


def test_a_property_is_read() -> None:
    calls = _calls(
        "size",
        "size",
        {"self": OPAQUE},
        kind="AttributeError",
        message="'NoneType' object has no attribute 'name'",
    )

    assert calls[0] == "cart.size"


def test_a_private_method_is_called_by_its_mangled_name() -> None:
    assert _calls("secret", "__secret", {"self": OPAQUE, "a": "0"})[0].endswith("._Cart__secret(0)")
    assert mangled("__secret", ("_Cart",)) == "_Cart__secret"
    assert mangled("__init__", ("Cart",)) == "__init__"
    assert mangled("__helper", ()) == "__helper"


def test_a_stand_in_comes_last() -> None:
    stack = _stack(("plain", "plain", {"total": "<Odd object at 0x1>", "count": "0"}))
    plans = _plans(0, stack)

    assert plans[-1].sentinels == ("total",)
    assert "sentinel.total" in synthesize(plans[-1], stack[0]).text
    assert all(not p.sentinels for p in plans[:-1])


@pytest.mark.parametrize(
    ("captured", "cause"),
    [("[Filtered]", "redacted"), ("'aaaa...", "truncated"), ("<broken repr>", "broken_repr")],
)
def test_a_stand_in_remembers_why(captured: str, cause: str) -> None:
    plan = _plans(0, _stack(("plain", "plain", {"total": captured, "count": "0"})))[-1]
    value = dict(plan.values)["total"]

    assert value.provenance is Provenance.SENTINEL
    assert value.unknown is not None
    assert str(value.unknown.cause) == cause


def test_a_value_from_a_person_beats_everything() -> None:
    made = frame_at(
        FILES, "shop/desk.py", "@plain", "plain", {"total": "10", "count": "[Filtered]"}
    )
    event = event_of(made)
    user: dict[str, Expression] = {"count": constant(4), "total": constant(5)}
    recovery = recovery_of(FILES, event, user=user)

    assert [synthesize(p, event).call for p in plans_for(recovery, 0)] == ["plain(5, 4)"]


def test_what_was_handed_down_is_known_of_the_object_above() -> None:
    text = "class Box:\n    def go(self):\n        return deep(self.size)  # @go\n\n\n"
    text += "def deep(n):\n    return 1 / n  # @deep\n"
    files = {"box.py": text}
    event = event_of(
        frame_at(files, "box.py", "@go", "go", {"self": "<box.Box object at 0x1>"}, module="box"),
        frame_at(files, "box.py", "@deep", "deep", {"n": "0"}, module="box"),
    )
    recovery = recovery_of(files, event)

    assert any("box.size = 0" in synthesize(p, event).text for p in plans_for(recovery, 0))


@pytest.mark.parametrize(("marker", "function"), [("lambda", "<lambda>"), ("inner", "inner")])
def test_what_no_import_reaches_has_no_plan(marker: str, function: str) -> None:
    assert _calls(marker, function, {"n": "0", "b": "0"}) == []


def test_module_code_runs_by_importing_or_as_a_script() -> None:
    files = {"job.py": "1 / 0  # @job\n"}
    calls = []
    for module in ("job", "__main__"):
        event = event_of(frame_at(files, "job.py", "@job", "<module>", {}, module=module))
        (plan,) = plans_for(recovery_of(files, event), 0)
        calls.append(synthesize(plan, event).call)

    assert calls == [
        "importlib.import_module('job')",
        "runpy.run_module('job', run_name='__main__')",
    ]


def test_the_number_of_plans_is_bounded() -> None:
    names = [f"p{i}" for i in range(30)]
    files = {"wide.py": f"def f({', '.join(names)}):\n    return 1 / 0  # @f\n"}
    event = event_of(frame_at(files, "wide.py", "@f", "f", {name: ["1", "2"] for name in names}))

    assert len(list(plans_for(recovery_of(files, event), 0))) <= 10
