"""MT19937 by 32-bit seed, many seeds side by side in vector registers.

Each of the first 227 outputs needs three words of the block that the seed fills: p, p + 1 and
p + 397 (as Solar Designer's php_mt_seed exploits). So the block is not twisted, and filled only as
far as the next test needs: most blocks of seeds fail their first.

init_by_array passes over the block twice. Its last step sets word 1, so outputs 0 and 1 are known
last: the first test is that of output 2, after 1,022 of 1,247 steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.searches.prng.kernels.compiled import KERNELS
from weft.searches.prng.kernels.hits import count_hits, put_seeds, scan_output
from weft.searches.prng.kernels.vector_tests import output_rows
from weft.searches.prng.kernels.vectors import (
    BASE_WORDS,
    LANES,
    NUMBERS,
    carry_and_keep,
    carry_words,
    mix_again,
    mix_keys,
)
from weft.searches.prng.kernels.words import add32, mul32, or32, shr32, sub32, xor32

SIZE = 624
FAR = 397
FILL_52 = np.uint32(69069)
FIRST_MIX, SECOND_MIX = np.uint32(1664525), np.uint32(1566083941)
UPPER = np.uint32(0x80000000)
LOWER = np.uint32(0x7FFFFFFF)
MATRIX = np.uint32(0x9908B0DF)
TEMPER_B = np.uint32(0x9D2C5680)
TEMPER_C = np.uint32(0xEFC60000)
U0, U1, U7, U11, U15, U18, U30 = (np.uint32(n) for n in (0, 1, 7, 11, 15, 18, 30))
MODERN, LEGACY, FIRST_FORM, BY_ARRAY = 0, 1, 2, 3
"""Forms: the standard, PHP 5.2.1 to 7.0 (other low bit), PHP up to 5.2.0 (other filling), and the
standard filled by init_by_array with the seed as the only key."""


def step_of(word: int, form: int) -> int:
    """Return the step of the filling after which a word of the block is final."""
    if form == BY_ARRAY and word < 2:
        return SIZE * word  # word 0 is a constant, word 1 comes after word 623
    return word


@KERNELS.kernel
def begin(base: int, form: int, x: Any, keys: Any, words: Any) -> None:
    """Start the filling for the seeds from `base` on; `x` receives the word to continue from."""
    for j in range(LANES):
        seed = add32(np.uint32(base), np.uint32(j))
        x[j] = or32(seed, U1) if form == FIRST_FORM else seed
        keys[j] = seed
    if form != BY_ARRAY:
        return
    for j in range(LANES):
        x[j] = BASE_WORDS[0]
        words[0, j] = UPPER
    mix_keys(x, keys, BASE_WORDS, words, 1, SIZE)
    for j in range(LANES):
        product = mul32(xor32(x[j], shr32(x[j], U30)), FIRST_MIX)
        x[j] = add32(xor32(words[1, j], product), keys[j])
        words[1, j] = x[j]


@KERNELS.kernel
def carry_on(at: int, to: int, form: int, x: Any, words: Any) -> None:
    """Fill from step `at` to step `to`; store the word that is then final in its row of `words`."""
    if form == BY_ARRAY:
        mix_again(x, NUMBERS, words, max(at + 1, 2), min(to + 1, SIZE))
        if to == SIZE:
            for j in range(LANES):
                product = mul32(xor32(x[j], shr32(x[j], U30)), SECOND_MIX)
                words[1, j] = sub32(xor32(words[1, j], product), U1)
        return
    if form == FIRST_FORM:
        power = U1
        for _ in range(at, to):
            power = mul32(power, FILL_52)
        for j in range(LANES):
            x[j] = mul32(x[j], power)
    else:
        carry_words(x, NUMBERS, at, to)
    for j in range(LANES):
        words[to, j] = x[j]


@KERNELS.kernel
def fill_block(base: int, last: int, form: int, x: Any, keys: Any, words: Any) -> None:
    """Fill the rows of `words` up to `last`, for the few blocks that pass the first tests."""
    begin(base, form, x, keys, words)
    for j in range(LANES):
        words[0, j] = x[j]
    if form == FIRST_FORM:
        for at in range(last):
            carry_on(at, at + 1, form, x, words)
    else:
        carry_and_keep(x, NUMBERS, words, 0, last)


@KERNELS.kernel
def make_output(at: int, form: int, words: Any, y: Any, row: int) -> None:
    """Compute output `at` of all seeds of a block, in a row of `y`."""
    output_rows(words, at, form == LEGACY, y, row)


@KERNELS.entry
def sieve_mt(
    lo: int, hi: int, form: int, stops: Any, places: Any, tests: Any, enough: int, out: Any
) -> int:
    """Write the seeds lo..hi-1 with at least `enough` hits to `out`; return their number.

    `stops` are the rising steps of the filling at which a word is needed. Row i of `places` is an
    output and the number of stops before it; where that is -1, the whole block is filled first. Row
    i of `tests` is the test of this output (see `hits`). Seeds that do not fit are only counted.
    """
    words = np.empty((SIZE, LANES), np.uint32)
    x, keys = np.empty(LANES, np.uint32), np.empty(LANES, np.uint32)
    y = np.empty((1, LANES), np.uint32)
    hits = np.empty(LANES, np.uint32)
    count = 0
    for base in range(lo, hi, LANES):
        begin(base, form, x, keys, words)
        hits[:] = U0
        at, passed = 0, 0
        for i in range(len(tests)):
            if places[i, 1] < 0 and at < SIZE:
                fill_block(base, SIZE - 1, form, x, keys, words)
                at = SIZE
            while passed < places[i, 1]:
                carry_on(at, stops[passed], form, x, words)
                at = stops[passed]
                passed += 1
            make_output(places[i, 0], form, words, y, 0)
            if not count_hits(y, 0, tests, i, len(tests), hits, 0, enough):
                break
        else:
            count = put_seeds(hits, enough, base, hi, out, count)
    return count


@KERNELS.entry
def scan_mt(
    lo: int, hi: int, form: int, stops: Any, places: Any, draws: Any, expected: Any, enough: int,
    out: Any,
) -> int:  # fmt: skip
    """Do what `sieve_mt` does for calls that reject words that are too great and draw again.

    Row i of `places` is output i and the number of stops before it. `draws`, which has one row, and
    `expected` are those of `hits.scan_output`.
    """
    words = np.empty((SIZE, LANES), np.uint32)
    x, keys = np.empty(LANES, np.uint32), np.empty(LANES, np.uint32)
    y = np.empty((1, LANES), np.uint32)
    cursors, hits = np.empty(LANES, np.uint32), np.empty(LANES, np.uint32)
    count = 0
    for base in range(lo, hi, LANES):
        begin(base, form, x, keys, words)
        hits[:] = U0
        cursors[:] = U0
        at, passed, alive = 0, 0, True
        for i in range(len(places)):
            if places[i, 1] < 0 and at < SIZE:
                fill_block(base, SIZE - 1, form, x, keys, words)
                at = SIZE
            while passed < places[i, 1]:
                carry_on(at, stops[passed], form, x, words)
                at = stops[passed]
                passed += 1
            make_output(places[i, 0], form, words, y, 0)
            alive = scan_output(y, 0, i, draws, 0, expected, 0, cursors, hits, enough)
            if not alive:
                break
        if alive:
            for j in range(LANES):
                hits[j] = hits[j] + expected[cursors[j], 1]
            count = put_seeds(hits, enough, base, hi, out, count)
    return count
