"""The cache of compiled kernels, and how a family's step becomes one.

`step_kernel` compiles the reference function itself: its code object, with every module-level or
closed-over integer as a uint64 and every function it calls compiled in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from types import CellType, FunctionType
from typing import Any

import numpy as np

from weft.compiled import Kernels

_HERE = Path(__file__).parent
SOURCES = ("kernels", "families", "pipeline", "rowmaps.py")
KERNELS = Kernels("prng", *(_HERE.parent / name for name in SOURCES))


@lru_cache(maxsize=256)
def step_kernel(function: Callable[..., Any]) -> Any:
    """Return the compiled copy of a step or an output map; its state is an array of uint64."""
    assert isinstance(function, FunctionType)
    names = {
        name: _typed(function.__globals__[name])
        for name in function.__code__.co_names
        if name in function.__globals__
    }
    cells = tuple(CellType(_typed(cell.cell_contents)) for cell in function.__closure__ or ())
    scope = {**function.__globals__, **names}
    copy = FunctionType(function.__code__, scope, function.__name__, None, cells)
    parts = [*names.items(), *((str(at), cell.cell_contents) for at, cell in enumerate(cells))]
    copy.__qualname__ = f"{function.__qualname__}_{_digest(function, parts)}"
    return KERNELS.kernel(copy)


def _digest(function: FunctionType, parts: Sequence[tuple[str, Any]]) -> str:
    """Return a digest that tells apart functions of one name that close over different values.

    Machine code from disk is linked by qualified name. Functions that one definition creates from
    different parts (the twists of MT19937 and of PHP 5.2.1) share a name; where two processes had
    compiled one each, a third that loaded both called the same code for both.
    """
    code = function.__code__
    literals = [item for item in code.co_consts if isinstance(item, int | str)]
    about = [function.__module__, code.co_code.hex(), str(literals)]
    about += [f"{name}={_identity(value)}" for name, value in parts]
    return sha256("\0".join(about).encode()).hexdigest()[:12]


def _identity(value: object) -> str:
    if isinstance(value, np.generic):
        return str(value)
    inner = getattr(value, "py_func", value)
    return getattr(inner, "__qualname__", type(inner).__name__)


def _typed(value: object) -> Any:
    if type(value) is int:
        return np.uint64(value & 0xFFFFFFFFFFFFFFFF)
    if isinstance(value, FunctionType):
        return step_kernel(value)
    return value
