"""The units of a source file: its functions and methods, and the statements around them.

A verdict on a mutant and a measurement of what tests reach count while their unit stays as it is.
Elsewhere in the file, lines may come and go.
"""

from __future__ import annotations

import ast
import hashlib
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unit:
    """Lines `first` to `last`, named by function, or by class and number of the statement."""

    name: str
    first: int
    last: int
    digest: str


def units_of(text: str) -> list[Unit]:
    """All units of a file, by line."""
    lines = text.splitlines(keepends=True)
    return [
        Unit(name, first, last, _digest("".join(lines[first - 1 : last])))
        for name, first, last in _spans(ast.parse(text).body, "")
    ]


def _spans(body: list[ast.stmt], classes: str) -> Iterator[tuple[str, int, int]]:
    """Name, first and last line of each unit of a module or class."""
    for number, node in enumerate(body):
        if isinstance(node, ast.ClassDef):
            yield from _spans(node.body, f"{classes}{node.name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            yield f"{classes}{node.name}", first, node.end_lineno or node.lineno
        else:
            yield f"{classes}{_target(node) or number}", node.lineno, node.end_lineno or node.lineno


def _target(node: ast.stmt) -> str:
    """The name that a statement assigns to, which stays when statements before it come and go."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return targets[0].id if isinstance(targets[0], ast.Name) else ""


def unit_at(units: list[Unit], line: int) -> Unit:
    """The unit of a line; the one before it where a line belongs to none."""
    return units[max(0, bisect_right(units, line, key=lambda unit: unit.first) - 1)]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
