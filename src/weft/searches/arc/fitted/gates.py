"""Which rules a vector does not contradict: one compiled call per vector.

Each check stops at the first contradiction, so that a vector that fits nothing costs little. The
surviving rules are fitted in plain Python, where `apply` has the last word. A bit may be set for
a rule that then fails; it is never clear for one that fits.
"""

from __future__ import annotations

import numpy as np

from weft.searches.arc.fitted.kernels import (
    NONE,
    maps_cells,
    maps_colours,
    sizes_equal,
    squares_agree,
    vectors_equal,
)
from weft.searches.arc.kernels.compiled import entry, kernel
from weft.searches.arc.kernels.completion import lay_tile
from weft.searches.arc.kernels.layout import FAIL, I64, U8, byte

COLOUR_MAP, CELL_TABLE, NEIGHBOURS, TILE_LAYOUT, BLOCK_REDUCE, SCALE = 0, 1, 2, 3, 4, 5
WINDOW, BORDER, STAMP, EXTEND_PERIOD, TABLE_OF_PARTS = 6, 7, 8, 9, 10
NO_HOLE = 10
REACH, SIDE = 2, 5


@kernel
def rotated_cell(src: U8, cells: int, h: int, w: int, symmetry: int, r: int, c: int) -> int:
    """Return a cell of the grid under one of its eight symmetries (numbered as in ops.moves)."""
    y, x = (c, r) if symmetry & 4 else (r, c)
    if symmetry & 2:
        y = h - 1 - y
    if symmetry & 1:
        x = w - 1 - x
    return byte(src, cells + y * w + x)


@kernel
def block_is(src: U8, i: int, h: int, w: int, targets: U8, j: int, width: int, how: int) -> bool:
    """Whether the target's block at j is a symmetry of the grid (0 to 7) or black (8)."""
    for r in range(h):
        for c in range(w):
            cell = 0 if how == 8 else rotated_cell(src, i, h, w, how, r, c)
            if byte(targets, j + r * width + c) != cell:
                return False
    return True


@kernel
def tiles(src: U8, offsets: I64, targets: U8, target_offsets: I64) -> bool:
    """Whether the targets are R×C blocks, each always the same symmetry of the grid, or black."""
    rows = byte(targets, target_offsets[0]) // byte(src, offsets[0])
    columns = byte(targets, target_offsets[0] + 1) // byte(src, offsets[0] + 1)
    if rows * columns < 2 or rows * columns > 36:
        return False
    for e in range(len(target_offsets)):
        i, j = offsets[e], target_offsets[e]
        if byte(targets, j) != rows * byte(src, i):
            return False
        if byte(targets, j + 1) != columns * byte(src, i + 1):
            return False
    for block in range(rows * columns):
        possible = False
        for how in range(9):
            possible = possible or block_always(
                src, offsets, targets, target_offsets, block // columns, block % columns, how
            )
        if not possible:
            return False
    return True


@kernel
def block_always(
    src: U8, offsets: I64, targets: U8, target_offsets: I64, row: int, col: int, how: int
) -> bool:
    """Whether one block is the same symmetry of the grid, or black, in all training targets."""
    for e in range(len(target_offsets)):
        i, j = offsets[e] + 2, target_offsets[e] + 2
        h, w, width = byte(src, i - 2), byte(src, i - 1), byte(targets, j - 1)
        if h != w and 4 <= how < 8:
            return False
        corner = j + row * h * width + col * w
        if not block_is(src, i, h, w, targets, corner, width, how):
            return False
    return True


@kernel
def modes_of(src: U8, at: int, stride: int, high: int, wide: int, modes: I64) -> None:
    """Write the result of each mode of block_reduce on a block, in order; NONE if it fails."""
    counts = np.zeros(10, np.int64)
    first = 0
    for r in range(high):
        for c in range(wide):
            cell = byte(src, at + r * stride + c)
            counts[cell] += 1
            if first == 0:
                first = cell
    common, marked = 0, 1
    for colour in range(1, 10):
        if counts[colour] > counts[common]:
            common = colour
        if counts[colour] > counts[marked]:
            marked = colour
    alone = counts[common] == high * wide
    modes[0] = common if alone else NONE
    modes[1] = common
    modes[2] = marked if counts[marked] > 0 else 0
    modes[3] = first
    modes[4] = common if alone else 0


