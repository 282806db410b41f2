"""Colours and distances around a cell, for all cells of a grid at once: one row per feature.

The compiled twin of `lists.neighbours`, which defines each row. Cells are signed integers, row by
row; `out[at]` is the first row that a function fills.
"""

from __future__ import annotations

import numpy as np

from weft.searches.arc.kernels.compiled import kernel
from weft.searches.arc.kernels.layout import I64, U8

NONE, MOST = 10, 60
DOWN = (-1, 1, 0, 0, -1, -1, 1, 1)
RIGHT = (0, 0, -1, 1, -1, 1, -1, 1)
"""Steps to the neighbours: four by sides, then four by corners."""
NEAR, SEEN, BETWEEN, NEIGHBOURS = 1, 9, 17, 21
"""First rows of the neighbours, the colours seen, the colours on both sides; number of rows."""


@kernel
def commonest(counts: I64, first: int) -> int:
    """Return the most frequent colour from `first` on (ties: the lowest); NONE if all are 0."""
    best, most = NONE, 0
    for colour in range(first, 10):
        if counts[colour] > most:
            best, most = colour, counts[colour]
    return best


@kernel
def rarest(counts: I64) -> int:
    """Return the least frequent colour that occurs (ties: the lowest); 0 if all counts are 0."""
    best = 0
    for colour in range(10):
        if counts[colour] > 0 and (counts[best] == 0 or counts[colour] < counts[best]):
            best = colour
    return best


@kernel
def fill_neighbours(cells: I64, h: int, w: int, out: U8, at: int) -> None:
    """Write the cell, its neighbours, the colours seen in eight directions and on both sides."""
    for i in range(h * w):
        out[at, i] = cells[i]
    for d in range(8):
        down, right = DOWN[d], RIGHT[d]
        for k in range(h * w):  # from the side that is seen, so that neighbours are known
            i = h * w - 1 - k if down + down + right > 0 else k
            r, c = i // w + down, i % w + right
            near = cells[r * w + c] if 0 <= r < h and 0 <= c < w else NONE
            out[at + NEAR + d, i] = near
            out[at + SEEN + d, i] = out[at + SEEN + d, r * w + c] if near == cells[i] else near
    for i in range(h * w):
        for k in range(4):
            side, other = (2, 0, 4, 5)[k], (3, 1, 7, 6)[k]
            same = out[at + SEEN + side, i] == out[at + SEEN + other, i]
            out[at + BETWEEN + k, i] = out[at + SEEN + side, i] if same else NONE


