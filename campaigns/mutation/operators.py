"""The mutants of a source file: one small change each, made in its text.

    mutants_of("src/weft/model/keys.py", text) ─► [Mutant(line, operator, before, after, …)]

Lines keep their numbers, so that coverage of the unchanged file shows which tests reach a mutant.
Some code is never mutated, because no test should depend on it: docstrings and other string
statements, annotations, unions of types, `Literal[…]` and `TypeVar(…)`, `if TYPE_CHECKING`,
decorators, `__all__`, assertions, error texts (inside `raise`, and in calls that create an error of
`weft.errors`), and the expressions in an f-string. A change that does not compile is not a mutant.
"""

from __future__ import annotations

import ast
import builtins
import copy

from campaigns.mutation.mutant import Mutant
from campaigns.mutation.units import Unit, unit_at, units_of

OPERATORS = {
    "comparison": "< and <=, > and >=, == and !=, in and not in, is and is not exchanged",
    "logic": "and and or exchanged; not removed",
    "condition": "the condition of if, while, a conditional expression or a comprehension negated",
    "arithmetic": "+ and -, * and //, << and >>, & and | exchanged; % and ** become *; "
    "also in augmented assignments; the sign of -x removed",
    "number": "n becomes n + 1",
    "boolean": "True and False exchanged",
    "text": "a text or bytes literal gets XX in front; an f-string too",
    "return": "return x becomes return None, unless x is None, False, 0 or empty text",
    "statement": "a call, an assignment to an attribute or item, a raise or a del is removed",
    "jump": "break and continue exchanged",
}
COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.LShift: ast.RShift,
    ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitOr,
}  # fmt: skip
TYPE_MAKERS = ("NewType", "ParamSpec", "TypeVar")


def mutants_of(path: str, text: str) -> list[Mutant]:
    """Return all mutants of a file that compile, ordered by position."""
    return [mutant for mutant in changes_of(path, text) if _compiles(mutant.apply(text))]


def changes_of(path: str, text: str) -> list[Mutant]:
    """Return all changes to a file, ordered by position."""
    tree = ast.parse(text)
    finder = _Finder(path, text, units_of(text), error_makers(tree))
    finder.visit(tree)
    return sorted(set(finder.mutants), key=lambda m: (m.line, m.column, m.operator, m.after))


def _compiles(text: str) -> bool:
    try:
        compile(text, "mutant", "exec")
    except SyntaxError:
        return False
    return True


