"""Kernels on ordered sets of objects: choose among them by measures, and change them."""

from __future__ import annotations

import numpy as np

from weft.searches.arc.codes import sets as codes
from weft.searches.arc.kernels.attraction import attract
from weft.searches.arc.kernels.colours import only_extreme
from weft.searches.arc.kernels.compiled import kernel
from weft.searches.arc.kernels.layout import FAIL, I64, U8, byte, object_end
from weft.searches.arc.kernels.objectparts import (
    measure_all,
    new_counts,
    new_starts,
    numbers,
    object_starts,
)
from weft.searches.arc.kernels.setgrids import lay_out, overlay
from weft.searches.arc.values import EMPTY, ORIGIN


@kernel
def run_sets(
    k: int, src: U8, at: int, inp: U8, inp_at: int, p: int, q: int, out: U8, to: int
) -> int:
    """Run the kernel with number `k` (400 and above)."""
    if k <= codes.SUM:
        return by_measure(k, src, at, inp, inp_at, p, q, out, to)
    if k == codes.SHIFT:
        return shift(src, at, inp, inp_at, p, out, to)
    if k == codes.OVERLAY:
        return overlay(src, at, p, out, to)
    if k == codes.LAY_OUT:
        return lay_out(src, at, p, q, out, to)
    return attract(src, at, p, q, out, to)


@kernel
def copy(src: U8, at: int, end: int, out: U8, to: int) -> int:
    """Copy bytes; return where the copy ends."""
    for i in range(end - at):
        out[to + i] = src[at + i]
    return to + end - at


@kernel
def extreme(values: I64, n: int, least: bool) -> int:
    """Return the index of the first largest or smallest value."""
    best = 0
    for i in range(1, n):
        if (values[i] < values[best]) if least else (values[i] > values[best]):
            best = i
    return best


@kernel
def by_measure(
    k: int, src: U8, at: int, inp: U8, inp_at: int, p: int, q: int, out: U8, to: int
) -> int:
    """Measure all objects by `p` and apply kernel `k` to the measures."""
    starts, values = new_starts(), new_starts()
    n = measure_all(src, at, p, inp, inp_at, starts, values)
    if k == codes.SUM:
        return put_sum(values, n, q, out, to)
    if n == 0:
        return FAIL
    if k == codes.PICK:
        return put_picked(src, starts, values, n, q, out, to)
    if k == codes.FILTER:
        return put_kept(src, starts, values, n, q, out, to)
    if k == codes.SORT:
        return put_sorted(src, starts, values, n, q, out, to)
    return put_labelled(src, starts, values, n, q, out, to)


@kernel
def put_picked(src: U8, starts: I64, values: I64, n: int, q: int, out: U8, to: int) -> int:
    """Write the object with the extreme value; if several have it, FAIL or the first, by `q`."""
    best = extreme(values, n, q % 2 == 1)
    if q <= codes.LEAST:
        for i in range(best + 1, n):
            if values[i] == values[best]:
                return FAIL
    return copy(src, starts[best], object_end(src, starts[best]), out, to)


@kernel
def put_kept(src: U8, starts: I64, values: I64, n: int, q: int, out: U8, to: int) -> int:
    """Write the objects that the filter `q` keeps; FAIL if there are none."""
    limit = values[extreme(values, n, q % 2 == 1)]
    count, place = 0, to + 1
    for i in range(n):
        if keeps(values[i], limit, q):
            place = copy(src, starts[i], object_end(src, starts[i]), out, place)
            count += 1
    if count == 0:
        return FAIL
    out[to] = count
    return place


@kernel
def keeps(value: int, limit: int, q: int) -> bool:
    """Whether a filter keeps an object with this measure; `limit` is the largest or smallest."""
    if q == codes.IS_ZERO:
        return value == 0
    if q == codes.IS_SOME:
        return value > 0
    return (value == limit) == (q <= codes.IS_LEAST)


@kernel
def put_sorted(src: U8, starts: I64, values: I64, n: int, q: int, out: U8, to: int) -> int:
    """Write the set sorted by value, ascending or descending; the sort is stable."""
    out[to] = n
    place = to + 1
    done = numbers(n)
    for _ in range(n):
        best = -1
        for i in range(n):
            if done[i] == 0 and (
                best < 0
                or ((values[i] < values[best]) if q == codes.UP else (values[i] > values[best]))
            ):
                best = i
        done[best] = 1
        place = copy(src, starts[best], object_end(src, starts[best]), out, place)
    return place


