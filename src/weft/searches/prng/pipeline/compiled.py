"""Where the pipeline's compiled kernels are kept, and how a family's output map becomes one."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np

from weft.compiled import Kernels
from weft.errors import BugError
from weft.searches.prng.arrays import Draws16, Ints, Words
from weft.searches.prng.families import family_named
from weft.searches.prng.generate import draw_of
from weft.searches.prng.kernels.compiled import step_kernel

_HERE = Path(__file__).parent
KERNELS = Kernels("prng-pipeline", _HERE, _HERE.parent / "families", _HERE.parent / "kernels")


def _no_draw(state: Words, modulus: np.uint64) -> int:
    raise BugError(f"a loop that is not compiled, modulus {modulus}, {len(state)} words of state")


DRAW = _no_draw
"""A family's output map, in the copies of the loop."""


def outputs(
    family: str, output: str, modulus: int, seeds: Words, leads: Ints, skips: Ints, count: int
) -> Draws16:
    """Return `count` outputs of each seed below `modulus`, as rows of uint16.

    Row r leaves out `leads[r]` outputs first and `skips[r]` between two.
    """
    known = family_named(family)
    rows = np.empty((len(seeds), count), np.uint16)
    states = np.array([known.seeding(int(seed)) for seed in seeds], np.uint64)
    states = states.reshape(len(seeds), known.state_words)
    fill_kernel(family, output)(states, np.uint64(modulus), leads, skips, rows)
    return rows


@lru_cache(maxsize=64)
def fill_kernel(family: str, output: str) -> Callable[..., None]:
    """Return the compiled loop that fills rows with a family's outputs."""
    draw = step_kernel(draw_of(family_named(family), output))
    fill: Callable[..., None] = KERNELS.around(_fill, f"fill_{family}_{output}", DRAW=draw)
    return fill


def _fill(states: Words, modulus: np.uint64, leads: Ints, skips: Ints, rows: Draws16) -> None:
    for row in range(rows.shape[0]):
        state = states[row]
        for _ in range(leads[row]):
            DRAW(state, modulus)
        for column in range(rows.shape[1]):
            rows[row, column] = DRAW(state, modulus)
            for _ in range(skips[row]):
                DRAW(state, modulus)
