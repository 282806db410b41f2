"""Kernels on grids that colour cells in place: by neighbours, by place, by colour counts, by rays.

Labels of whole components are in `labels`, completion of patterns in `completion`.
"""

from __future__ import annotations

import numpy as np

from weft.searches.arc.codes.fills import (
    ALL_MAIN,
    ALL_RARE,
    BACK_TO_BLACK,
    BEAMS,
    BETWEEN,
    COLOURS,
    COLUMN,
    COUNT,
    DENOISE,
    DEPTH,
    DIAGONALS,
    DIFFERENCE,
    DISTANCE,
    DROP_MAIN,
    DROP_RARE,
    ERODE,
    FLOOD_COMMON,
    GROW,
    INNER,
    INVERT,
    JOIN,
    KEEP_MAIN,
    KEEP_RARE,
    LABEL,
    MAJORITY,
    NEIGHBOURS,
    OCCUPIED,
    ONLY_RARE,
    OUTLINE,
    PLACES,
    PLAIN,
    RAYS,
    RING,
    ROW,
    SMOOTH,
    SUM,
    SYMMETRY,
    TILES,
)
from weft.searches.arc.kernels.compiled import kernel
from weft.searches.arc.kernels.completion import complete_by_period, complete_by_symmetry
from weft.searches.arc.kernels.gridparts import colour_counts, extreme_colour
from weft.searches.arc.kernels.labels import label
from weft.searches.arc.kernels.layout import FAIL, U8, byte, put_grid


@kernel
def run_fills(
    k: int, src: U8, at: int, inp: U8, inp_at: int, p: int, q: int, out: U8, to: int
) -> int:
    """Run the kernel with number `k` (200 and above)."""
    if k == LABEL:
        return label(src, at, p, q, out, to)
    if k == NEIGHBOURS:
        return neighbours(src, at, p, q, out, to)
    if k == BEAMS:
        return beams(src, at, p, q, out, to)
    if k == SYMMETRY:
        return complete_by_symmetry(src, at, p, q, out, to)
    if k == TILES:
        return complete_by_period(src, at, p, q, out, to)
    if k == PLACES:
        return places(src, at, p, q, out, to)
    if k == COLOURS:
        return colours(src, at, p, out, to)
    return FAIL


@kernel
def neighbours(src: U8, at: int, p: int, q: int, out: U8, to: int) -> int:
    """Each cell by its four or eight neighbours: see the twin for each mode."""
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
            inside = counts[own] == (8 if q == 1 else 4)
            new = own
            if p == COUNT:
                new = total - counts[0]
            elif p == INNER and own > 0:
                new = 1 if inside else 2
            elif p == OUTLINE:
                new = 2 if own > 0 else min(total - counts[0], 1)
            elif (p == ERODE and not inside) or (p == DENOISE and counts[own] == 0):
                new = 0
            elif (p == GROW and own == 0) or p == MAJORITY or (p == SMOOTH and counts[own] == 0):
                if p == GROW:
                    counts[0] = 0
                counts[own] += p == MAJORITY
                for colour in range(10):
                    new = colour if counts[colour] > counts[new] else new
            out[cells + r * w + c] = new
    return cells + h * w


@kernel
def beams(src: U8, at: int, p: int, q: int, out: U8, to: int) -> int:
    """Colours seen from black cells along lines: see the twin for each mode.

    The directions, as bits of `p`: down, up, right, left, and the four diagonals.
    """
    h, w = byte(src, at), byte(src, at + 1)
    shooter = 0
    if q >= ONLY_RARE:
        counts = colour_counts(src, at + 2, h * w)
        counts[0] = 0
        shooter = extreme_colour(counts, q & ONLY_RARE > 0)
        if shooter < 0:
            return FAIL
    cells = put_grid(out, to, h, w)
    for i in range(h * w):
        out[cells + i] = src[at + 2 + i] if q & 3 != BETWEEN else 0
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
        if q & 3 != RAYS and d % 2 == 0:
            continue
        for i in range(h * w):
            first, second = hits[0, i], hits[1, i]
            if src[at + 2 + i] != 0 or (q & 3 != RAYS and (first == 0 or second == 0)):
                continue
            if q & 3 == BETWEEN:
                out[cells + i] += 1 if d < 2 else 2
            elif q & 3 == RAYS and hits[d % 2, i] > 0:
                out[cells + i] = hits[d % 2, i]
            elif q & 3 == JOIN and first == second:
                out[cells + i] = first
    return cells + h * w


