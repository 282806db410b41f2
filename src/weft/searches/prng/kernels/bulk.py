"""Many outputs or draws at a time, compiled from the definitions of a family.

    words(family, state, n)              n raw outputs
    fill(family, output, state, m, gaps) draws, with so many calls left out before each
    rows(family, output, m, seeds, …)    draws of many seeds, a row for each

Code is made for one family or output map when it is first asked for, and kept on disk.
The first two change the state as the plain definition does.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from weft.searches.prng.arrays import Draws16, Ints, Words
from weft.searches.prng.family import Family, State
from weft.searches.prng.kernels.compiled import KERNELS, step_kernel

STEP: Any = None
DRAW: Any = None


def words(family: Family, state: State, count: int) -> Words:
    """Return the next `count` raw outputs; the state goes on."""
    out = np.empty(count, np.uint64)
    array = np.array(state, np.uint64)
    _looped(_steps, f"words_{family.name}", "STEP", family.step)(array, out)
    state[:] = array.tolist()
    return out


def fill(family: Family, output: str, state: State, modulus: int, gaps: Ints) -> Words:
    """Return a draw for each gap, after as many calls as it says; the state goes on."""
    out = np.empty(gaps.size, np.uint64)
    array = np.array(state, np.uint64)
    loop = _looped(_draws, f"draws_{family.name}_{output}", "DRAW", family.outputs[output])
    loop(array, np.uint64(modulus), gaps, out)
    state[:] = array.tolist()
    return out


def rows(
    family: Family, output: str, modulus: int, seeds: Words, leads: Ints, skips: Ints, count: int
) -> Draws16:
    """Return `count` draws of each seed, below a modulus of at most 2^16.

    Row r leaves out `leads[r]` calls first and `skips[r]` between two.
    """
    out = np.empty((len(seeds), count), np.uint16)
    states = np.array([family.seeding(int(seed)) for seed in seeds], np.uint64)
    states = states.reshape(len(seeds), family.state_words)
    rows_kernel(family, output)(states, np.uint64(modulus), leads, skips, out)
    return out


def rows_kernel(family: Family, output: str) -> Any:
    """Return the compiled loop that fills rows with a family's draws."""
    return _looped(_rows, f"rows_{family.name}_{output}", "DRAW", family.outputs[output])


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


def _rows(states: Words, modulus: Any, leads: Ints, skips: Ints, out: Draws16) -> None:
    for row in range(out.shape[0]):
        state = states[row]
        for _ in range(leads[row]):
            DRAW(state, modulus)
        for column in range(out.shape[1]):
            out[row, column] = DRAW(state, modulus)
            for _ in range(skips[row]):
                DRAW(state, modulus)
