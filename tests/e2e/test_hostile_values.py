"""Captured values that try to become code, to escape their string, or to use up the machine.

The crash around them is a true one: it must still reproduce, with each value either given back
exactly or replaced by a stand-in that nothing looked at.
"""

# ruff: noqa: RUF001 - the look-alikes are the point

from __future__ import annotations

import ast
import json
from typing import TYPE_CHECKING

import pytest

from reproof.sandbox.select import probe_all
from support import emitted
from support.hostile import Ground, event_of, frame_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from _pytest.mark.structures import ParameterSet

    from reproof.domain.event import JSON

WALL = probe_all()["bubblewrap"]
pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not WALL.usable, reason=f"no bubblewrap sandbox here: {WALL.detail}"),
]

SOURCE = '''\
class Order:
    """One line of a sale."""

    def __init__(self, sku, amount=1):
        self.sku = sku
        self.amount = amount

    def __repr__(self):
        return f"Order(sku={self.sku!r}, amount={self.amount!r})"


def rate(total, count, unit, day, site, kind, a, b, c, d):
    """Share out."""
    return total / count
'''
KNOWN = {
    "total": "12", "count": "0", "unit": "'EUR'", "day": "3", "site": "'north'", "kind": "None"
}  # fmt: skip

CODE: dict[str, str] = {
    "system": "os.system('touch {c}')",
    "import": "__import__('os').system('touch {c}')",
    "exec": "exec(\"open('{c}', 'w')\")",
    "lambda": "(lambda: open('{c}', 'w'))()",
    "f-string": "f\"{{open('{c}', 'w')}}\"",
    "walrus": "(x := open('{c}', 'w'))",
    "attribute-chain": "().__class__.__base__.__subclasses__()[104]('touch {c}')",
    "comprehension": "[open('{c}', 'w') for _ in (1,)]",
    "dict-spread": "{{**__import__('os').environ}}",
    "star": "[*open('{c}', 'w')]",
    "subscript": "os.environ['REPROOF_CANARY']",
    "conditional": "1 if open('{c}', 'w') else 2",
    "and": "'x' and open('{c}', 'w')",
    "format": "'{{0.__class__}}'.format(open('{c}', 'w'))",
    "percent": "'%s' % open('{c}', 'w')",
    "await": "await open('{c}', 'w')",
    "two-statements": "1; open('{c}', 'w')",
    "newline": "1\nopen('{c}', 'w')",
    "decimal": "Decimal(__import__('os').system('touch {c}'))",
    "datetime-now": "datetime.datetime.now()",
    "path-touch": "PosixPath('{c}').touch()",
    "path-unlink": "Path('{c}').unlink()",
    "regex-match": "re.compile('(a+)+$').match('a' * 99)",
    "run": "subprocess.run(['touch', '{c}'])",
    "popen": "Popen(args=['touch', '{c}'])",
    "defaultdict": "defaultdict(__import__('os').system, {{'touch {c}': 1}})",
    "ordered-dict": "OrderedDict(os.popen('touch {c}'))",
    "deque": "deque([eval('1')])",
    "fraction": "Fraction(os.getpid(), 1)",
    "partial": "functools.partial(<built-in function eval>, \"open('{c}', 'w')\")",
    "pickle": "pickle.loads(b\"cos\\nsystem\\n(S'touch {c}'\\ntR.\")",
    "own-class": "Order(sku=__import__('os').system('touch {c}'))",
    "own-function": "app.calc.rate(1, 0)",
    "builtin-function": "<built-in function exec>",
    "function-of-os": "<function popen at 0x7f0000000000>",
    "module": "<module 'os' from '/usr/lib/python3.11/os.py'>",
    "power": "10 ** 10 ** 10",
    "shift": "1 << 10 ** 9",
    "long-text": "'a' * 10 ** 9",
    "zeros": "bytes(10 ** 10)",
    "look-alike": "ｏｓ.system('touch {c}')",
    "unclosed": "'" + "(" * 400,
    "brackets": "[" * 5000 + "]" * 5000,
    "minus": "-" * 5000 + "1",
}
"""None of these is a value: a stand-in takes its place. `{c}` is the canary's path."""

TEXT: dict[str, str] = {
    "quotes": "' \" ''' \"\"\"",
    "backslashes": "\\ \\\\ \\' \\N{BULLET} \\x41 \\",
    "newlines": 'a\n"""\nimport os\r\n\x0b\x0c\x85\u2028',
    "nul": "a\0b",
    "last-code-point": "\U0010ffff\ufffe",
    "surrogate": "\ud800x\udfff",
    "bidi": "\u202e\u2066gnp.exe\u2069 \u200b\ufeff",
    "ansi": "\x1b[2J\x1b]0;owned\x07\x9b31m",
    "markdown": "[x](javascript:alert(1)) ![y](http://e.vil/?c) ``` |",
    "html": "<script>alert('x')</script><img src=x onerror=y>",
    "formats": "{} {0.__class__} %s %(x)s $HOME ${x} `id`",
    "comment": "# type: ignore\n# noqa",
    "code": "os.system('x')",
    "combining": "e\u0301" * 50 + "\u0345",
}
"""Ordinary values all the same: they come back exactly."""

