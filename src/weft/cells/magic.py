"""`%%weft`: a whole cell as one module, fixed when the cell is executed.

    %load_ext weft
    %%weft ─► cell_source ─► stored module ─► its names, in the notebook

IPython itself is not imported here.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Protocol

from weft.cells.assembly import cell_source
from weft.cells.names import bound_names
from weft.cells.stored import load
from weft.errors import SearchInvalid, UsageError


class NotebookShell(Protocol):
    """The part of IPython's shell that is used here."""

    user_ns: dict[str, Any]

    def transform_cell(self, raw_cell: str) -> str:
        """Return a cell as Python, with magics and shell lines as calls."""

    def register_magic_function(
        self, func: Callable[[str, str], None], magic_kind: str, magic_name: str
    ) -> None:
        """Register a magic command."""


def load_ipython_extension(ipython: NotebookShell) -> None:
    """Register `%%weft`; IPython calls this on `%load_ext weft`."""

    def weft(line: str, cell: str) -> None:
        """Execute the cell as a separate module that Weft stores with every run of it.

        Its searches, tasks and other names are then available in the notebook. Unlike in other
        cells, all of its statements are part of the module, and names from other cells keep their
        current values.
        """
        if line.strip():
            raise UsageError(f"%%weft takes no arguments, not {line.strip()!r}")
        run_cell(ipython, cell)

    ipython.register_magic_function(weft, "cell", "weft")


def run_cell(ipython: NotebookShell, cell: str) -> None:
    """Create a module from a cell, execute it, and add its names to the notebook."""
    text = ipython.transform_cell(cell)
    try:
        names = bound_names(ast.parse(text).body)
    except SyntaxError as error:
        raise SearchInvalid(f"line {error.lineno} of the cell: {error.msg}") from None
    module = load(cell_source(text, ipython.user_ns))
    known = vars(module)
    ipython.user_ns.update({name: known[name] for name in names if name in known})
