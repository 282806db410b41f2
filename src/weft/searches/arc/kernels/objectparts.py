"""Shared by kernels on objects: flood fill, reading objects, measuring them.

A measure is a small number that describes one object of a set; picks, filters, sorts and labels
all use measures. `ALIKE` added to a measure's number means the number of objects of the set that
share the measure.

numba compiles a function again for each literal number that it is called with, so callers pass
computed numbers.
"""

from __future__ import annotations

import numpy as np

from weft.searches.arc.codes import objectparts as codes
from weft.searches.arc.kernels.colours import colour_counts, extreme_colour, most_common
from weft.searches.arc.kernels.compiled import kernel
from weft.searches.arc.kernels.layout import FAIL, I64, U8, byte, object_end, put_piece
from weft.searches.arc.values import EMPTY, MAX_OBJECTS, ORIGIN


@kernel
def new_starts() -> I64:
    """Allocate one number per object of a set."""
    return np.zeros(MAX_OBJECTS, np.int64)


@kernel
def new_counts() -> I64:
    """Allocate one number per colour, and one for empty cells."""
    return np.zeros(EMPTY + 1, np.int64)


@kernel
def numbers(n: int) -> I64:
    """Allocate `n` numbers."""
    return np.zeros(n, np.int64)


@kernel
def spread(code: I64, h: int, w: int, start: int, eight: int, queue: I64) -> int:
    """Flood fill from `start` through cells of its non-negative code; return the number of cells.

    Their code becomes -1 and `queue` lists them, `start` first.
    """
    own = code[start]
    code[start] = -1
    queue[0] = start
    n, head = 1, 0
    while head < n:
        r, c = queue[head] // w, queue[head] % w
        head += 1
        for y in range(max(r - 1, 0), min(r + 2, h)):
            for x in range(max(c - 1, 0), min(c + 2, w)):
                if code[y * w + x] == own and (eight or y == r or x == c):
                    code[y * w + x] = -1
                    queue[n] = y * w + x
                    n += 1
    return n


@kernel
def on_edge(queue: I64, n: int, h: int, w: int) -> bool:
    """Whether one of the first `n` cells in `queue` is at the edge of an h × w grid."""
    for i in range(n):
        r, c = queue[i] // w, queue[i] % w
        if r == 0 or c == 0 or r == h - 1 or c == w - 1:
            return True
    return False


@kernel
def object_starts(src: U8, at: int, starts: I64) -> int:
    """Write where each object of the set begins; return the number of objects."""
    n, place = byte(src, at), at + 1
    for i in range(n):
        starts[i] = place
        place = object_end(src, place)
    return n


@kernel
def put_tight(cells: U8, r: int, c: int, h: int, w: int, out: U8, to: int) -> int:
    """Write the object of `cells` at r, c in its smallest box; FAIL if it has no cells."""
    top, bottom, left, right = h, -1, w, -1
    for y in range(h):
        for x in range(w):
            if cells[y * w + x] != EMPTY:
                top, bottom = min(top, y), max(bottom, y)
                left, right = min(left, x), max(right, x)
    if bottom < 0:
        return FAIL
    place = put_piece(out, to, r + top, c + left, bottom - top + 1, right - left + 1)
    if place == FAIL:
        return FAIL
    for y in range(top, bottom + 1):
        for x in range(left, right + 1):
            out[place] = cells[y * w + x]
            place += 1
    return place


@kernel
def cover_holes(src: U8, cells_at: int, h: int, w: int, holes: U8) -> int:
    """Set `holes` to 1 at enclosed empty cells (4-connected), else to 0; return the hole count."""
    code, queue = numbers(h * w), numbers(h * w)
    eight = int(np.int64(0))
    for i in range(h * w):
        code[i] = 1 if src[cells_at + i] == EMPTY else -1
        holes[i] = 0
    count = 0
    for i in range(h * w):
        if code[i] < 0:
            continue
        n = spread(code, h, w, i, eight, queue)
        if not on_edge(queue, n, h, w):
            count += 1
            for j in range(n):
                holes[queue[j]] = 1
    return count


