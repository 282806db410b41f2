"""Which colours cells have, and how many: steps that kernels on grids and objects share."""

from __future__ import annotations

import numpy as np

from weft.searches.arc.kernels.compiled import kernel
from weft.searches.arc.kernels.layout import I64, U8
from weft.searches.arc.values import EMPTY


@kernel
def colour_counts(src: U8, first: int, n: int) -> I64:
    """How many of the `n` cells from `first` on have each colour, and how many are empty."""
    counts = np.zeros(EMPTY + 1, np.int64)
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


@kernel
def only_extreme(counts: I64, rare: bool) -> int:
    """The most (or least) common colour that occurs; -1 if there are several or none."""
    best = extreme_colour(counts, rare)
    for colour in range(best + 1, 10):
        if counts[colour] == counts[best]:
            return -1
    return best


@kernel
def most_common(src: U8, at: int, h: int, w: int) -> int:
    """The colour most cells have; the lowest of equals. Empty cells do not count."""
    return max(extreme_colour(colour_counts(src, at, h * w), h < 0), 0)
