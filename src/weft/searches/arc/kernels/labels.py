"""The kernel that finds a grid's connected components, measures each, and paints it accordingly.

    cells → parts (numbered in scan order of first cells) → bounding boxes → measure → grade → paint

The parameter `p` of `label` is the sum of a measure (a multiple of 8) and a grade; `q` selects
which cells form parts and what is painted.
"""

from __future__ import annotations

import numpy as np

from weft.searches.arc.codes import labels as codes
from weft.searches.arc.kernels.colours import extreme_colour
from weft.searches.arc.kernels.compiled import kernel
from weft.searches.arc.kernels.layout import FAIL, I64, U8, byte, put_grid
from weft.searches.arc.kernels.objectparts import numbers, spread


@kernel
def label(src: U8, at: int, p: int, q: int, out: U8, to: int) -> int:
    """Paint each part with its graded measure."""
    h, w = byte(src, at), byte(src, at + 1)
    part = np.full(h * w, -1, np.int64)
    n = find_parts(src, at + 2, h, w, q, part)
    boxes = np.zeros((n, 5), np.int64)
    n = find_boxes(part, h, w, q, boxes)
    if n == 0:
        return FAIL
    value = np.zeros(n, np.int64)
    measure(src, at + 2, h, w, part, boxes, p & ~7, value)
    grade(value, p & 7)
    cells = put_grid(out, to, h, w)
    for i in range(h * w):
        if part[i] >= 0 and q & codes.BOX == 0:
            out[cells + i] = value[part[i]]
        elif q & (codes.KEEP | codes.BOX):
            out[cells + i] = src[at + 2 + i]
    if q & codes.BOX:
        for k in range(n):
            for r in range(boxes[k, codes.TOP], boxes[k, codes.BOTTOM] + 1):
                for c in range(boxes[k, codes.LEFTMOST], boxes[k, codes.RIGHT] + 1):
                    if src[at + 2 + r * w + c] == 0:
                        out[cells + r * w + c] = value[k]
    return cells + h * w


@kernel
def find_parts(src: U8, first: int, h: int, w: int, q: int, part: I64) -> int:
    """Number the parts in scan order of their first cells; return the number of parts."""
    which, links, n = q & 12, q & 3, 0
    code, queue = numbers(h * w), numbers(h * w)
    for i in range(h * w):
        own = byte(src, first + i)
        chosen = (own == 0) == (which == codes.BLACK)
        code[i] = (own if which == codes.PLAIN or links == codes.COLOUR else 1) if chosen else -1
    for start in range(h * w):
        if code[start] < 0:
            continue
        if links == codes.COLOUR:
            colour = code[start]
            for i in range(start, h * w):
                if code[i] == colour:
                    part[i], code[i] = n, -1
        else:
            for i in range(spread(code, h, w, start, links, queue)):
                part[queue[i]] = n
        n += 1
    return n


@kernel
def find_boxes(part: I64, h: int, w: int, q: int, boxes: I64) -> int:
    """Write the size and edges of each part; drop unwanted parts and renumber the others."""
    for k in range(len(boxes)):
        boxes[k, codes.TOP], boxes[k, codes.LEFTMOST] = h, w
    for i in range(h * w):
        k, r, c = part[i], i // w, i % w
        if k >= 0:
            boxes[k, codes.COUNT] += 1
            boxes[k, codes.TOP] = min(boxes[k, codes.TOP], r)
            boxes[k, codes.LEFTMOST] = min(boxes[k, codes.LEFTMOST], c)
            boxes[k, codes.BOTTOM] = max(boxes[k, codes.BOTTOM], r)
            boxes[k, codes.RIGHT] = max(boxes[k, codes.RIGHT], c)
    if q & codes.ENCLOSED == 0:
        return len(boxes)
    number = np.full(len(boxes), -1, np.int64)
    n = 0
    for k in range(len(boxes)):
        if not on_edge(boxes, k, h, w):
            number[k] = n
            for field in range(5):
                boxes[n, field] = boxes[k, field]
            n += 1
    for i in range(h * w):
        if part[i] >= 0:
            part[i] = number[part[i]]
    return n


@kernel
def on_edge(boxes: I64, k: int, h: int, w: int) -> bool:
    """Whether a part touches the edge of the grid."""
    inside = boxes[k, codes.TOP] > 0 and boxes[k, codes.LEFTMOST] > 0
    return not (inside and boxes[k, codes.BOTTOM] < h - 1 and boxes[k, codes.RIGHT] < w - 1)


@kernel
def measure(
    src: U8, first: int, h: int, w: int, part: I64, boxes: I64, what: int, value: I64
) -> None:
    """Measure each part: see the twin for the measures."""
    if what == codes.HOLES:
        count_holes(part, h, w, value)
    elif what in (codes.MAIN, codes.AROUND):
        measure_colours(src, first, h, w, part, what, value)
    elif what == codes.COPIES:
        count_copies(part, w, boxes, value)
    else:
        for k in range(len(value)):
            high = boxes[k, codes.BOTTOM] - boxes[k, codes.TOP] + 1
            wide = boxes[k, codes.RIGHT] - boxes[k, codes.LEFTMOST] + 1
            if what == codes.SIZE:
                value[k] = boxes[k, codes.COUNT]
            elif what == codes.ORDER:
                value[k] = k + 1
            elif what == codes.EDGE:
                value[k] = 1 + on_edge(boxes, k, h, w)
            elif what == codes.SOLID:
                value[k] = 1 if boxes[k, codes.COUNT] < high * wide else (3 if high == wide else 2)
            else:
                value[k] = symmetry(src, first, w, part, boxes, k)


