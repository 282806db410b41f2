"""Kernels that draw a grid's template again elsewhere: where a part of it recurs, or on marks.

cells → blobs → colours, sizes and boxes of each → templates → places → copies
"""

from __future__ import annotations

import numpy as np

from weft.searches.arc.codes import templates as codes
from weft.searches.arc.kernels.colours import most_common
from weft.searches.arc.kernels.compiled import kernel
from weft.searches.arc.kernels.layout import FAIL, I64, U8, byte, put_grid
from weft.searches.arc.kernels.objectparts import numbers, spread


@kernel
def run_templates(
    k: int, src: U8, at: int, inp: U8, inp_at: int, p: int, q: int, out: U8, to: int
) -> int:
    """Run the kernel with number `k` (600 and above)."""
    h, w = byte(src, at), byte(src, at + 1)
    back = most_common(src, at + 2, h, w)
    blob = numbers(h * w)
    n = find_blobs(src, at + 2, h, w, back, blob)
    facts = np.zeros((n, codes.FIELDS), np.int64)
    most = describe(src, at + 2, h, w, blob, facts)
    if most < 2:
        return FAIL
    if k == codes.COPIES:
        return copies(src, at + 2, h, w, back, blob, facts, most, p, out, to)
    return stamp(src, at + 2, h, w, back, blob, facts, out, to)


@kernel
def find_blobs(src: U8, cells: int, h: int, w: int, back: int, blob: I64) -> int:
    """Number the blobs in scan order of their first cells (-1: other cells); return how many."""
    code, queue = numbers(h * w), numbers(h * w)
    for i in range(h * w):
        code[i] = -1 if src[cells + i] == back else 1
        blob[i] = -1
    for axis in range(2):
        n, m, step, across = (h, w, w, 1) if axis == 0 else (w, h, 1, w)
        for i in range(n):
            plain = True
            for j in range(1, m):
                plain = plain and src[cells + i * step + j * across] == src[cells + i * step]
            if plain:
                for j in range(m):
                    code[i * step + j * across] = -1
    count, eight = 0, int(np.int64(1))
    for i in range(h * w):
        if code[i] > 0:
            for j in range(spread(code, h, w, i, eight, queue)):
                blob[queue[j]] = count
            count += 1
    return count


@kernel
def find_boxes(src: U8, cells: int, h: int, w: int, blob: I64, facts: I64, of_main: bool) -> None:
    """Write the box of each blob, or that of its most common colour."""
    for b in range(len(facts)):
        facts[b, codes.TOP], facts[b, codes.LEFT] = h, w
        facts[b, codes.BOTTOM] = facts[b, codes.RIGHT] = -1
    for i in range(h * w):
        b, r, c = blob[i], i // w, i % w
        if b >= 0 and (not of_main or src[cells + i] == facts[b, codes.MAIN]):
            own = facts[b]
            own[codes.TOP], own[codes.BOTTOM] = min(own[codes.TOP], r), max(own[codes.BOTTOM], r)
            own[codes.LEFT], own[codes.RIGHT] = min(own[codes.LEFT], c), max(own[codes.RIGHT], c)


@kernel
def describe(src: U8, cells: int, h: int, w: int, blob: I64, facts: I64) -> int:
    """Write the fields of each blob; return the largest number of colours of a blob."""
    for i in range(h * w):
        if blob[i] >= 0:
            facts[blob[i], src[cells + i]] += 1
            facts[blob[i], codes.CELLS] += 1
    most = 0
    for b in range(len(facts)):
        for colour in range(10):
            facts[b, codes.KINDS] += 1 if facts[b, colour] > 0 else 0
            if facts[b, colour] > facts[b, facts[b, codes.MAIN]]:
                facts[b, codes.MAIN] = colour
        most = max(most, facts[b, codes.KINDS])
    find_boxes(src, cells, h, w, blob, facts, most < 0)
    return most


@kernel
def keep_inside(src: U8, cells: int, h: int, w: int, blob: I64, facts: I64) -> None:
    """Remove from each blob the cells outside the box of its most common colour."""
    find_boxes(src, cells, h, w, blob, facts, h > 0)
    for i in range(h * w):
        if blob[i] >= 0:
            own, r, c = facts[blob[i]], i // w, i % w
            if not (own[codes.TOP] <= r <= own[codes.BOTTOM]) or not (
                own[codes.LEFT] <= c <= own[codes.RIGHT]
            ):
                own[src[cells + i]] -= 1
                own[codes.CELLS] -= 1
                blob[i] = -1


@kernel
def copies(
    src: U8, cells: int, h: int, w: int, back: int, blob: I64, facts: I64, most: int, p: int,
    out: U8, to: int,
) -> int:  # fmt: skip
    """Draw each template wherever a part of it recurs; see the twin."""
    if p & codes.INSIDE:
        keep_inside(src, cells, h, w, blob, facts)
    taken, spare = np.zeros(h * w, np.uint8), numbers(10)
    for i in range(h * w):
        if blob[i] >= 0 and facts[blob[i], codes.KINDS] == most:
            taken[i] = 1
        else:
            spare[src[cells + i]] += 1
    place = put_grid(out, to, h, w)
    for i in range(h * w):
        out[place + i] = back if p & codes.ALONE else src[cells + i]
    drawn, image = 0, np.empty((h * w, 3), np.int64)
    for b in range(len(facts)):
        if facts[b, codes.KINDS] != most:
            continue
        for of_main in range(2):
            for size in range(codes.LARGEST, 0, -1):
                if not enough(facts[b], spare, of_main, size):
                    continue
                for symmetry in range(8):
                    n = transformed(
                        src, cells, w, blob, facts[b], b, of_main, symmetry, size, image
                    )
                    drawn += draw_copies(
                        src, cells, h, w, back, image[:n], size, taken, spare, out, place
                    )
    return place + h * w if drawn > 0 else FAIL


