"""Modules that are imported when they are first used: slow ones, and those of extras.

    if TYPE_CHECKING:
        import polars as pl
    else:
        pl = lazy("polars")

A type checker sees the module itself; `weft --help` and a machine without the extra do not pay.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any


class LazyModule(ModuleType):
    """Stands for a module until one of its names is looked up."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)


def lazy(name: str) -> ModuleType:
    """Return a module by its full name without importing it yet."""
    return LazyModule(name)
