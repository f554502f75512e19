"""Syntax trees as formatted source text: what `ruff format` leaves as it is.

Every string is written from its value, so that nothing of an event reaches a file unescaped, and
what is written parses to an equal tree. Only layouts that generated tests need are here; a node
kind outside `_FLAT` is written by `ast.unparse` on one line.
"""

from __future__ import annotations

import ast
import re
import unicodedata
from typing import TYPE_CHECKING, Any

from reproof.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

WIDTH = 100
INDENT = 4
MAX_DEPTH = 150
"""Levels of nesting that are printed; CPython's own parser gives up at 200 brackets."""

_ATOM, _AWAIT, _POWER, _UNARY = 17, 15, 14, 13
_BINARY: dict[type[ast.operator], tuple[str, int]] = {
    ast.Pow: ("**", _POWER), ast.Mult: ("*", 12), ast.MatMult: ("@", 12), ast.Div: ("/", 12),
    ast.FloorDiv: ("//", 12), ast.Mod: ("%", 12), ast.Add: ("+", 11), ast.Sub: ("-", 11),
    ast.LShift: ("<<", 10), ast.RShift: (">>", 10), ast.BitAnd: ("&", 9), ast.BitXor: ("^", 8),
    ast.BitOr: ("|", 7),
}  # fmt: skip
_COMPARE, _NOT, _AND, _OR, _CONDITION, _LAMBDA = 6, 5, 4, 3, 2, 1
_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
_SHORT_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}
_WIDE = frozenset("WF")


def render(node: ast.expr, indent: int = 0, *, width: int = WIDTH, first_column: int = 0) -> str:
    """Return source text for an expression.

    The text starts at `first_column`; lines after the first are indented as parts of a statement
    that stands at `indent`. Raises `InputError` for a tree nested deeper than `MAX_DEPTH`.
    """
    _check_depth(node)
    return _Printer(width).layout(node, indent, first_column, 0)


def render_statement(node: ast.stmt, indent: int = 0, *, width: int = WIDTH) -> str:
    """Return source text for one statement without a line end, each line indented.

    Raises `InputError` for a tree nested deeper than `MAX_DEPTH`.
    """
    _check_depth(node)
    return _Printer(width).statement(node, indent)


def render_string(value: str | bytes) -> str:
    """Return the literal for a text or bytes: double quotes unless that costs more escapes."""
    is_bytes = isinstance(value, bytes)
    text = value.decode("latin-1") if isinstance(value, bytes) else value
    quote = "'" if text.count('"') > text.count("'") else '"'
    body = "".join(_escaped(character, quote, ascii_only=is_bytes) for character in text)
    return f"{'b' if is_bytes else ''}{quote}{body}{quote}"


def _escaped(character: str, quote: str, *, ascii_only: bool) -> str:
    if character == quote:
        return "\\" + character
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    code = ord(character)
    if character.isprintable() and (code < 0x7F or not ascii_only):  # noqa: PLR2004
        return character
    if code <= 0xFF:  # noqa: PLR2004
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004


def _check_depth(root: ast.AST) -> None:
    level: list[ast.AST] = [root]
    depth = 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise InputError(f"an expression nests deeper than {MAX_DEPTH} levels")
        level = [child for node in level for child in ast.iter_child_nodes(node)]


def text_width(text: str) -> int:
    """Return how many columns a line takes, as `ruff format` counts them."""
    if text.isascii():
        return len(text)
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in _WIDE else 1


def _number(value: complex) -> str:
    text = repr(value).replace("e+", "e")
    return text.replace("inf", "1e309")


