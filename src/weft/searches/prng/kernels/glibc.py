"""rand() of the GNU C library by 32-bit seed, many seeds side by side.

srand fills 31 words by minstd; everything after that adds words, modulo 2^32. So any output is
a fixed linear combination of the 31, however far it is from the seed, and none between is made.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.searches.prng.kernels.compiled import KERNELS
from weft.searches.prng.kernels.hits import count_hits, put_calls
from weft.searches.prng.kernels.vectors import LANES
from weft.searches.prng.kernels.words import add32, mul32

DEGREE = 31
PRIME = np.uint64(0x7FFFFFFF)
FACTOR = np.uint64(16807)
U0, U1, U31 = np.uint64(0), np.uint64(1), np.uint64(31)
SIGN = np.uint64(1 << 31)
LIFT = np.uint64((0x7FFFFFFF * 3) - (1 << 32))
"""Turns a seed from 2^31 on, which counts as negative, into a remainder of the same class."""
NONE = np.uint32(0)


@KERNELS.kernel
def fill_words(base: Any, x: Any, words: Any) -> None:
    """Fill row i of `words` with word i of the seeds from `base` on."""
    for j in range(LANES):
        seed = base + np.uint64(j)
        seed = seed if seed != U0 else U1
        words[0, j] = seed
        x[j] = seed + LIFT if seed & SIGN else seed
    for row in range(1, DEGREE):
        for j in range(LANES):
            product = x[j] * FACTOR
            folded = (product & PRIME) + (product >> U31)
            folded = folded - PRIME if folded >= PRIME else folded
            x[j] = folded
            words[row, j] = folded


@KERNELS.kernel
def combine(words: Any, weights: Any, y: Any) -> None:
    """Make one output, unshifted, for all lanes."""
    for j in range(LANES):
        total = NONE
        for row in range(DEGREE):
            total = add32(total, mul32(weights[row], words[row, j]))
        y[j] = total


@KERNELS.entry
def sieve_glibc(
    lo: int, hi: int, weights: Any, tests: Any, calls: int, enough: int, out: Any
) -> int:
    """Write call · 2^32 + seed for the seeds lo..hi-1 with enough hits; return how many.

    Row i of `weights` makes the output of draw i from the words of the seed; row c · draws + i
    of `tests` says what a hit of call c is (see `hits`). What does not fit is only counted.
    """
    words = np.empty((DEGREE, LANES), np.uint32)
    x, y = np.empty(LANES, np.uint64), np.empty(LANES, np.uint32)
    hits = np.empty((calls, LANES), np.uint32)
    alive = np.empty(calls, np.bool_)
    drawn, count = len(tests) // calls, 0
    for base in range(lo, hi, LANES):
        fill_words(np.uint64(base), x, words)
        hits[:] = NONE
        alive[:] = True
        left = calls
        for i in range(drawn):
            combine(words, weights[i], y)
            for c in range(calls):
                if alive[c]:
                    test, end = c * drawn + i, (c + 1) * drawn
                    alive[c] = count_hits(y, 0, tests, test, end, hits, c, enough)
                    left -= not alive[c]
            if not left:
                break
        if left:
            count = put_calls(hits, alive, enough, base, hi, out, count)
    return count
