"""Features of a cell's area, its blob and its bounding box, for all cells of a grid: one row each.

The compiled twin of `lists.areas`, which defines each row. A part is a row of numbers: its size,
its box, its rank, and its number of cells of each colour.
"""

from __future__ import annotations

import numpy as np

from weft.searches.arc.kernels.cellneighbours import DOWN, MOST, NONE, RIGHT, commonest, rarest
from weft.searches.arc.kernels.compiled import kernel
from weft.searches.arc.kernels.layout import I64, U8
from weft.searches.arc.kernels.objectparts import spread

SIZE, TOP, LEFT, BOTTOM, END, RANK, COLOURS = range(7)
FIELDS = COLOURS + 10


@kernel
def label_parts(cells: I64, h: int, w: int, blobs: bool, part: I64) -> I64:
    """Label connected components in scan order (-1: cells in none); return a row for each.

    If `blobs` is set they are 8-connected non-black cells, else 4-connected areas of one colour.
    """
    code, queue, n = np.empty(h * w, np.int64), np.empty(h * w, np.int64), 0
    part[:] = -1
    for i in range(h * w):
        code[i] = cells[i] if not blobs else (1 if cells[i] else -1)
    for start in range(h * w):
        if code[start] >= 0:
            for k in range(spread(code, h, w, start, int(blobs), queue)):
                part[queue[k]] = n
            n += 1
    parts = np.zeros((n, FIELDS), np.int64)
    for k in range(n):
        parts[k, TOP], parts[k, LEFT] = h, w
    for i in range(h * w):
        if part[i] >= 0:
            row, r, c = parts[part[i]], i // w, i % w
            row[SIZE] += 1
            row[TOP], row[LEFT] = min(row[TOP], r), min(row[LEFT], c)
            row[BOTTOM], row[END] = max(row[BOTTOM], r), max(row[END], c)
            row[COLOURS + cells[i]] += 1
    rank(parts)
    return parts


@kernel
def rank(parts: I64) -> None:
    """Rank the parts without black: 1 for the largest, plus 2 for the smallest, 0 for others."""
    most, least = 0, 1 << 30
    for k in range(len(parts)):
        if parts[k, COLOURS] == 0:
            most, least = max(most, parts[k, SIZE]), min(least, parts[k, SIZE])
    for k in range(len(parts)):
        if parts[k, COLOURS] == 0:
            parts[k, RANK] = (parts[k, SIZE] == most) + 2 * (parts[k, SIZE] == least)


@kernel
def touch(cells: I64, h: int, w: int, part: I64, parts: int) -> I64:
    """Count how often each colour touches each area."""
    touched = np.zeros((parts, 10), np.int64)
    for i in range(h * w):
        for d in range(4):
            r, c = i // w + DOWN[d], i % w + RIGHT[d]
            if 0 <= r < h and 0 <= c < w and cells[r * w + c] != cells[i]:
                touched[part[i], cells[r * w + c]] += 1
    return touched


@kernel
def fill_area(h: int, w: int, part: I64, parts: I64, out: U8, at: int) -> None:
    """Write the size and shape of each cell's area, and the cell's position in it."""
    for i in range(h * w):
        row, r, c = parts[part[i]], i // w, i % w
        high, wide = row[BOTTOM] - row[TOP] + 1, row[END] - row[LEFT] + 1
        edge = min(row[TOP], row[LEFT]) == 0 or row[BOTTOM] == h - 1 or row[END] == w - 1
        down, right, up, back = r - row[TOP], c - row[LEFT], row[BOTTOM] - r, row[END] - c
        numbers = (
            min(row[SIZE], MOST), high, wide, np.int64(edge), np.int64(row[SIZE] == high * wide),
            np.int64(high == wide), row[RANK], down, right, up, back,
            min(down, right, up, back), down % 2, abs(down - up), abs(right - back),
        )  # fmt: skip
        for k in range(15):
            out[at + k, i] = numbers[k]


@kernel
def fill_colours(part: I64, parts: I64, out: U8, at: int) -> None:
    """Write the most common and the rarest colour of each cell's part."""
    for i in range(len(part)):
        out[at, i] = out[at + 1, i] = NONE
        if part[i] >= 0:
            out[at, i] = commonest(parts[part[i], COLOURS:], 0)
            out[at + 1, i] = rarest(parts[part[i], COLOURS:])


@kernel
def fill_blob(part: I64, parts: I64, out: U8, at: int) -> None:
    """Write the size and shape of each cell's part; 0 for cells in none."""
    for i in range(len(part)):
        for k in range(5):
            out[at + k, i] = 0
        if part[i] >= 0:
            row = parts[part[i]]
            out[at, i] = min(row[SIZE], MOST)
            out[at + 1, i] = row[BOTTOM] - row[TOP] + 1
            out[at + 2, i] = row[END] - row[LEFT] + 1
            for colour in range(10):
                out[at + 3, i] += row[COLOURS + colour] > 0
            out[at + 4, i] = row[RANK]


@kernel
def find_boxes(h: int, w: int, blobs: I64, box: I64) -> None:
    """Write the blob with the smallest box around each cell (ties: the first), or -1."""
    room = np.full(h * w, 1 << 30, np.int64)
    box[:] = -1
    for k in range(len(blobs)):
        blob = blobs[k]
        own = (blob[BOTTOM] - blob[TOP] + 1) * (blob[END] - blob[LEFT] + 1)
        for r in range(blob[TOP], blob[BOTTOM] + 1):
            for i in range(r * w + blob[LEFT], r * w + blob[END] + 1):
                if own < room[i]:
                    room[i], box[i] = own, k


@kernel
def fill_box(
    cells: I64, h: int, w: int, box: I64, blobs: I64, out: U8, images: int, at: int
) -> None:
    """Write the mirrored cells of each cell's box, whether it has a box, and its position there."""
    for i in range(h * w):
        for k in range(4):
            out[images + k, i] = NONE
        for k in range(6):
            out[at + k, i] = 0
        if box[i] < 0:
            continue
        blob, r, c = blobs[box[i]], i // w, i % w
        down, along, up, back = r - blob[TOP], c - blob[LEFT], blob[BOTTOM] - r, blob[END] - c
        out[images, i] = cells[r * w + blob[LEFT] + back]
        out[images + 1, i] = cells[(blob[TOP] + up) * w + c]
        out[images + 2, i] = cells[(blob[TOP] + up) * w + blob[LEFT] + back]
        if down + up == along + back:
            out[images + 3, i] = cells[(blob[TOP] + along) * w + blob[LEFT] + down]
        numbers = (1, down, along, up, back, min(down, along, up, back))
        for k in range(6):
            out[at + k, i] = numbers[k]
