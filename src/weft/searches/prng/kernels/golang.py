"""math/rand of Go by seed, many seeds side by side.

The words are filled with outputs of minstd, each of which is factor·seed modulo 2^31 - 1, and
salted. Each of the first 273 outputs is the sum of two words, so only those two are computed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.searches.prng.kernels.compiled import KERNELS
from weft.searches.prng.kernels.hits import count_hits, put_calls
from weft.searches.prng.kernels.vectors import LANES

PRIME = np.uint64(0x7FFFFFFF)
SHORT = np.uint64(0xFFFFFFFF)
U0, U31, U32 = np.uint64(0), np.uint64(31), np.uint64(32)
HIGH, MIDDLE = np.uint64(40), np.uint64(20)
FOR_ZERO = np.uint64(89482311)
"""The value that Go substitutes for seed 0."""
NONE = np.uint32(0)


@KERNELS.kernel
def remainder(x: Any) -> Any:
    """Return x modulo 2^31 - 1, for x below 2^63."""
    x = (x & PRIME) + (x >> U31)
    x = (x & PRIME) + (x >> U31)
    return x - PRIME if x >= PRIME else x


@KERNELS.kernel
def go_words(seeds: Any, factors: Any, salts: Any, words: Any) -> None:
    """Compute one output for all lanes: the sum of two words of the filled table."""
    for j in range(LANES):
        seed = seeds[j] & SHORT  # both are below 2^31: one short multiplication each
        first = remainder(seed * (factors[0] & SHORT)) << HIGH
        first ^= remainder(seed * (factors[1] & SHORT)) << MIDDLE
        first ^= remainder(seed * (factors[2] & SHORT)) ^ salts[0]
        second = remainder(seed * (factors[3] & SHORT)) << HIGH
        second ^= remainder(seed * (factors[4] & SHORT)) << MIDDLE
        second ^= remainder(seed * (factors[5] & SHORT)) ^ salts[1]
        words[j] = first + second


@KERNELS.entry
def sieve_go(
    lo: int,
    hi: int,
    factors: Any,
    salts: Any,
    moved: Any,
    tests: Any,
    calls: int,
    enough: int,
    out: Any,
) -> int:
    """Write call · 2^32 + seed for the seeds lo..hi-1 with enough hits; return their number.

    Rows i of `factors` (six) and `salts` (two) give the two words of draw i. Row c · draws + i of
    `tests` tests draw i of call c, on the highest 32 bits after a shift up by `moved[c]` bits.
    """
    y, hits = np.empty(LANES, np.uint32), np.empty((calls, LANES), np.uint32)
    seeds, words = np.empty(LANES, np.uint64), np.empty(LANES, np.uint64)
    alive = np.empty(calls, np.bool_)
    drawn, count = len(tests) // calls, 0
    for base in range(lo, hi, LANES):
        for j in range(LANES):
            seed = remainder(np.uint64(base + j))
            seeds[j] = seed if seed != U0 else FOR_ZERO
        hits[:] = NONE
        alive[:] = True
        left = calls
        for i in range(drawn):
            go_words(seeds, factors[i], salts[i], words)
            for c in range(calls):
                if alive[c]:
                    for j in range(LANES):
                        y[j] = (words[j] << moved[c]) >> U32
                    test, end = c * drawn + i, (c + 1) * drawn
                    alive[c] = count_hits(y, 0, tests, test, end, hits, c, enough)
                    left -= not alive[c]
            if not left:
                break
        if left:
            count = put_calls(hits, alive, enough, base, hi, out, count)
    return count