ODD: dict[str, JSON] = {
    "number": 5,
    "float": 1.5,
    "true": True,
    "null": None,
    "list-of-anything": [1, None, True, {"a": [{}]}, "os.system('x')"],
    "keys": {"__class__": "1", "a b": "2", "'": "3", "\x1b[2J": "4", "": "5", "x=1);y(": "6"},
    "infinite": "1e999",
    "minus-infinity": "-inf",
    "not-a-number": "nan",
    "huge-integer": "9" * 1_000_000,
    "huge-decimal": "Decimal('1e1000000000')",
    "slow-regex": "re.compile('(a+)+$')",
    "broken-regex": "re.compile('(')",
    "bad-uuid": "UUID('x')",
    "bad-date": "datetime.datetime(2024, 13, 45)",
    "far-delta": "datetime.timedelta(days=10000000000)",
    "long-range": "range(0, 1000000000000)",
    "class-of-subprocess": "<class 'subprocess.Popen'>",
    "an-instance-of-it": "<subprocess.Popen object at 0x7f0000000000>",
    "deep-json": json.loads("[" * 60 + "]" * 60),
    "deep-text": "[" * 90 + "]" * 90,
    "file": "<_io.TextIOWrapper name='/etc/passwd' mode='r' encoding='UTF-8'>",
}
"""What becomes of these is open; only that nothing runs and nothing breaks is not."""

REFUSALS = (
    "redacted_value_needed", "unrecoverable_value", "different_exception", "opaque_value_used"
)  # fmt: skip

BIG: dict[str, JSON] = {
    "text-of-10-mb": "'" + "x" * 10_000_000 + "'",
    "open-text-of-10-mb": "'" + "x" * 10_000_000,
    "list-of-a-million": ["1"] * 1_000_000,
    "source-of-a-million": "[" + "1, " * 1_000_000 + "]",
    "key-of-1-mb": {"k" * 1_000_000: "1"},
    "hundred-thousand-keys": {f"k{n}": "1" for n in range(100_000)},
}


def batches(table: Mapping[str, object], size: int = 4) -> list[ParameterSet]:
    """Return the names in groups: one sandbox session serves several values."""
    names = list(table)
    groups = [names[start : start + size] for start in range(0, len(names), size)]
    return [pytest.param(group, id=",".join(group)) for group in groups]


@pytest.fixture(scope="module", autouse=True)
def _formatted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Hold what the module's cases emitted to the formatter, all at once."""
    yield
    emitted.check_format(tmp_path_factory.mktemp("emitted"))


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ground:
    made = Ground(tmp_path, monkeypatch)
    made.write({"app/__init__.py": "", "app/calc.py": SOURCE})
    return made


def crash(*values: JSON) -> dict[str, JSON]:
    hostile = dict(zip("abcd", values, strict=False))
    filled = dict.fromkeys("abcd", "1") | hostile
    variables: dict[str, JSON] = {**KNOWN, **filled}
    return event_of(frame_of(SOURCE, "app/calc.py", "total / count", "rate", variables))


def arguments(test: str) -> list[str]:
    """Return the source of what the emitted test passes, names of locals resolved."""
    tree = ast.parse(test)
    assigned = {
        node.targets[0].id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    (call,) = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "rate"
    ]
    passed = [*call.args, *(keyword.value for keyword in call.keywords)]
    return [
        ast.unparse(assigned.get(node.id, node) if isinstance(node, ast.Name) else node)
        for node in passed
    ]


@pytest.mark.parametrize("names", batches(CODE))
def test_code_never_becomes_a_value(names: list[str], ground: Ground) -> None:
    texts = [
        CODE[name].format(c=ground.canary) if "{c}" in CODE[name] else CODE[name] for name in names
    ]
    judged = ground.judge(crash(*texts))
    assert judged.reproduced, judged.document["summary"]
    given = arguments(judged.test)[len(KNOWN) :][: len(names)]
    for letter, name, source in zip("abcd", names, given, strict=False):
        assert source in (f"sentinel.{letter}", "Popen.__new__(Popen)"), name


@pytest.mark.parametrize("names", batches(TEXT))
def test_text_comes_back_exactly(names: list[str], ground: Ground) -> None:
    judged = ground.judge(crash(*(repr(TEXT[name]) for name in names)))
    assert judged.reproduced, judged.document["summary"]
    given = arguments(judged.test)[len(KNOWN) :][: len(names)]
    assert [ast.literal_eval(source) for source in given] == [TEXT[name] for name in names]


@pytest.mark.parametrize("names", batches(ODD))
def test_odd_values_break_nothing(names: list[str], ground: Ground) -> None:
    judged = ground.judge(crash(*(ODD[name] for name in names)))
    assert judged.reproduced or judged.reason in REFUSALS, judged.document["summary"]
    assert "passwd" not in judged.test


@pytest.mark.parametrize("name", BIG)
def test_big_values_cost_a_bounded_amount(name: str, ground: Ground) -> None:
    judged = ground.judge(crash(BIG[name]))
    assert judged.reproduced or judged.reason in REFUSALS, judged.document["summary"]
