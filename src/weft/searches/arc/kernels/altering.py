"""Kernels that alter or draw one object, or each object of a set."""

from __future__ import annotations

import numpy as np

from weft.searches.arc.codes import altering as codes
from weft.searches.arc.kernels.colours import most_common
from weft.searches.arc.kernels.compiled import kernel
from weft.searches.arc.kernels.layout import (
    FAIL,
    U8,
    byte,
    object_end,
    put_grid,
    put_piece,
    put_turned,
)
from weft.searches.arc.kernels.objectparts import common_colour, cover_holes, put_tight
from weft.searches.arc.values import EMPTY, MAX_BYTES, MAX_SIDE, ORIGIN


@kernel
def alter(src: U8, at: int, p: int, out: U8, to: int) -> int:
    """Write the object at `at`, altered by `p`."""
    if p < codes.FILL_BOX:
        return turn_object(src, at, p, out, to)
    return recell(src, at, p, out, to)


@kernel
def turn_object(src: U8, at: int, p: int, out: U8, to: int) -> int:
    """Apply one of the eight symmetries; the corner of the box stays."""
    r, c = byte(src, at) - ORIGIN, byte(src, at + 1) - ORIGIN
    h, w = byte(src, at + 2), byte(src, at + 3)
    place = put_piece(out, to, r, c, w if p & 4 else h, h if p & 4 else w)
    return put_turned(src, at + 4, h, w, p, out, place)


@kernel
def at_side(src: U8, at: int, h: int, w: int, y: int, x: int) -> bool:
    """Whether a cell has a side on the object's boundary."""
    if y == 0 or x == 0 or y == h - 1 or x == w - 1:
        return True
    i = at + y * w + x
    across: bool = src[i - 1] == EMPTY or src[i + 1] == EMPTY
    down: bool = src[i - w] == EMPTY or src[i + w] == EMPTY
    return across or down


@kernel
def near(src: U8, at: int, h: int, w: int, y: int, x: int) -> bool:
    """Whether one of the eight neighbours of a place is a cell of the object."""
    for b in range(max(y - 1, 0), min(y + 2, h)):
        for a in range(max(x - 1, 0), min(x + 2, w)):
            if src[at + b * w + a] != EMPTY:
                return True
    return False


@kernel
def recell(src: U8, at: int, p: int, out: U8, to: int) -> int:
    """Change which cells the object has, within its box (RING: one beyond), then fit the box."""
    r, c = byte(src, at) - ORIGIN, byte(src, at + 1) - ORIGIN
    h, w = byte(src, at + 2), byte(src, at + 3)
    area, cells = h * w, at + 4
    colour = common_colour(src, at)
    if p == codes.RING:
        return ring(src, cells, r, c, h, w, colour, out, to)
    new, holes = np.empty(area, np.uint8), np.zeros(area, np.uint8)
    if p >= codes.FILL_HOLES:
        cover_holes(src, cells, h, w, holes)
    some = False
    for i in range(area):
        y, x = i // w, i % w
        old = byte(src, cells + i)
        some = some or old != EMPTY
        cell = old
        if p == codes.FILL_BOX and old == EMPTY:
            cell = colour
        elif p == codes.OUTLINE and old != EMPTY and not at_side(src, cells, h, w, y, x):
            cell = EMPTY
        elif p >= codes.FILL_HOLES and holes[i]:
            cell = colour
        elif p == codes.HOLES_ALONE:
            cell = EMPTY
        new[i] = cell
    if not some:
        return FAIL
    return put_tight(new, r, c, h, w, out, to)


@kernel
def ring(src: U8, cells: int, r: int, c: int, h: int, w: int, colour: int, out: U8, to: int) -> int:
    """Write the cells around the object, corners included, in the object's colour."""
    new = np.empty((h + 2) * (w + 2), np.uint8)
    for y in range(-1, h + 1):
        for x in range(-1, w + 1):
            own = 0 <= y < h and 0 <= x < w and src[cells + y * w + x] != EMPTY
            ringed = not own and near(src, cells, h, w, y, x)
            new[(y + 1) * (w + 2) + x + 1] = colour if ringed else EMPTY
    return put_tight(new, r - 1, c - 1, h + 2, w + 2, out, to)


@kernel
def paint(src: U8, at: int, p: int, q: int, inp: U8, inp_at: int, out: U8, to: int) -> int:
    """Draw objects, later ones over earlier ones, clipped to the canvas."""
    n = 1
    if q == codes.MANY:
        n, at = byte(src, at), at + 1
    h, w = byte(inp, inp_at), byte(inp, inp_at + 1)
    back = 0
    if p == codes.ERASE_COMMON:
        back = most_common(inp, inp_at + 2, h, w)
    cells = put_grid(out, to, h, w)
    for i in range(h * w):
        out[cells + i] = inp[inp_at + 2 + i] if p >= codes.ON_INPUT else 0
    for _ in range(n):
        r, c = byte(src, at) - ORIGIN, byte(src, at + 1) - ORIGIN
        wide = byte(src, at + 3)
        for j in range(byte(src, at + 2) * wide):
            y, x = r + j // wide, c + j % wide
            if y < 0 or x < 0 or y >= h or x >= w:
                continue
            colour = src[at + 4 + j]
            i = y * w + x
            if colour == EMPTY:
                if p == codes.BOXES_ON_INPUT:
                    out[cells + i] = 0
            elif p >= codes.ERASE:
                out[cells + i] = back
            else:
                out[cells + i] = inp[inp_at + 2 + i] if p == codes.KEEP else colour
        at = object_end(src, at)
    return cells + h * w


@kernel
def each(src: U8, at: int, p: int, out: U8, to: int) -> int:
    """Alter every object, leaving out those that cannot be altered; FAIL if none remains."""
    n, where, count, place = byte(src, at), at + 1, 0, to + 1
    scratch, start = np.empty(4 + MAX_SIDE * MAX_SIDE, np.uint8), int(np.int64(0))
    for _ in range(n):
        end = alter(src, where, p, scratch, start)
        where = object_end(src, where)
        if end == FAIL:
            continue
        if place + end > to + MAX_BYTES:
            return FAIL
        for i in range(end):
            out[place + i] = scratch[i]
        place += end
        count += 1
    if count == 0:
        return FAIL
    out[to] = count
    return place


@kernel
def as_grid(src: U8, at: int, p: int, inp: U8, inp_at: int, out: U8, to: int) -> int:
    """Write the box's contents: the piece (p = 0), the input (1), or the piece as 0 and 1 (2)."""
    r, c = byte(src, at) - ORIGIN, byte(src, at + 1) - ORIGIN
    h, w = byte(src, at + 2), byte(src, at + 3)
    ih, iw = byte(inp, inp_at), byte(inp, inp_at + 1)
    if p == 1 and (r < 0 or c < 0 or r + h > ih or c + w > iw):
        return FAIL
    cells = put_grid(out, to, h, w)
    for i in range(h * w):
        if p == 1:
            out[cells + i] = inp[inp_at + 2 + (r + i // w) * iw + c + i % w]
        elif src[at + 4 + i] != EMPTY:
            out[cells + i] = 1 if p == 2 else src[at + 4 + i]
    return cells + h * w
