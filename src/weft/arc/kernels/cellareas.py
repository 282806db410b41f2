"""What a cell tells by its area, its blob and its box, for all cells of a grid: one row each.

The compiled twin of `lists.areas`, whose words say what each row is. A part is a row of numbers:
its size, its box, its rank, and how many cells of each colour it has.
"""

from __future__ import annotations

import numpy as np

from weft.arc.kernels.celllooks import DOWN, MOST, NONE, RIGHT, commonest, rarest
from weft.arc.kernels.compiled import kernel
from weft.arc.kernels.layout import I64, U8

SIZE, TOP, LEFT, BOTTOM, END, RANK, COLOURS = range(7)
FIELDS = COLOURS + 10


@kernel
def cut(cells: I64, h: int, w: int, blobs: bool, part: I64) -> I64:
    """Number the parts in scan order, -1 for cells in none; return a row for each part.

    Blobs are cells that are not black, by corners too; else areas are of one colour, by sides.
    """
    waiting, n = np.empty(h * w, np.int64), 0
    part[:] = -1
    for start in range(h * w):
        if part[start] >= 0 or (blobs and cells[start] == 0):
            continue
        part[start], waiting[0], left = n, start, 1
        while left > 0:
            left -= 1
            i = waiting[left]
            for d in range(8 if blobs else 4):
                r, c = i // w + DOWN[d], i % w + RIGHT[d]
                if 0 <= r < h and 0 <= c < w and part[r * w + c] < 0:
                    there = cells[r * w + c]
                    if there == cells[start] or (blobs and there != 0):
                        part[r * w + c] = n
                        waiting[left] = r * w + c
                        left += 1
        n += 1
    parts = np.zeros((n, FIELDS), np.int64)
    for k in range(n):
        parts[k, TOP], parts[k, LEFT] = h, w
    for i in range(h * w):
        if part[i] >= 0:
            one, r, c = parts[part[i]], i // w, i % w
            one[SIZE] += 1
            one[TOP], one[LEFT] = min(one[TOP], r), min(one[LEFT], c)
            one[BOTTOM], one[END] = max(one[BOTTOM], r), max(one[END], c)
            one[COLOURS + cells[i]] += 1
    rank(parts)
    return parts


@kernel
def rank(parts: I64) -> None:
    """1 for the largest of those without black, plus 2 for the smallest; 0 for others."""
    most, least = 0, 1 << 30
    for k in range(len(parts)):
        if parts[k, COLOURS] == 0:
            most, least = max(most, parts[k, SIZE]), min(least, parts[k, SIZE])
    for k in range(len(parts)):
        if parts[k, COLOURS] == 0:
            parts[k, RANK] = (parts[k, SIZE] == most) + 2 * (parts[k, SIZE] == least)


@kernel
def touch(cells: I64, h: int, w: int, part: I64, parts: int) -> I64:
    """How often each colour touches each area."""
    touched = np.zeros((parts, 10), np.int64)
    for i in range(h * w):
        for d in range(4):
            r, c = i // w + DOWN[d], i % w + RIGHT[d]
            if 0 <= r < h and 0 <= c < w and cells[r * w + c] != cells[i]:
                touched[part[i], cells[r * w + c]] += 1
    return touched


@kernel
def tell_area(h: int, w: int, part: I64, parts: I64, out: U8, at: int) -> None:
    """Size and shape of each cell's area, and where in it the cell is."""
    for i in range(h * w):
        one, r, c = parts[part[i]], i // w, i % w
        high, wide = one[BOTTOM] - one[TOP] + 1, one[END] - one[LEFT] + 1
        edge = min(one[TOP], one[LEFT]) == 0 or one[BOTTOM] == h - 1 or one[END] == w - 1
        down, right, up, back = r - one[TOP], c - one[LEFT], one[BOTTOM] - r, one[END] - c
        numbers = (
            min(one[SIZE], MOST), high, wide, np.int64(edge), np.int64(one[SIZE] == high * wide),
            np.int64(high == wide), one[RANK], down, right, up, back,
            min(down, right, up, back), down % 2, abs(down - up), abs(right - back),
        )  # fmt: skip
        for k in range(15):
            out[at + k, i] = numbers[k]


@kernel
def tell_colours(part: I64, parts: I64, out: U8, at: int) -> None:
    """The commonest and the rarest colour of each cell's part."""
    for i in range(len(part)):
        out[at, i] = out[at + 1, i] = NONE
        if part[i] >= 0:
            out[at, i] = commonest(parts[part[i], COLOURS:], 0)
            out[at + 1, i] = rarest(parts[part[i], COLOURS:])


@kernel
def tell_blob(part: I64, parts: I64, out: U8, at: int) -> None:
    """Size and shape of each cell's part; 0 for cells in none."""
    for i in range(len(part)):
        for k in range(5):
            out[at + k, i] = 0
        if part[i] >= 0:
            one = parts[part[i]]
            out[at, i] = min(one[SIZE], MOST)
            out[at + 1, i] = one[BOTTOM] - one[TOP] + 1
            out[at + 2, i] = one[END] - one[LEFT] + 1
            for colour in range(10):
                out[at + 3, i] += one[COLOURS + colour] > 0
            out[at + 4, i] = one[RANK]


@kernel
def find_boxes(h: int, w: int, blobs: I64, box: I64) -> None:
    """The blob with the smallest box around each cell, the first of equals; -1 for none."""
    room = np.full(h * w, 1 << 30, np.int64)
    box[:] = -1
    for k in range(len(blobs)):
        one = blobs[k]
        own = (one[BOTTOM] - one[TOP] + 1) * (one[END] - one[LEFT] + 1)
        for r in range(one[TOP], one[BOTTOM] + 1):
            for i in range(r * w + one[LEFT], r * w + one[END] + 1):
                if own < room[i]:
                    room[i], box[i] = own, k


@kernel
def tell_box(
    cells: I64, h: int, w: int, box: I64, blobs: I64, out: U8, images: int, at: int
) -> None:
    """Of the box around each cell: mirrored cells, whether there is one, and the place in it."""
    for i in range(h * w):
        for k in range(4):
            out[images + k, i] = NONE
        for k in range(6):
            out[at + k, i] = 0
        if box[i] < 0:
            continue
        one, r, c = blobs[box[i]], i // w, i % w
        down, along, up, back = r - one[TOP], c - one[LEFT], one[BOTTOM] - r, one[END] - c
        out[images, i] = cells[r * w + one[LEFT] + back]
        out[images + 1, i] = cells[(one[TOP] + up) * w + c]
        out[images + 2, i] = cells[(one[TOP] + up) * w + one[LEFT] + back]
        if down + up == along + back:
            out[images + 3, i] = cells[(one[TOP] + along) * w + one[LEFT] + down]
        numbers = (1, down, along, up, back, min(down, along, up, back))
        for k in range(6):
            out[at + k, i] = numbers[k]
