"""The features of a grid's cells in one compiled call, in the order of `lists.words.NAMES`.

The slow twin is `lists.features.plain_features_of`.
"""

from __future__ import annotations

import numpy as np

from weft.searches.arc.kernels import cellareas as areas
from weft.searches.arc.kernels import cellneighbours as near
from weft.searches.arc.kernels.cellblocks import CELLS, NUMBERS, fill_blocks
from weft.searches.arc.kernels.compiled import entry, kernel
from weft.searches.arc.kernels.layout import I64, U8

# first rows of colours
IMAGES = near.NEIGHBOURS
LINE_INKS = IMAGES + 8
TOUCHING = LINE_INKS + 2
BLOB_COLOURS = TOUCHING + 1
NEAREST = BLOB_COLOURS + 2
BOX_IMAGES = NEAREST + 1
BOX_COLOURS = BOX_IMAGES + 4
GRID_COLOURS = BOX_COLOURS + 2
BLOCK_NEIGHBOURS = GRID_COLOURS + 3
# first rows of numbers
AREA = BLOCK_NEIGHBOURS + near.NEIGHBOURS + CELLS
BLOB = AREA + 15
PLACE = BLOB + 5
COUNTED = PLACE + 14
BOX = COUNTED + 13
BOX_BLOB = BOX + 6
GAPS = BOX_BLOB + 5
DISTANCE = GAPS + 4
RAREST = DISTANCE + 3
EQUAL = RAREST + 3
HAS = EQUAL + 6
BLOCK = HAS + 45
FEATURES = BLOCK + NUMBERS


@kernel
def fill_lines(h: int, w: int, rows: I64, columns: I64, counts: I64, out: U8) -> None:
    """Write the colours of lines and grid, and whether row, column and grid have each colour."""
    in_row, in_column = np.empty(h, np.int64), np.empty(w, np.int64)
    for r in range(h):
        in_row[r] = near.commonest(rows[r], 1)
    for c in range(w):
        in_column[c] = near.commonest(columns[c], 1)
    main, ink, rare = near.commonest(counts, 0), near.commonest(counts, 1), near.rarest(counts)
    for i in range(h * w):
        out[LINE_INKS, i], out[LINE_INKS + 1, i] = in_row[i // w], in_column[i % w]
        out[GRID_COLOURS, i], out[GRID_COLOURS + 1, i] = main, ink
        out[GRID_COLOURS + 2, i] = rare
        for k in range(9):
            out[HAS + k, i] = rows[i // w, k + 1] > 0
            out[HAS + 9 + k, i] = columns[i % w, k + 1] > 0
            out[HAS + 36 + k, i] = counts[k + 1] > 0


@kernel
def fill_parts(cells: I64, h: int, w: int, out: U8) -> None:
    """Write all features of areas, blobs and boxes."""
    part = np.empty(h * w, np.int64)
    plain = areas.label_parts(cells, h, w, len(cells) < 0, part)
    touched = areas.touch(cells, h, w, part, len(plain))
    areas.fill_area(h, w, part, plain, out, AREA)
    for i in range(h * w):
        out[TOUCHING, i] = near.commonest(touched[part[i]], 0)
        for k in range(9):
            out[HAS + 18 + k, i] = touched[part[i], k + 1] > 0
    blobs = areas.label_parts(cells, h, w, len(cells) > 0, part)
    areas.fill_colours(part, blobs, out, BLOB_COLOURS)
    areas.fill_blob(part, blobs, out, BLOB)
    for i in range(h * w):
        for k in range(9):
            out[HAS + 27 + k, i] = part[i] >= 0 and blobs[part[i], areas.COLOURS + k + 1] > 0
    areas.find_boxes(h, w, blobs, part)
    areas.fill_box(cells, h, w, part, blobs, out, BOX_IMAGES, BOX)
    areas.fill_colours(part, blobs, out, BOX_COLOURS)
    areas.fill_blob(part, blobs, out, BOX_BLOB)


@entry
def fill_features(grid: U8, h: int, w: int, out: U8) -> None:
    """Fill `out`, one row of cells per feature."""
    cells = grid.astype(np.int64)
    rows, columns = np.zeros((h, 10), np.int64), np.zeros((w, 10), np.int64)
    counts = np.zeros(10, np.int64)
    near.tally(cells, h, w, rows, columns, counts)
    near.fill_neighbours(cells, h, w, out, 0)
    near.image(cells, h, w, out, IMAGES)
    near.place(h, w, out, PLACE)
    near.count(cells, h, w, rows, columns, counts, 0, out, COUNTED)
    near.gap(cells, h, w, out, GAPS)
    for far in range(2):  # not two calls: numba compiles a copy for each literal
        near.spread(cells, h, w, 4 + 4 * far, out, DISTANCE + far, NEAREST)
    for i in range(h * w):
        out[DISTANCE + 2, i] = out[DISTANCE + 1, i] % 2
    near.meet_rarest(cells, h, w, near.rarest(counts), out, RAREST)
    for axis in range(2):
        n, m, step, across = (h, w, w, 1) if axis == 0 else (w, h, 1, w)
        near.equal_lines(cells, n, m, step, across, out, EQUAL + axis, EQUAL + 2 + 2 * axis)
    fill_lines(h, w, rows, columns, counts, out)
    fill_parts(cells, h, w, out)
    fill_blocks(cells, h, w, rows, columns, out, BLOCK_NEIGHBOURS, BLOCK)
