"""math/rand of Go by seed, many seeds side by side.

The words are filled with outputs of minstd, each of which is factor·seed modulo 2^31 - 1, and
salted. An output of the first 273 is the sum of two words, so only those are made.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.searches.prng.kernels.compiled import KERNELS
from weft.searches.prng.kernels.hits import count_hits, put_seeds

LANES = 128
PRIME = np.uint64(0x7FFFFFFF)
U0, U31, U32 = np.uint64(0), np.uint64(31), np.uint64(32)
HIGH, MIDDLE = np.uint64(40), np.uint64(20)
FOR_ZERO = np.uint64(89482311)
"""What Go takes for the seed 0."""
NONE = np.uint32(0)


@KERNELS.kernel
def remainder(x: Any) -> Any:
    """Return x modulo 2^31 - 1, for x below 2^63."""
    x = (x & PRIME) + (x >> U31)
    x = (x & PRIME) + (x >> U31)
    return x - PRIME if x >= PRIME else x


@KERNELS.kernel
def go_word(seed: Any, factors: Any, at: int, salt: Any) -> Any:
    """Return a word of the filled table."""
    first = remainder(seed * factors[at])
    second = remainder(seed * factors[at + 1])
    return (first << HIGH) ^ (second << MIDDLE) ^ remainder(seed * factors[at + 2]) ^ salt


@KERNELS.entry
def sieve_go(
    lo: int, hi: int, factors: Any, salts: Any, up: Any, tests: Any, enough: int, out: Any
) -> int:
    """Write the seeds lo..hi-1 below 2^31 with at least `enough` hits; return how many.

    Rows i of `factors` (six) and `salts` (two) make the two words of draw i. The 32 bits that
    are tested are the highest after the output is moved up by `up` bits.
    """
    y, hits = np.empty(LANES, np.uint32), np.empty(LANES, np.uint32)
    count = 0
    for base in range(lo, hi, LANES):
        hits[:] = NONE
        for i in range(len(tests)):
            row = factors[i]
            for j in range(LANES):
                seed = remainder(np.uint64(base + j))
                seed = seed if seed != U0 else FOR_ZERO
                word = go_word(seed, row, 0, salts[i, 0]) + go_word(seed, row, 3, salts[i, 1])
                y[j] = (word << up) >> U32
            if not count_hits(y, tests, i, hits, enough):
                break
        else:
            count = put_seeds(hits, enough, base, hi, out, count)
    return count