@kernel
def places(src: U8, at: int, p: int, q: int, out: U8, to: int) -> int:
    """Number cells by where they are, modulo q where q > 0: see the twin for each mode."""
    h, w = byte(src, at), byte(src, at + 1)
    cells = put_grid(out, to, h, w)
    if p in (DEPTH, DISTANCE):
        return distances(src, at, p, out, cells)
    for r in range(h):
        for c in range(w):
            value = 0
            if p == ROW:
                value = r
            elif p == COLUMN:
                value = c
            elif p == SUM:
                value = r + c
            elif p == DIFFERENCE:
                value = r - c + w * q
            elif p == RING:
                value = min(r, c, h - 1 - r, w - 1 - c)
            elif p == DIAGONALS:
                value = (r == c) + 2 * (r + c == w - 1)
            out[cells + r * w + c] = value % q
    if p in (OCCUPIED, PLAIN):
        for axis in range(2):
            n, m, step, across = (h, w, w, 1) if axis == 0 else (w, h, 1, w)
            for i in range(n):
                is_marked = p == PLAIN
                for j in range(m):
                    there = src[at + 2 + i * step + j * across]
                    if p == OCCUPIED:
                        is_marked = is_marked or there != 0
                    else:
                        is_marked = is_marked and there == src[at + 2 + i * step]
                for j in range(m):
                    out[cells + i * step + j * across] += is_marked * (1 + axis)
    return cells + h * w


@kernel
def distances(src: U8, at: int, p: int, out: U8, cells: int) -> int:
    """Steps of a chess king to another colour or out (DEPTH), or to what is not black; 9 at most.

    Two sweeps, each taking one more than the least of the neighbours it has passed.
    """
    h, w = byte(src, at), byte(src, at + 1)
    for i in range(h * w):
        out[cells + i] = 0 if p == DISTANCE and src[at + 2 + i] != 0 else 9
    for sweep in range(2):
        for step in range(h * w):
            i = step if sweep == 0 else h * w - 1 - step
            r, c = i // w, i % w
            least = byte(out, cells + i)
            for y in range(r - 1, r + 2):
                for x in range(c - 1, c + 2):
                    if y < 0 or x < 0 or y >= h or x >= w:
                        least = min(least, 1) if p == DEPTH else least
                    elif p == DEPTH and src[at + 2 + y * w + x] != src[at + 2 + i]:
                        least = min(least, 1)
                    else:
                        least = min(least, byte(out, cells + y * w + x) + 1)
            out[cells + i] = least
    return cells + h * w


@kernel
def colours(src: U8, at: int, p: int, out: U8, to: int) -> int:
    """Change colours by how common they are: see the twin for each mode."""
    h, w = byte(src, at), byte(src, at + 1)
    counts = colour_counts(src, at + 2, h * w)
    kinds, total = 0, 0
    for colour in range(10):
        kinds += counts[colour] > 0
        total += colour if counts[colour] > 0 else 0
    if p < BACK_TO_BLACK:
        counts[0] = 0
    chosen = extreme_colour(counts, p in (KEEP_RARE, DROP_RARE, ALL_RARE))
    if chosen < 0 or (p == INVERT and kinds != 2):
        return FAIL
    new = np.zeros(10, np.int64)
    for colour in range(10):
        if p in (KEEP_MAIN, KEEP_RARE):
            new[colour] = chosen if colour == chosen else 0
        elif p in (DROP_MAIN, DROP_RARE):
            new[colour] = 0 if colour == chosen else colour
        elif p in (ALL_MAIN, ALL_RARE):
            new[colour] = chosen if colour > 0 else 0
        elif p == FLOOD_COMMON:
            new[colour] = chosen
        elif p == BACK_TO_BLACK:
            new[colour] = 0 if colour == chosen else (chosen if colour == 0 else colour)
        elif p == INVERT:
            new[colour] = max(total - colour, 0)
        elif colour > 0:
            new[colour] = 1
            for rival in range(1, 10):
                ahead = counts[rival] - counts[colour]
                new[colour] += ahead > 0 or (ahead == 0 and rival < colour)
    cells = put_grid(out, to, h, w)
    for i in range(h * w):
        out[cells + i] = new[src[at + 2 + i]]
    return cells + h * w
