"""Translates the expressions and statements of step functions from Python to C and Java.

Steps and output maps follow a rule (see `family`): 64-bit words, named constants, explicit masks.
Their syntax trees can therefore be written in any language that has such words. Every expression
has a kind: `word`, `real` (a double) or `truth`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from weft.errors import BugError

Kind = Literal["word", "real", "truth"]
Text = tuple[str, Kind]
OPERATORS: Mapping[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
    ast.LShift: "<<", ast.RShift: ">>", ast.Mod: "%", ast.FloorDiv: "/", ast.Div: "/",
}  # fmt: skip
COMPARISONS: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip


RETURNED = "returned"
"""Name of the array through which a function returns several words."""
MOST_RETURNED = 4


@dataclass(frozen=True, slots=True)
class Dialect:
    """Syntax that differs between the brace languages C and Java."""

    name: str
    word: str
    """Type name of a word."""
    constant: Callable[[int], str]
    index: Callable[[str], str]
    binary: Callable[[str, str, str], str]
    """Write an operation on words: operator, left, right."""
    compare: Callable[[str, str, str], str]


def _java_binary(operator: str, left: str, right: str) -> str:
    """Write an unsigned operation on words, although Java's `long` is signed."""
    if operator == ">>":
        return f"({left} >>> {right})"
    if operator in ("%", "/"):
        name = "remainderUnsigned" if operator == "%" else "divideUnsigned"
        return f"Long.{name}({left}, {right})"
    return f"({left} {operator} {right})"


def _java_compare(operator: str, left: str, right: str) -> str:
    if operator in ("==", "!="):
        return f"{left} {operator} {right}"
    return f"Long.compareUnsigned({left}, {right}) {operator} 0"


C = Dialect(
    "c",
    "uint64_t",
    lambda value: f"{value}u" if value < 1 << 31 else f"UINT64_C(0x{value:x})",
    lambda text: text,
    lambda operator, left, right: f"({left} {operator} {right})",
    lambda operator, left, right: f"{left} {operator} {right}",
)
JAVA = Dialect(
    "java",
    "long",
    lambda value: f"{value}L" if value < 1 << 31 else f"0x{value:x}L",
    lambda text: f"(int) ({text})",
    _java_binary,
    _java_compare,
)