@kernel
def count_holes(part: I64, h: int, w: int, value: I64) -> None:
    """Write each part's number of holes plus 1, from its Euler number.

    Gray (1971): with 8-connectivity, four times the Euler number is the number of 2x2 windows with
    one cell of the part, less those with three, less twice those with two diagonal cells.
    """
    window = np.zeros(4, np.int64)
    for r in range(h + 1):
        for c in range(w + 1):
            for i in range(4):
                y, x = r - i // 2, c - i % 2
                window[i] = part[y * w + x] if 0 <= y < h and 0 <= x < w else -1
            for i in range(4):
                k, same, fresh = window[i], 0, window[i] >= 0
                for j in range(4):
                    same += window[j] == k
                    fresh = fresh and (j >= i or window[j] != k)
                if fresh and same == 1:
                    value[k] += 1
                elif fresh and same == 3:
                    value[k] -= 1
                elif fresh and same == 2 and window[3 - i] == k:
                    value[k] -= 2
    for k in range(len(value)):
        value[k] = 2 - value[k] // 4


@kernel
def measure_colours(src: U8, first: int, h: int, w: int, part: I64, what: int, value: I64) -> None:
    """Write the most common colour in each part, or (AROUND) beside it, black excluded there."""
    counts = np.zeros((len(value), 10), np.int64)
    for i in range(h * w):
        if part[i] >= 0 and what != codes.AROUND:
            counts[part[i], src[first + i]] += 1
        for d in range(4):
            r = i // w + (1, -1, 0, 0)[d]
            c = i % w + (0, 0, 1, -1)[d]
            if what == codes.AROUND and 0 <= r < h and 0 <= c < w:
                k, there = part[r * w + c], byte(src, first + i)
                if k >= 0 and part[i] != k and there > 0:
                    counts[k, there] += 1
    for k in range(len(value)):
        value[k] = max(0, extreme_colour(counts[k], what == codes.SIZE))


@kernel
def count_copies(part: I64, w: int, boxes: I64, value: I64) -> None:
    """Count the parts that have each part's shape, itself included; colours do not matter."""
    like = np.zeros(len(value), np.int64)
    for k in range(len(value)):
        like[k] = k
        for j in range(k):
            if like[j] == j and same_shape(part, w, boxes, j, k):
                like[k] = j
                break
        value[like[k]] += 1
    for k in range(len(value)):
        value[k] = value[like[k]]


@kernel
def same_shape(part: I64, w: int, boxes: I64, j: int, k: int) -> bool:
    """Whether two parts have the same shape, apart from their positions."""
    down, along = (
        boxes[k, codes.TOP] - boxes[j, codes.TOP],
        boxes[k, codes.LEFTMOST] - boxes[j, codes.LEFTMOST],
    )
    same = bool(boxes[j, codes.COUNT] == boxes[k, codes.COUNT])
    same = same and boxes[j, codes.BOTTOM] + down == boxes[k, codes.BOTTOM]
    if not same or boxes[j, codes.RIGHT] + along != boxes[k, codes.RIGHT]:
        return False
    for r in range(boxes[j, codes.TOP], boxes[j, codes.BOTTOM] + 1):
        for c in range(boxes[j, codes.LEFTMOST], boxes[j, codes.RIGHT] + 1):
            if (part[r * w + c] == j) != (part[(r + down) * w + c + along] == k):
                return False
    return True


@kernel
def symmetry(src: U8, first: int, w: int, part: I64, boxes: I64, k: int) -> int:
    """Return 1, plus 1 if a part is left-right symmetric, plus 2 if top-bottom; colours count."""
    columns, rows = True, True
    for r in range(boxes[k, codes.TOP], boxes[k, codes.BOTTOM] + 1):
        for c in range(boxes[k, codes.LEFTMOST], boxes[k, codes.RIGHT] + 1):
            here = r * w + c
            if part[here] != k:
                continue
            there = r * w + boxes[k, codes.LEFTMOST] + boxes[k, codes.RIGHT] - c
            columns = columns and part[there] == k and src[first + there] == src[first + here]
            there = (boxes[k, codes.TOP] + boxes[k, codes.BOTTOM] - r) * w + c
            rows = rows and part[there] == k and src[first + there] == src[first + here]
    return 1 + columns + 2 * rows


@kernel
def grade(value: I64, how: int) -> None:
    """Convert measures to labels from 0 to 9: see the twin for the grades."""
    most = least = value[0]
    for k in range(len(value)):
        most, least = max(most, value[k]), min(least, value[k])
    rank = np.zeros(most + 1, np.int64)
    if how == codes.RANK:
        for k in range(len(value)):
            rank[value[k]] = 1
        for v in range(most - 1, -1, -1):
            rank[v] += rank[v + 1]
    for k in range(len(value)):
        if how == codes.RANK:
            value[k] = rank[value[k]]
        elif how == codes.MOST:
            value[k] = 1 if value[k] == most else 2
        elif how == codes.LEAST:
            value[k] = 1 if value[k] == least else 2
        elif how == codes.PARITY:
            value[k] = 1 + value[k] % 2
        value[k] = min(value[k], 9)
