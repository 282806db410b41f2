"""Determines which names of its module a definition uses, and when, from the syntax alone.

Names in decorators, defaults, base classes and class bodies are needed when the definition is
executed, those in functions only when these are called, those only in annotations perhaps never.
"""

from __future__ import annotations

import ast
import copy
import symtable
from collections.abc import Iterator
from dataclasses import dataclass

AT_ONCE = ("lambda", "genexpr", "listcomp", "setcomp", "dictcomp")
"""Scopes of anonymous functions, which may be called where they are defined."""


@dataclass(frozen=True, slots=True)
class UsedNames:
    """Names of the module that a definition uses, each tuple sorted."""

    at_definition: tuple[str, ...]
    at_call: tuple[str, ...]
    in_annotations: tuple[str, ...]
    """Names that only annotations use."""


def used_names(node: ast.stmt) -> UsedNames:
    """Return the names that a statement at the top level of a module uses."""
    plain = _Unannotated().visit(copy.deepcopy(node))
    at_definition, at_call = _global_names(ast.unparse(plain))
    annotations = set(_annotation_names(node)) - at_definition - at_call
    return UsedNames(
        tuple(sorted(at_definition)),
        tuple(sorted(at_call - at_definition)),
        tuple(sorted(annotations)),
    )


def bound_names(statements: list[ast.stmt]) -> tuple[str, ...]:
    """Return the names that statements at the top level of a module bind, sorted."""
    table = symtable.symtable(ast.unparse(ast.Module(statements, [])), "cell", "exec")
    symbols = table.get_symbols()
    return tuple(sorted(s.get_name() for s in symbols if s.is_assigned() or s.is_imported()))


def _global_names(text: str) -> tuple[set[str], set[str]]:
    """Return the module's names that the text uses: when it is executed, and when it is called."""
    table = symtable.symtable(text, "cell", "exec")
    at_definition = {s.get_name() for s in table.get_symbols() if s.is_referenced()}
    at_call: set[str] = set()
    waiting = [(child, False) for child in table.get_children()]
    while waiting:
        child, called_later = waiting.pop()
        is_function = child.get_type() == "function" and child.get_name() not in AT_ONCE
        called_later = called_later or is_function
        names = {s.get_name() for s in child.get_symbols() if s.is_global()}
        (at_call if called_later else at_definition).update(names)
        waiting += [(inner, called_later) for inner in child.get_children()]
    return at_definition, at_call


class _Unannotated(ast.NodeTransformer):
    """Removes annotations."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant(None)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)


def _annotation_names(node: ast.stmt) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.arg | ast.AnnAssign) and part.annotation:
            yield from _names_in(part.annotation)
        elif isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef) and part.returns:
            yield from _names_in(part.returns)


def _names_in(annotation: ast.expr) -> Iterator[str]:
    """Yield the names in an annotation; one that is written as a string is parsed."""
    for part in ast.walk(annotation):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            try:
                yield from _names_in(ast.parse(part.value, mode="eval").body)
            except (SyntaxError, ValueError):
                continue  # a Literal["…"], or a comment of its author
