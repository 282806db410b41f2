"""Refuses `weft.run` at the top level of a file with tasks: workers that import it would run it.

The call belongs under `if __name__ == "__main__":`. A notebook's cells need no such line; workers
import a copy of the functions in them.
"""

from __future__ import annotations

import ast
import sys
import tokenize
from collections.abc import Mapping
from types import FrameType

from weft.define.tasks import Task
from weft.errors import SearchInvalid


def check_guarded() -> None:
    """Refuse the current call of `weft.run` if importing its file would repeat it."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "<module>" and _has_tasks(frame.f_globals):
            _check_module(frame)
        frame = frame.f_back


def _has_tasks(names: Mapping[str, object]) -> bool:
    """Whether a module defines tasks, so that workers import it."""
    module = names.get("__name__")
    return any(
        isinstance(value, Task) and value.function.__module__ == module
        for value in list(names.values())
    )


def _check_module(frame: FrameType) -> None:
    """Refuse a call that is made while a module is imported, or that its import would repeat."""
    file, line, names = frame.f_code.co_filename, frame.f_lineno, frame.f_globals
    if names["__name__"] == "__main__" and file != names.get("__file__"):
        return  # a cell, whatever file a debugger stores it in
    if names["__name__"] != "__main__" or not _is_guarded(file, line):
        raise SearchInvalid(
            f"{file}:{line} calls weft.run whenever the file is imported, and every "
            "worker imports it",
            hint='put the call under: if __name__ == "__main__":',
        )


def _is_guarded(file: str, line: int) -> bool:
    """Whether a line of a script is inside an `if` on `__name__`; True for what is not a file.

    >>> _is_guarded("<stdin>", 1)
    True
    """
    try:
        with tokenize.open(file) as stream:
            tree = ast.parse(stream.read())
    except (OSError, SyntaxError, ValueError):
        return True
    return any(
        isinstance(node, ast.If)
        and node.lineno <= line <= (node.end_lineno or line)
        and _mentions(node.test, "__name__")
        for node in ast.walk(tree)
    )


def _mentions(expression: ast.expr, name: str) -> bool:
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(expression))
