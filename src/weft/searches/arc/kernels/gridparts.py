"""Small steps that several kernels on grids share: which colours a grid has, and how many."""

from __future__ import annotations

import numpy as np

from weft.searches.arc.kernels.compiled import kernel
from weft.searches.arc.kernels.layout import I64, U8


@kernel
def colour_counts(src: U8, first: int, n: int) -> I64:
    """How many of the `n` cells from `first` on have each colour."""
    counts = np.zeros(10, np.int64)
    for i in range(n):
        counts[src[first + i]] += 1
    return counts


@kernel
def extreme_colour(counts: I64, rare: bool) -> int:
    """The most (or least) common colour that occurs, the lowest of equals; -1 if none does.

    Pass `rare` as an expression: numba compiles another copy for a literal.
    """
    best = -1
    for colour in range(10):
        n = counts[colour]
        if n > 0 and (best < 0 or (n < counts[best] if rare else n > counts[best])):
            best = colour
    return best
