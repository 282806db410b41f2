"""System.Random of .NET by seed, many seeds side by side.

The seed fills a table of 55 words by 274 subtractions of 32-bit words. A row of the table holds
that word for a block of seeds, and the whole block stays in the first-level cache. The reference
definition is `families.dotnet`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.searches.prng.kernels.compiled import KERNELS
from weft.searches.prng.kernels.hits import count_hits, put_seeds
from weft.searches.prng.kernels.vectors import LANES, subtract_rows
from weft.searches.prng.kernels.words import add32, shr32, sub32

SIZE, LAG, SHIFTED = 55, 21, 31
"""Number of words in the table, lag of a step, and lag of the rounds that mix the table."""
PLACES = np.array([SIZE - 1, *(LAG * at % SIZE - 1 for at in range(1, SIZE))])
"""Places in the table of the words of the sequence that fills it."""
FIRST = np.uint32(161803398)
ROUNDS = 4
U0, U1, U31 = np.uint32(0), np.uint32(1), np.uint32(31)


@KERNELS.kernel
def fill_table(base: int, table: Any) -> None:
    """Fill the table for the seeds from `base` on."""
    for j in range(LANES):
        table[PLACES[0], j] = sub32(FIRST, add32(np.uint32(base), np.uint32(j)))
        table[PLACES[1], j] = U1
    for at in range(2, SIZE):
        subtract_rows(table, PLACES[at], PLACES[at - 2], PLACES[at - 1])
    for _ in range(ROUNDS):
        for at in range(SIZE):
            subtract_rows(table, at, at, (at + SHIFTED) % SIZE)


@KERNELS.kernel
def make_word(at: int, table: Any) -> None:
    """Compute output `at`, from 0 to 2^31 - 2, in its place of the table."""
    row = table[at % SIZE]
    subtract_rows(table, at % SIZE, at % SIZE, (at + LAG) % SIZE)
    for j in range(LANES):  # subtract 1 from 2^31 - 1: only this plus 1 has the sign bit
        row[j] = sub32(row[j], shr32(add32(row[j], U1), U31))


@KERNELS.entry
def sieve_dotnet(lo: int, hi: int, places: Any, tests: Any, enough: int, out: Any) -> int:
    """Write the seeds lo..hi-1 below 2^31 with at least `enough` hits; return their number.

    `places` are the rising positions of the draws' outputs; row i of `tests` is the test of draw i
    (see `hits`). Seeds that do not fit into `out` are counted but not written.
    """
    table = np.empty((SIZE, LANES), np.uint32)
    hits = np.empty(LANES, np.uint32)
    count = 0
    for base in range(lo, hi, LANES):
        fill_table(base, table)
        hits[:] = U0
        at = 0
        for i in range(len(tests)):
            while at <= places[i]:
                make_word(at, table)
                at += 1
            if not count_hits(table, places[i] % SIZE, tests, i, len(tests), hits, 0, enough):
                break
        else:
            count = put_seeds(hits, enough, base, hi, out, count)
    return count
