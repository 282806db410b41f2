"""A notebook without a kernel: cells are executed as IPython does, their source kept."""

from __future__ import annotations

import ast
import linecache
from itertools import count
from typing import Any

_NUMBERS = count(1)


class Notebook:
    """A namespace and the history of the cells that were executed in it."""

    def __init__(self, *cells: str) -> None:
        self.names: dict[str, Any] = {"__name__": "__main__", "In": [""]}
        for cell in cells:
            self.run(cell)

    def run(self, cell: str) -> None:
        """Execute a cell; an earlier definition of a name is replaced."""
        name = f"<cell {next(_NUMBERS)}>"
        linecache.cache[name] = (len(cell), None, cell.splitlines(keepends=True), name)
        self.names["In"].append(cell)
        code = compile(cell, name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        exec(code, self.names)

    def __getitem__(self, name: str) -> Any:
        return self.names[name]
