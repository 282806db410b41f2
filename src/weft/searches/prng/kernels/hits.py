"""When an output makes a draw, as one test for all simple output maps.

An output y hits a draw if z = (y >> shift) - least is not below 0 and z · inverse, turned right
by `turn` bits, is at most `limit`. For `mod m` = 2^turn·q that is divisibility by m (Granlund and
Montgomery 1994, section 9); with inverse 1 and turn 0 it is an interval.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.searches.prng.kernels.compiled import KERNELS
from weft.searches.prng.kernels.words import (
    add32,
    and32,
    covers32,
    differ32,
    least32,
    mul32,
    or32,
    shl32,
    shr32,
    sub32,
)

SHIFT, LEAST, INVERSE, TURN, LIMIT = range(5)
"""Columns of a test."""
U1, U31, U32 = np.uint32(1), np.uint32(31), np.uint32(32)
ANY = 0xFFFFFFFF
"""No value of a draw: bounds are below 2^32."""


@KERNELS.kernel
def count_hits(y: Any, tests: Any, row: int, hits: Any, enough: int) -> bool:
    """Add the hits of one draw for all lanes; False if no lane can have enough any more."""
    shift, least, inverse = tests[row, SHIFT], tests[row, LEAST], tests[row, INVERSE]
    turn, limit = tests[row, TURN], tests[row, LIMIT]
    back = and32(sub32(U32, turn), U31)
    fewest = np.uint32(0xFFFFFFFF)
    compared = np.uint32(len(tests))
    for j in range(len(y)):
        value = shr32(y[j], shift)
        z = mul32(sub32(value, least), inverse)
        z = or32(shr32(z, turn), shl32(z, back))
        hit = and32(covers32(limit, z), covers32(value, least))
        hits[j] = add32(hits[j], hit)
        fewest = least32(fewest, sub32(compared, hits[j]))
    most = len(tests) - int(fewest)
    return most + len(tests) - 1 - row >= enough


@KERNELS.kernel
def scan_output(y: Any, draw: Any, expected: Any, cursors: Any, hits: Any, enough: int) -> bool:
    """Give one output to the draw each lane waits for; False if no lane can have enough.

    `draw` is (shift, mask, bound): the value of an output is its masked bits, and an output whose
    value is not below the bound makes no draw. Row d of `expected` is the value of draw d, ANY
    where none is compared, and how many draws from d on are compared.
    """
    shift, mask, bound = draw[0], draw[1], draw[2]
    most = np.uint32(0)
    for j in range(len(y)):
        value = and32(shr32(y[j], shift), mask)
        cursor = cursors[j]
        taken = sub32(U1, covers32(value, bound))
        hit = sub32(U1, differ32(value, expected[cursor, 0]))
        cursors[j] = add32(cursor, taken)
        hits[j] = add32(hits[j], and32(hit, taken))
        most = max(most, add32(hits[j], expected[cursors[j], 1]))
    return int(most) >= enough


@KERNELS.kernel
def put_seeds(hits: Any, enough: int, base: int, hi: int, out: Any, count: int) -> int:
    """Write the seeds of a block with enough hits to `out`; return how many there are now.

    The block begins at `base`, and what is from `hi` on was not asked for. What does not fit
    is counted and not written.
    """
    for j in range(min(len(hits), hi - base)):
        if hits[j] >= enough:
            if count < len(out):
                out[count] = base + j
            count += 1
    return count
