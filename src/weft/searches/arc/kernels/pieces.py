"""Kernels on one object, colour or count, or on each object of a set."""

from __future__ import annotations

from weft.searches.arc.codes import pieces as codes
from weft.searches.arc.kernels.altering import as_grid, each, paint
from weft.searches.arc.kernels.compiled import kernel
from weft.searches.arc.kernels.layout import FAIL, U8, byte, put_grid


@kernel
def run_pieces(
    k: int, src: U8, at: int, inp: U8, inp_at: int, p: int, q: int, out: U8, to: int
) -> int:
    """Run the kernel with number `k` (500 and above)."""
    if k == codes.PAINT:
        return paint(src, at, p, q, inp, inp_at, out, to)
    if k == codes.EACH:
        return each(src, at, p, out, to)
    if k == codes.AS_GRID:
        return as_grid(src, at, p, inp, inp_at, out, to)
    if k == codes.CANVAS and p < codes.IN_ROW:
        return colour_canvas(src, at, p, inp, inp_at, out, to)
    if k == codes.CANVAS:
        return canvas(src, at, p, inp, inp_at, out, to)
    return FAIL


@kernel
def colour_canvas(src: U8, at: int, p: int, inp: U8, inp_at: int, out: U8, to: int) -> int:
    """Write a grid made from a colour: one cell, a canvas of it, or the input changed by it."""
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
    """Write a grid made from a count."""
    ih, iw = byte(inp, inp_at), byte(inp, inp_at + 1)
    n = byte(src, at)
    h, w = n, n
    if p == codes.IN_ROW:
        h = 1
    elif p == codes.SCALED:
        h, w = n * ih, n * iw
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
        out[cells + i] = new
    return cells + h * w
