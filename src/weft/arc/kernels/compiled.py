"""How kernels are compiled, and where the compiled code is kept.

numba's own cache looks at the file of the outermost function only and would keep stale code of
those it calls; so the folder is named by the hash of all sources here and in `fitted`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
import platformdirs

F = TypeVar("F", bound=Callable[..., Any])


def _sources_hash() -> str:
    digest = hashlib.sha256(numba.__version__.encode())
    kernels = Path(__file__).parent
    for folder in (kernels, kernels.parent / "fitted"):
        for path in sorted(folder.rglob("*.py")):
            # numba also wants the same path and time, or compiles anew
            about = f"{path}\0{path.stat().st_mtime_ns}\0"
            digest.update(about.encode() + path.read_bytes())
    return digest.hexdigest()[:16]


FOLDER = Path(platformdirs.user_cache_dir("weft")) / f"arc-kernels-{_sources_hash()}"
_BUILT = FOLDER / "built"
_config: Any = numba.config
_config.CACHE_DIR = str(FOLDER)


def is_built() -> bool:
    """Whether everything was compiled into the folder once."""
    return _BUILT.is_file()


def mark_built() -> None:
    """Note that everything is compiled; without a place to write it, it is compiled again."""
    try:
        FOLDER.mkdir(parents=True, exist_ok=True)
        _BUILT.touch()
    except OSError:
        return


def kernel(function: F) -> F:
    """Compile a function that other kernels call; Python cannot call it."""
    options: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    compiled: Any = numba.njit(error_model="numpy", **options)(function)
    typed: F = compiled
    return typed


def entry(function: F) -> F:
    """Compile a function that Python calls; its machine code is kept on disk."""
    compiled: Any = numba.njit(cache=True, error_model="numpy")(function)
    typed: F = compiled
    return typed


def named_entry(name: str) -> Callable[[F], F]:
    """Like `entry`, for functions made in a loop: numba keeps code by qualified name."""

    def declare(function: F) -> F:
        function.__qualname__ = name
        return entry(function)

    return declare