class _Printer:
    """Renders one tree; remembers the flat text of each node, which layouts ask for repeatedly."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._texts: dict[int, str] = {}

    def flat(self, node: ast.AST) -> str:
        """Return the text of a node on one line."""
        key = id(node)
        text = self._texts.get(key)
        if text is None:
            writer = _FLAT.get(type(node))
            text = writer(self, node) if writer else ast.unparse(node)
            self._texts[key] = text
        return text

    def guarded(self, node: ast.expr, level: int) -> str:
        """Return flat text, in parentheses when the node binds less tightly than `level`."""
        text = self.flat(node)
        return f"({text})" if _precedence(node) < level else text

    def unparenthesised(self, node: ast.expr) -> str:
        """Return flat text for places where a tuple stands without its parentheses."""
        if isinstance(node, ast.Tuple) and node.elts:
            return self.flat(node)[1:-1]
        return self.flat(node)

    def joined(self, items: Sequence[ast.AST]) -> str:
        """Return flat texts with commas between them."""
        return ", ".join(map(self.flat, items))

    def fits(self, text: str, column: int, suffix: int = 0) -> bool:
        """Tell whether one-line text ends within the width."""
        return column + text_width(text) + suffix <= self.width

    def layout(  # noqa: C901, PLR0911 - one case per kind of node
        self, node: ast.expr, indent: int, column: int, suffix: int
    ) -> str:
        """Return the text of an expression that starts at `column`, split where it must be.

        `suffix` columns stay free on its last line.
        """
        text = self.flat(node)
        if self.fits(text, column, suffix):
            return text
        match node:
            case ast.List(elts=items) if items:
                return self._exploded("[", self._lines(items, indent), "]", indent)
            case ast.Set(elts=items):
                return self._exploded("{", self._lines(items, indent), "}", indent)
            case ast.Tuple(elts=items) if items:
                return self._exploded("(", self._lines(items, indent), ")", indent)
            case ast.Dict(keys=keys) if keys:
                return self._exploded("{", self._pairs(node, indent), "}", indent)
            case ast.Call():
                return self._call(node, indent, column)
            case ast.Await(value=value):
                return "await " + self.layout(value, indent, column + 6, suffix)
            case ast.Attribute(value=ast.Call() as owner, attr=name):
                return f"{self.layout(owner, indent, column, suffix)}.{name}"
            case ast.Starred(value=value):
                return "*" + self.layout(value, indent, column + 1, suffix)
            case ast.BinOp() | ast.BoolOp() | ast.Compare():
                return ("\n" + " " * indent).join(self.operands(node))
            case _:
                return text

    def _exploded(self, opening: str, lines: Sequence[str], closing: str, indent: int) -> str:
        inner = " " * (indent + INDENT)
        body = "".join(f"{inner}{line},\n" for line in lines)
        return f"{opening}\n{body}{' ' * indent}{closing}"

    def _lines(self, items: Sequence[ast.expr], indent: int) -> list[str]:
        inner = indent + INDENT
        return [self.layout(item, inner, inner, 1) for item in items]

    def _pairs(self, node: ast.Dict, indent: int) -> list[str]:
        inner = indent + INDENT
        lines = []
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                lines.append("**" + self.layout(value, inner, inner + 2, 1))
                continue
            head = self.layout(key, inner, inner, 2 + self._unbreakable(value)) + ": "
            column = inner + text_width(head) if "\n" not in head else inner + 3
            lines.append(head + self.layout(value, inner, column, 1))
        return lines

    def _unbreakable(self, node: ast.expr) -> int:
        """Return how many columns of a value must share a line with what stands before it."""
        if not _has_brackets(node):
            return text_width(self.flat(node)) + 1
        return text_width(self.flat(node.func)) + 1 if isinstance(node, ast.Call) else 1

    def _call(self, node: ast.Call, indent: int, column: int) -> str:
        head = self.flat(node.func)
        if not self.fits(head, column, 1):
            head = self.layout(node.func, indent, column, 1)
        arguments: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
        if not arguments:
            return head + "()"
        together = ", ".join(map(self.flat, arguments))
        inner = indent + INDENT
        if self.fits(together, inner):
            return f"{head}(\n{' ' * inner}{together}\n{' ' * indent})"
        lines = [self._argument(argument, inner) for argument in arguments]
        return self._exploded(head + "(", lines, ")", indent)

    def _argument(self, node: ast.expr | ast.keyword, inner: int) -> str:
        if isinstance(node, ast.expr):
            return self.layout(node, inner, inner, 1)
        head = f"{node.arg}=" if node.arg else "**"
        return head + self.layout(node.value, inner, inner + len(head), 1)

    def operands(self, node: ast.expr) -> list[str]:
        """Return the lines of an operator chain, each but the first led by its operator."""
        match node:
            case ast.BoolOp(op=operator, values=values):
                word = "and" if isinstance(operator, ast.And) else "or"
                level = _precedence(node) + 1
                first, *rest = (self.guarded(value, level) for value in values)
                return [first, *(f"{word} {text}" for text in rest)]
            case ast.Compare(left=left, ops=operators, comparators=values):
                rest = [
                    f"{_COMPARISONS[type(one)]} {self.guarded(value, _COMPARE + 1)}"
                    for one, value in zip(operators, values, strict=True)
                ]
                return [self.guarded(left, _COMPARE + 1), *rest]
            case ast.BinOp(left=left, op=operator, right=right):
                sign, level = _BINARY[type(operator)]
                same = isinstance(left, ast.BinOp) and _BINARY[type(left.op)][1] == level
                head = self.operands(left) if same else [self.guarded(left, level)]
                return [*head, f"{sign} {self.guarded(right, level + 1)}"]
            case _:
                return [self.flat(node)]

    def right_side(self, node: ast.expr, indent: int, column: int, suffix: int = 0) -> str:
        """Return the text of a whole right-hand side, in parentheses where only they help."""
        text = self.flat(node)
        if self.fits(text, column, suffix):
            return text
        inner = indent + INDENT
        pad, end = " " * inner, " " * indent
        match node:
            case ast.BinOp() | ast.BoolOp() | ast.Compare():
                return self._operation(node, indent, column, suffix)
            case ast.Constant() | ast.Name() | ast.Attribute() if self.fits(text, inner):
                return f"(\n{pad}{text}\n{end})"
            case _:
                return self.layout(node, indent, column, suffix)

    def _operation(self, node: ast.expr, indent: int, column: int, suffix: int) -> str:
        """Split a lone operator's right operand if it has brackets, else one operand per line."""
        last = _last_operand(node)
        lines = self.operands(node)
        if len(lines) == 2 and _has_brackets(last):  # noqa: PLR2004
            text = self.flat(last)
            head = f"{lines[0]} {lines[1].removesuffix(text)}"
            if lines[1].endswith(text) and self.fits(head, column, 1):
                column += text_width(head)
                split = self.layout(last, indent, column, suffix)
                if self.fits(split.partition("\n")[0], column):
                    return head + split
        inner = indent + INDENT
        pad, text = " " * inner, self.flat(node)
        if not self.fits(text, inner):
            text = f"\n{pad}".join(lines)
        return f"(\n{pad}{text}\n{' ' * indent})"

    def statement(self, node: ast.stmt, indent: int) -> str:
        """Return the text of a statement."""
        pad = " " * indent
        match node:
            case ast.Assign(targets=targets, value=value):
                head = "".join(f"{self.unparenthesised(target)} = " for target in targets)
            case ast.AnnAssign(target=target, annotation=annotation, value=None):
                return f"{pad}{self.flat(target)}: {self.flat(annotation)}"
            case ast.AnnAssign(target=target, annotation=annotation, value=ast.expr() as value):
                head = f"{self.flat(target)}: {self.flat(annotation)} = "
            case ast.AugAssign(target=target, op=operator, value=value):
                head = f"{self.flat(target)} {_BINARY[type(operator)][0]}= "
            case ast.Return(value=ast.expr() as value):
                head = "return "
            case ast.Expr(value=value):
                head = ""
            case ast.Assert(test=test, msg=None):
                head, value = "assert ", test
            case ast.Assert(test=test, msg=ast.expr() as message):
                head, value = f"assert {self.flat(test)}, ", message
            case ast.Raise(exc=ast.expr() as value, cause=None):
                head = "raise "
            case _:
                return self._compound(node, indent)
        return pad + head + self.right_side(value, indent, indent + text_width(head))

    def _compound(self, node: ast.stmt, indent: int) -> str:
        pad = " " * indent
        match node:
            case ast.For(target=target, iter=iterable) | ast.AsyncFor(target=target, iter=iterable):
                head = "async for " if isinstance(node, ast.AsyncFor) else "for "
                head += f"{self.unparenthesised(target)} in "
                tail = self.layout(iterable, indent, indent + text_width(head), 1)
                return self._block(pad + head + tail, node.body, indent)
            case ast.With(items=items) | ast.AsyncWith(items=items):
                head = "async with " if isinstance(node, ast.AsyncWith) else "with "
                return self._block(pad + head + self._items(items, indent, head), node.body, indent)
            case ast.ImportFrom():
                return pad + self._import_from(node, indent)
            case _:
                pass
        return "\n".join(pad + line for line in ast.unparse(node).split("\n"))

    def _block(self, head: str, body: Sequence[ast.stmt], indent: int) -> str:
        inner = [self.statement(one, indent + INDENT) for one in body]
        return "\n".join([head + ":", *inner])

    def _items(self, items: Sequence[ast.withitem], indent: int, head: str) -> str:
        column = indent + len(head)
        together = ", ".join(map(self.flat, items))
        if self.fits(together, column, 1):
            return together
        if len(items) > 1:
            inner = indent + INDENT
            return self._exploded(
                "(", [self._item(one, inner, inner) for one in items], ")", indent
            )
        return self._item(items[0], indent, column)

    def _item(self, item: ast.withitem, indent: int, column: int) -> str:
        tail = f" as {self.flat(item.optional_vars)}" if item.optional_vars else ""
        return self.layout(item.context_expr, indent, column, len(tail) + 1) + tail

    def _import_from(self, node: ast.ImportFrom, indent: int) -> str:
        head = f"from {'.' * node.level}{node.module or ''} import "
        names = [self.flat(alias) for alias in node.names]
        together = head + ", ".join(names)
        if self.fits(together, indent):
            return together
        return self._exploded(head + "(", names, ")", indent)


