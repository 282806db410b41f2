"""rand() of the GNU C library by 32-bit seed, many seeds side by side.

srand fills 31 words with minstd; every later step adds words modulo 2^32. So any output is a fixed
linear combination of the 31 words, however far from the seed, and none in between is computed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.searches.prng.kernels.compiled import KERNELS
from weft.searches.prng.kernels.hits import count_hits, put_seeds
from weft.searches.prng.kernels.sizes import CALL_BITS
from weft.searches.prng.kernels.vectors import LANES
from weft.searches.prng.kernels.words import add32, mul32

DEGREE = 31
PRIME = np.uint64(0x7FFFFFFF)
FACTOR = np.uint64(16807)
U0, U1, U31 = np.uint64(0), np.uint64(1), np.uint64(31)
SIGN = np.uint64(1 << 31)
LIFT = np.uint64((0x7FFFFFFF * 3) - (1 << 32))
"""Added to seeds from 2^31 on, which count as negative, to make them positive and congruent."""
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
def combine(words: Any, weights: Any, outputs: Any, row: int) -> None:
    """Compute one output, unshifted, for all lanes, in its row of `outputs`."""
    for j in range(LANES):
        total = NONE
        for at in range(DEGREE):
            total = add32(total, mul32(weights[row, at], words[at, j]))
        outputs[row, j] = total


@KERNELS.entry
def sieve_glibc(
    lo: int, hi: int, weights: Any, probes: Any, tests: Any, calls: int, enough: int, out: Any
) -> int:
    """Write call · 2^32 + seed for the seeds lo..hi-1 with enough hits; return their number.

    Row k of `weights` gives an output from the words of the seed. Row c · draws + i of `tests` (see
    `hits`) tests draw i of call c, at the output that the same row of `probes` names. Seeds that do
    not fit into `out` are counted but not written.
    """
    words = np.empty((DEGREE, LANES), np.uint32)
    outputs = np.empty((len(weights), LANES), np.uint32)
    x, hits = np.empty(LANES, np.uint64), np.empty(LANES, np.uint32)
    drawn, count = len(tests) // calls, 0
    is_made = np.empty(len(weights), np.bool_)
    for base in range(lo, hi, LANES):
        fill_words(np.uint64(base), x, words)
        is_made[:] = False
        for c in range(calls):
            hits[:] = NONE
            end = (c + 1) * drawn
            for i in range(end - drawn, end):
                row = probes[i]
                if not is_made[row]:
                    combine(words, weights, outputs, row)
                    is_made[row] = True
                if not count_hits(outputs, row, tests, i, end, hits, 0, enough):
                    break
            else:
                above = c << CALL_BITS
                count = put_seeds(hits, enough, base + above, hi + above, out, count)
    return count
