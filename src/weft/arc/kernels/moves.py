"""Kernels on grids that move or repeat what is there: turns, crops, tilings, scalings, gravity."""

from __future__ import annotations

from weft.arc.kernels.compiled import kernel
from weft.arc.kernels.layout import FAIL, U8, byte, most_common, put_grid

TURN = 100
TRIM = 101


@kernel
def run_moves(
    k: int, src: U8, at: int, inp: U8, inp_at: int, p: int, q: int, out: U8, to: int
) -> int:
    """Run the kernel with number `k`."""
    if k == TURN:
        return turn(src, at, p, out, to)
    if k == TRIM:
        return trim(src, at, p, out, to)
    return FAIL


@kernel
def turn(src: U8, at: int, p: int, out: U8, to: int) -> int:
    """One of the eight symmetries: bit 0 mirrors columns, bit 1 rows, bit 2 then transposes."""
    h, w = byte(src, at), byte(src, at + 1)
    cells = put_grid(out, to, w if p & 4 else h, h if p & 4 else w)
    for r in range(h):
        for c in range(w):
            y = h - 1 - r if p & 2 else r
            x = w - 1 - c if p & 1 else c
            place = x * h + y if p & 4 else y * w + x
            out[cells + place] = src[at + 2 + r * w + c]
    return cells + h * w


@kernel
def trim(src: U8, at: int, p: int, out: U8, to: int) -> int:
    """Crop to what is not background: black, or with p = 1 the most common colour."""
    h, w = byte(src, at), byte(src, at + 1)
    back = most_common(src, at + 2, h, w) if p == 1 else 0
    top, bottom, left, right = h, -1, w, -1
    for r in range(h):
        for c in range(w):
            if src[at + 2 + r * w + c] != back:
                top, bottom = min(top, r), max(bottom, r)
                left, right = min(left, c), max(right, c)
    if bottom < 0:
        return FAIL
    cells = put_grid(out, to, bottom - top + 1, right - left + 1)
    for r in range(top, bottom + 1):
        for c in range(left, right + 1):
            out[cells] = src[at + 2 + r * w + c]
            cells += 1
    return cells