@kernel
def tally(cells: I64, h: int, w: int, rows: I64, columns: I64, counts: I64) -> None:
    """Count each colour in each row, in each column, and in the grid."""
    for i in range(h * w):
        rows[i // w, cells[i]] += 1
        columns[i % w, cells[i]] += 1
        counts[cells[i]] += 1


@kernel
def image(cells: I64, h: int, w: int, out: U8, at: int) -> None:
    """Write the cell at the same position in four images of the grid, and the ends of its lines."""
    for i in range(h * w):
        r, c = i // w, i % w
        out[at, i] = cells[r * w + w - 1 - c]
        out[at + 1, i] = cells[(h - 1 - r) * w + c]
        out[at + 2, i] = cells[h * w - 1 - i]
        out[at + 3, i] = cells[c * w + r] if h == w else NONE
        out[at + 4, i] = cells[r * w]
        out[at + 5, i] = cells[r * w + w - 1]
        out[at + 6, i] = cells[c]
        out[at + 7, i] = cells[(h - 1) * w + c]


@kernel
def place(h: int, w: int, out: U8, at: int) -> None:
    """Write the cell's position in the grid."""
    for i in range(h * w):
        r, c = i // w, i % w
        up, back = h - 1 - r, w - 1 - c
        numbers = (
            r, c, up, back, min(r, c, up, back), r % 2, c % 2, (r + c) % 2, r % 3,
            c % 3, (r + c) % 3, (r - c) % 3, abs(r - c), abs(r - back),
        )  # fmt: skip
        for k in range(14):
            out[at + k, i] = numbers[k]


@kernel
def count(
    cells: I64, h: int, w: int, rows: I64, columns: I64, counts: I64, neighbours: int, out: U8,
    at: int,
) -> None:  # fmt: skip
    """Write counts of non-black and like-coloured cells around and in line, and of colours."""
    higher, lower, colours = np.zeros(10, np.int64), np.zeros(10, np.int64), 0
    for colour in range(10):
        colours += counts[colour] > 0
        for other in range(10):
            higher[colour] += counts[other] > counts[colour]
            lower[colour] += 0 < counts[other] < counts[colour]
    for i in range(h * w):
        own, row, column = cells[i], rows[i // w], columns[i % w]
        for k in range(4):
            out[at + k, i] = 0
        for d in range(8):
            near = out[neighbours + NEAR + d, i]
            inked, like = near not in (0, NONE), near == own
            out[at, i] += inked
            out[at + 1, i] += inked and d < 4
            out[at + 2, i] += like
            out[at + 3, i] += like and d < 4
        numbers = (
            w - row[0], h - column[0], np.int64(row[own] == w), np.int64(column[own] == h),
            row[own], column[own], higher[own], lower[own], colours,
        )  # fmt: skip
        for k in range(9):
            out[at + 4 + k, i] = numbers[k]


@kernel
def equal_lines(
    cells: I64, n: int, m: int, step: int, across: int, out: U8, repeated_at: int, ends_at: int
) -> None:
    """Write whether another line, the first, or the last equals the cell's.

    There are `n` lines of `m` cells; `step` leads to the next line, `across` to the next cell.
    """
    for i in range(n):
        equals, first, last = 0, False, False
        for j in range(n):
            k = 0
            while k < m and cells[i * step + k * across] == cells[j * step + k * across]:
                k += 1
            is_equal = k == m
            equals += is_equal
            first = first or (is_equal and j == 0)
            last = last or (is_equal and j == n - 1)
        for k in range(m):
            place = i * step + k * across
            out[repeated_at, place] = equals > 1
            out[ends_at, place], out[ends_at + 1, place] = first, last


@kernel
def gap(cells: I64, h: int, w: int, out: U8, at: int) -> None:
    """Write the distance to the first other colour above, below, to the left and to the right."""
    for d in range(4):
        down, right = DOWN[d], RIGHT[d]
        for k in range(h * w):
            i = h * w - 1 - k if down + right > 0 else k
            r, c = i // w + down, i % w + right
            steps = 0
            if 0 <= r < h and 0 <= c < w:
                farther = out[at + d, r * w + c]
                steps = 1
                if cells[r * w + c] == cells[i]:
                    steps = farther + 1 if farther > 0 else 0
            out[at + d, i] = steps


@kernel
def spread(cells: I64, h: int, w: int, ways: int, out: U8, at: int, nearest: int) -> None:
    """Write the steps to the nearest non-black cell, by sides (4 ways) or also by corners (8).

    With 4 ways, row `nearest` gets the colour of that cell, for black cells (ties: the lowest).
    """
    waiting, end = np.empty(h * w, np.int64), 0
    for i in range(h * w):
        out[at, i] = MOST
        if cells[i]:
            out[at, i] = 0
            waiting[end] = i
            end += 1
        if ways == 4:
            out[nearest, i] = cells[i] if cells[i] else NONE
    n = 0
    while n < end:
        i = waiting[n]
        for d in range(ways):
            r, c = i // w + DOWN[d], i % w + RIGHT[d]
            if 0 <= r < h and 0 <= c < w:
                there = r * w + c
                if out[at, there] == MOST:
                    out[at, there] = out[at, i] + 1
                    waiting[end] = there
                    end += 1
                if ways == 4 and out[at, there] == out[at, i] + 1:
                    out[nearest, there] = min(out[nearest, there], out[nearest, i])
        n += 1
    for i in range(h * w):
        if ways == 4 and cells[i]:
            out[nearest, i] = NONE


@kernel
def meet_rarest(cells: I64, h: int, w: int, colour: int, out: U8, at: int) -> None:
    """Write whether the cell's row, column or a diagonal has the rarest colour."""
    rows, columns = np.zeros(h, np.uint8), np.zeros(w, np.uint8)
    rising, falling = np.zeros(h + w, np.uint8), np.zeros(h + w, np.uint8)
    for i in range(h * w):
        if cells[i] == colour:
            r, c = i // w, i % w
            rows[r] = columns[c] = rising[r + c] = falling[r - c + w] = 1
    for i in range(h * w):
        r, c = i // w, i % w
        out[at, i] = rows[r]
        out[at + 1, i] = columns[c]
        out[at + 2, i] = rising[r + c] | falling[r - c + w]
