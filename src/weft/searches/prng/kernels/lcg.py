"""Linear congruential generators modulo 2^k by seed, many seeds side by side.

The state at any draw is an affine function of the first state, so no draw waits for another and
skipped calls cost nothing. The first state is (seed ^ scramble) << place | below.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.searches.prng.kernels.compiled import KERNELS
from weft.searches.prng.kernels.hits import count_hits, put_seeds
from weft.searches.prng.kernels.vectors import LANES


@KERNELS.entry
def sieve_lcg(
    lo: int, hi: int, seeding: Any, dropped: Any, affine: Any, tests: Any, enough: int, out: Any
) -> int:
    """Write the seeds lo..hi-1 with at least `enough` hits to `out`; return their number.

    `seeding` is (scramble, place, below, mask of the state). Row i of `affine` maps the first state
    to that at draw i; the 32 bits above the `dropped` ones are its output, and row i of `tests` is
    its test (see `hits`). Seeds that do not fit are counted but not written.
    """
    scramble, place, below, mask = seeding[0], seeding[1], seeding[2], seeding[3]
    y, hits = np.empty(LANES, np.uint32), np.empty(LANES, np.uint32)
    count = 0
    for base in range(lo, hi, LANES):
        for j in range(LANES):
            hits[j] = 0
        for i in range(len(tests)):
            multiplier, increment = affine[i, 0], affine[i, 1]
            for j in range(LANES):
                state = (np.uint64(base + j) ^ scramble) << place | below
                y[j] = ((state * multiplier + increment) & mask) >> dropped
            if not count_hits(y, 0, tests, i, len(tests), hits, 0, enough):
                break
        else:
            count = put_seeds(hits, enough, base, hi, out, count)
    return count
