"""Kernels that move or repeat a grid's contents: symmetries, crops, tilings, scalings, gravity.

Everything that treats rows and columns separately (crops, tilings, scalings, shifts, sorting) is
one kernel, `pick`: it builds a list of rows and a list of columns; the result is where they cross.
"""

from __future__ import annotations

import numpy as np

from weft.searches.arc.codes import moves as codes
from weft.searches.arc.kernels.colours import colour_counts, extreme_colour
from weft.searches.arc.kernels.compiled import kernel
from weft.searches.arc.kernels.layout import FAIL, I64, U8, byte, put_grid, put_turned
from weft.searches.arc.values import MAX_SIDE


@kernel
def run_moves(
    k: int, src: U8, at: int, inp: U8, inp_at: int, p: int, q: int, out: U8, to: int
) -> int:
    """Run the kernel with number `k`."""
    if k == codes.TURN:
        return transform(src, at, p, out, to)
    if k == codes.PICK:
        return pick(src, at, p, q, out, to)
    if k == codes.OUTER:
        return outer(src, at, p, out, to)
    if k == codes.FALL:
        return fall(src, at, p, out, to)
    if k == codes.OVERLAY:
        return overlay(src, at, p, out, to)
    return FAIL


@kernel
def transform(src: U8, at: int, p: int, out: U8, to: int) -> int:
    """Apply one of the eight symmetries to a grid."""
    h, w = byte(src, at), byte(src, at + 1)
    cells = put_grid(out, to, w if p & 4 else h, h if p & 4 else w)
    return put_turned(src, at + 2, h, w, p, out, cells)


@kernel
def pick(src: U8, at: int, p: int, q: int, out: U8, to: int) -> int:
    """Write the cells where the rows that `p` selects cross the columns that `q` selects."""
    h, w = byte(src, at), byte(src, at + 1)
    lines, total = np.zeros((2, MAX_SIDE), np.int64), np.zeros(2, np.int64)
    for axis in range(2):  # one call for both: numba compiles it again for each literal argument
        n, m, step, across = (h, w, w, 1) if axis == 0 else (w, h, 1, w)
        what = p if axis == 0 else q
        total[axis] = lines_of(src, at + 2, n, step, m, across, what, lines[axis])
    high, wide = int(total[0]), int(total[1])
    rows, columns = lines[0], lines[1]
    cells = put_grid(out, to, high, wide)
    if cells == FAIL:
        return FAIL
    for i in range(high):
        for j in range(wide):
            out[cells + i * wide + j] = src[at + 2 + rows[i] * w + columns[j]]
    return cells + high * wide


@kernel
def lines_of(
    src: U8, first: int, n: int, step: int, m: int, across: int, what: int, lines: I64
) -> int:
    """List the selected lines of one axis; return their number, 0 if there is no such list.

    The axis has `n` lines `step` bytes apart, of `m` cells `across` bytes apart.
    """
    k = amount(src, first, n, step, m, across, what)
    mode = what & ~15
    if k < 0:
        return 0
    if mode in (codes.TRIM, codes.COLLAPSE, codes.OCCUPIED, codes.SORT, codes.PERIOD):
        return lines_by_cells(src, first, n, step, m, across, mode, k, lines)
    return lines_by_place(n, mode, k, lines)


@kernel
def amount(src: U8, first: int, n: int, step: int, m: int, across: int, what: int) -> int:
    """Evaluate the amount in `what` on this grid; -1 if it is undefined."""
    mode, k = what & ~15, what & 15
    if mode in (codes.TRIM, codes.OCCUPIED):
        if k == codes.NOT_BLACK:
            return 0
        counts = colour_counts(src, first, n * m)
        if k != codes.NOT_COMMON:
            counts[0] = 0
        colour = extreme_colour(counts, k == codes.RARE)
        return colour + codes.HOLDS if colour >= 0 and k != codes.NOT_COMMON else colour
    if k == codes.COLOURS:
        counts = colour_counts(src, first, n * m)
        total = 0
        for colour in range(1, 10):
            total += min(counts[colour], 1)
        return total if total > 0 else -1
    if k == codes.BLOCK:
        return block(src, first, n, step, m, across)
    return k


@kernel
def block(src: U8, first: int, n: int, step: int, m: int, across: int) -> int:
    """Return the side of the largest one-coloured squares that make up the grid.

    It is the greatest common divisor of all positions, on both axes, at which a line differs from
    the previous one.
    """
    factor = 0
    for _ in range(2):
        for i in range(1, n + 1):
            there = first + i * step
            if i == n or not same_line(src, there, there - step, m, across):
                other = i
                while other != 0:
                    factor, other = other, factor % other
        n, m, step, across = m, n, across, step
    return factor


@kernel
def same_line(src: U8, first: int, second: int, m: int, across: int) -> bool:
    """Whether two lines of `m` cells are equal."""
    same = True
    for i in range(m):
        same = same and src[first + i * across] == src[second + i * across]
    return same


