"""Compiled steps of rules on grids of equal sizes, and the whole of `neighbours`."""

from __future__ import annotations

import numpy as np

from weft.searches.arc.kernels.compiled import entry, kernel
from weft.searches.arc.kernels.layout import I64, U8, byte

CROSS, COUNT, EQUAL, SINGLE, TURNED, FULL = range(6)
FEATURES = 6
LENGTHS = (5, 2, 2, 2, 9, 9)
CROSS_TURNED, NO_FEATURE = 6, 7
COARSE = (NO_FEATURE, NO_FEATURE, NO_FEATURE, NO_FEATURE, CROSS_TURNED, CROSS)
"""The coarser feature by which a feature's unseen patterns are judged."""
OUTSIDE = 10
MAX_PATTERNS = 4096
MAX_SLOTS = 16384
FEW_SLOTS = 1024
NONE = 255
SEVERAL = 255
SYMMETRIES = np.array(
    [
        [0, 1, 2, 3, 4, 5, 6, 7, 8],
        [2, 1, 0, 5, 4, 3, 8, 7, 6],
        [6, 7, 8, 3, 4, 5, 0, 1, 2],
        [8, 7, 6, 5, 4, 3, 2, 1, 0],
        [0, 3, 6, 1, 4, 7, 2, 5, 8],
        [6, 3, 0, 7, 4, 1, 8, 5, 2],
        [2, 5, 8, 1, 4, 7, 0, 3, 6],
        [8, 5, 2, 7, 4, 1, 6, 3, 0],
    ],
    np.int64,
)
"""The eight ways to read a 3×3 square."""


@kernel
def sizes_equal(a: U8, a_offsets: I64, b: U8, b_offsets: I64, n: int) -> bool:
    """Whether the first n grids of two vectors have equal sizes."""
    for e in range(n):
        i, j = a_offsets[e], b_offsets[e]
        if a[i] != b[j] or a[i + 1] != b[j + 1]:
            return False
    return True


@kernel
def vectors_equal(a: U8, a_offsets: I64, b: U8, b_offsets: I64, n: int) -> bool:
    """Whether the first n grids of two vectors are equal."""
    for e in range(n):
        i, j = a_offsets[e], b_offsets[e]
        for k in range(2 + byte(a, i) * byte(a, i + 1)):
            if a[i + k] != b[j + k]:
                return False
    return True


@kernel
def maps_colours(src: U8, offsets: I64, targets: U8, target_offsets: I64) -> bool:
    """Whether equal colours always become equal colours; sizes are equal."""
    table = np.full(10, NONE, np.uint8)
    for e in range(len(target_offsets)):
        i, j = offsets[e] + 2, target_offsets[e] + 2
        for k in range(byte(src, i - 2) * byte(src, i - 1)):
            old, new = src[i + k], targets[j + k]
            if table[old] == NONE:
                table[old] = new
            elif table[old] != new:
                return False
    return True


@kernel
def maps_cells(
    src: U8, offsets: I64, inp: U8, inp_offsets: I64, targets: U8, target_offsets: I64
) -> bool:
    """Whether grid and input decide together, and the input alone does not; sizes are equal."""
    table, alone, enough = np.full(100, NONE, np.uint8), np.full(10, NONE, np.uint8), True
    for e in range(len(target_offsets)):
        i, g, j = offsets[e] + 2, inp_offsets[e] + 2, target_offsets[e] + 2
        for k in range(byte(src, i - 2) * byte(src, i - 1)):
            given, new = byte(inp, g + k), targets[j + k]
            both = byte(src, i + k) * 10 + given
            if table[both] == NONE:
                table[both] = new
            elif table[both] != new:
                return False
            if alone[given] == NONE:
                alone[given] = new
            elif alone[given] != new:
                enough = False
    return not enough