@kernel
def reduces(src: U8, offsets: I64, targets: U8, target_offsets: I64) -> bool:
    """Whether one mode reduces blocks to the targets' cells."""
    modes, alive = np.empty(5, np.int64), 31
    for e in range(len(target_offsets)):
        i, j = offsets[e] + 2, target_offsets[e] + 2
        w, height, width = byte(src, i - 1), byte(targets, j - 2), byte(targets, j - 1)
        high, wide = byte(src, i - 2) // height, w // width
        if src[i - 2] != high * height or w != wide * width:
            return False
        for r in range(height):
            for c in range(width):
                modes_of(src, i + r * high * w + c * wide, w, high, wide, modes)
                for mode in range(5):
                    if modes[mode] != byte(targets, j + r * width + c):
                        alive &= ~(1 << mode)
                if alive == 0:
                    return False
    return True


@kernel
def scales(src: U8, offsets: I64, targets: U8, target_offsets: I64) -> bool:
    """Whether every target is its grid scaled up."""
    for e in range(len(target_offsets)):
        i, j = offsets[e] + 2, target_offsets[e] + 2
        w, height, width = byte(src, i - 1), byte(targets, j - 2), byte(targets, j - 1)
        high, wide = height // byte(src, i - 2), width // w
        if height != high * byte(src, i - 2) or width != wide * w:
            return False
        for r in range(height):
            for c in range(width):
                if src[i + r // high * w + c // wide] != targets[j + r * width + c]:
                    return False
    return True


@kernel
def window_is(src: U8, i: int, row: int, col: int, targets: U8, j: int) -> bool:
    """Whether the grid at i contains the target at j, from a row and column on."""
    h, w, height, width = byte(src, i), byte(src, i + 1), byte(targets, j), byte(targets, j + 1)
    if row < 0 or col < 0 or row + height > h or col + width > w:
        return False
    for r in range(height):
        for c in range(width):
            if src[i + 2 + (row + r) * w + col + c] != targets[j + 2 + r * width + c]:
                return False
    return True


@kernel
def shows_window(src: U8, offsets: I64, targets: U8, target_offsets: I64) -> bool:
    """Whether the targets are windows at the same distance from one corner."""
    for e in range(len(target_offsets)):
        i, j = offsets[e], target_offsets[e]
        if src[i] < targets[j] or src[i + 1] < targets[j + 1]:
            return False
    i, j = offsets[0], target_offsets[0]
    down = byte(src, i) - byte(targets, j)
    right = byte(src, i + 1) - byte(targets, j + 1)
    for row in range(down + 1):
        for col in range(right + 1):
            if not window_is(src, i, row, col, targets, j):
                continue
            for corner in range(4):
                if corner_window(src, offsets, targets, target_offsets, row, col, corner):
                    return True
    return False


@kernel
def corner_window(
    src: U8, offsets: I64, targets: U8, target_offsets: I64, row: int, col: int, corner: int
) -> bool:
    """Whether the first pair's window at (row, col) is in all pairs, relative to a corner."""
    i, j = offsets[0], target_offsets[0]
    below = byte(src, i) - byte(targets, j) - row
    beside = byte(src, i + 1) - byte(targets, j + 1) - col
    for e in range(1, len(target_offsets)):
        i, j = offsets[e], target_offsets[e]
        y = byte(src, i) - byte(targets, j) - below if corner & 2 else row
        x = byte(src, i + 1) - byte(targets, j + 1) - beside if corner & 1 else col
        if not window_is(src, i, y, x, targets, j):
            return False
    return True


@kernel
def framed(src: U8, offsets: I64, targets: U8, target_offsets: I64) -> bool:
    """Whether the targets are the grids in a frame of one colour, or with their rims in one."""
    colour = targets[target_offsets[0] + 2]
    thick = (byte(targets, target_offsets[0]) - byte(src, offsets[0])) // 2
    if thick < 0:
        return False
    edge = max(thick, 1)
    for e in range(len(target_offsets)):
        i, j = offsets[e] + 2, target_offsets[e] + 2
        height, width, w = byte(targets, j - 2), byte(targets, j - 1), byte(src, i - 1)
        if height != byte(src, i - 2) + 2 * thick or width != w + 2 * thick:
            return False
        for r in range(height):
            for c in range(width):
                cell = colour
                if edge <= r < height - edge and edge <= c < width - edge:
                    cell = src[i + (r - thick) * w + c - thick]
                if targets[j + r * width + c] != cell:
                    return False
    return True


@kernel
def changed_colour(src: U8, offsets: I64, targets: U8, target_offsets: I64) -> int:
    """Return the one colour of all cells that change, or FAIL; sizes are equal."""
    colour = FAIL
    for e in range(len(target_offsets)):
        i, j = offsets[e] + 2, target_offsets[e] + 2
        for k in range(byte(src, i - 2) * byte(src, i - 1)):
            if src[i + k] != targets[j + k]:
                if colour == FAIL:
                    colour = byte(src, i + k)
                elif colour != byte(src, i + k):
                    return FAIL
    return colour


@kernel
def learn_stamps(
    src: U8, offsets: I64, targets: U8, target_offsets: I64, back: int, drawn: U8
) -> None:
    """Write what background always became, by colour and place of the 5×5 square, or NONE."""
    is_known = np.zeros((10, SIDE * SIDE), np.uint8)
    drawn[:] = NONE
    for e in range(len(target_offsets)):
        i, j = offsets[e] + 2, target_offsets[e] + 2
        h, w = byte(src, i - 2), byte(src, i - 1)
        for k in range(h * w):
            if src[i + k] == back:
                continue
            anchor, row, col = src[i + k], k // w - REACH, k % w - REACH
            for place in range(SIDE * SIDE):
                r, c = row + place // SIDE, col + place % SIDE
                if r < 0 or c < 0 or r >= h or c >= w or src[i + r * w + c] != back:
                    continue
                new = targets[j + r * w + c]
                if is_known[anchor, place] == 0 and new != back:
                    drawn[anchor, place] = new
                elif drawn[anchor, place] != new:
                    drawn[anchor, place] = NONE
                is_known[anchor, place] = 1


@kernel
def stamps(src: U8, offsets: I64, targets: U8, target_offsets: I64, back: int) -> bool:
    """Whether every changing cell is near some colour that always draws the new colour there."""
    drawn = np.empty((10, SIDE * SIDE), np.uint8)
    learn_stamps(src, offsets, targets, target_offsets, back, drawn)
    for e in range(len(target_offsets)):
        i, j = offsets[e] + 2, target_offsets[e] + 2
        h, w = byte(src, i - 2), byte(src, i - 1)
        for k in range(h * w):
            if src[i + k] == targets[j + k]:
                continue
            explained, row, col = False, k // w + REACH, k % w + REACH
            for place in range(SIDE * SIDE):  # the cell's place, seen from an anchor
                r, c = row - place // SIDE, col - place % SIDE
                if 0 <= r < h and 0 <= c < w and src[i + r * w + c] != back:
                    new = drawn[src[i + r * w + c], place]
                    explained = explained or new == targets[j + k]
            if not explained:
                return False
    return True


@kernel
def repeats(src: U8, i: int, h: int, w: int, hole: int, p: int, q: int, tile: I64) -> bool:
    """Fill a p × q tile from the grid's cells; return whether it repeats and has no holes."""
    if not lay_tile(src, i, h, w, hole, p < 0, p, q, tile):
        return False
    holes = 0
    for place in range(p * q):
        holes += tile[place] == hole
    return holes == 0


@kernel
def columns_of_tile(src: U8, i: int, h: int, w: int, hole: int, tile: I64) -> int:
    """Find the smallest repeating tile (fewest cells, then rows); return its columns, or 0."""
    for area in range(1, h * w + 1):
        for p in range(1, h + 1):
            q = area // p
            if p * q == area and q <= w and repeats(src, i, h, w, hole, p, q, tile):
                tile[900] = p
                return q
    return 0


@kernel
def continues(src: U8, offsets: I64, targets: U8, target_offsets: I64, hole: int) -> bool:
    """Whether the targets continue the smallest tile that repeats over the grids."""
    tile = np.empty(901, np.int64)
    for e in range(len(target_offsets)):
        i, j = offsets[e], target_offsets[e]
        if targets[j] < src[i] or targets[j + 1] < src[i + 1]:
            return False
        for k in range(byte(targets, j) * byte(targets, j + 1)):
            if byte(targets, j + 2 + k) == hole:
                return False
    for e in range(len(target_offsets)):
        i, j = offsets[e] + 2, target_offsets[e] + 2
        h, w, width = byte(src, i - 2), byte(src, i - 1), byte(targets, j - 1)
        if not begins_alike(src, i, h, w, targets, j, width, hole):
            return False
        q = columns_of_tile(src, i, h, w, hole, tile)
        if q == 0:
            return False
        for k in range(byte(targets, j - 2) * width):
            if tile[k // width % tile[900] * q + k % width % q] != byte(targets, j + k):
                return False
    return True


@kernel
def begins_alike(
    src: U8, i: int, h: int, w: int, targets: U8, j: int, width: int, hole: int
) -> bool:
    """Whether the target begins with the grid's cells, holes excepted."""
    for r in range(h):
        for c in range(w):
            cell = byte(src, i + r * w + c)
            if cell not in (hole, byte(targets, j + r * width + c)):
                return False
    return True


@kernel
def parts_decide(
    src: U8, offsets: I64, targets: U8, target_offsets: I64, rows: int, columns: int, lines: int
) -> bool:
    """Whether the parts' cells always decide the target's; grids are split as in `parts_of`."""
    for e in range(len(target_offsets)):
        i, j = offsets[e], target_offsets[e]
        if byte(src, i) + lines != rows * (byte(targets, j) + lines):
            return False
        if byte(src, i + 1) + lines != columns * (byte(targets, j + 1) + lines):
            return False
    table = np.full(10 ** (rows * columns), NONE, np.uint8)
    for e in range(len(target_offsets)):
        i, j = offsets[e] + 2, target_offsets[e] + 2
        w, height, width = byte(src, i - 1), byte(targets, j - 2), byte(targets, j - 1)
        for r in range(height):
            for c in range(width):
                key = 0
                for y in range(rows):
                    for x in range(columns):
                        row, col = y * (height + lines) + r, x * (width + lines) + c
                        key = key * 10 + byte(src, i + row * w + col)
                new = targets[j + r * width + c]
                if table[key] == NONE:
                    table[key] = new
                elif table[key] != new:
                    return False
    return True


@kernel
def any_parts_decide(src: U8, offsets: I64, targets: U8, target_offsets: I64) -> bool:
    """Whether the parts of some layout decide the targets."""
    for lines in range(2):
        for rows in range(1, 5):
            for columns in range(1, 5):
                if 1 < rows * columns <= 4 and parts_decide(
                    src, offsets, targets, target_offsets, rows, columns, lines
                ):
                    return True
    return False


@kernel
def equal_size_bits(
    src: U8, offsets: I64, inp: U8, inp_offsets: I64, targets: U8, target_offsets: I64
) -> int:
    """Return the bits of the rules for grids as large as their targets."""
    train = len(target_offsets)
    bits = 0
    if maps_colours(src, offsets, targets, target_offsets):
        bits |= 1 << COLOUR_MAP
    else:
        if sizes_equal(src, offsets, inp, inp_offsets, train) and maps_cells(
            src, offsets, inp, inp_offsets, targets, target_offsets
        ):
            bits |= 1 << CELL_TABLE
        if squares_agree(src, offsets, targets, target_offsets):
            bits |= 1 << NEIGHBOURS
    if framed(src, offsets, targets, target_offsets):
        bits |= 1 << BORDER
    return bits


@kernel
def other_size_bits(src: U8, offsets: I64, targets: U8, target_offsets: I64) -> int:
    """Return the bits of the rules for grids of another size than their targets."""
    bits = 0
    if tiles(src, offsets, targets, target_offsets):
        bits |= 1 << TILE_LAYOUT
    if reduces(src, offsets, targets, target_offsets):
        bits |= 1 << BLOCK_REDUCE
    if scales(src, offsets, targets, target_offsets):
        bits |= 1 << SCALE
    if shows_window(src, offsets, targets, target_offsets):
        bits |= 1 << WINDOW
    if framed(src, offsets, targets, target_offsets):
        bits |= 1 << BORDER
    if any_parts_decide(src, offsets, targets, target_offsets):
        bits |= 1 << TABLE_OF_PARTS
    return bits


@entry
def survivors(
    src: U8, offsets: I64, inp: U8, inp_offsets: I64, targets: U8, target_offsets: I64
) -> int:
    """Return the bits of rules that the training pairs do not contradict; 0 if already equal."""
    bits, hole = 0, NO_HOLE
    if sizes_equal(src, offsets, targets, target_offsets, len(target_offsets)):
        if vectors_equal(src, offsets, targets, target_offsets, len(target_offsets)):
            return 0
        bits = equal_size_bits(src, offsets, inp, inp_offsets, targets, target_offsets)
        hole = changed_colour(src, offsets, targets, target_offsets)
        if hole != FAIL and bits & 1 == 0 and stamps(src, offsets, targets, target_offsets, hole):
            bits |= 1 << STAMP
    else:
        bits = other_size_bits(src, offsets, targets, target_offsets)
    if hole != FAIL and continues(src, offsets, targets, target_offsets, hole):
        bits |= 1 << EXTEND_PERIOD
    return bits
