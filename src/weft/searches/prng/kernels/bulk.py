"""Many outputs or draws at a time, compiled from the definitions of a family.

    words(family, state, n)              n raw outputs
    fill(family, output, state, m, gaps) draws, with so many calls left out before each

Code is made for one family or output map when it is first asked for, and kept on disk.
Both change the state as the plain definition does.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from weft.searches.prng.family import Family, State
from weft.searches.prng.kernels.compiled import KERNELS, step_kernel

Words = npt.NDArray[np.uint64]
STEP: Any = None
DRAW: Any = None


def words(family: Family, state: State, count: int) -> Words:
    """Return the next `count` raw outputs; the state goes on."""
    out = np.empty(count, np.uint64)
    array = np.array(state, np.uint64)
    _looped(_steps, f"words_{family.name}", "STEP", family.step)(array, out)
    state[:] = array.tolist()
    return out


def fill(
    family: Family, output: str, state: State, modulus: int, gaps: npt.NDArray[np.int64]
) -> Words:
    """Return a draw for each gap, after as many calls as it says; the state goes on."""
    out = np.empty(gaps.size, np.uint64)
    array = np.array(state, np.uint64)
    loop = _looped(_draws, f"draws_{family.name}_{output}", "DRAW", family.outputs[output])
    loop(array, np.uint64(modulus), gaps, out)
    state[:] = array.tolist()
    return out


@lru_cache(maxsize=512)
def _looped(loop: Any, name: str, inner: str, function: Callable[..., Any]) -> Any:
    """Compile a loop around one function."""
    return KERNELS.around(loop, name, **{inner: step_kernel(function)})


def _steps(state: Words, out: Words) -> None:
    for at in range(out.size):
        out[at] = STEP(state)


def _draws(state: Words, modulus: Any, gaps: Any, out: Words) -> None:
    for at in range(out.size):
        for _ in range(gaps[at]):
            DRAW(state, modulus)
        out[at] = DRAW(state, modulus)
