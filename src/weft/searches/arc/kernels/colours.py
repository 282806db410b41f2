"""Colour counts: steps shared by kernels on grids and on objects."""

from __future__ import annotations

import numpy as np

from weft.searches.arc.kernels.compiled import kernel
from weft.searches.arc.kernels.layout import I64, U8
from weft.searches.arc.values import EMPTY


@kernel
def colour_counts(src: U8, first: int, n: int) -> I64:
    """Count the colours, and the empty cells, among the `n` cells from `first` on."""
    counts = np.zeros(EMPTY + 1, np.int64)
    for i in range(n):
        counts[src[first + i]] += 1
    return counts


@kernel
def extreme_colour(counts: I64, rare: bool) -> int:
    """Return the most (or least) common colour that occurs (ties: the lowest); -1 if none does.

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
    """Return the most (or least) common colour that occurs; -1 if it is tied or there is none."""
    best = extreme_colour(counts, rare)
    for colour in range(best + 1, 10):
        if counts[colour] == counts[best]:
            return -1
    return best


@kernel
def most_common(src: U8, at: int, h: int, w: int) -> int:
    """Return the most common colour (ties: the lowest), empty cells excluded."""
    return max(extreme_colour(colour_counts(src, at, h * w), h < 0), 0)
