"""Finds the statements in a notebook's cells that defined its names.

A function knows its cell and line. A class without methods does not, nor does an import: these
are searched for in the history, latest cell first, and must agree with the current value.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import TypeAlias

from weft.cells import MAIN

Namespace = Mapping[str, object]
Entry: TypeAlias = tuple[int, float | None, list[str], str]
"""An entry of `linecache`: size, modification time, lines, name."""
FUTURE_ANNOTATIONS = 0x1000000
"""The flag of code compiled with `from __future__ import annotations`."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A statement of a cell that binds a name, as it was written."""

    node: ast.stmt
    text: str
    future: bool = False
    """Whether its annotations are not evaluated."""


def unwrapped(value: object) -> object:
    """Return the value without its decorators; the value itself if they form a cycle."""
    try:
        return inspect.unwrap(value)  # type: ignore[arg-type]  # anything may have __wrapped__
    except ValueError:
        return value


def cell_of(function: object) -> str | None:
    """Return the file name that Python uses for a function's cell; None if it was not kept."""
    target = unwrapped(function)
    if not isinstance(target, FunctionType) or not _cell_text(target):
        return None
    return target.__code__.co_filename


def _cell_text(function: FunctionType) -> str:
    """Return the whole cell that a function is from; empty if it was not kept."""
    lines = linecache.getlines(function.__code__.co_filename)
    if not lines:
        try:  # the prompt of Python 3.13 keeps sources by their code
            lines, _ = inspect.findsource(function)
        except (OSError, TypeError, IndexError):
            lines = []
    return "".join(lines) or _magic_text(function)


def _magic_text(function: FunctionType) -> str:
    """Return the cell below a magic such as `%%time`, which is only in IPython's history."""
    code = function.__code__
    for tree in _history(function.__globals__):
        call = getattr(tree.body[-1], "value", None) if tree.body else None
        if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "run_cell_magic":
            text = getattr(call.args[-1], "value", None)
            if isinstance(text, str) and parsed(text) and _has_code(text, code):
                return text
    return ""


def _has_code(text: str, code: CodeType) -> bool:
    """Whether a cell, compiled again, has a function with the same code on the same line."""
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | (code.co_flags & FUTURE_ANNOTATIONS)
    cell: CodeType = compile(text, "cell", "exec", flags, dont_inherit=True)
    return code in cell.co_consts


def is_of_cell(value: object) -> bool:
    """Whether a value is a function or class that a cell defined."""
    target = unwrapped(value)
    return isinstance(target, FunctionType | type) and target.__module__ == MAIN


def find_definition(value: object, name: str, namespace: Namespace) -> Definition | None:
    """Return the cell's statement that defined a function or class under its name."""
    target = unwrapped(value)
    if isinstance(target, FunctionType):
        return _function(target, name)
    assert isinstance(target, type)
    return _class(target, namespace)


