"""A notebook without a kernel: cells are executed as in IPython, and their source is kept."""

from __future__ import annotations

import ast
import linecache
from itertools import count
from pathlib import Path
from typing import Any

from weft.cells import stored
from weft.cells.assembly import cell_source
from weft.model.tasks import SearchCall

_NUMBERS = count(1)
IMPORT_MARK = """
import weft
from pathlib import Path
with Path(MARK).open("a") as file:
    file.write("imported\\n")

@weft.task
def double(x: int) -> int:
    return 2 * x

@weft.search(version=1)
def s(n: int):
    results = yield [double(x) for x in range(n)]
    return [r.value for r in results]
"""


class Notebook:
    """A namespace and the history of the cells executed in it."""

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


def marked(mark: Path) -> SearchCall:
    """Return a search whose module adds a line to the file `mark` when it is imported."""
    module = stored.load(cell_source(IMPORT_MARK, {"MARK": str(mark)}))
    call: SearchCall = module.s(3)
    return call