@kernel
def read_around(src: U8, cells: int, h: int, w: int, k: int, around: I64) -> None:
    """Read the 3×3 square around cell k."""
    row, col = k // w, k % w
    n = 0
    for r in range(row - 1, row + 2):
        for c in range(col - 1, col + 2):
            inside = 0 <= r < h and 0 <= c < w
            around[n] = byte(src, cells + r * w + c) if inside else OUTSIDE
            n += 1


@kernel
def least_turn(around: I64, first: int, step: int) -> int:
    """Return the symmetry that reads the cells (all, or every other one) as the least sequence."""
    best = 0
    for symmetry in range(1, 8):
        for n in range(first, 9, step):
            there, here = around[SYMMETRIES[symmetry, n]], around[SYMMETRIES[best, n]]
            if there != here:
                if there < here:
                    best = symmetry
                break
    return best


@kernel
def key_of(feature: int, around: I64) -> int:
    """Return what a feature reads, as one number with a base-11 digit for each symbol."""
    centre = int(around[4])
    if feature == CROSS:
        key = (centre * 11 + int(around[1])) * 11 + int(around[7])
        return (key * 11 + int(around[3])) * 11 + int(around[5])
    if feature == CROSS_TURNED:
        best, key = least_turn(around, 1, 2), centre
        for n in range(1, 9, 2):
            key = key * 11 + int(around[SYMMETRIES[best, n]])
        return key
    if feature >= TURNED:
        best, key = least_turn(around, 0, 1) if feature == TURNED else 0, 0
        for n in range(9):
            key = key * 11 + int(around[SYMMETRIES[best, n]])
        return key
    summary = 0
    for n in range(9):
        cell = int(around[n])
        if n == 4 or cell == OUTSIDE:
            continue
        if feature == COUNT:
            summary += cell != 0
        elif feature == EQUAL:
            summary += cell == centre
        elif cell not in (0, summary):
            summary = cell if summary == 0 else OUTSIDE
    return centre * 11 + summary


@kernel
def slot_of(keys: I64, key: int) -> int:
    """Return the slot of a key, or a free one; the number of slots is a power of two."""
    mask = len(keys) - 1
    slot = (key * 2654435761 >> 7) & mask
    while keys[slot] >= 0 and keys[slot] != key:
        slot = (slot + 1) & mask
    return slot


@kernel
def squares_agree(src: U8, offsets: I64, targets: U8, target_offsets: I64) -> bool:
    """Whether equal 3×3 squares become equal colours, as far as a small table shows.

    Every feature is a function of the square: if squares contradict each other, so do its patterns.
    """
    keys, outs = np.full(FEW_SLOTS, -1, np.int64), np.empty(FEW_SLOTS, np.uint8)
    around = np.empty(9, np.int64)
    count = 0
    for e in range(len(target_offsets)):
        i, j = offsets[e] + 2, target_offsets[e] + 2
        h, w = byte(src, i - 2), byte(src, i - 1)
        for k in range(h * w):
            read_around(src, i, h, w, k, around)
            key = key_of(FULL, around)
            slot = slot_of(keys, key)
            if keys[slot] < 0:
                if count == FEW_SLOTS // 2:
                    return True
                count += 1
                keys[slot] = key
                outs[slot] = targets[j + k]
            elif outs[slot] != targets[j + k]:
                return False
    return True


@kernel
def squares_of(src: U8, offsets: I64, first: int, last: int) -> I64:
    """Return the 3×3 square around every cell of some examples, one per row."""
    total, n = 0, 0
    for e in range(first, last):
        total += byte(src, offsets[e]) * byte(src, offsets[e] + 1)
    squares = np.empty((total, 9), np.int64)
    for e in range(first, last):
        i = offsets[e] + 2
        h, w = byte(src, i - 2), byte(src, i - 1)
        for k in range(h * w):
            read_around(src, i, h, w, k, squares[n])
            n += 1
    return squares


