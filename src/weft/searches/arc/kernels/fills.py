"""Kernels that colour cells of a grid in place: by neighbours, position, colour counts, or rays.

Labels of whole components are in `labels`, completion of patterns in `completion`.
"""

from __future__ import annotations

import numpy as np

from weft.searches.arc.codes import fills as codes
from weft.searches.arc.kernels.colours import colour_counts, extreme_colour
from weft.searches.arc.kernels.compiled import kernel
from weft.searches.arc.kernels.completion import complete_by_period, complete_by_symmetry
from weft.searches.arc.kernels.labels import label
from weft.searches.arc.kernels.layout import FAIL, U8, byte, put_grid


@kernel
def run_fills(
    k: int, src: U8, at: int, inp: U8, inp_at: int, p: int, q: int, out: U8, to: int
) -> int:
    """Run the kernel with number `k` (200 and above)."""
    if k == codes.LABEL:
        return label(src, at, p, q, out, to)
    if k == codes.NEIGHBOURS:
        return neighbours(src, at, p, q, out, to)
    if k == codes.BEAMS:
        return beams(src, at, p, q, out, to)
    if k == codes.SYMMETRY:
        return complete_by_symmetry(src, at, p, q, out, to)
    if k == codes.TILES:
        return complete_by_period(src, at, p, q, out, to)
    if k == codes.PLACES:
        return places(src, at, p, q, out, to)
    if k == codes.COLOURS:
        return colours(src, at, p, out, to)
    return FAIL


@kernel
def neighbours(src: U8, at: int, p: int, q: int, out: U8, to: int) -> int:
    """Recolour each cell by its four or eight neighbours: see the twin for the modes."""
    h, w = byte(src, at), byte(src, at + 1)
    cells = put_grid(out, to, h, w)
    counts = np.zeros(10, np.int64)
    for r in range(h):
        for c in range(w):
            for colour in range(10):
                counts[colour] = 0
            total = 0
            for y in range(max(r - 1, 0), min(r + 2, h)):
                for x in range(max(c - 1, 0), min(c + 2, w)):
                    if (y != r or x != c) and (q == 1 or y == r or x == c):
                        counts[src[at + 2 + y * w + x]] += 1
                        total += 1
            own = byte(src, at + 2 + r * w + c)
            new = own
            if p == codes.COUNT:
                new = total - counts[0]
            elif p == codes.INNER and own > 0:
                new = 1 if counts[own] == (8 if q == 1 else 4) else 2
            elif p == codes.OUTLINE:
                new = 2 if own > 0 else min(total - counts[0], 1)
            elif p == codes.DENOISE and counts[own] == 0:
                new = 0
            elif p == codes.GROW and own == 0:
                counts[0] = 0
                for colour in range(10):
                    new = colour if counts[colour] > counts[new] else new
            out[cells + r * w + c] = new
    return cells + h * w


@kernel
def beams(src: U8, at: int, p: int, q: int, out: U8, to: int) -> int:
    """Colour black cells by what they see along lines: see the twin for the modes.

    The directions, as bits of `p`: down, up, right, left, and the four diagonals.
    """
    h, w = byte(src, at), byte(src, at + 1)
    shooter = 0
    if q >= codes.ONLY_RARE:
        counts = colour_counts(src, at + 2, h * w)
        counts[0] = 0
        shooter = extreme_colour(counts, q >= codes.ONLY_RARE)
        if shooter < 0:
            return FAIL
    cells = put_grid(out, to, h, w)
    for i in range(h * w):
        out[cells + i] = src[at + 2 + i]
    hits = np.zeros((2, h * w), np.int64)
    for d in range(8):
        if p >> d & 1 == 0:
            continue
        dr = (1, -1, 0, 0, 1, -1, 1, -1)[d]
        dc = (0, 0, 1, -1, 1, -1, -1, 1)[d]
        for step in range(h * w):
            i = step if d % 2 == 0 else h * w - 1 - step
            r, c = i // w - dr, i % w - dc
            hits[d % 2, i] = 0
            if 0 <= r < h and 0 <= c < w:
                there = byte(src, at + 2 + r * w + c)
                if there == 0:
                    hits[d % 2, i] = hits[d % 2, r * w + c]
                elif shooter in (0, there):
                    hits[d % 2, i] = there
        if q & codes.JOIN and d % 2 == 0:
            continue
        for i in range(h * w):
            hit = hits[d % 2, i]
            if src[at + 2 + i] == 0 and hit > 0 and (q & codes.JOIN == 0 or hits[0, i] == hit):
                out[cells + i] = hit
    return cells + h * w


@kernel
def places(src: U8, at: int, p: int, q: int, out: U8, to: int) -> int:
    """Number cells by their position, modulo q: see the twin for the modes."""
    h, w = byte(src, at), byte(src, at + 1)
    cells = put_grid(out, to, h, w)
    for r in range(h):
        for c in range(w):
            value = 0
            if p == codes.ROW:
                value = r
            elif p == codes.COLUMN:
                value = c
            elif p == codes.SUM:
                value = r + c
            elif p == codes.RING:
                value = min(r, c, h - 1 - r, w - 1 - c)
            elif p == codes.DIAGONALS:
                value = (r == c) + 2 * (r + c == w - 1)
            out[cells + r * w + c] = value % q
    if p == codes.PLAIN:
        for axis in range(2):
            n, m, step, across = (h, w, w, 1) if axis == 0 else (w, h, 1, w)
            for i in range(n):
                is_plain, first = True, at + 2 + i * step
                for j in range(m):
                    is_plain = is_plain and src[first + j * across] == src[first]
                for j in range(m):
                    out[cells + i * step + j * across] += is_plain * (1 + axis)
    return cells + h * w


@kernel
def colours(src: U8, at: int, p: int, out: U8, to: int) -> int:
    """Change colours by their frequency: see the twin for the modes."""
    h, w = byte(src, at), byte(src, at + 1)
    counts = colour_counts(src, at + 2, h * w)
    kinds, total = 0, 0
    for colour in range(10):
        kinds += counts[colour] > 0
        total += colour if counts[colour] > 0 else 0
    if p < codes.BACK_TO_BLACK:
        counts[0] = 0
    chosen = extreme_colour(counts, p in (codes.KEEP_RARE, codes.DROP_RARE, codes.ALL_RARE))
    if chosen < 0 or (p == codes.INVERT and kinds != 2):
        return FAIL
    new = np.zeros(10, np.int64)
    for colour in range(10):
        if p in (codes.KEEP_MAIN, codes.KEEP_RARE):
            new[colour] = chosen if colour == chosen else 0
        elif p in (codes.DROP_MAIN, codes.DROP_RARE):
            new[colour] = 0 if colour == chosen else colour
        elif p in (codes.ALL_MAIN, codes.ALL_RARE):
            new[colour] = chosen if colour > 0 else 0
        elif p == codes.BACK_TO_BLACK:
            new[colour] = 0 if colour == chosen else (chosen if colour == 0 else colour)
        else:
            new[colour] = max(total - colour, 0)
    cells = put_grid(out, to, h, w)
    for i in range(h * w):
        out[cells + i] = new[src[at + 2 + i]]
    return cells + h * w
