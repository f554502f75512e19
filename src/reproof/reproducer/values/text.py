"""From hostile text to a syntax tree, within bounds.

CPython reprs are nearly Python source. What is not are the `<...>` forms inside them
(`Order(state=<State.PAID: 'paid'>)`): each is cut out, replaced by a name, kept beside the tree.
Everything that could make the parser recurse, warn or run long is refused before it sees the text.
"""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass, field

from reproof.reproducer.values.place import MAX_DEPTH, MAX_NODES, MAX_TEXT
from reproof.reproducer.values.provenance import Unknown, UnknownCause, unknown

_TOKEN = re.compile(
    r"""(?P<string>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")"""
    r"""|(?P<open>[\[({])|(?P<close>[\])}])|(?P<angle><)|(?P<comma>,)"""
    r"""|(?P<quote>['"])|(?P<foreign>[#\\;`$!?@>])|(?P<plain>[^'"\[({\])}<,#\\;`$!?@>]+)"""
)
_ANGLE_TOKEN = re.compile(r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|->|[<>]""")
_OPERATOR = re.compile(r"[-+~*/|%^&.=:]")
_MAX_RUN = 64
_KEYWORD = re.compile(r"\b(?:lambda|not|await|if|else|for|and|or|in|is|yield|async)\b")
_QUOTED = re.compile(r"""b?(?:'(?P<single>(?:[^'\\]|\\.)*)'|"(?P<double>(?:[^"\\]|\\.)*)")""")
_MARK = "angle_"


@dataclass(frozen=True, slots=True)
class Parsed:
    """A tree, the text it was parsed from, and the `<...>` forms that names in it stand for."""

    node: ast.expr
    text: str
    lines: tuple[bytes, ...]
    angles: dict[str, str] = field(default_factory=dict)

    def segment(self, node: ast.expr) -> str:
        """Return the source of a one-line node; empty when it spans lines."""
        if node.lineno != node.end_lineno:
            return ""
        return self.lines[node.lineno - 1][node.col_offset : node.end_col_offset].decode()

    def is_canonical(self, node: ast.Constant) -> bool:
        """Tell whether a constant is spelt as `repr` spells it.

        `0x10`, `1_0`, `'a' 'b'` and `r'x'` parse, but no builtin prints them: they come from
        somebody's own `__repr__`, and the object is then not the literal that it looks like.
        """
        segment, value = self.segment(node), node.value
        if segment == repr(value):
            return True
        if not isinstance(value, str | bytes):
            return False
        # Which characters are escaped differs between Python versions; the quotes do not.
        found = _QUOTED.fullmatch(segment)
        if found is None or segment.startswith("b") != isinstance(value, bytes):
            return False
        plain = value if isinstance(value, str) else value.decode("latin-1")
        double = "'" in plain and '"' not in plain
        return (found["double"] is not None) == double


def parse(text: str, depth: int = 0) -> Parsed | Unknown:
    """Parse text that should be a Python value, standing `depth` levels deep in a larger one."""
    if len(text) > MAX_TEXT:
        return unknown(UnknownCause.TOO_LARGE, text)
    if "\r" in text or "\f" in text:
        # The parser ends lines there; no repr has them, and columns would no longer be true.
        return unknown(UnknownCause.UNPARSABLE, text)
    masked = _mask(text, depth)
    if isinstance(masked, Unknown):
        return masked
    source, angles = masked
    try:
        # Invalid escapes warn; the text is not ours to be warned about.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source, mode="eval")
    except (SyntaxError, ValueError):
        return _unparsable(text)
    except (RecursionError, MemoryError):
        return unknown(UnknownCause.TOO_LARGE, text)
    lines = tuple(line.encode() for line in source.split("\n"))
    return Parsed(tree.body, source, lines, angles)


def _unparsable(text: str) -> Unknown:
    cut = text.rstrip().endswith("...")
    return unknown(UnknownCause.TRUNCATED if cut else UnknownCause.UNPARSABLE, text)


def _mask(  # noqa: C901 - one case per kind of token
    text: str, depth: int
) -> tuple[str, dict[str, str]] | Unknown:
    """Replace `<...>` forms by names; refuse what no repr contains and what is too much."""
    mark = _MARK
    while mark in text:
        mark += "_"
    pieces: list[str] = []
    angles: dict[str, str] = {}
    plain: list[str] = []
    commas, run, position = 0, 0, 0
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None or token.lastgroup in {"quote", "foreign"}:
            return _unparsable(text)
        position = token.end()
        piece = token.group()
        # Chains (`1+1+...`, `a.a.a...`, `'' '' ...`) nest as brackets do, without any bracket.
        run = 0 if token.lastgroup in {"open", "close", "comma"} else run + 1
        match token.lastgroup:
            case "open":
                depth += 1
            case "close":
                depth -= 1
            case "comma":
                commas += 1
            case "angle":
                position = _angle_end(text, token.start())
                if position < 0:
                    return _unparsable(text)
                name = f"{mark}{len(angles)}"
                angles[name] = text[token.start() : position]
                piece = name
            case "plain":
                plain.append(piece)
                run += len(_OPERATOR.findall(piece))
            case _:
                pass
        if depth > MAX_DEPTH or commas > MAX_NODES or run > _MAX_RUN:
            return unknown(UnknownCause.TOO_LARGE, text)
        pieces.append(piece)
    if _KEYWORD.search(" ".join(plain)):
        return _unparsable(text)
    return "".join(pieces), angles


def _angle_end(text: str, start: int) -> int:
    """Return the position after the `>` that closes the `<` at `start`, or -1."""
    level = 0
    for token in _ANGLE_TOKEN.finditer(text, start):
        if token.group() == "<":
            level += 1
        elif token.group() == ">":
            level -= 1
            if level == 0:
                return token.end()
    return -1
