"""Shared by all kernels: the calling convention and basic steps on encoded values.

A kernel reads one value and writes one value:

    kernel(src, at, inp, inp_at, p, q, out, to) -> end

`src[at:]` holds the value, `inp[inp_at:]` the example's input grid; `p` and `q` are small
parameters. The result is written to `out[to:]`, where `MAX_BYTES` are free; `end` is where it
ends, or `FAIL` if the operator does not apply. Kernels never write before `to`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from weft.searches.arc.kernels.compiled import kernel
from weft.searches.arc.values import EMPTY, MAX_SIDE, ORIGIN

FAIL = -1
U8 = npt.NDArray[np.uint8]
I64 = npt.NDArray[np.int64]


@kernel
def byte(src: U8, at: int) -> int:
    """Return a stored number as a signed integer; unsigned ones would turn sums into floats."""
    return np.int64(src[at])  # type: ignore[return-value]


@kernel
def object_end(src: U8, at: int) -> int:
    """Return the end of the object at `at`."""
    return at + 4 + byte(src, at + 2) * byte(src, at + 3)


@kernel
def put_grid(out: U8, to: int, h: int, w: int) -> int:
    """Begin a grid of black cells; return where its cells start, or FAIL if its size is invalid."""
    if h < 1 or w < 1 or h > MAX_SIDE or w > MAX_SIDE:
        return FAIL
    out[to] = h
    out[to + 1] = w
    for i in range(h * w):
        out[to + 2 + i] = 0
    return to + 2


@kernel
def put_piece(out: U8, to: int, r: int, c: int, h: int, w: int) -> int:
    """Begin an object of empty cells; return where its cells start, or FAIL if it is invalid."""
    if h < 1 or w < 1 or h > MAX_SIDE or w > MAX_SIDE:
        return FAIL
    if r < -ORIGIN or c < -ORIGIN or r > 127 or c > 127:
        return FAIL
    out[to] = r + ORIGIN
    out[to + 1] = c + ORIGIN
    out[to + 2] = h
    out[to + 3] = w
    for i in range(h * w):
        out[to + 4 + i] = EMPTY
    return to + 4


@kernel
def put_turned(src: U8, at: int, h: int, w: int, p: int, out: U8, to: int) -> int:
    """Write cells under a symmetry: bit 0 mirrors columns, bit 1 rows, bit 2 then transposes."""
    for i in range(h * w):
        y = h - 1 - i // w if p & 2 else i // w
        x = w - 1 - i % w if p & 1 else i % w
        out[to + (x * h + y if p & 4 else y * w + x)] = src[at + i]
    return to + h * w