def find_import(name: str, value: object, namespace: Namespace) -> str | None:
    """Return, as one statement, the import in a cell that gave a name its current value."""
    for tree in _history(namespace):
        for node in reversed(list(top_level(tree.body))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                for alias in node.names:
                    if (alias.asname or alias.name) == name and _imports(node, alias, value):
                        return _statement(node, alias)
    return None


def top_level(statements: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield statements that bind names of the module, also in `if`, `try`, `with` and loops."""
    for node in statements:
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With | ast.For | ast.While):
            yield from top_level(node.body)
            yield from top_level(getattr(node, "orelse", []))
            yield from top_level(getattr(node, "finalbody", []))
            for handler in getattr(node, "handlers", []):
                yield from top_level(handler.body)


@lru_cache(maxsize=512)
def parsed(text: str) -> ast.Module | None:
    """Return the syntax tree of a cell; None if it is not Python."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


# -- functions and classes ------------------------------------------------------------------


def _function(function: FunctionType, name: str) -> Definition | None:
    code, text = function.__code__, _cell_text(function)
    tree = parsed(text)
    for node in top_level(tree.body if tree else []):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            is_it = node.name == code.co_name and _first_line(node) == code.co_firstlineno
        else:
            is_it = code.co_name == "<lambda>" and _binds_lambda(node, name, code.co_firstlineno)
        if is_it:
            future = bool(code.co_flags & FUTURE_ANNOTATIONS)
            return Definition(node, _text(node, text), future)
    return None


def _binds_lambda(node: ast.stmt, name: str, line: int) -> bool:
    """Whether a statement is `name = lambda …` on this line."""
    return (
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Lambda)
        and [target.id for target in node.targets if isinstance(target, ast.Name)] == [name]
        and node.value.lineno == line
    )


def _class(cls: type, namespace: Namespace) -> Definition | None:
    for method in _methods_of(cls):
        code, text = method.__code__, _cell_text(method)
        for node in _classes(parsed(text), cls.__name__):
            if _first_line(node) <= code.co_firstlineno <= (node.end_lineno or 0):
                return Definition(node, _text(node, text), bool(code.co_flags & FUTURE_ANNOTATIONS))
    for tree in _history(namespace):
        for node in reversed(_classes(tree, cls.__name__)):
            if _agrees(node, cls):
                annotations = inspect.get_annotations(cls).values()
                future = bool(annotations) and all(isinstance(a, str) for a in annotations)
                return Definition(node, ast.unparse(node), future)
    return None


def _methods_of(cls: type) -> Iterator[FunctionType]:
    """Yield the methods defined in the class itself; a decorator may have added others."""
    for value in vars(cls).values():
        method = getattr(value, "__func__", getattr(value, "fget", value))
        method = unwrapped(method)
        is_own = getattr(method, "__qualname__", "").startswith(f"{cls.__qualname__}.")
        if isinstance(method, FunctionType) and is_own and cell_of(method):
            yield method


def _classes(tree: ast.Module | None, name: str) -> list[ast.ClassDef]:
    nodes = top_level(tree.body if tree else [])
    return [node for node in nodes if isinstance(node, ast.ClassDef) and node.name == name]


def _agrees(node: ast.ClassDef, cls: type) -> bool:
    """Whether a class has the fields, methods and constant defaults of the statement."""
    fields, values = list[str](), dict[str, ast.expr]()
    for part in node.body:
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef) and part.name not in vars(cls):
            return False
        if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
            fields.append(part.target.id)
            if part.value is not None:
                values[part.target.id] = part.value
        elif isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name):
            values[part.targets[0].id] = part.value
    defaults = {n: v.value for n, v in values.items() if isinstance(v, ast.Constant)}
    same = all(_has(cls, name, default) for name, default in defaults.items())
    return same and fields == list(inspect.get_annotations(cls))


def _has(cls: type, name: str, default: object) -> bool:
    value = vars(cls).get(name, default)  # slots remove defaults
    value = getattr(value, "_value_", value)  # of an enum
    return inspect.isdatadescriptor(value) or (type(value), value) == (type(default), default)


def _first_line(node: ast.stmt) -> int:
    """Return the first line of a statement, decorators included."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _text(node: ast.stmt, cell: str) -> str:
    """Return the text of a statement; regenerated if it is indented or an assignment."""
    if node.col_offset or node.end_lineno is None or isinstance(node, ast.Assign):
        return ast.unparse(node)
    lines = cell.split("\n")[_first_line(node) - 1 : node.end_lineno]
    return "\n".join(lines).rstrip()


# -- imports --------------------------------------------------------------------------------


def _imports(node: ast.Import | ast.ImportFrom, alias: ast.alias, value: object) -> bool:
    """Whether an import, executed now, would give the value."""
    if isinstance(node, ast.Import):
        return sys.modules.get(alias.name) is value
    if node.level or node.module is None or node.module == "__future__":
        return False
    module = sys.modules.get(node.module)
    missing = object()
    return module is not None and getattr(module, alias.name, missing) is value


def _statement(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    if isinstance(node, ast.Import):
        return ast.unparse(ast.Import([alias]))
    return ast.unparse(ast.ImportFrom(node.module, [alias], 0))


def _history(namespace: Namespace) -> Iterator[ast.Module]:
    """Yield the syntax trees of the executed cells, latest first.

    IPython keeps them in order; other sessions leave them in `linecache`, without a modification
    time, in the order in which they were first executed.
    """
    cells = namespace.get("In")
    if not isinstance(cells, list):
        by_code: Mapping[object, Entry] = getattr(linecache, "_interactive_cache", {})  # 3.13
        known = (*linecache.cache.values(), *by_code.values())
        entries = [entry for entry in known if len(entry) == 4]
        cells = ["".join(lines) for _, changed, lines, _ in entries if changed is None]
    for text in reversed(cells):
        tree = parsed(text) if isinstance(text, str) else None
        if tree is not None:
            yield tree


def module_statement(name: str, module: ModuleType) -> str:
    """Return the import that binds a module to a name."""
    full = module.__name__
    return f"import {full}" if name == full else f"import {full} as {name}"
