"""Imports that happen when a module is first used: `weft --help` needs few of them.

    with lazy_imports():
        from weft.runs import resume          # a module; a name of one would load it at once

    if TYPE_CHECKING:                         # an extra, which may not be installed
        import polars as pl
    else:
        pl = lazy_module("polars")

Readers and type checkers see plain imports at the top of the file.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType
from typing import Any

PREFIX = "weft."


class _LazyFinder(MetaPathFinder):
    """Finds modules of Weft as usual, and gives them a loader that waits for their first use."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the module's spec; None leaves it to the usual finders."""
        if not fullname.startswith(PREFIX):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.loader is None or spec.submodule_search_locations is not None:
            return spec
        spec.loader = LazyLoader(spec.loader)
        return spec


@contextmanager
def lazy_imports() -> Iterator[None]:
    """Make the imports inside the `with` block wait for the first use of their modules.

    Only modules of Weft wait, and no packages: a package is loaded to find what is in it.
    """
    finder = _LazyFinder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _LazyModule(ModuleType):
    """Stands for a module until one of its names is looked up."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)


def lazy_module(name: str) -> ModuleType:
    """Return a module by its full name; it is looked for when one of its names is used."""
    return _LazyModule(name)