class _Finder(ast.NodeVisitor):
    """Walks a file and records possible changes; code that is never mutated is not visited."""

    def __init__(self, path: str, text: str, units: list[Unit], makers: frozenset[str]) -> None:
        self._units, self._error_makers = units, makers
        self.mutants: list[Mutant] = []
        self._path = path
        self._content = text.encode()
        self._starts = [0]
        for line in self._content.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._functions: list[str] = []
        self._classes: list[str] = []
        self._raises = 0
        self._span = (1, 1)

    def _note(self, operator: str, node: ast.expr | ast.stmt, changed: ast.AST | str) -> None:
        begin = self._starts[node.lineno - 1] + node.col_offset
        end = self._starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        before = self._content[begin:end].decode()
        lines = "\n" * before.count("\n")
        if isinstance(changed, str):
            after = changed + lines
        elif isinstance(changed, ast.expr):
            after = f"({ast.unparse(changed)}{lines})"
        else:
            after = ast.unparse(changed) + lines
        self.mutants.append(
            Mutant(self._path, node.lineno, node.col_offset, operator, before, after, begin, end,
                   *self._span, self._functions[-1] if self._functions else "",
                   unit_at(self._units, node.lineno))
        )  # fmt: skip

    def _negate(self, test: ast.expr) -> None:
        if not (isinstance(test, ast.UnaryOp) or _is_yes_or_no(test)):
            self._note("condition", test, ast.UnaryOp(ast.Not(), test))

    def visit(self, node: ast.AST) -> None:
        """Visit the children of a node, with the lines of the innermost statement."""
        if not isinstance(node, ast.stmt):
            super().visit(node)
            return
        outer, self._span = self._span, _span_of(node)
        super().visit(node)
        self._span = outer

    # -- code to visit ---------------------------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        self._functions.append(".".join((*self._classes, node.name)))
        for statement in node.body:
            self.visit(statement)
        self._functions.pop()

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - names of ast.NodeVisitor

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._functions.append(self._functions[-1] if self._functions else "<lambda>")
        self.visit(node.body)
        self._functions.pop()

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._classes.append(node.name)
        for statement in node.body:
            self.visit(statement)
        self._classes.pop()

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._assigned(node, [node.target])
        if node.value is not None:
            self.visit(node.value)

    def visit_Assert(self, node: ast.Assert) -> None:
        """Skip assertions, which state invariants."""

    def visit_If(self, node: ast.If) -> None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            for statement in node.orelse:
                self.visit(statement)
            return
        self._negate(node.test)
        self.generic_visit(node)

    # -- statements ------------------------------------------------------------------------------

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return
        if isinstance(node.value, ast.Call) and self._functions:
            self._note("statement", node, "pass")
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets):
            return
        self._assigned(node, node.targets)
        self.generic_visit(node)

    def _assigned(self, node: ast.stmt, targets: list[ast.expr]) -> None:
        if self._functions and all(isinstance(t, ast.Attribute | ast.Subscript) for t in targets):
            self._note("statement", node, "pass")

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        changed = copy.copy(node)
        changed.op = COMPUTED[type(node.op)]()
        self._note("arithmetic", node, changed)
        self.generic_visit(node)

    def visit_Delete(self, node: ast.Delete) -> None:
        self._note("statement", node, "pass")
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        self._note("statement", node, "pass")
        self._raises += 1
        self.generic_visit(node)
        self._raises -= 1

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is None:
            return
        if not (isinstance(node.value, ast.Constant) and not node.value.value):
            self._note("return", node, "return None")
        self.generic_visit(node)

    def visit_Break(self, node: ast.Break) -> None:
        self._note("jump", node, "continue")

    def visit_Continue(self, node: ast.Continue) -> None:
        self._note("jump", node, "break")

    def visit_While(self, node: ast.While) -> None:
        if not isinstance(node.test, ast.Constant):
            self._negate(node.test)
        self.generic_visit(node)

    # -- expressions -----------------------------------------------------------------------------

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self._negate(test)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for place, operation in enumerate(node.ops):
            changed = copy.copy(node)
            changed.ops = list(node.ops)
            changed.ops[place] = COMPARED[type(operation)]()
            self._note("comparison", node, changed)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        changed = copy.copy(node)
        changed.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        self._note("logic", node, changed)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._note("logic", node, node.operand)
        elif isinstance(node.op, ast.USub):
            self._note("arithmetic", node, node.operand)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if _is_type(node):
            return
        if type(node.op) in COMPUTED and not self._raises:
            changed = copy.copy(node)
            changed.op = COMPUTED[type(node.op)]()
            self._note("arithmetic", node, changed)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self._note("boolean", node, ast.Constant(not value))
        elif isinstance(value, int | float):
            self._note("number", node, ast.Constant(value + 1))
        elif isinstance(value, str) and not self._raises:
            self._note("text", node, ast.Constant("XX" + value))
        elif isinstance(value, bytes):
            self._note("text", node, ast.Constant(b"XX" + value))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        if not self._raises:
            changed = ast.JoinedStr([ast.Constant("XX"), *node.values])
            self._note("text", node, changed)

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name == "cast":
            self.visit(node.args[1])
        elif name in self._error_makers:
            self._raises += 1
            self.generic_visit(node)
            self._raises -= 1
        elif name not in TYPE_MAKERS:
            self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if not (isinstance(node.value, ast.Name) and node.value.id == "Literal"):
            self.generic_visit(node)


def _span_of(node: ast.stmt) -> tuple[int, int]:
    """Return the first and last line of a statement, or of its head if it has a body."""
    body: list[ast.AST] = getattr(node, "body", None) or getattr(node, "cases", None) or []
    if not body:
        return node.lineno, node.end_lineno or node.lineno
    below: int = getattr(body[0], "lineno", 0) or body[0].pattern.lineno  # type: ignore[attr-defined]
    return node.lineno, max(node.lineno, below - 1)


def _is_yes_or_no(test: ast.expr) -> bool:
    """Whether exchanging the comparison already negates a condition."""
    yes_or_no = ast.Eq | ast.NotEq | ast.In | ast.NotIn | ast.Is | ast.IsNot
    return (
        isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], yes_or_no)
    )


def _is_type(node: ast.BinOp) -> bool:
    """Whether `a | b` is a union of types: a side is None, text, subscripted or a class name."""
    if not isinstance(node.op, ast.BitOr):
        return False
    sides = (node.left, node.right)
    return any(
        (isinstance(side, ast.BinOp) and _is_type(side))
        or isinstance(side, ast.Subscript)
        or (isinstance(side, ast.Constant) and (side.value is None or isinstance(side.value, str)))
        or (isinstance(side, ast.Name) and _is_type_name(side.id))
        for side in sides
    )


def _is_type_name(name: str) -> bool:
    """Whether a name is that of a class: builtin or in CapWords."""
    return isinstance(getattr(builtins, name, None), type) or (
        name[:1].isupper() and not name.isupper()
    )


def error_makers(tree: ast.Module) -> frozenset[str]:
    """Return the names of errors that a file imports, and of its functions that return one."""
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    errors = {a.asname or a.name for node in imports if node.module == "weft.errors"
              for a in node.names}  # fmt: skip
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return frozenset(
        errors
        | {f.name for f in functions if isinstance(f.returns, ast.Name) and f.returns.id in errors}
    )
