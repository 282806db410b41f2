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
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


_config: Any = numba.config
_config.CACHE_DIR = str(
    Path(platformdirs.user_cache_dir("weft")) / f"arc-kernels-{_sources_hash()}"
)


def kernel(function: F) -> F:
    """Compile a function, once; it is inlined into whatever calls it where that pays."""
    compiled: Any = numba.njit(cache=False, boundscheck=False)(function)
    typed: F = compiled
    return typed


def entry(function: F) -> F:
    """Compile a function that Python calls; its machine code is kept on disk."""
    compiled: Any = numba.njit(cache=True, boundscheck=False)(function)
    typed: F = compiled
    return typed
