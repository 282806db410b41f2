"""Rows of MT19937 by 32-bit seed: compares shuffles and samples of all seeds with the first row.

The block of each seed is filled in vector registers, as in `mt`; then the row of every seed is
built separately, element by element, and rejected at the first that differs. The reference
definitions are the maps of `rowmaps`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.searches.prng.kernels.compiled import KERNELS
from weft.searches.prng.kernels.hits import put_seeds
from weft.searches.prng.kernels.mt import (
    BY_ARRAY,
    FAR,
    SIZE,
    begin,
    carry_on,
    fill_block,
    make_output,
)
from weft.searches.prng.kernels.vectors import LANES

LOW, HIGH, REMAINDER = range(3)
"""How a bounded value is taken from a word; see `family.RowForm`."""
POOL, RANKED, DISTINCT, FRONT = range(4)
"""How a row is made; FRONT is a pool whose gap is filled with the first element that is left."""
DRAWN, BACKWARD, AS_SET = range(3)
"""Which element of a row a step settles: that of its number, one from the end, or any of a set."""
UNKNOWN = -1
ROOM = 128
U0, U1 = np.uint32(0), np.uint32(1)
TWO32 = 1 << 32


@KERNELS.kernel
def bound_forms(bits: int, total: int) -> Any:
    """Return, for each bound up to `total`, the limit, the mask or the number of bits dropped."""
    forms = np.zeros(total + 1, np.int64)
    for bound in range(1, total + 1):
        if bits == REMAINDER:
            forms[bound] = TWO32 - TWO32 % bound
            continue
        largest, length = bound - 1 if bits == LOW else bound, 0
        while largest >> length:
            length += 1
        forms[bound] = (1 << length) - 1 if bits == LOW else 32 - length
    return forms


@KERNELS.kernel
def below(word: Any, bits: int, bound: Any, forms: Any) -> Any:
    """Return the value below `bound` that a word gives; -1 if it is drawn again."""
    word, form = np.int64(word), forms[bound]
    if bits == REMAINDER:
        return word % bound if word < form else -1
    value = word & form if bits == LOW else word >> form
    return value if value < bound else -1


@KERNELS.kernel
def element_of(method: int, value: int, step: int, total: int, pool: Any, taken: Any) -> Any:
    """Return the element that a value selects, and update the pool; -1 if it is drawn again."""
    if method == POOL:
        element, last = pool[value], total - 1 - step
        pool[value] = pool[last]
        return element
    if method == FRONT:
        element = pool[step + value]
        pool[step + value] = pool[step]
        return element
    if method == DISTINCT:
        return -1 if taken[value] else value
    element = 0
    for _ in range(value + 1):
        while taken[element]:
            element += 1
        element += 1
    return element - 1


@KERNELS.kernel
def first_differs(word: Any, bits: int, forms: Any, order: int, total: int, expected: Any) -> bool:
    """Whether the first word rules out a row, as it mostly does: an element is still its value."""
    value = below(word, bits, total, forms)
    wanted = expected[0] if order == DRAWN else expected[total - 1]
    return value >= 0 and wanted not in (UNKNOWN, value)


@KERNELS.kernel
def makes_row(
    y: Any, lane: int, outputs: int, bits: int, forms: Any, method: int, order: int, steps: int,
    total: int, expected: Any, pool: Any, taken: Any,
) -> bool:  # fmt: skip
    """Whether the outputs of a lane give the expected row, as far as both are known.

    `expected` is the element at each place, or UNKNOWN if it is not given; for sets it is 1 at each
    element of the set.
    """
    for at in range(total):
        pool[at], taken[at] = at, False
    at = 0
    for step in range(steps):
        bound = total if method == DISTINCT else total - step
        element = -1
        while element < 0:
            if at == outputs:
                return True
            value = below(y[at, lane], bits, bound, forms)
            at += 1
            if value >= 0:
                element = element_of(method, value, step, total, pool, taken)
        taken[element] = True
        if order == AS_SET:
            if expected[element] == 0:
                return False
            continue
        wanted = expected[step] if order == DRAWN else expected[total - 1 - step]
        if wanted not in (UNKNOWN, element):
            return False
    if order == BACKWARD:  # the last element left is not drawn
        return expected[0] in (UNKNOWN, pool[0])
    return True


@KERNELS.kernel
def deals_row(
    y: Any, lane: int, outputs: int, bits: int, forms: Any, total: int, expected: Any, places: Any
) -> bool:  # fmt: skip
    """Whether a shuffle of a lane puts the known elements into their places.

    All calls are made first; the element at a place is then found by undoing the swaps, from the
    last one on, from that place.
    """
    at, left = 0, total
    while left > 1:
        value = -1
        while value < 0:
            if at == outputs:
                return True
            value = below(y[at, lane], bits, left, forms)
            at += 1
        left -= 1
        places[left] = value
    for place in range(total):
        if expected[place] == UNKNOWN:
            continue
        element = place
        for left in range(1, total):
            if element == left:
                element = places[left]
            elif element == places[left]:
                element = left
        if element != expected[place]:
            return False
    return True


@KERNELS.kernel
def settled_set(
    y: Any, lane: int, outputs: int, bits: int, forms: Any, total: int, expected: Any, length: int,
    pool: Any,
) -> bool:  # fmt: skip
    """Whether a shuffle of a lane begins with the elements of a set, in any order."""
    for at in range(total):
        pool[at] = at
    at, left = 0, total
    while left > 1:
        value = -1
        while value < 0:
            if at == outputs:
                return True
            value = below(y[at, lane], bits, left, forms)
            at += 1
        left -= 1
        element = pool[value]
        pool[value] = pool[left]
        if left >= length and expected[element]:
            return False
    return True


@KERNELS.entry
def sieve_rows(
    lo: int, hi: int, form: int, outputs: int, bits: int, method: int, order: int, steps: int,
    total: int, length: int, expected: Any, out: Any,
) -> int:  # fmt: skip
    """Write the seeds lo..hi-1 whose first row can be the expected one; return their number.

    A row of `steps` steps out of `total` elements is compared over `outputs` outputs. If `length`
    is not 0, the expected set is the first `length` elements of a shuffle.
    """
    words = np.empty((SIZE, LANES), np.uint32)
    x, keys = np.empty(LANES, np.uint32), np.empty(LANES, np.uint32)
    y = np.empty((outputs, LANES), np.uint32)
    hits = np.empty(LANES, np.uint32)
    pool, taken = np.empty(ROOM, np.int64), np.empty(ROOM, np.bool_)
    forms = bound_forms(bits, total)
    is_dealt = order == BACKWARD and expected[total // 2] == UNKNOWN  # else most rows end early
    count = 0
    for base in range(lo, hi, LANES):
        if form == BY_ARRAY:
            begin(base, form, x, keys, words)
            carry_on(0, SIZE, form, x, words)
        else:
            fill_block(base, FAR + outputs - 1, form, x, keys, words)
        for at in range(outputs):
            make_output(at, form, words, y, at)
        for j in range(LANES):
            if length:
                passed = settled_set(y, j, outputs, bits, forms, total, expected, length, pool)
            elif is_dealt:
                passed = deals_row(y, j, outputs, bits, forms, total, expected, pool)
            elif order != AS_SET and first_differs(y[0, j], bits, forms, order, total, expected):
                passed = False
            else:
                passed = makes_row(
                    y, j, outputs, bits, forms, method, order, steps, total, expected, pool, taken
                )
            hits[j] = U1 if passed else U0
        count = put_seeds(hits, 1, base, hi, out, count)
    return count
