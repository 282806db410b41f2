"""The two stages of the low-lane split: sieve the low bits, then find the high ones.

In a linear congruential generator modulo 2^k, the lowest L bits form a generator modulo 2^L.
`sieve_lanes` tries all of them against the low bits of the draws; `search_high` adds the high bits
that one draw allows and compares the states with the other draws.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.searches.prng.kernels.compiled import KERNELS
from weft.searches.prng.kernels.words import (
    add32,
    and32,
    covers32,
    differ32,
    least32,
    mul32,
    or32,
    shl32,
    shr32,
    sub32,
    xor32,
)

BLOCK = 1024
"""Lanes or states tried together; they and their misses fit into the first-level cache."""
DROPPED, MASK, SIGN, SHIFT, ABSOLUTE, MODULUS = range(6)
"""Indices into `shape`."""
ONE = np.uint64(1)
BACK, BACK_ADDED, WIDTH = range(3)
"""Indices into `pair`."""
CHECKED, LEAST_SEEN = 6, 3
"""Number of draws checked after the anchor, and how many of them and the anchor must hit."""
U0, U31, U32 = np.uint32(0), np.uint32(31), np.uint32(32)


@KERNELS.kernel
def sieve_block(
    lanes: Any, misses: Any, multiplier: Any, increment: Any, mask: Any, bits: Any, allowed: Any
) -> bool:
    """Count the misses of a block of lanes; return False as soon as every lane has too many."""
    for at in range(0, len(bits), 4):
        first, second, third, fourth = bits[at], bits[at + 1], bits[at + 2], bits[at + 3]
        least = np.uint32(0xFFFFFFFF)
        for j in range(BLOCK):
            x, missed = lanes[j], misses[j]
            missed = add32(missed, differ32(and32(x, mask), first))
            x = add32(mul32(x, multiplier), increment)
            missed = add32(missed, differ32(and32(x, mask), second))
            x = add32(mul32(x, multiplier), increment)
            missed = add32(missed, differ32(and32(x, mask), third))
            x = add32(mul32(x, multiplier), increment)
            missed = add32(missed, differ32(and32(x, mask), fourth))
            lanes[j] = add32(mul32(x, multiplier), increment)
            misses[j] = missed
            least = least32(least, missed)
        if least > allowed:
            return False
    return True


@KERNELS.entry
def sieve_lanes(
    lane_bits: int, multiplier: Any, increment: Any, mask: Any, bits: Any, allowed: Any, out: Any
) -> int:
    """Write the lanes at draw 0 with at most `allowed` misses to `out`; return their number.

    `bits` are the masked bits of the draws, in their place in the word; their number is a multiple
    of 4. Lanes that do not fit into `out` are counted but not written.
    """
    lanes, misses = np.empty(BLOCK, np.uint32), np.empty(BLOCK, np.uint32)
    count = 0
    for base in range(0, 1 << lane_bits, BLOCK):
        for j in range(BLOCK):
            lanes[j] = base + j
            misses[j] = 0
        if not sieve_block(lanes, misses, multiplier, increment, mask, bits, allowed):
            continue
        for j in range(min(BLOCK, 1 << lane_bits)):
            if misses[j] <= allowed:
                if count < len(out):
                    out[count] = base + j
                count += 1
    return count


@KERNELS.kernel
def draw_at(state: Any, shape: Any) -> Any:
    """Return the draw that a state gives; `shape` is that of `search_high`."""
    value = (state >> shape[DROPPED]) & shape[MASK]
    if value & shape[SIGN]:
        value = shape[MASK] + ONE - value if shape[ABSOLUTE] else value + shape[SHIFT]
    return value % shape[MODULUS]


@KERNELS.kernel
def count_block(
    hits: Any, size: int, state: Any, step: Any, dropped: Any, word: Any, test: Any
) -> None:  # fmt: skip
    """Count a hit for each of `size` states `step` apart whose output passes a test.

    `word` is (mask, bit to flip, all ones if outputs are signed and made positive, place of the
    sign); `test` is (least, inverse, turn, limit) as in `hits`. A few outputs below `least` may
    pass.
    """
    mask, flip, fold, place = word[0], word[1], word[2], word[3]
    least, inverse, turn, limit = test[0], test[1], test[2], test[3]
    back = and32(sub32(U32, turn), U31)
    for j in range(size):
        y = xor32(and32(np.uint32(state >> dropped), mask), flip)
        sign = and32(sub32(U0, shr32(y, place)), fold)
        y = and32(sub32(xor32(y, sign), sign), mask)
        z = mul32(sub32(y, least), inverse)
        z = or32(shr32(z, turn), shl32(z, back))
        hits[j] = add32(hits[j], covers32(limit, z))
        state += step


@KERNELS.entry
def search_high(
    lows: Any, shape: Any, values: Any, affine: Any, draws: Any, allowed: int, word: Any,
    tests: Any, enough: int,
) -> Any:  # fmt: skip
    """Return (state at the anchor, hits) for the first state with the most hits.

    States with more than `allowed` misses do not count; hits are 0 if there are no others.

    `lows` is the range of the bits below the output, `shape` is (dropped bits, output mask, sign
    bit, sign shift, whether the absolute value counts, modulus), and `values` (first, step, end)
    are the outputs that the anchor allows. Row i of `affine` leads from the anchor to draw i of
    `draws`. Blocks are first tested on the draws of `tests`; a state is compared with all draws if
    `enough` of these hit.
    """
    best, fewest = np.uint64(0), allowed + 1
    hits = np.empty(BLOCK, np.uint32)
    dropped, step = shape[DROPPED], values[1]
    for low in range(lows[0], lows[1]):
        for first in range(values[0], values[2], step * BLOCK):
            size = min(BLOCK, (values[2] - first + step - 1) // step)
            state = (np.uint64(first) & shape[MASK]) << dropped | np.uint64(low)
            hits[:] = 0
            for i in range(len(tests)):
                start = state * affine[i, 0] + affine[i, 1]
                stride = (np.uint64(step) << dropped) * affine[i, 0]
                count_block(hits, size, start, stride, dropped, word, tests[i])
            for j in range(size):
                if hits[j] < enough:
                    continue
                guess = (np.uint64(first + step * j) & shape[MASK]) << dropped | np.uint64(low)
                missed = count_misses(guess, shape, affine, draws, fewest)
                if missed < fewest:
                    best, fewest = guess, missed
    return best, len(draws) - fewest if fewest <= allowed else 0


@KERNELS.kernel
def count_misses(state: Any, shape: Any, affine: Any, draws: Any, limit: int) -> int:
    """Count the draws that a state does not give, up to the limit."""
    missed = 0
    for i in range(len(draws)):
        if draw_at(state * affine[i, 0] + affine[i, 1], shape) != draws[i]:
            missed += 1
            if missed >= limit:
                break
    return missed


@KERNELS.kernel
def joined_at(state: Any, shape: Any, pair: Any) -> Any:
    """Return the output of two words, given the state of the low one, as an unsigned number.

    A signed output is moved up by half its range, an absolute one is made positive.
    """
    low = (state >> shape[DROPPED]) & shape[MASK]
    high = (state * pair[BACK] + pair[BACK_ADDED]) >> shape[DROPPED]
    joined = (high << pair[WIDTH]) + low - ((low & shape[SIGN]) << ONE)
    top = shape[SIGN] << pair[WIDTH]
    if not shape[ABSOLUTE]:
        joined ^= top
    elif joined & top:
        joined = np.uint64(0) - joined
    return joined & (top | (top - ONE))


@KERNELS.kernel
def mark_block(
    hits: Any, size: int, state: Any, step: Any, shape: Any, pair: Any, test: Any
) -> None:  # fmt: skip
    """Mark the states of a block whose two-word output may give the draw: see `count_block`."""
    least, inverse, turn, limit = test[0], test[1], test[2], test[3]
    for j in range(size):
        z = (joined_at(state, shape, pair) - least) * inverse
        z = z >> turn | z << ((np.uint64(64) - turn) & np.uint64(63))
        hits[j] = z <= limit
        state += step


@KERNELS.entry
def search_pairs(
    low: Any, shape: Any, values: Any, affine: Any, targets: Any, allowed: int, pair: Any, test: Any
) -> Any:  # fmt: skip
    """Do what `search_high` does for outputs of two words, with the anchor as the first draw.

    `values` are all low words of the lane, `pair` is the affine map back to the high word and the
    width of a word, and `test` is the anchor's. `targets` are the remainders of what `joined_at`
    returns. Two of the CHECKED draws that follow must hit before all others are compared.
    """
    best, fewest = np.uint64(0), allowed + 1
    hits = np.empty(BLOCK, np.bool_)
    dropped, step, modulus = shape[DROPPED], np.uint64(values[1]), shape[MODULUS]
    for first in range(values[0], values[2], values[1] * BLOCK):
        size = min(BLOCK, (values[2] - first + values[1] - 1) // values[1])
        start = np.uint64(first) << dropped | low
        mark_block(hits, size, start, step << dropped, shape, pair, test)
        for j in range(size):
            if not hits[j]:
                continue
            state = start + (np.uint64(j) * step << dropped)
            seen, missed = 0, 0
            for i in range(len(targets)):
                x = state * affine[i, 0] + affine[i, 1]
                if joined_at(x, shape, pair) % modulus == targets[i]:
                    seen += 1
                else:
                    missed += 1
                if missed >= fewest or (i == CHECKED and seen < LEAST_SEEN):
                    missed = fewest
                    break
            if missed < fewest:
                best, fewest = state, missed
    return best, len(targets) - fewest if fewest <= allowed else 0