def _last_operand(node: ast.expr) -> ast.expr:
    match node:
        case (
            ast.BinOp(right=last)
            | ast.BoolOp(values=[*_, last])
            | ast.Compare(comparators=[*_, last])
        ):
            return last
        case _:
            return node


def _has_brackets(node: ast.expr) -> bool:
    match node:
        case ast.List(elts=items) | ast.Set(elts=items) | ast.Tuple(elts=items):
            return bool(items)
        case ast.Dict(keys=items):
            return bool(items)
        case ast.Call(args=args, keywords=keywords):
            return bool(args or keywords)
        case _:
            return False


def _precedence(node: ast.expr) -> int:
    match node:
        case ast.BinOp(op=operator):
            return _BINARY[type(operator)][1]
        case ast.UnaryOp(op=ast.Not()):
            return _NOT
        case ast.UnaryOp():
            return _UNARY
        case ast.Await():
            return _AWAIT
        case ast.Compare():
            return _COMPARE
        case ast.BoolOp(op=ast.And()):
            return _AND
        case ast.BoolOp():
            return _OR
        case ast.IfExp():
            return _CONDITION
        case ast.Lambda() | ast.Yield() | ast.YieldFrom() | ast.NamedExpr():
            return _LAMBDA
        case _:
            return _ATOM


