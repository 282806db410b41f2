"""MT19937 by 32-bit seed, many seeds side by side in the lanes of vector registers.

An output of the first 227 needs three words of the block that the seed fills: p, p + 1 and
p + 397 (seen by Solar Designer's php_mt_seed). So the block is neither kept nor twisted: one
word per seed is carried on, and those that are needed are put aside.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.searches.prng.kernels.compiled import KERNELS
from weft.searches.prng.kernels.hits import count_hits, put_seeds
from weft.searches.prng.kernels.words import add32, and32, mul32, or32, shl32, shr32, xor32

LANES = 128
"""Seeds at a time; their words fit into the first cache."""
DIRECT = 227
"""Outputs that come from the filled block directly."""
FILL = np.uint32(1812433253)
FILL_52 = np.uint32(69069)
UPPER = np.uint32(0x80000000)
LOWER = np.uint32(0x7FFFFFFF)
MATRIX = np.uint32(0x9908B0DF)
TEMPER_B = np.uint32(0x9D2C5680)
TEMPER_C = np.uint32(0xEFC60000)
U0, U1, U7, U11, U15, U18, U30 = (np.uint32(n) for n in (0, 1, 7, 11, 15, 18, 30))
MODERN, LEGACY, FIRST_FORM = 0, 1, 2
"""Forms: the standard, PHP 5.2.1 to 7.0 (other low bit), PHP up to 5.2.0 (other filling)."""


@KERNELS.kernel
def carry_on(x: Any, at: int, to: int, form: int) -> None:
    """Carry the words `at` of all seeds on to the words `to`."""
    if form == FIRST_FORM:
        for _ in range(at, to):
            for j in range(LANES):
                x[j] = mul32(x[j], FILL_52)
        return
    while at + 8 <= to:
        n = np.uint32(at)
        for j in range(LANES):
            w = x[j]
            for k in range(1, 9):
                w = add32(mul32(xor32(w, shr32(w, U30)), FILL), add32(n, np.uint32(k)))
            x[j] = w
        at += 8
    while at < to:
        at += 1
        n = np.uint32(at)
        for j in range(LANES):
            x[j] = add32(mul32(xor32(x[j], shr32(x[j], U30)), FILL), n)


@KERNELS.kernel
def output_of(first: Any, second: Any, far: Any, form: int) -> Any:
    """Return the output of three words of the block."""
    low = first if form == LEGACY else second
    joined = or32(and32(first, UPPER), and32(second, LOWER))
    mixed = xor32(shr32(joined, U1), mul32(and32(low, U1), MATRIX))
    y = xor32(far, mixed)
    y = xor32(y, shr32(y, U11))
    y = xor32(y, and32(shl32(y, U7), TEMPER_B))
    y = xor32(y, and32(shl32(y, U15), TEMPER_C))
    return xor32(y, shr32(y, U18))


@KERNELS.kernel
def put_aside(base: Any, needed: Any, kept: Any, x: Any, form: int) -> None:
    """Fill row i of `kept` with word `needed[i]` of the seeds from `base` on."""
    for j in range(LANES):
        seed = add32(base, np.uint32(j))
        x[j] = or32(seed, U1) if form == FIRST_FORM else seed
    at = 0
    for row in range(len(needed)):
        carry_on(x, at, needed[row], form)
        at = needed[row]
        for j in range(LANES):
            kept[row, j] = x[j]


@KERNELS.entry
def sieve_mt(
    lo: int, hi: int, form: int, needed: Any, rows: Any, tests: Any, enough: int, out: Any
) -> int:
    """Write the seeds lo..hi-1 with at least `enough` hits to `out`; return how many.

    `needed` are the words put aside, ascending; row i of `rows` says where among them the three
    of draw i are, row i of `tests` what a hit is (see `hits`). What does not fit is counted.
    """
    kept = np.empty((len(needed), LANES), np.uint32)
    x, hits = np.empty(LANES, np.uint32), np.empty(LANES, np.uint32)
    count = 0
    for base in range(lo, hi, LANES):
        put_aside(np.uint32(base), needed, kept, x, form)
        hits[:] = U0
        for i in range(len(tests)):
            first, second, far = kept[rows[i, 0]], kept[rows[i, 1]], kept[rows[i, 2]]
            for j in range(LANES):
                x[j] = output_of(first[j], second[j], far[j], form)
            if not count_hits(x, tests, i, hits, enough):
                break
        else:
            count = put_seeds(hits, enough, base, hi, out, count)
    return count
