"""The two stages of the low-lane split: sieve the low bits, then find the high ones.

A linear congruential generator modulo 2^k keeps its low bits to itself: the lowest L form a
generator modulo 2^L. `sieve_lanes` tries all of them against the low bits of the draws;
`search_high` puts the values that one draw allows on top and compares with the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.searches.prng.kernels.compiled import KERNELS
from weft.searches.prng.kernels.sizes import CHECKS
from weft.searches.prng.kernels.words import add32, and32, differ32, least32, mul32

BLOCK = 1024
"""Lanes sieved together; they and their misses fit into the first cache."""


@KERNELS.kernel
def sieve_block(
    lanes: Any, misses: Any, multiplier: Any, increment: Any, mask: Any, bits: Any, allowed: Any
) -> bool:
    """Count the misses of a block of lanes; False as soon as every lane has too many."""
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
    """Write the lanes at draw 0 with at most `allowed` misses to `out`; return how many.

    `bits` are the masked bits of the draws, in their place in the word; their number is a
    multiple of 4. What does not fit into `out` is counted and not written.
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
def draw_at(state: Any, dropped: Any, mask: Any, top: Any, shift: Any, modulus: Any) -> Any:
    """Return the draw a state makes; `shift` corrects for the sign when the top bit is set."""
    value = (state >> dropped) & mask
    if value & top:
        value += shift
    return value % modulus


@KERNELS.entry
def search_high(lows: Any, shape: Any, values: Any, affine: Any, draws: Any, allowed: int) -> Any:
    """Return (state at the anchor, hits) for the first of the states with most hits, or hits 0.

    A state with more than `allowed` misses does not count.

    `lows` is the range of the bits below the output, `shape` (dropped bits, output mask, sign
    bit, sign shift, modulus), `values` (first, step, end) the outputs the anchor allows. Row i
    of `affine` leads from the anchor to draw i of `draws`; the first CHECKS rows decide whether
    the others are looked at.
    """
    dropped, mask, top, shift, modulus = shape[0], shape[1], shape[2], shape[3], shape[4]
    best, fewest = np.uint64(0), allowed + 1
    for low in range(lows[0], lows[1]):
        for value in range(values[0], values[2], values[1]):
            state = (np.uint64(value) & mask) << dropped | np.uint64(low)
            hit = False
            for i in range(CHECKS):
                x = state * affine[i, 0] + affine[i, 1]
                hit |= draw_at(x, dropped, mask, top, shift, modulus) == draws[i]
            if not hit:
                continue
            missed = 0
            for i in range(len(draws)):
                x = state * affine[i, 0] + affine[i, 1]
                if draw_at(x, dropped, mask, top, shift, modulus) != draws[i]:
                    missed += 1
                    if missed >= fewest:
                        break
            if missed < fewest:
                best, fewest = state, missed
    return best, len(draws) - fewest if fewest <= allowed else 0