@kernel
def enough(own: I64, spare: I64, of_main: int, size: int) -> bool:
    """Whether there are enough cells of each colour for the part of a template at this scale."""
    some = False
    for colour in range(10):
        if own[colour] > 0 and (colour == own[codes.MAIN]) == (of_main == 1):
            some = True
            if own[colour] * size * size > spare[colour]:
                return False
    return some


@kernel
def transformed(
    src: U8, cells: int, w: int, blob: I64, own: I64, b: int, of_main: int, symmetry: int,
    size: int, image: I64,
) -> int:  # fmt: skip
    """List a template's cells (row, column, colour) in a transformed copy; return their number.

    Cells of the part that must match come first, with 10 added to their colours, starting with the
    topmost leftmost of them.
    """
    n, known = 0, 0
    for r in range(own[codes.TOP], own[codes.BOTTOM] + 1):
        for c in range(own[codes.LEFT], own[codes.RIGHT] + 1):
            if blob[r * w + c] != b:
                continue
            y = own[codes.BOTTOM] - r if symmetry & 2 else r - own[codes.TOP]
            x = own[codes.RIGHT] - c if symmetry & 1 else c - own[codes.LEFT]
            y, x = (x * size, y * size) if symmetry & 4 else (y * size, x * size)
            colour = byte(src, cells + r * w + c)
            image[n, 0], image[n, 1], image[n, 2] = y, x, colour
            if (colour == own[codes.MAIN]) == (of_main == 1):
                image[n, 2] += 10
                swap(image, n, known)
                if image[known, 0] * 128 + image[known, 1] < image[0, 0] * 128 + image[0, 1]:
                    swap(image, known, known * 0)
                known += 1
            n += 1
    return n


@kernel
def swap(image: I64, i: int, j: int) -> None:
    """Exchange two rows."""
    for field in range(3):
        image[i, field], image[j, field] = image[j, field], image[i, field]


@kernel
def draw_copies(
    src: U8, cells: int, h: int, w: int, back: int, image: I64, size: int, taken: U8, spare: I64,
    out: U8, place: int,
) -> int:  # fmt: skip
    """Draw an image wherever its part matches and the rest is free; return the number of copies."""
    drawn = 0
    for i in range(h * w):
        if src[cells + i] != image[0, 2] - 10 or taken[i]:
            continue
        row, col = i // w - image[0, 0], i % w - image[0, 1]
        if not may_lie(src, cells, h, w, back, image, size, taken, row, col):
            continue
        drawn += 1
        for j in range(len(image)):
            known = image[j, 2] >= 10
            for y in range(row + image[j, 0], row + image[j, 0] + size):
                for x in range(col + image[j, 1], col + image[j, 1] + size):
                    if 0 <= y < h and 0 <= x < w:
                        out[place + y * w + x] = image[j, 2] % 10
                        if known:
                            taken[y * w + x] = 1
                            spare[image[j, 2] - 10] -= 1
    return drawn


@kernel
def may_lie(
    src: U8, cells: int, h: int, w: int, back: int, image: I64, size: int, taken: U8, row: int,
    col: int,
) -> bool:  # fmt: skip
    """Whether a copy's part matches, the rest is background, outside or right, not all right."""
    blank = False
    for j in range(len(image)):
        known = image[j, 2] >= 10
        for y in range(row + image[j, 0], row + image[j, 0] + size):
            for x in range(col + image[j, 1], col + image[j, 1] + size):
                inside = 0 <= y < h and 0 <= x < w
                if known and (not inside or taken[y * w + x]):
                    return False
                if inside:
                    there = src[cells + y * w + x]
                    if there != image[j, 2] % 10:
                        if known or there != back:
                            return False
                        blank = True
    return blank


@kernel
def stamp(
    src: U8, cells: int, h: int, w: int, back: int, blob: I64, facts: I64, out: U8, to: int
) -> int:
    """Replace every blob of one colour by the template, centred on it; see the twin."""
    best, marks = 0, 0
    for b in range(len(facts)):
        marks += 1 if facts[b, codes.KINDS] == 1 else 0
        ahead = facts[b, codes.KINDS] - facts[best, codes.KINDS]
        if ahead > 0 or (ahead == 0 and facts[b, codes.CELLS] > facts[best, codes.CELLS]):
            best = b
    if marks == 0:
        return FAIL
    place = put_grid(out, to, h, w)
    for i in range(h * w):
        gone = blob[i] >= 0 and facts[blob[i], codes.KINDS] == 1
        out[place + i] = back if gone else src[cells + i]
    own = facts[best]
    for b in range(len(facts)):
        if facts[b, codes.KINDS] != 1:
            continue
        down = facts[b, codes.TOP] + facts[b, codes.BOTTOM] - own[codes.TOP] - own[codes.BOTTOM]
        along = facts[b, codes.LEFT] + facts[b, codes.RIGHT] - own[codes.LEFT] - own[codes.RIGHT]
        if down % 2 or along % 2:
            return FAIL
        for r in range(own[codes.TOP], own[codes.BOTTOM] + 1):
            for c in range(own[codes.LEFT], own[codes.RIGHT] + 1):
                y, x = r + down // 2, c + along // 2
                if blob[r * w + c] == best and 0 <= y < h and 0 <= x < w:
                    out[place + y * w + x] = src[cells + r * w + c]
    return place + h * w
