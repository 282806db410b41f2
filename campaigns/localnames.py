"""Number local variables, so that modules that differ only in their names become equal.

A variable is local if a function, a lambda or a comprehension binds it, but not as a parameter, an
import, a function or a class. Each gets a number by its first appearance, which is not a valid
name; inner functions refer to it by the same number. Parameters, attributes, and names of modules
and class bodies stay. A function that looks up names (`locals()`, `eval`), or that contains such a
function, keeps all its names.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from itertools import count

LOOKUPS = ("locals", "vars", "dir", "eval", "exec", "f_locals", "currentframe", "_getframe")
"""Functions and attributes through which code can depend on the names of its variables."""
TEXTS = {ast.ExceptHandler: "name", ast.MatchAs: "name", ast.MatchStar: "name",
         ast.MatchMapping: "rest"}  # fmt: skip
"""Nodes that bind a variable whose name is a string attribute of the node."""

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Inner = Function | Comprehension | ast.ClassDef
"""Nodes with their own scope."""


def number_locals(tree: ast.Module) -> None:
    """Replace the names of local variables with numbers, in place."""
    _Numbering().visit(tree)


@dataclass(slots=True)
class _Scope:
    """The names that a function, a class or a comprehension binds."""

    is_class: bool
    variables: set[str] = field(default_factory=set)
    fixed: set[str] = field(default_factory=set)
    """Parameters, imports, functions, classes and names declared global."""
    nonlocals: set[str] = field(default_factory=set)
    numbers: dict[str, str] = field(default_factory=dict)

    def binds(self, name: str) -> bool:
        """Whether it binds a name, so that the enclosing scopes do not matter."""
        return name in self.fixed or name in self.variables - self.nonlocals

    def keeps(self, name: str) -> bool:
        """Whether a name that it binds stays; in a class, `__x` is mangled."""
        return self.is_class or name in self.fixed or name.startswith("__")

    def collect(self, node: ast.AST, in_comprehension: bool = False) -> None:
        """Add the names that a node binds here, but not in inner scopes."""
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            self.variables.update([] if in_comprehension else [node.id])
        elif isinstance(node, ast.NamedExpr):
            self.variables.add(node.target.id)  # also from within a comprehension
        elif isinstance(node, ast.Nonlocal):
            self.nonlocals.update(node.names)
        else:
            self.fixed.update(_fixed_by(node))
            self.variables.update(filter(None, [_text(node)]))
        is_inner = isinstance(node, Function | ast.ClassDef)
        for part in _outside(node) if is_inner else ast.iter_child_nodes(node):
            self.collect(part, in_comprehension or isinstance(node, Comprehension))


class _Numbering(ast.NodeVisitor):
    """Walks through a module, keeping track of the scopes around each name."""

    def __init__(self) -> None:
        self._scopes: list[_Scope] = []
        self._unused = map(str, count())

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, Inner):
            self._visit_scope(node)
            return
        if isinstance(node, ast.Name):
            node.id = self._number(node.id)
        elif isinstance(node, ast.Nonlocal):
            node.names = [self._number(name) for name in node.names]
        elif text := _text(node):
            setattr(node, TEXTS[type(node)], self._number(text))
        self.generic_visit(node)

    def _visit_scope(self, node: Inner) -> None:
        is_outermost = all(scope.is_class for scope in self._scopes)
        if is_outermost and not isinstance(node, ast.ClassDef) and _looks_up(node):
            return
        for part in _outside(node):
            self.visit(part)
        self._scopes.append(_scope_of(node))
        for part in _inside(node):
            self.visit(part)
        self._scopes.pop()

    def _number(self, name: str) -> str:
        for scope in reversed(self._scopes):
            if scope.is_class and scope is not self._scopes[-1]:
                continue  # functions do not see the names of the class around them
            if scope.binds(name):
                if scope.keeps(name):
                    return name
                if name not in scope.numbers:
                    scope.numbers[name] = next(self._unused)
                return scope.numbers[name]
        return name


def _scope_of(node: Inner) -> _Scope:
    scope = _Scope(isinstance(node, ast.ClassDef))
    is_comprehension = isinstance(node, Comprehension)
    for part in [part.target for part in node.generators] if is_comprehension else _inside(node):
        scope.collect(part)
    if isinstance(node, Function):
        parameters = ast.iter_child_nodes(node.args)
        scope.fixed.update(part.arg for part in parameters if isinstance(part, ast.arg))
    return scope


def _fixed_by(node: ast.AST) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.alias):
        return [node.asname or node.name.partition(".")[0]]
    return node.names if isinstance(node, ast.Global) else []


def _inside(node: Inner) -> list[ast.AST]:
    """Return the parts that are evaluated in the scope of a node."""
    if isinstance(node, Comprehension):
        first, *others = node.generators
        results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        return [first.target, *first.ifs, *others, *results]
    return [node.body] if isinstance(node, ast.Lambda) else list(node.body)


def _outside(node: Inner) -> list[ast.AST]:
    """Return the parts evaluated in the enclosing scope: decorators, defaults, bases, iterable."""
    if isinstance(node, Comprehension):
        return [node.generators[0].iter]
    inside = _inside(node)
    return [part for part in ast.iter_child_nodes(node) if part not in inside]


def _looks_up(node: ast.AST) -> bool:
    return any(
        (isinstance(part, ast.Name) and part.id in LOOKUPS)
        or (isinstance(part, ast.Attribute) and part.attr in LOOKUPS)
        for part in ast.walk(node)
    )


def _text(node: ast.AST) -> str | None:
    return getattr(node, TEXTS[type(node)]) if type(node) in TEXTS else None