@kernel
def same_shape(src: U8, a: int, b: int) -> bool:
    """Whether two objects have boxes of equal size and cells at the same positions in them."""
    if src[a + 2] != src[b + 2] or src[a + 3] != src[b + 3]:
        return False
    for i in range(4, 4 + byte(src, a + 2) * byte(src, a + 3)):
        if (src[a + i] == EMPTY) != (src[b + i] == EMPTY):
            return False
    return True


@kernel
def symmetries(src: U8, cells: int, h: int, w: int) -> int:
    """Count the mirrors (columns, rows, both diagonals) that leave the cells unchanged."""
    count = 0
    for mirror in range(4):
        equal = mirror < 2 or h == w
        for r in range(h):
            if not equal:
                break
            for c in range(w):
                y, x = r, c
                if mirror == 0:
                    x = w - 1 - c
                elif mirror == 1:
                    y = h - 1 - r
                elif mirror == 2:
                    y, x = c, r
                else:
                    y, x = w - 1 - c, h - 1 - r
                if src[cells + r * w + c] != src[cells + y * w + x]:
                    equal = False
                    break
        count += 1 if equal else 0
    return count


@kernel
def measure(src: U8, starts: I64, i: int, what: int, inp: U8, inp_at: int) -> int:
    """Measure one object of a set; see the twin for the measures."""
    at = starts[i]
    h, w = byte(src, at + 2), byte(src, at + 3)
    if what < codes.CELLS:
        return measure_box(
            byte(src, at) - ORIGIN, byte(src, at + 1) - ORIGIN, h, w, i, what, inp, inp_at
        )
    if what == codes.HOLES:
        return cover_holes(src, at + 4, h, w, np.empty(h * w, np.uint8))
    if what == codes.SYMMETRY:
        return symmetries(src, at + 4, h, w)
    if what == codes.SHAPE:
        for j in range(i):
            if same_shape(src, starts[j], at):
                return j
        return i
    return measure_cells(src, at + 4, h * w, what)


@kernel
def measure_box(r: int, c: int, h: int, w: int, i: int, what: int, inp: U8, inp_at: int) -> int:
    """Return a measure that depends only on the box and the index in the set."""
    if what == codes.INDEX:
        return i + 1
    if what == codes.TOP:
        return r
    if what == codes.BOTTOM:
        return r + h
    if what == codes.LEFT:
        return c
    if what == codes.RIGHT:
        return c + w
    if what == codes.AREA:
        return h * w
    if what == codes.HEIGHT:
        return h
    inside = r > 0 and c > 0 and r + h < byte(inp, inp_at) and c + w < byte(inp, inp_at + 1)
    return 0 if inside else 1


@kernel
def measure_cells(src: U8, cells: int, area: int, what: int) -> int:
    """Return a measure that counts cells by colour."""
    counts = colour_counts(src, cells, area)
    held: int = area - counts[EMPTY]
    best = max(extreme_colour(counts, area < 0), 0)
    if what == codes.CELLS:
        return held
    if what == codes.COLOURS:
        kinds = 0
        for colour in range(10):
            kinds += 1 if counts[colour] > 0 else 0
        return kinds
    if what == codes.COLOUR:
        return best
    return 1 if held == area else 0


@kernel
def measure_all(src: U8, at: int, what: int, inp: U8, inp_at: int, starts: I64, values: I64) -> int:
    """Find and measure all objects of a set; return their number."""
    n = object_starts(src, at, starts)
    base = what % codes.ALIKE
    for i in range(n):
        values[i] = measure(src, starts, i, base, inp, inp_at)
    if what >= codes.ALIKE:
        plain = new_starts()
        for i in range(n):
            plain[i] = values[i]
        for i in range(n):
            values[i] = 0
            for j in range(n):
                values[i] += 1 if plain[j] == plain[i] else 0
    return n


@kernel
def common_colour(src: U8, at: int) -> int:
    """Return the most common colour of the object at `at`; ties go to the lowest."""
    return most_common(src, at + 4, byte(src, at + 2), byte(src, at + 3))
