"""Kernels that restore the cells hidden by one colour, from mirror images or a repeated tile.

which colour hides → which cells correspond → fill → the grid, or only what was hidden
"""

from __future__ import annotations

import numpy as np

from weft.searches.arc.codes import completion as codes
from weft.searches.arc.kernels.colours import colour_counts, extreme_colour
from weft.searches.arc.kernels.compiled import kernel
from weft.searches.arc.kernels.layout import FAIL, I64, U8, byte, put_grid


@kernel
def hidden_colour(src: U8, first: int, h: int, w: int, p: int) -> int:
    """Return the hiding colour; -1 if no cell has it, or every cell."""
    counts = colour_counts(src, first, h * w)
    colour = extreme_colour(counts, p == codes.RARE)
    if p == codes.SQUARE:
        side = np.zeros(h * w, np.int64)
        best = 0
        for i in range(h * w):
            r, c = i // w, i % w
            side[i] = 1
            if r > 0 and c > 0:
                own = src[first + i]
                plain = src[first + i - 1] == own and src[first + i - w] == own
                if plain and src[first + i - w - 1] == own:
                    side[i] = 1 + min(side[i - 1], side[i - w], side[i - w - 1])
            ahead = side[i] - best
            if ahead > 0 or (ahead == 0 and byte(src, first + i) < colour):
                best, colour = side[i], byte(src, first + i)
    elif p == codes.BLACK:
        colour = 0
    return colour if 0 < counts[colour] < h * w else -1


@kernel
def put_filled(src: U8, at: int, filled: I64, hidden: int, crop: bool, out: U8, to: int) -> int:
    """Write the filled cells: all, or only the box around those that were hidden."""
    h, w = byte(src, at), byte(src, at + 1)
    top, left, bottom, right = h, w, 0, 0
    for i in range(h * w):
        if not crop or src[at + 2 + i] == hidden:
            top, bottom = min(top, i // w), max(bottom, i // w)
            left, right = min(left, i % w), max(right, i % w)
    cells = put_grid(out, to, bottom - top + 1, right - left + 1)
    for r in range(top, bottom + 1):
        for c in range(left, right + 1):
            out[cells] = filled[r * w + c]
            cells += 1
    return cells


@kernel
def best_mirror(src: U8, first: int, h: int, w: int, hidden: int, kind: int) -> int:
    """Return the mirror axis s on which the known cells agree best.

    It maps column c to s - c, or row r to s - r. Each pair of cells that agree scores 1, each that
    do not scores -PENALTY; ties go to the s nearest to the middle, then to the lowest.
    """
    along, across, step, line = (w, h, 1, w) if kind == codes.COLUMNS else (h, w, w, 1)
    middle = along - 1
    best, best_score = middle, -(1 << 40)
    for turn in range(1, 2 * middle):  # from the middle outwards: the first of equals wins
        s = middle + (turn // 2 if turn % 2 else -(turn // 2))
        score, end = 0, (s + 1) // 2
        for i in range(max(0, s - middle), end):
            if score + (end - i) * across <= best_score:  # it can no longer win
                break
            here, there = first + i * step, first + (s - i) * step
            for k in range(across):
                cell, image = byte(src, here + k * line), byte(src, there + k * line)
                if hidden not in (cell, image):
                    score += 1 if cell == image else -codes.PENALTY
        if score > best_score:
            best, best_score = s, score
    return best


@kernel
def complete_by_symmetry(src: U8, at: int, p: int, q: int, out: U8, to: int) -> int:
    """Fill hidden cells from their mirror images: see the twin."""
    h, w = byte(src, at), byte(src, at + 1)
    hidden = hidden_colour(src, at + 2, h, w, p)
    if hidden < 0:
        return FAIL
    mirrors = np.zeros(3, np.int64)
    for bit in range(2):
        if q >> bit & 1:
            mirrors[1 << bit] = best_mirror(src, at + 2, h, w, hidden, 1 << bit)
    shift = mirrors[codes.COLUMNS] - mirrors[codes.ROWS]  # all eight share one centre
    if q & codes.DIAGONAL and shift % 2 != 0:
        return FAIL
    shift //= 2
    filled = np.zeros(h * w, np.int64)
    for i in range(h * w):
        filled[i] = src[at + 2 + i]
        for image in range(1, 8):
            if image & ~q or filled[i] != hidden:
                continue
            r, c = i // w, i % w
            c = mirrors[codes.COLUMNS] - c if image & codes.COLUMNS else c
            r = mirrors[codes.ROWS] - r if image & codes.ROWS else r
            if image & codes.DIAGONAL:
                r, c = c - shift, r + shift
            if 0 <= r < h and 0 <= c < w:
                filled[i] = src[at + 2 + r * w + c]
    return put_filled(src, at, filled, hidden, q & codes.ONLY_HIDDEN > 0, out, to)


@kernel
def lay_tile(
    src: U8, first: int, h: int, w: int, hidden: int, slanted: bool, a: int, b: int, tile: I64
) -> bool:
    """Merge the known cells into one tile; False if two of them conflict.

    The tile has a rows and b columns; a slanted one has a cells, and each row starts b further on.
    """
    for i in range(a if slanted else a * b):
        tile[i] = hidden
    for r in range(h):
        for c in range(w):
            there = byte(src, first + r * w + c)
            place = (c + b * r) % a if slanted else r % a * b + c % b
            if there != hidden:
                if tile[place] != hidden and tile[place] != there:
                    return False
                tile[place] = there
    return True


@kernel
def complete_by_period(src: U8, at: int, p: int, q: int, out: U8, to: int) -> int:
    """Fill hidden cells from the smallest tile that the known cells allow: see the twin."""
    h, w = byte(src, at), byte(src, at + 1)
    hidden = hidden_colour(src, at + 2, h, w, p)
    if hidden < 0:
        return FAIL
    kind = q & 3
    tile = np.zeros(h * w, np.int64)
    best_a, best_b, best = 0, 0, h * w // 2 + 1
    for a in range(
        h if kind == codes.ALONG_ROWS else 1, (w - 1 if kind == codes.SLANTED else h) + 1
    ):
        start, stop = (w if kind == codes.ALONG_COLUMNS else 1), w
        if kind == codes.SLANTED:
            start, stop = 0, a - 1
        for b in range(start, stop + 1):
            area = a if kind == codes.SLANTED else a * b
            if area < best and lay_tile(
                src, at + 2, h, w, hidden, kind == codes.SLANTED, a, b, tile
            ):
                best_a, best_b, best = a, b, area
    if best_a == 0:
        return FAIL
    lay_tile(src, at + 2, h, w, hidden, kind == codes.SLANTED, best_a, best_b, tile)
    filled = np.zeros(h * w, np.int64)
    for i in range(h * w):
        place = i // w % best_a * best_b + i % w % best_b if kind != codes.SLANTED else 0
        if kind == codes.SLANTED:
            place = (i % w + best_b * (i // w)) % best_a
        filled[i] = src[at + 2 + i] if src[at + 2 + i] != hidden else tile[place]
    return put_filled(src, at, filled, hidden, q & codes.ONLY_HIDDEN > 0, out, to)