def _write_constant(_: _Printer, node: ast.Constant) -> str:
    value = node.value
    if isinstance(value, str | bytes):
        return render_string(value)
    if value is Ellipsis:
        return "..."
    if isinstance(value, float | complex):
        return _number(value)
    return repr(value)


def _write_attribute(printer: _Printer, node: ast.Attribute) -> str:
    owner = printer.guarded(node.value, _ATOM)
    if isinstance(node.value, ast.Constant) and isinstance(node.value.value, int | float | complex):
        owner = f"({owner})"
    return f"{owner}.{node.attr}"


def _write_call(printer: _Printer, node: ast.Call) -> str:
    function = printer.guarded(node.func, _ATOM)
    return f"{function}({printer.joined([*node.args, *node.keywords])})"


def _write_keyword(printer: _Printer, node: ast.keyword) -> str:
    return f"{node.arg}={printer.flat(node.value)}" if node.arg else "**" + printer.flat(node.value)


def _write_tuple(printer: _Printer, node: ast.Tuple) -> str:
    comma = "," if len(node.elts) == 1 else ""
    return f"({printer.joined(node.elts)}{comma})"


def _write_dict(printer: _Printer, node: ast.Dict) -> str:
    pairs = [
        "**" + printer.guarded(value, _BINARY[ast.BitOr][1])
        if key is None
        else f"{printer.flat(key)}: {printer.flat(value)}"
        for key, value in zip(node.keys, node.values, strict=True)
    ]
    return "{" + ", ".join(pairs) + "}"