@kernel
def learn_patterns(
    feature: int, squares: I64, targets: U8, target_offsets: I64, keys: I64, outs: U8, pairs: U8
) -> bool:
    """Fill the table of a feature; False if patterns contradict each other or there are too many.

    `pairs` gets the only training pair in which a pattern occurs, or SEVERAL.
    """
    n, count, most = 0, 0, min(MAX_PATTERNS, len(keys) - 1)
    for e in range(len(target_offsets)):
        j = target_offsets[e] + 2
        for k in range(byte(targets, j - 2) * byte(targets, j - 1)):
            key = key_of(feature, squares[n])
            n += 1
            slot = slot_of(keys, key)
            if keys[slot] < 0:
                if count == most:
                    return False
                count += 1
                keys[slot] = key
                outs[slot] = targets[j + k]
                pairs[slot] = e
            elif outs[slot] != targets[j + k]:
                return False
            elif pairs[slot] != e:
                pairs[slot] = SEVERAL
    return True


@kernel
def learn_calm(feature: int, squares: I64, keys: I64, outs: U8, calm_keys: I64, calm: U8) -> None:
    """Record for every pattern of the coarse feature whether its cells never changed."""
    calm_keys[:] = -1
    for n in range(len(squares)):
        key = key_of(COARSE[feature], squares[n])
        slot = slot_of(calm_keys, key)
        if calm_keys[slot] < 0:
            calm_keys[slot] = key
            calm[slot] = 1
        if outs[slot_of(keys, key_of(feature, squares[n]))] != squares[n, 4]:
            calm[slot] = 0


@kernel
def count_symmetries(squares: I64, keys: I64, raw_keys: I64, orientations: U8) -> None:
    """Record the distinct 3×3 squares, and for every `turned` pattern how many of them it has."""
    raw_keys[:] = -1
    orientations[:] = 0
    for n in range(len(squares)):
        raw = slot_of(raw_keys, key_of(FULL, squares[n]))
        if raw_keys[raw] < 0:
            raw_keys[raw] = key_of(FULL, squares[n])
            orientations[slot_of(keys, key_of(TURNED, squares[n]))] += 1


@kernel
def centre_of(feature: int, key: int) -> int:
    """Return the colour of the centre cell of a key."""
    behind = 1 if COUNT <= feature <= SINGLE else 4
    for _ in range(behind):
        key //= 11
    return key % 11


@kernel
def colours_that_stay(feature: int, keys: I64, outs: U8, pairs: U8) -> int:
    """Return the bits of the colours whose unseen patterns may stay."""
    stay, doubtful = 0, 0
    for slot in range(len(keys)):
        if keys[slot] >= 0:
            centre = centre_of(feature, keys[slot])
            if outs[slot] == centre:
                stay |= 1 << centre
            elif pairs[slot] != SEVERAL:
                doubtful |= 1 << centre
    return stay & ~doubtful


@kernel
def sort(keys: I64, count: int) -> None:
    """Sort the first keys by insertion: they are few, and numba's own sort is slow to compile."""
    for n in range(1, count):
        key, at = keys[n], n
        while at > 0 and keys[at - 1] > key:
            keys[at] = keys[at - 1]
            at -= 1
        keys[at] = key


@kernel
def write_patterns(feature: int, keys: I64, outs: U8, params: U8) -> int:
    """Write the patterns that change, sorted; return their end, or -1 if there are too many."""
    listed, count = np.empty(MAX_PATTERNS, np.int64), 0
    for slot in range(len(keys)):
        if keys[slot] >= 0 and centre_of(feature, keys[slot]) != outs[slot]:
            listed[count] = keys[slot]
            count += 1
    length = LENGTHS[feature]
    if 1 + count * (length + 1) > len(params):
        return -1
    sort(listed, count)
    params[0] = feature
    at = 1
    for n in range(count):
        key = listed[n]
        params[at + length] = outs[slot_of(keys, key)]
        rest = key
        for back in range(1, length + 1):
            params[at + length - back] = rest % 11
            rest //= 11
        at += length + 1
    return at


