"""Imports that happen when a module is first used: `weft --help` needs few of them.

    with lazy_imports():
        from weft.runs import resume          # a module; a name of one would load it at once

    if TYPE_CHECKING:                         # an extra, which may not be installed
        import polars as pl
    else:
        pl = lazy_module("polars")

Readers and type checkers see plain imports at the top of the file. `importlib.util.LazyLoader`
would load a module when any attribute is read, `__file__` too, so that whoever walks over
`sys.modules` (inspect, hypothesis) would load them all, and those of extras that are missing.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

PREFIX = "weft."
_LOADING = threading.RLock()


class _WaitingModule(ModuleType):
    """A module of Weft that is loaded when one of its own names is looked up."""

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__"):
            _load(self)
        return ModuleType.__getattribute__(self, name)

    def __dir__(self) -> list[str]:
        _load(self)
        return sorted(vars(self))


class _WaitingLoader(Loader):
    """Makes the module and leaves it empty; `loader` fills it later."""

    def __init__(self, loader: Loader) -> None:
        self.loader = loader
        self.is_loading = False

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module that waits."""
        return _WaitingModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing yet."""


def _load(module: ModuleType) -> None:
    """Fill a module; other threads wait meanwhile, and an error is met again at the next use."""
    loader = module.__loader__
    assert isinstance(loader, _WaitingLoader)
    with _LOADING:
        if loader.is_loading or type(module) is ModuleType:
            return  # it imports itself in a circle, or another thread was first
        loader.is_loading = True
        try:
            loader.loader.exec_module(module)
            module.__class__ = ModuleType
        finally:
            loader.is_loading = False


class _WaitingFinder(MetaPathFinder):
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
        spec.loader = _WaitingLoader(spec.loader)
        return spec


@contextmanager
def lazy_imports() -> Iterator[None]:
    """Make the imports inside the `with` block wait for the first use of their modules.

    Only modules of Weft wait, and no packages: a package is loaded to find what is in it.
    """
    finder = _WaitingFinder()
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
