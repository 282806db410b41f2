"""MT19937-64 by seed: a few seeds side by side, filling only as much of the block as outputs need.

Output p below 156 needs the words p, p + 1 and p + 156 of the block that the seed fills. The
reference definition is `families.mt19937_64`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.searches.prng.families import mt19937_64 as plain
from weft.searches.prng.kernels.compiled import KERNELS

LANES = 16
FAR = 156
LOW, HIGH, REMAINDER = range(3)
"""How a word gives a draw: see `forms.WideTwisterSeeding`."""
INIT, MATRIX = np.uint64(plain.INIT), np.uint64(plain.MATRIX)
UPPER, LOWER = np.uint64(plain.UPPER), np.uint64(plain.LOWER)
TEMPER_A, TEMPER_B, TEMPER_C = (
    np.uint64(word) for word in (plain.TEMPER_A, plain.TEMPER_B, plain.TEMPER_C)
)
U1, U17, U29, U32, U37, U43, U62 = (np.uint64(n) for n in (1, 17, 29, 32, 37, 43, 62))
M32 = np.uint64(0xFFFFFFFF)
AGAIN = np.uint64(0xFFFFFFFFFFFFFFFF)


@KERNELS.kernel
def fill_words(base: int, last: int, words: Any) -> None:
    """Fill the rows of `words` up to `last` for the seeds from `base` on."""
    for j in range(LANES):
        words[0, j] = np.uint64(base) + np.uint64(j)
    for at in range(1, last + 1):
        for j in range(LANES):
            word = words[at - 1, j]
            words[at, j] = INIT * (word ^ (word >> U62)) + np.uint64(at)


@KERNELS.kernel
def output_at(words: Any, at: int, lane: int) -> Any:
    """Return an output of one seed."""
    joined = (words[at, lane] & UPPER) | (words[at + 1, lane] & LOWER)
    word = words[at + FAR, lane] ^ (joined >> U1) ^ ((joined & U1) * MATRIX)
    word ^= (word >> U29) & TEMPER_A
    word ^= (word << U17) & TEMPER_B
    word ^= (word << U37) & TEMPER_C
    return word ^ (word >> U43)


@KERNELS.kernel
def value_of(word: Any, kind: int, modulus: Any, mask: Any) -> Any:
    """Return the draw that a word gives; AGAIN if it is drawn again."""
    if kind == REMAINDER:
        return word % modulus
    if kind == HIGH:
        return ((word >> U32) * modulus + ((word & M32) * modulus >> U32)) >> U32
    value = word & mask
    return value if value < modulus else AGAIN


@KERNELS.kernel
def misses(
    words: Any, lane: int, outputs: int, kind: int, modulus: Any, mask: Any, draws: Any, gaps: Any,
    allowed: int,
) -> int:  # fmt: skip
    """Count the draws that a seed misses, up to one more than are allowed."""
    at, missed = 0, 0
    for i in range(len(draws)):
        left = gaps[i]
        value = AGAIN
        while left >= 0:
            if at == outputs:  # later draws are not tested
                return missed
            value = value_of(output_at(words, at, lane), kind, modulus, mask)
            at += 1
            if value != AGAIN:
                left -= 1
        if value != draws[i]:
            missed += 1
            if missed > allowed:
                return missed
    return missed


@KERNELS.entry
def sieve_mt64(
    lo: int, hi: int, outputs: int, kind: int, modulus: Any, mask: Any, draws: Any, gaps: Any,
    enough: int, out: Any,
) -> int:  # fmt: skip
    """Write the seeds lo..hi-1 with at least `enough` hits to `out`; return their number."""
    words = np.empty((FAR + outputs, LANES), np.uint64)
    allowed, count = len(draws) - enough, 0
    for base in range(lo, hi, LANES):
        fill_words(base, FAR + outputs - 1, words)
        for j in range(min(LANES, hi - base)):
            missed = misses(words, j, outputs, kind, modulus, mask, draws, gaps, allowed)
            if missed <= allowed:
                if count < len(out):
                    out[count] = base + j
                count += 1
    return count