@dataclass(slots=True)
class BraceWriter:
    """Writes one function; `names` maps its free names to constants and called functions."""

    dialect: Dialect
    names: Mapping[str, int | float | str]
    kinds: dict[str, Kind] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    def function(self, tree: ast.FunctionDef, name: str) -> list[str]:
        """Return the lines of a function; it is void if it returns no value."""
        parameters = [argument.arg for argument in tree.args.args]
        self.kinds = dict.fromkeys(parameters, "word")
        self._statements(tree.body, 1)
        returns = any(isinstance(n, ast.Return) and n.value for n in ast.walk(tree))
        result = self.dialect.word if returns else "void"
        state = "uint64_t *{}" if self.dialect is C else "long[] {}"
        listed = ", ".join(
            state.format(parameter) if parameter == "state" else f"{self.dialect.word} {parameter}"
            for parameter in parameters
        )
        locals_ = [
            f"    {'double' if kind == 'real' else self.dialect.word} {local} = 0;"
            for local, kind in self.kinds.items()
            if local not in parameters
        ]
        head = [f"static {result} {name}({listed}) {{", *locals_, *self._unused(tree)]
        return [*head, *self.lines, "}", ""]

    def _unused(self, tree: ast.FunctionDef) -> list[str]:
        """Return statements that keep a C compiler from warning about unused parameters."""
        read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        unread = [parameter.arg for parameter in tree.args.args if parameter.arg not in read]
        return [f"    (void) {name};" for name in unread] if self.dialect is C else []

    # -- statements ---------------------------------------------------------------------------

    def _statements(self, body: list[ast.stmt], depth: int) -> None:
        for statement in body:
            self._statement(statement, depth)

    def _write(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def _statement(self, node: ast.stmt, depth: int) -> None:
        match node:
            case ast.Expr(value=ast.Constant()):
                return  # a docstring
            case ast.Expr(value=value):
                self._write(depth, f"{self._expression(value)[0]};")
            case ast.Return(value=value):
                self._return(value, depth)
            case ast.Break():
                self._write(depth, "break;")
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=value):
                self._unpack(targets, value, depth)
            case ast.Assign(targets=[target], value=value):
                self._assign(target, self._expression(value), depth)
            case ast.AugAssign(target=target, op=op, value=value):
                joined = ast.BinOp(_loaded(target), op, value)
                self._assign(target, self._expression(joined), depth)
            case ast.If() | ast.While() | ast.For():
                self._block(node, depth)
            case _:
                raise BugError(f"no {self.dialect.name} for {ast.unparse(node)[:60]!r}")

    def _return(self, value: ast.expr | None, depth: int) -> None:
        """Return a word; several words are stored in RETURNED, where the caller reads them."""
        if value is None:
            self._write(depth, "return;")
        elif isinstance(value, ast.Tuple):
            for at, part in enumerate(value.elts):
                self._write(depth, f"{RETURNED}[{at}] = {self._expression(part)[0]};")
            self._write(depth, f"return {self.dialect.constant(0)};")
        else:
            self._write(depth, f"return {self._expression(value)[0]};")

    def _unpack(self, targets: list[ast.expr], value: ast.expr, depth: int) -> None:
        if isinstance(value, ast.Tuple):
            self._together(targets, value.elts, depth)
            return
        self._write(depth, f"{self._expression(value)[0]};")
        for at, target in enumerate(targets):
            self._assign(target, (f"{RETURNED}[{at}]", "word"), depth)

    def _block(self, node: ast.If | ast.While | ast.For, depth: int) -> None:
        if isinstance(node, ast.For):
            self._write(depth, self._range(node))
        else:
            head = "if" if isinstance(node, ast.If) else "while"
            self._write(depth, f"{head} ({self._truth(node.test)}) {{")
        self._statements(node.body, depth + 1)
        if isinstance(node, ast.If) and node.orelse:
            self._write(depth, "} else {")
            self._statements(node.orelse, depth + 1)
        self._write(depth, "}")

    def _range(self, node: ast.For) -> str:
        assert isinstance(node.target, ast.Name)
        assert isinstance(node.iter, ast.Call)
        ends = [self._expression(argument)[0] for argument in node.iter.args]
        low, high = ends if len(ends) == 2 else (self.dialect.constant(0), ends[0])
        at = self._counter(node.target.id)
        self.kinds[at] = "word"
        return f"for ({at} = {low}; {self.dialect.compare('<', at, high)}; {at}++) {{"

    def _counter(self, name: str) -> str:
        """Return the name of a loop counter; `_`, invalid in Java, becomes a name per loop."""
        if name != "_":
            return name
        return f"turn{sum(known.startswith('turn') for known in self.kinds)}"

    def _together(self, targets: list[ast.expr], values: list[ast.expr], depth: int) -> None:
        """Assign in parallel: all values are computed before any is stored."""
        texts = [self._expression(value) for value in values]
        for at, (text, kind) in enumerate(texts):
            self.kinds[f"new{at}"] = kind
            self._write(depth, f"new{at} = {text};")
        for at, (target, (_, kind)) in enumerate(zip(targets, texts, strict=True)):
            self._assign(target, (f"new{at}", kind), depth)

    def _assign(self, target: ast.expr, value: Text, depth: int) -> None:
        text, kind = value
        if isinstance(target, ast.Name):
            self.kinds.setdefault(target.id, kind)
            self._write(depth, f"{target.id} = {text};")
        else:
            self._write(depth, f"{self._expression(_loaded(target))[0]} = {text};")

    # -- expressions --------------------------------------------------------------------------

    def _truth(self, node: ast.expr) -> str:
        if isinstance(node, ast.Constant) and node.value is True:
            return "1 == 1"
        text, kind = self._expression(node)
        return text if kind == "truth" else f"{text} != 0"

    def _expression(self, node: ast.expr) -> Text:
        match node:
            case ast.Constant(value=int() as value):
                return self.dialect.constant(value), "word"
            case ast.Constant(value=float() as value):
                return repr(value), "real"
            case ast.Name(id=name):
                return self._name(name)
            case ast.Subscript(value=ast.Name(id=name), slice=at):
                return f"{name}[{self.dialect.index(self._expression(at)[0])}]", "word"
            case ast.BinOp(left=left, op=op, right=right):
                return self._binary(type(op), self._expression(left), self._expression(right))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._compare(type(op), self._expression(left), self._expression(right))
            case ast.IfExp(test=test, body=body, orelse=other):
                text, kind = self._expression(body)
                return f"({self._truth(test)} ? {text} : {self._expression(other)[0]})", kind
            case ast.Call(func=ast.Name(id="int"), args=[value]):
                text, kind = self._expression(value)
                return (f"({self.dialect.word}) ({text})" if kind == "real" else text), "word"
            case ast.Call(func=ast.Name(id=name), args=arguments):
                listed = ", ".join(self._expression(argument)[0] for argument in arguments)
                return f"{self.names[name]}({listed})", "word"
        raise BugError(f"no {self.dialect.name} for {ast.unparse(node)[:60]!r}")

    def _name(self, name: str) -> Text:
        value = self.names.get(name, name)
        if isinstance(value, float):
            return repr(value), "real"
        if isinstance(value, int):
            return self.dialect.constant(value), "word"
        return value, self.kinds.get(name, "word")

    def _binary(self, op: type[ast.operator], left: Text, right: Text) -> Text:
        operator = OPERATORS[op]
        if op is ast.Div or "real" in (left[1], right[1]):
            a, b = (t if kind == "real" else f"(double) {t}" for t, kind in (left, right))
            return f"({a} {operator} {b})", "real"
        return self.dialect.binary(operator, left[0], right[0]), "word"

    def _compare(self, op: type[ast.cmpop], left: Text, right: Text) -> Text:
        operator = COMPARISONS[op]
        if "real" in (left[1], right[1]):
            return f"({left[0]} {operator} {right[0]})", "truth"
        return f"({self.dialect.compare(operator, left[0], right[0])})", "truth"


def _loaded(node: ast.expr) -> ast.expr:
    """Return an assignment target as an expression that reads it."""
    if isinstance(node, ast.Name):
        return ast.Name(node.id, ast.Load())
    assert isinstance(node, ast.Subscript)
    return ast.Subscript(node.value, node.slice, ast.Load())
