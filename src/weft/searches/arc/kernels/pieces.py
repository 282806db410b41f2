"""Kernels on one object, box, patch, colour, count or size, or on each object of a set."""

from __future__ import annotations

from weft.searches.arc.codes import pieces as codes
from weft.searches.arc.kernels.altering import alter, as_grid, each, paint
from weft.searches.arc.kernels.compiled import kernel
from weft.searches.arc.kernels.layout import FAIL, U8, byte, object_end, put_grid
from weft.searches.arc.kernels.objectparts import common_colour
from weft.searches.arc.values import EMPTY, MAX_SIDE, ORIGIN


@kernel
def run_pieces(
    k: int, src: U8, at: int, inp: U8, inp_at: int, p: int, q: int, out: U8, to: int
) -> int:
    """Run the kernel with number `k` (500 and above)."""
    if k == codes.ALTER:
        return alter(src, at, p, inp, inp_at, out, to)
    if k == codes.PAINT:
        return paint(src, at, p, q, inp, inp_at, out, to)
    if k == codes.EACH:
        return each(src, at, p, inp, inp_at, out, to)
    if k == codes.AS_GRID:
        return as_grid(src, at, p, inp, inp_at, out, to)
    if k == codes.PART:
        return part(src, at, p, out, to)
    if k == codes.CANVAS and p < codes.IN_ROW:
        return colour_canvas(src, at, p, inp, inp_at, out, to)
    if k == codes.CANVAS:
        return canvas(src, at, p, inp, inp_at, out, to)
    return FAIL


@kernel
def part(src: U8, at: int, p: int, out: U8, to: int) -> int:
    """Tell one thing about a piece, or move the sides of a box by one."""
    r, c = byte(src, at), byte(src, at + 1)
    h, w = byte(src, at + 2), byte(src, at + 3)
    if p == codes.SIZE:
        out[to] = h
        out[to + 1] = w
        return to + 2
    if p == codes.COLOUR:
        out[to] = common_colour(src, at)
        for i in range(at + 4, object_end(src, at)):
            if src[i] != EMPTY:
                return to + 1
        return FAIL
    if p == codes.COUNT:
        n = 0
        for i in range(at + 4, object_end(src, at)):
            n += 1 if src[i] != EMPTY else 0
        out[to] = min(n, 255)
        return to + 1 if n <= 255 else FAIL
    grown = 1 if p == codes.OUTER else (-1 if p == codes.INNER else 0)
    h, w = h + 2 * grown, w + 2 * grown
    r, c = r - grown, c - grown
    if h < 1 or w < 1 or h > MAX_SIDE or w > MAX_SIDE:
        return FAIL
    if r < 0 or c < 0 or r > ORIGIN + 127 or c > ORIGIN + 127:
        return FAIL
    out[to] = r
    out[to + 1] = c
    out[to + 2] = h
    out[to + 3] = w
    if p != codes.PATCH:
        return to + 4
    for i in range(h * w):
        out[to + 4 + i] = 0 if src[at + 4 + i] == EMPTY else 1
    return to + 4 + h * w


@kernel
def colour_canvas(src: U8, at: int, p: int, inp: U8, inp_at: int, out: U8, to: int) -> int:
    """A grid made of a colour: one cell, or the input where the colour decides."""
    h, w = byte(inp, inp_at), byte(inp, inp_at + 1)
    colour = byte(src, at)
    if p == codes.ONE_CELL:
        h, w = 1, 1
    cells = put_grid(out, to, h, w)
    for i in range(h * w):
        old = byte(inp, inp_at + 2 + i)
        new = colour
        if p == codes.ONLY:
            new = colour if old == colour else 0
        elif p == codes.INK_TO:
            new = 0 if old == 0 else colour
        out[cells + i] = new
    return cells + h * w


@kernel
def canvas(src: U8, at: int, p: int, inp: U8, inp_at: int, out: U8, to: int) -> int:
    """A grid made of a count or a size."""
    ih, iw = byte(inp, inp_at), byte(inp, inp_at + 1)
    n = byte(src, at)
    h, w = n, n
    if p == codes.IN_ROW:
        h = 1
    elif p == codes.SCALED:
        h, w = n * ih, n * iw
    elif p == codes.BLANK:
        w = byte(src, at + 1)
    cells = put_grid(out, to, h, w)
    if cells == FAIL:
        return FAIL
    for i in range(h * w):
        r, c = i // w, i % w
        new = 1
        if p == codes.DIAGONAL:
            new = 1 if r == c else 0
        elif p == codes.SCALED:
            new = byte(inp, inp_at + 2 + r // n * iw + c // n)
        elif p == codes.BLANK:
            new = 0
        out[cells + i] = new
    return cells + h * w