def _write_set(printer: _Printer, node: ast.Set) -> str:
    return "{" + printer.joined(node.elts) + "}" if node.elts else "{*()}"


def _write_unary(printer: _Printer, node: ast.UnaryOp) -> str:
    signs: dict[type[ast.unaryop], str] = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}
    sign = signs.get(type(node.op), "not ")
    return sign + printer.guarded(node.operand, _precedence(node))


def _write_binary(printer: _Printer, node: ast.BinOp) -> str:
    sign, level = _BINARY[type(node.op)]
    if isinstance(node.op, ast.Pow):
        left = printer.guarded(node.left, level + 1)
        right = printer.guarded(node.right, _UNARY)
        simple = all(re.fullmatch(r"-?[\w.]+", text) is not None for text in (left, right))
        return f"{left}{sign}{right}" if simple else f"{left} {sign} {right}"
    left = printer.guarded(node.left, level)
    return f"{left} {sign} {printer.guarded(node.right, level + 1)}"


def _write_chain(printer: _Printer, node: ast.expr) -> str:
    return " ".join(printer.operands(node))


def _write_subscript(printer: _Printer, node: ast.Subscript) -> str:
    return f"{printer.guarded(node.value, _ATOM)}[{printer.unparenthesised(node.slice)}]"


def _write_item(printer: _Printer, node: ast.withitem) -> str:
    tail = f" as {printer.flat(node.optional_vars)}" if node.optional_vars else ""
    return printer.flat(node.context_expr) + tail


def _write_alias(_: _Printer, node: ast.alias) -> str:
    return f"{node.name} as {node.asname}" if node.asname else node.name


_FLAT: dict[type[ast.AST], Callable[[_Printer, Any], str]] = {
    ast.Constant: _write_constant,
    ast.Name: lambda _, node: str(node.id),
    ast.Attribute: _write_attribute,
    ast.Call: _write_call,
    ast.keyword: _write_keyword,
    ast.List: lambda printer, node: f"[{printer.joined(node.elts)}]",
    ast.Tuple: _write_tuple,
    ast.Set: _write_set,
    ast.Dict: _write_dict,
    ast.Starred: lambda printer, node: "*" + printer.guarded(node.value, _BINARY[ast.BitOr][1]),
    ast.Await: lambda printer, node: "await " + printer.guarded(node.value, _ATOM),
    ast.UnaryOp: _write_unary,
    ast.BinOp: _write_binary,
    ast.BoolOp: _write_chain,
    ast.Compare: _write_chain,
    ast.Subscript: _write_subscript,
    ast.withitem: _write_item,
    ast.alias: _write_alias,
}
