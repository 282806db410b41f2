"""Compiles kernels and caches the compiled code on disk.

    KERNELS = Kernels("arc", Path(__file__).parent)     one per search
    @KERNELS.entry                                      a function that Python calls
    @KERNELS.kernel                                     a function that other kernels call
    KERNELS.around(loop, "loop_java", STEP=step)        a loop around functions chosen later

numba's own cache checks only the file of the outermost function and would keep stale code of the
functions it calls, so the cache folder is named after a hash of all kernel sources.
A process that only fills that folder calls `compile_entries_only` first.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar

import platformdirs


@contextmanager
def hidden(names: Sequence[str]) -> Iterator[None]:
    """Make modules that are not loaded yet look as if they were not installed."""
    absent = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type] # None: not importable
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]


with hidden(("scipy", "scipy.linalg.cython_blas", "cffi", "coverage", "yaml")):
    # numba imports these if they are installed, which doubles its import time; we need none
    import numba
    import numba.core.typing.cffi_utils
    import numba.np.arraymath
    from numba.core import codegen, registry

F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R")
_njit: Any = numba.njit  # its stubs, where installed, lack options that we use
_config: Any = numba.config
_Library: Any = codegen.JITCodeLibrary
_Codegen: Any = codegen.JITCPUCodegen
_entry_names: set[str] = set()
"""Qualified names of the functions that Python calls."""
_RUNTIME = "nrt"
"""Name of numba's runtime library, which it calls by address."""


class Kernels:
    """The kernels of one search; `sources` are the folders or files with their code."""

    def __init__(self, name: str, *sources: Path) -> None:
        cache = Path(platformdirs.user_cache_dir("weft"))
        self.folder = cache / f"{name}-kernels-{_hash_of(sources)}"
        self._built = self.folder / "built"

    def is_built(self) -> bool:
        """Whether all kernels were compiled into the folder."""
        return self._built.is_file()

    def mark_built(self) -> None:
        """Record that all kernels are compiled; do nothing if the folder cannot be written."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._built.touch()
        except OSError:
            return

    def kernel(self, function: F) -> F:
        """Compile a function that other kernels call; Python cannot call it."""
        options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        compiled: F = _njit(error_model="numpy", **options)(function)
        return compiled

    def entry(self, function: F) -> F:
        """Compile a function that Python calls; its machine code is cached on disk.

        It must not be a closure: numba's cache key would include the closed-over objects, which
        differ in every process, so each would recompile. Variable parts go into its globals.
        """
        assert function.__closure__ is None, f"{function.__qualname__} closes over something"
        _config.CACHE_DIR = str(self.folder)  # read while the function is declared
        _entry_names.add(function.__qualname__)
        compiled: F = _njit(cache=True, error_model="numpy")(function)
        return compiled

    def around(
        self, loop: Callable[..., R], name: str, **parts: Callable[..., Any]
    ) -> Callable[..., R]:
        """Compile a copy of a loop whose globals contain functions chosen at run time.

        numba caches code by qualified name, so each copy gets its own `name`.
        """
        copy = FunctionType(loop.__code__, {**loop.__globals__, **parts}, name)
        copy.__qualname__ = name
        return self.entry(copy)


class _InlinedLibrary(_Library):  # type: ignore[misc] # numba is untyped
    """The code of a compiled function, optimised only as part of an entry.

    numba optimises every function and generates machine code for it, although callers inline
    its code and do both again: the innermost functions are compiled once per call level.
    """

    def _optimize_final_module(self) -> None:
        if self._has_callers_outside:
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        if self._has_callers_outside:
            super()._finalize_final_module()
        else:
            self._finalize_dynamic_globals()
            self._finalized = True

    @property
    def _has_callers_outside(self) -> bool:
        return self.name == _RUNTIME or self.name in _entry_names


class _EntryCodegen(_Codegen):  # type: ignore[misc] # numba is untyped
    """A code generator that gives addresses to entries only."""

    _library_class = _InlinedLibrary

    def set_env(self, env_name: str, env: object) -> None:
        if self._engine.is_symbol_defined(env_name):
            super().set_env(env_name, env)


def compile_entries_only() -> None:
    """Generate machine code only for entries in this process, in half the time.

    Other functions cannot be called from Python afterwards.
    """
    context: Any = registry.cpu_target.target_context
    context.codegen().__class__ = _EntryCodegen


def _hash_of(folders: tuple[Path, ...]) -> str:
    digest = hashlib.sha256(numba.__version__.encode())
    for folder in folders:
        for path in sorted(folder.rglob("*.py")) if folder.is_dir() else [folder]:
            # numba also checks path and modification time, and compiles again if they differ
            about = f"{path}\0{path.stat().st_mtime_ns}\0"
            digest.update(about.encode() + path.read_bytes())
    return digest.hexdigest()[:16]