@kernel
def put_labelled(src: U8, starts: I64, values: I64, n: int, q: int, out: U8, to: int) -> int:
    """Write all objects, each in the colour of its value or of the value's rank."""
    again = numbers(n)
    for i in range(n):
        for j in range(i):
            if values[j] == values[i]:
                again[i] = 1
    place = to + 1
    out[to] = n
    for i in range(n):
        name = values[i]
        if q != codes.BY_VALUE:
            name = 1
            for j in range(n):
                beyond = values[j] > values[i] if q == codes.BY_RANK_DOWN else values[j] < values[i]
                name += 1 if beyond and again[j] == 0 else 0
        name = min(max(name, 0), 9)
        end = copy(src, starts[i], object_end(src, starts[i]), out, place)
        for j in range(place + 4, end):
            if out[j] != EMPTY:
                out[j] = name
        place = end
    return place


@kernel
def cover(src: U8, at: int, r: int, c: int, taken: I64, h: int, w: int, by: int) -> bool:
    """Add `by` to `taken` at the cells of an object at r, c; False if one of them is outside."""
    wide = byte(src, at + 3)
    for i in range(byte(src, at + 2) * wide):
        if src[at + 4 + i] != EMPTY:
            y, x = r + i // wide, c + i % wide
            if y < 0 or x < 0 or y >= h or x >= w:
                return False
            taken[y * w + x] += by
    return True


@kernel
def free(src: U8, at: int, r: int, c: int, taken: I64, h: int, w: int) -> bool:
    """Whether an object at r, c would be inside, on cells that are not taken."""
    wide = byte(src, at + 3)
    for i in range(byte(src, at + 2) * wide):
        if src[at + 4 + i] != EMPTY:
            y, x = r + i // wide, c + i % wide
            if y < 0 or x < 0 or y >= h or x >= w or taken[y * w + x] > 0:
                return False
    return True


@kernel
def shift(src: U8, at: int, inp: U8, inp_at: int, p: int, out: U8, to: int) -> int:
    """Let all objects fall in direction `p` (0 down, 1 up, 2 left, 3 right) until they rest."""
    h, w = byte(inp, inp_at), byte(inp, inp_at + 1)
    down, right = (1 - 2 * p if p < 2 else 0), (2 * p - 5 if p >= 2 else 0)
    starts, rows, columns = new_starts(), new_starts(), new_starts()
    n = object_starts(src, at, starts)
    if n == 0:
        return FAIL
    taken, unit = numbers(h * w), int(np.int64(1))
    for i in range(n):
        rows[i] = byte(src, starts[i]) - ORIGIN
        columns[i] = byte(src, starts[i] + 1) - ORIGIN
        empty = True
        for j in range(starts[i] + 4, object_end(src, starts[i])):
            empty = empty and src[j] == EMPTY
        if empty or not cover(src, starts[i], rows[i], columns[i], taken, h, w, unit):
            return FAIL
    moved = True
    while moved:
        moved = False
        for i in range(n):
            cover(src, starts[i], rows[i], columns[i], taken, h, w, -unit)
            while free(src, starts[i], rows[i] + down, columns[i] + right, taken, h, w):
                rows[i] += down
                columns[i] += right
                moved = True
            cover(src, starts[i], rows[i], columns[i], taken, h, w, unit)
    end = copy(src, at, object_end(src, starts[n - 1]), out, to)
    for i in range(n):
        out[to + starts[i] - at] = rows[i] + ORIGIN
        out[to + starts[i] - at + 1] = columns[i] + ORIGIN
    return end


@kernel
def put_sum(values: I64, n: int, q: int, out: U8, to: int) -> int:
    """Write the number of objects, or the value (a colour) that most of them have."""
    out[to] = n
    if q == codes.HOW_MANY:
        return to + 1
    counts = new_counts()
    for i in range(n):
        counts[values[i]] += 1
    best = only_extreme(counts, n < 0)
    out[to] = max(best, 0)
    return FAIL if best < 0 else to + 1
