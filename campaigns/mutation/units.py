"""The units of a source file: its functions and methods, and the statements around them.

A verdict on a mutant and a measurement of reach are valid while their unit is unchanged; the rest
of the file may change.
"""

from __future__ import annotations

import ast
import hashlib
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unit:
    """Lines `first` to `last`, named by function, assigned name or number of the statement."""

    name: str
    first: int
    last: int
    digest: str


def units_of(text: str) -> list[Unit]:
    """Return all units of a file, by line."""
    lines = text.splitlines(keepends=True)
    return [
        Unit(name, first, last, _digest("".join(lines[first - 1 : last])))
        for name, first, last in _spans(ast.parse(text).body, "")
    ]


def _spans(body: list[ast.stmt], classes: str) -> Iterator[tuple[str, int, int]]:
    """Yield name, first and last line of each unit of a module or class."""
    for number, node in enumerate(body):
        if isinstance(node, ast.ClassDef):
            yield from _spans(node.body, f"{classes}{node.name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            yield f"{classes}{node.name}", first, node.end_lineno or node.lineno
        else:
            yield f"{classes}{_target(node) or number}", node.lineno, node.end_lineno or node.lineno


def _target(node: ast.stmt) -> str:
    """Return the name that a statement assigns to, which does not depend on its position."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return targets[0].id if isinstance(targets[0], ast.Name) else ""


def unit_at(units: list[Unit], line: int) -> Unit:
    """Return the unit of a line, or the one before it if the line belongs to none."""
    return units[max(0, bisect_right(units, line, key=lambda unit: unit.first) - 1)]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
