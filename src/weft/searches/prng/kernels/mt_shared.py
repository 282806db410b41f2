"""MT19937 by 32-bit seed for several calls at a time: one filling of the block serves them all.

The filling takes most of the time of a seed, and is the same for PHP's mt_rand, NumPy, Ruby and
C++. So every output is computed once, when a call first needs it, and each call applies its own
tests to it. The reference is a separate `mt` sieve for each call.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.searches.prng.kernels.compiled import KERNELS
from weft.searches.prng.kernels.hits import count_hits, put_seeds, scan_output
from weft.searches.prng.kernels.mt import (
    LEGACY,
    SIZE,
    U0,
    begin,
    carry_on,
    fill_block,
    make_output,
)
from weft.searches.prng.kernels.sizes import CALL_BITS
from weft.searches.prng.kernels.vectors import LANES

SCANS, MISPLACED, FIRST, END, ENOUGH, BASE = range(6)
"""Columns of a call: whether it draws again, whether it takes the wrong low bit, its rows of
`probes` and `tests`, the hits it needs, and where its rows of `expected` begin."""


@KERNELS.kernel
def fill_for(
    base: int, form: int, stops: Any, needed: int, at: int, passed: int, x: Any, keys: Any,
    words: Any,
) -> Any:  # fmt: skip
    """Fill until `needed` stops are passed, or all words if -1; return step and stops passed."""
    if needed < 0 and at < SIZE:
        fill_block(base, SIZE - 1, form, x, keys, words)
        at = SIZE
    while at < SIZE and passed < needed:
        carry_on(at, stops[passed], form, x, words)
        at = stops[passed]
        passed += 1
    return at, passed


@KERNELS.kernel
def add_unjudged(scans: int, expected: Any, base: int, cursors: Any, hits: Any) -> None:
    """Count the draws beyond the last output that a scan compared as hits."""
    if scans:
        for j in range(LANES):
            hits[j] = hits[j] + expected[base + cursors[j], 1]


@KERNELS.entry
def sieve_shared(
    lo: int, hi: int, form: int, stops: Any, places: Any, calls: Any, probes: Any, tests: Any,
    draws: Any, expected: Any, out: Any,
) -> int:  # fmt: skip
    """Write call · 2^32 + seed for the seeds lo..hi-1 with enough hits; return their number.

    Row k of `places` is an output and the number of stops of the filling before it, as in
    `sieve_mt`. `probes` holds rows of `places` in the order in which a call tests them; row i of
    `tests` is the test at row i of `probes`. Row c of `draws` and the rows of `expected` from the
    call's base on are those of `hits.scan_output`.
    """
    words = np.empty((SIZE, LANES), np.uint32)
    x, keys = np.empty(LANES, np.uint32), np.empty(LANES, np.uint32)
    outputs = np.empty((2 * len(places), LANES), np.uint32)
    is_made = np.empty(2 * len(places), np.bool_)
    cursors, hits = np.empty(LANES, np.uint32), np.empty(LANES, np.uint32)
    count = 0
    for base in range(lo, hi, LANES):
        begin(base, form, x, keys, words)
        is_made[:] = False
        at, passed = 0, 0
        for c in range(len(calls)):
            misplaced, first, end = calls[c, MISPLACED], calls[c, FIRST], calls[c, END]
            enough, expected_at = calls[c, ENOUGH], calls[c, BASE]
            hits[:] = U0
            cursors[:] = U0
            alive = True
            for i in range(first, end):
                k = probes[i]
                row = k + misplaced * len(places)
                if not is_made[row]:
                    at, passed = fill_for(
                        base, form, stops, places[k, 1], at, passed, x, keys, words
                    )
                    kind = LEGACY if misplaced else form
                    make_output(places[k, 0], kind, words, outputs, row)
                    is_made[row] = True
                if calls[c, SCANS]:
                    alive = scan_output(
                        outputs, row, i - first, draws, c, expected, expected_at, cursors, hits,
                        enough,
                    )  # fmt: skip
                else:
                    alive = count_hits(outputs, row, tests, i, end, hits, 0, enough)
                if not alive:
                    break
            if alive:
                add_unjudged(calls[c, SCANS], expected, expected_at, cursors, hits)
                above = c << CALL_BITS
                count = put_seeds(hits, enough, base + above, hi + above, out, count)
    return count
