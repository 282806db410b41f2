"""Features of a cell's block between lines, for all cells of a grid: one row per feature.

The compiled twin of `lists.lattice`, which defines each row.
"""

from __future__ import annotations

import numpy as np

from weft.searches.arc.kernels.cellneighbours import (
    MOST,
    NEIGHBOURS,
    NONE,
    commonest,
    fill_neighbours,
)
from weft.searches.arc.kernels.compiled import kernel
from weft.searches.arc.kernels.layout import I64, U8

CELLS = 2
"""Number of features that read cells of other blocks."""
NUMBERS = 9


@kernel
def line_colour(h: int, w: int, rows: I64, columns: I64) -> int:
    """Return the non-black colour that fills the most rows and columns; NONE if there is none."""
    lines = np.zeros(10, np.int64)
    for colour in range(1, 10):
        for r in range(h):
            lines[colour] += rows[r, colour] == w
        for c in range(w):
            lines[colour] += columns[c, colour] == h
    return commonest(lines, 1)


@kernel
def number_blocks(tallies: I64, colour: int, full: int, block: I64, place: I64) -> int:
    """Number the blocks along an axis (-1 on lines) and the places in each; return their number."""
    n = 0
    for k in range(len(block)):
        is_line = tallies[k, colour] == full
        starts = k == 0 or block[k - 1] < 0
        block[k] = -1 if is_line else (n if starts else block[k - 1])
        n += starts and not is_line
        place[k] = 0 if starts else place[k - 1] + 1
    return n


@kernel
def fill_blocks(
    cells: I64, h: int, w: int, rows: I64, columns: I64, out: U8, neighbours: int, at: int
) -> None:
    """Write the coarse grid's colours at each cell's block, and the cell's features within it."""
    for i in range(h * w):
        for k in range(NEIGHBOURS + CELLS):
            out[neighbours + k, i] = NONE
        for k in range(NUMBERS):
            out[at + k, i] = 0
    colour = line_colour(h, w, rows, columns)
    if colour == NONE:
        return
    row, y, column, x = (
        np.empty(h, np.int64), np.empty(h, np.int64), np.empty(w, np.int64), np.empty(w, np.int64),
    )  # fmt: skip
    high = number_blocks(rows, colour, w, row, y)
    wide = number_blocks(columns, colour, h, column, x)
    if high * wide < 2:
        return
    counts = np.zeros((high * wide, 10), np.int64)
    for i in range(h * w):
        if row[i // w] >= 0 and column[i % w] >= 0 and cells[i] > 0:
            counts[row[i // w] * wide + column[i % w], cells[i]] += 1
    coarse, ink = np.empty(high * wide, np.int64), np.zeros(high * wide, np.int64)
    for b in range(high * wide):
        main = commonest(counts[b], 1)
        coarse[b] = 0 if main == NONE else main
        for ink_colour in range(1, 10):
            ink[b] += counts[b, ink_colour]
    coarse_rows = np.empty((NEIGHBOURS, high * wide), np.uint8)
    fill_neighbours(coarse, high, wide, coarse_rows, 0)
    starts, lefts = first_of(row, high), first_of(column, wide)
    pattern = fullest(cells, h, w, row, column, wide, ink, y, x)
    most = least = ink[0]
    for b in range(high * wide):
        most, least = max(most, ink[b]), min(least, ink[b])
    for i in range(h * w):
        r, c = i // w, i % w
        out[at + NUMBERS - 2, i] = out[at + NUMBERS - 1, i] = 1  # on lines
        if row[r] >= 0 and column[c] >= 0:
            b = row[r] * wide + column[c]
            for k in range(NEIGHBOURS):
                out[neighbours + k, i] = coarse_rows[k, b]
            out[neighbours + NEIGHBOURS, i] = pattern[y[r] * w + x[c]]
            votes, follows, first, last = 0, NONE, 0, 0
            for other in range(high * wide):
                up, left = starts[other // wide], lefts[other % wide]
                rr, cc = up + y[r], left + x[c]
                if rr < h and cc < w and row[rr] == other // wide and column[cc] == other % wide:
                    is_like = cells[rr * w + cc] == cells[i]
                    votes += is_like
                    first += is_like and other == 0
                    last += is_like and other == high * wide - 1
                    if other == (b + 1) % (high * wide):
                        follows = cells[rr * w + cc]
            out[neighbours + NEIGHBOURS + 1, i] = follows
            extremes = np.int64(ink[b] == most) + 2 * np.int64(ink[b] == least)
            numbers = (
                row[r], column[c], y[r], x[c], min(ink[b], MOST), extremes, votes, first, last,
            )  # fmt: skip
            for k in range(NUMBERS):
                out[at + k, i] = numbers[k]


@kernel
def first_of(block: I64, blocks: int) -> I64:
    """Return the row or column in which each block begins."""
    starts = np.zeros(blocks, np.int64)
    for k in range(len(block)):
        j = len(block) - 1 - k
        if block[j] >= 0:
            starts[block[j]] = j
    return starts


@kernel
def fullest(
    cells: I64, h: int, w: int, row: I64, column: I64, wide: int, ink: I64, y: I64, x: I64
) -> I64:
    """Return the block with the most non-black cells (ties: the first); NONE around it."""
    pattern, best = np.full(h * w, NONE, np.int64), 0
    for b in range(len(ink)):
        if ink[b] > ink[best]:
            best = b
    for i in range(h * w):
        r, c = i // w, i % w
        if row[r] >= 0 and column[c] >= 0 and row[r] * wide + column[c] == best:
            pattern[y[r] * w + x[c]] = cells[i]
    return pattern
