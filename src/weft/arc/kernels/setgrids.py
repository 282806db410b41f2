"""Kernels that make a grid of a set's objects by laying them on or beside each other."""

from __future__ import annotations

import numpy as np

from weft.arc.kernels.compiled import kernel
from weft.arc.kernels.layout import EMPTY, FAIL, I64, MAX_SIDE, U8, byte, put_grid
from weft.arc.kernels.objectparts import common_colour, new_starts, object_starts

ALL, FIRST_SEEN, LAST_SEEN, ONE, NO, VOTES, CODE, MAJORITY, FIRST_ALONE = 0, 1, 2, 3, 4, 5, 6, 7, 8
ROW, COLUMN, CELL_EACH, ROW_OF_CELLS, COLUMN_OF_CELLS, BAR, CLOSED_UP = 0, 1, 2, 3, 4, 5, 6


@kernel
def overlay(src: U8, at: int, p: int, out: U8, to: int) -> int:
    """Lay equally large pieces on each other; black and empty cells are as nothing."""
    n = byte(src, at)
    if n < 2 or (p == CODE and n > 3):
        return FAIL
    h, w = byte(src, at + 3), byte(src, at + 4)
    stride = 4 + h * w
    for i in range(1, n):
        if src[at + 3 + i * stride] != h or src[at + 4 + i * stride] != w:
            return FAIL
    cells = put_grid(out, to, h, w)
    counts = np.empty(10, np.int64)
    for i in range(h * w):
        counts[:] = 0
        code, first, last = 0, 0, 0
        for j in range(n):
            colour = byte(src, at + 5 + j * stride + i)
            colour = 0 if colour == EMPTY else colour
            counts[colour] += 1
            if colour > 0:
                last = colour
                first = colour if first == 0 else first
                code |= 1 << j
        head = byte(src, at + 5 + i)
        head = 0 if head == EMPTY else head
        out[cells + i] = blend(p, n - counts[0], n, code, head, first, last, counts)
    return cells + h * w


@kernel
def blend(
    p: int, some: int, n: int, code: int, head: int, first: int, last: int, counts: I64
) -> int:
    """The colour of one place, of which `some` of `n` pieces have a cell."""
    if p == ALL:
        return head if some == n else 0
    if p == FIRST_SEEN:
        return first
    if p == LAST_SEEN:
        return last
    if p == ONE:
        return first if some == 1 else 0
    if p == NO:
        return 1 if some == 0 else 0
    if p == VOTES:
        return min(some, 9)
    if p == CODE:
        return code
    if p == FIRST_ALONE:
        return head if some == 1 else 0
    best = 0
    for colour in range(1, 10):
        if counts[colour] > counts[best]:
            best = colour
    return best


@kernel
def rank_places(src: U8, starts: I64, n: int, offset: int, ranks: I64) -> int:
    """Number the different rows (or columns) of the objects' corners; return how many."""
    found = 0
    seen = np.zeros(256, np.int64)
    for i in range(n):
        seen[src[starts[i] + offset]] = 1
    for i in range(256):
        if seen[i]:
            seen[i] = found
            found += 1
    for i in range(n):
        ranks[i] = seen[src[starts[i] + offset]]
    return found


@kernel
def majority(src: U8, at: int) -> int:
    """The colour most cells of a box have; empty ones are black; the lowest of equals."""
    counts = np.zeros(11, np.int64)
    for i in range(byte(src, at + 2) * byte(src, at + 3)):
        counts[src[at + 4 + i]] += 1
    counts[0] += counts[EMPTY]
    best = 0
    for colour in range(1, 10):
        if counts[colour] > counts[best]:
            best = colour
    return best


@kernel
def lay_out(src: U8, at: int, p: int, q: int, out: U8, to: int) -> int:
    """Lay pieces, or one cell for each, beside each other; see the twin."""
    starts, rows, columns = new_starts(), new_starts(), new_starts()
    n = object_starts(src, at, starts)
    if n == 0:
        return FAIL
    if p == BAR:
        return bar(src, starts, n, out, to)
    high = rank_places(src, starts, n, 0, rows)
    wide = rank_places(src, starts, n, 1, columns)
    if p not in (CELL_EACH, CLOSED_UP):
        across = p in (ROW, ROW_OF_CELLS)
        high, wide = (1, n) if across else (n, 1)
        for i in range(n):
            rows[i], columns[i] = (0, i) if across else (i, 0)
    h, w = 1, 1
    whole = p in (ROW, COLUMN, CLOSED_UP)
    if whole:
        h, w = byte(src, starts[0] + 2), byte(src, starts[0] + 3)
    cells = put_grid(out, to, high * h, wide * w)
    if cells == FAIL:
        return FAIL
    taken = np.zeros(MAX_SIDE * MAX_SIDE, np.uint8)
    for i in range(n):
        slot = rows[i] * wide + columns[i]
        if taken[slot]:
            return FAIL
        taken[slot] = 1
        corner = cells + rows[i] * h * wide * w + columns[i] * w
        if not whole:
            out[corner] = majority(src, starts[i]) if q else common_colour(src, starts[i])
            continue
        if src[starts[i] + 2] != h or src[starts[i] + 3] != w:
            return FAIL
        for j in range(h * w):
            colour = src[starts[i] + 4 + j]
            out[corner + j // w * wide * w + j % w] = 0 if colour == EMPTY else colour
    return cells + high * h * wide * w


@kernel
def bar(src: U8, starts: I64, n: int, out: U8, to: int) -> int:
    """A row of as many cells as there are objects, in the colour that most of them have."""
    cells = put_grid(out, to, 1, n)
    if cells == FAIL:
        return FAIL
    counts = np.zeros(10, np.int64)
    best = 0
    for i in range(n):
        counts[common_colour(src, starts[i])] += 1
    for colour in range(1, 10):
        if counts[colour] > counts[best]:
            best = colour
    for i in range(n):
        out[cells + i] = best
    return cells + n
