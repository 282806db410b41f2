"""Whether an output gives a draw, as one test for all simple output maps.

An output y hits a draw if z = (y >> shift) - least is not negative and z · inverse, rotated right
by `turn` bits, is at most `limit`. For `mod m` with m = 2^turn·q this tests divisibility by m
(Granlund and Montgomery 1994, section 9); with inverse 1 and turn 0 it tests an interval.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.searches.prng.kernels.compiled import KERNELS
from weft.searches.prng.kernels.sizes import CALL_BITS
from weft.searches.prng.kernels.vector_tests import scan_lanes, test_lanes
from weft.searches.prng.kernels.words import (
    add32,
    and32,
    covers32,
    differ32,
    shr32,
    sub32,
)

SHIFT, LEAST, INVERSE, TURN, LIMIT = range(5)
"""Columns of a test."""
U1, U31, U32 = np.uint32(1), np.uint32(31), np.uint32(32)
ANY = 0xFFFFFFFF
"""Stands for a draw that is not compared; no draw has this value, since bounds are below 2^32."""
FEW = 24
"""Outputs up to which rows are selected by comparison instead of being loaded for every lane."""


@KERNELS.kernel
def count_hits(
    y: Any, row: int, tests: Any, test: int, end: int, hits: Any, call: int, enough: int
) -> Any:  # fmt: skip
    """Add the hits of one draw for all lanes; return False if no lane can still have enough.

    Row `row` of `y` holds the output, row `call` of `hits` the hits. The tests after `test` and
    before `end` are still to come.
    """
    return test_lanes(y, row, tests, test, hits, call, max(enough - (end - 1 - test), 0))


@KERNELS.kernel
def scan_output(
    y: Any, row: int, at: int, draws: Any, call: int, expected: Any, base: int, cursors: Any,
    hits: Any, enough: int,
) -> Any:  # fmt: skip
    """Compare output `at` with each lane's next draw; return False if no lane can have enough.

    Row `row` of `y` holds the output. Row `call` of `draws` is (shift, mask, bound): the value of
    an output is its masked bits, and an output whose value is not below the bound makes no draw.
    Row `base` + d of `expected` is the value of draw d, or ANY if it is not compared, and the
    number of draws compared from d on.
    """
    if at < FEW:
        return scan_lanes(y, row, draws, call, expected, base, at + 1, cursors, hits, enough)
    shift, mask, bound = draws[call, 0], draws[call, 1], draws[call, 2]
    most = np.uint32(0)
    for j in range(len(cursors)):
        value = and32(shr32(y[row, j], shift), mask)
        cursor = cursors[j]
        taken = sub32(U1, covers32(value, bound))
        hit = sub32(U1, differ32(value, expected[base + cursor, 0]))
        cursors[j] = add32(cursor, taken)
        hits[j] = add32(hits[j], and32(hit, taken))
        most = max(most, add32(hits[j], expected[base + cursors[j], 1]))
    return int(most) >= enough


@KERNELS.kernel
def put_seeds(hits: Any, enough: int, base: int, hi: int, out: Any, count: int) -> int:
    """Write the seeds of a block with enough hits to `out`; return their number so far.

    The block begins at `base`; seeds from `hi` on are not requested. Seeds that do not fit are
    counted but not written.
    """
    for j in range(min(len(hits), hi - base)):
        if hits[j] >= enough:
            if count < len(out):
                out[count] = base + j
            count += 1
    return count


@KERNELS.kernel
def put_calls(
    hits: Any, alive: Any, enough: int, base: int, hi: int, out: Any, count: int
) -> int:  # fmt: skip
    """Write call · 2^32 + seed, as `put_seeds` does, for each call that is alive."""
    for c in range(len(hits)):
        if alive[c]:
            above = c << CALL_BITS
            count = put_seeds(hits[c], enough, base + above, hi + above, out, count)
    return count
