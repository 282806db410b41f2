"""Kernels that build a grid from a set's objects by overlaying or juxtaposing them."""

from __future__ import annotations

import numpy as np

from weft.searches.arc.codes import setgrids as codes
from weft.searches.arc.kernels.colours import colour_counts, extreme_colour
from weft.searches.arc.kernels.compiled import kernel
from weft.searches.arc.kernels.layout import FAIL, I64, U8, byte, put_grid
from weft.searches.arc.kernels.objectparts import new_counts, new_starts, object_starts
from weft.searches.arc.values import EMPTY, MAX_OBJECTS, MAX_SIDE


@kernel
def overlay(src: U8, at: int, p: int, out: U8, to: int) -> int:
    """Overlay pieces of equal size; black and empty cells count as the same."""
    n = byte(src, at)
    if n < 2 or (p == codes.CODE and n > 3):
        return FAIL
    h, w = byte(src, at + 3), byte(src, at + 4)
    stride = 4 + h * w
    for i in range(1, n):
        if src[at + 3 + i * stride] != h or src[at + 4 + i * stride] != w:
            return FAIL
    cells = put_grid(out, to, h, w)
    for i in range(h * w):
        out[cells + i] = blend(p, src, at + 5 + i, n, stride)
    return cells + h * w


@kernel
def blend(p: int, src: U8, at: int, n: int, stride: int) -> int:
    """Return the colour of one cell; the pieces' colours there are `stride` apart from `at` on."""
    counts = new_counts()
    code, first, last, some = 0, 0, 0, 0
    for j in range(n):
        colour = byte(src, at + j * stride) % EMPTY
        counts[colour] += 1
        if colour > 0:
            last = colour
            first = colour if first == 0 else first
            code += 1 << j
            some += 1
    if p == codes.ALL:
        return first if some == n else 0
    if p == codes.FIRST_SEEN:
        return first
    if p == codes.LAST_SEEN:
        return last
    if p == codes.NO:
        return 1 if some == 0 else 0
    if p == codes.CODE:
        return code
    return extreme_colour(counts, n < 0)


@kernel
def rank_places(src: U8, starts: I64, n: int, axis: int, ranks: I64) -> int:
    """Rank the distinct rows (axis 0) or columns of the objects' corners; return their number."""
    count = 0
    place_rank = np.zeros(256, np.int64)
    for i in range(n):
        place_rank[src[starts[i] + axis]] = 1
    for i in range(256):
        if place_rank[i]:
            place_rank[i] = count
            count += 1
    for i in range(n):
        ranks[axis * MAX_OBJECTS + i] = place_rank[src[starts[i] + axis]]
    return count


@kernel
def cell_colour(src: U8, at: int, q: int) -> int:
    """Return the most common colour of an object; with q = 1 empty cells count as black."""
    counts = colour_counts(src, at + 4, byte(src, at + 2) * byte(src, at + 3))
    if q == 1:
        counts[0] += counts[EMPTY]
    return max(extreme_colour(counts, q < 0), 0)


@kernel
def lay_out(src: U8, at: int, p: int, q: int, out: U8, to: int) -> int:
    """Juxtapose pieces, or one cell for each; see the twin."""
    starts, ranks = new_starts(), np.zeros(2 * MAX_OBJECTS, np.int64)
    n = object_starts(src, at, starts)
    if n == 0:
        return FAIL
    high, wide = 1, 1
    for axis in range(2):
        different = rank_places(src, starts, n, axis, ranks)
        if p != codes.CELL_EACH:
            along = axis == (1 if p in (codes.ROW, codes.ROW_OF_CELLS) else 0)
            different = n if along else 1
            for i in range(n):
                ranks[axis * MAX_OBJECTS + i] = i if along else 0
        high, wide = (different, wide) if axis == 0 else (high, different)
    whole = p in (codes.ROW, codes.COLUMN)
    h = byte(src, starts[0] + 2) if whole else 1
    w = byte(src, starts[0] + 3) if whole else 1
    cells = put_grid(out, to, high * h, wide * w)
    if cells == FAIL:
        return FAIL
    taken = np.zeros(MAX_SIDE * MAX_SIDE, np.uint8)
    for i in range(n):
        row, col = ranks[i], ranks[MAX_OBJECTS + i]
        if taken[row * wide + col]:
            return FAIL
        taken[row * wide + col] = 1
        corner = cells + row * h * wide * w + col * w
        if not whole:
            out[corner] = cell_colour(src, starts[i], q)
            continue
        if src[starts[i] + 2] != h or src[starts[i] + 3] != w:
            return FAIL
        for j in range(h * w):
            out[corner + j // w * wide * w + j % w] = src[starts[i] + 4 + j] % EMPTY
    return cells + high * h * wide * w