@kernel
def counts_for(src: U8, start: int, m: int, across: int, k: int) -> bool:
    """Whether a line contains the colour `k - HOLDS`, or a colour other than `k`."""
    for i in range(m):
        cell = byte(src, start + i * across)
        if (cell == k - codes.HOLDS) if k >= codes.HOLDS else (cell != k):
            return True
    return False


@kernel
def lines_by_cells(
    src: U8, first: int, n: int, step: int, m: int, across: int, mode: int, k: int, lines: I64
) -> int:
    """List lines by their contents: see the twin for the modes."""
    total = 0
    if mode == codes.SORT:
        full = np.zeros(MAX_SIDE, np.int64)
        for i in range(n):
            for j in range(m):
                full[i] += src[first + i * step + j * across] != 0
            at = i
            while at > 0 and full[lines[at - 1]] > full[i]:
                lines[at] = lines[at - 1]
                at -= 1
            lines[at] = i
        return n
    if mode == codes.PERIOD:
        total, fits = 0, False
        while not fits:
            total += 1
            fits = True
            for i in range(total, n):
                there = first + i * step
                fits = fits and same_line(src, there, there - total * step, m, across)
        for i in range(total):
            lines[i] = i
        return total
    for i in range(n):
        there = first + i * step
        if mode == codes.COLLAPSE:
            expected = i == 0 or not same_line(src, there, there - step, m, across)
        else:
            expected = counts_for(src, there, m, across, k)
        if expected and mode == codes.TRIM:
            while total > 0 and lines[total - 1] < i - 1:
                lines[total] = lines[total - 1] + 1
                total += 1
        if expected:
            lines[total] = i
            total += 1
    return total


@kernel
def lines_by_place(n: int, mode: int, k: int, lines: I64) -> int:
    """List lines by their positions alone: see the twin for the modes."""
    total = n
    if mode == codes.CUT:
        total = n - 2 * k
    elif mode == codes.HALF:
        total = n // 2
    elif mode in (codes.REPEAT, codes.MIRROR, codes.STRETCH):
        total = n * k
    elif mode == codes.STRIDE:
        total = n // k
    if total > MAX_SIDE:
        return 0
    for i in range(total):
        line = i
        if mode == codes.CUT:
            line = i + k
        elif mode == codes.HALF:
            line = i + k * (n - n // 2)
        elif mode == codes.REPEAT:
            line = i % n
        elif mode == codes.MIRROR:
            line = i % n if i // n % 2 == 0 else n - 1 - i % n
        elif mode == codes.STRETCH:
            line = i // k
        elif mode == codes.STRIDE:
            line = i * k
        elif mode == codes.ROLL:
            line = (i + n - 1) % n
        lines[i] = line
    return total


@kernel
def outer(src: U8, at: int, p: int, out: U8, to: int) -> int:
    """Copy the grid for each cell that is not black (p = 0), or of the most common colour (2)."""
    h, w = byte(src, at), byte(src, at + 1)
    colour = 0
    if p == 2:
        colour = extreme_colour(colour_counts(src, at + 2, h * w), p == 0)
    cells = put_grid(out, to, h * h, w * w)
    if cells == FAIL:
        return FAIL
    for r in range(h * h):
        for c in range(w * w):
            if (byte(src, at + 2 + r // h * w + c // w) == colour) == (p > 0):
                out[cells + r * w * w + c] = src[at + 2 + r % h * w + c % w]
    return cells + h * h * w * w


@kernel
def fall(src: U8, at: int, p: int, out: U8, to: int) -> int:
    """Move non-black cells to one side, in order: p = 0 down, 1 up, 2 right, 3 left."""
    h, w = byte(src, at), byte(src, at + 1)
    cells = put_grid(out, to, h, w)
    n, m = (w, h) if p < 2 else (h, w)
    step, across = (1, w) if p < 2 else (w, 1)
    for line in range(n):
        free = 0
        for i in range(m):
            there = line * step + (m - 1 - i if p % 2 == 0 else i) * across
            if src[at + 2 + there] != 0:
                place = line * step + (m - 1 - free if p % 2 == 0 else free) * across
                out[cells + place] = src[at + 2 + there]
                free += 1
    return cells + h * w


@kernel
def overlay(src: U8, at: int, p: int, out: U8, to: int) -> int:
    """Write the first non-black cell among the symmetries whose bits are set in `p`."""
    h, w = byte(src, at), byte(src, at + 1)
    cells = put_grid(out, to, h, w)
    for r in range(h):
        for c in range(w):
            for t in range(4):
                y = h - 1 - r if t & 2 else r
                x = w - 1 - c if t & 1 else c
                if p >> t & 1 and out[cells + r * w + c] == 0:
                    out[cells + r * w + c] = src[at + 2 + y * w + x]
    return cells + h * w