@kernel
def write_outputs(
    feature: int, src: U8, offsets: I64, keys: I64, outs: U8, out: U8, to: int
) -> int:
    """Apply a table to all examples; return the end of the output."""
    around = np.empty(9, np.int64)
    for e in range(len(offsets)):
        i = offsets[e] + 2
        h, w = byte(src, i - 2), byte(src, i - 1)
        out[to] = h
        out[to + 1] = w
        to += 2
        for k in range(h * w):
            read_around(src, i, h, w, k, around)
            slot = slot_of(keys, key_of(feature, around))
            out[to] = outs[slot] if keys[slot] >= 0 else around[4]
            to += 1
    return to


@kernel
def patterns_cover(feature: int, tests: I64, keys: I64, outs: U8, pairs: U8) -> bool:
    """Whether unseen test patterns may stay, and changing ones occur in several pairs."""
    stay = colours_that_stay(feature, keys, outs, pairs)
    for n in range(len(tests)):
        slot = slot_of(keys, key_of(feature, tests[n]))
        if keys[slot] < 0:
            if not stay >> tests[n, 4] & 1:
                return False
        elif outs[slot] != tests[n, 4] and pairs[slot] != SEVERAL:
            return False
    return True


@kernel
def squares_cover(feature: int, squares: I64, tests: I64, keys: I64, outs: U8) -> bool:
    """Whether unseen test squares have unchanged crosses, and `turned` ones enough evidence."""
    slots = len(keys)
    calm_keys, calm = np.empty(slots, np.int64), np.empty(slots, np.uint8)
    raw_keys, orientations = np.empty(slots, np.int64), np.empty(slots, np.uint8)
    learn_calm(feature, squares, keys, outs, calm_keys, calm)
    if feature == TURNED:
        count_symmetries(squares, keys, raw_keys, orientations)
    for n in range(len(tests)):
        slot = slot_of(keys, key_of(feature, tests[n]))
        if keys[slot] < 0:
            slot = slot_of(calm_keys, key_of(COARSE[feature], tests[n]))
            if calm_keys[slot] < 0 or calm[slot] == 0:
                return False
        elif feature == TURNED and outs[slot] != tests[n, 4] and orientations[slot] < 2:
            raw = slot_of(raw_keys, key_of(FULL, tests[n]))
            if raw_keys[raw] < 0:
                return False
    return True


@entry
def fit_neighbours(
    src: U8, offsets: I64, targets: U8, target_offsets: I64, params: U8, out: U8, ends: I64
) -> bool:
    """Find the first feature that fits and determines everything; write parameters and grids.

    Also False if another such feature gives other grids. `out` has room for two vectors.
    """
    if not sizes_equal(src, offsets, targets, target_offsets, len(target_offsets)):
        return False
    if maps_colours(src, offsets, targets, target_offsets):
        return False
    squares = squares_of(src, offsets, 0, len(target_offsets))
    tests = squares_of(src, offsets, len(target_offsets), len(offsets))
    slots = 256
    while slots < 2 * len(squares) and slots < MAX_SLOTS:
        slots *= 2
    keys, outs = np.empty(slots, np.int64), np.empty(slots, np.uint8)
    pairs, spare = np.empty(slots, np.uint8), np.empty(len(params), np.uint8)
    is_fitted = False
    for feature in range(FEATURES):
        keys[:] = -1
        if not learn_patterns(feature, squares, targets, target_offsets, keys, outs, pairs):
            continue
        if not patterns_cover(feature, tests, keys, outs, pairs):
            continue
        if COARSE[feature] != NO_FEATURE and not squares_cover(feature, squares, tests, keys, outs):
            continue
        end = write_patterns(feature, keys, outs, spare if is_fitted else params)
        if end < 0:
            continue
        if not is_fitted:
            is_fitted = True
            ends[0] = end
            ends[1] = write_outputs(feature, src, offsets, keys, outs, out, 0)
        else:
            write_outputs(feature, src, offsets, keys, outs, out, ends[1])
            for k in range(ends[1]):
                if out[k] != out[ends[1] + k]:
                    return False
    return is_fitted
