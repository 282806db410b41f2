"""Selects the compiled sieve for each form of seeding and prepares its arguments.

A sieve returns the seeds of a range that hit enough of the first draws of a `Target`; it may return
more, never fewer. A compiled seeding is combined with the output map into one sieve; every other
form has a dedicated sieve, which tests words directly.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from weft.lazy_imports import lazy_imports, lazy_module
from weft.searches.prng.attacks.row_sieves import row_sieve, row_speed
from weft.searches.prng.attacks.sieving import (
    Calls,
    Run,
    Sieve,
    Target,
    one_by_one,
    runner,
    tested,
)
from weft.searches.prng.attacks.twister_sieves import redrawn_from, twister_sieve, twister_speed
from weft.searches.prng.family import Family
from weft.searches.prng.forms import (
    AdditiveSeeding,
    CompiledSeeding,
    LcgSeeding,
    SaltedSeeding,
    SeedForm,
    SubtractiveSeeding,
    TwisterSeeding,
    WideTwisterSeeding,
    WordReading,
)
from weft.searches.prng.kernels.sizes import DIRECT
from weft.searches.prng.linear import affine_power

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy_module("numpy")

with lazy_imports():
    from weft.searches.prng.kernels import bulk, cuda, dotnet, glibc, golang, lcg, mt64

SORTED_SLOWER = 8
"""Slowdown factor for sorted rows, which a family's own definitions compute."""
WIDE_OUTPUTS = 128
"""Number of MT19937-64 outputs within reach of its sieve."""
NEAR = 512
"""Calls after the seed within reach of sieves that step through every call."""


def sieve_of(
    family: Family, output: str, modulus: int, *, is_row_known: bool = False
) -> Sieve | None:
    """Return the sieve for an output map, or None; `is_row_known`: draws begin with a shuffle."""
    if output == "raw" and modulus < 1 << family.word_bits:
        return None
    form = family.seed_form
    if is_row_known and family.rows is not None and family.rows.calls is not None:
        return _shuffle_sieve(*family.rows.calls, modulus)
    if isinstance(form, CompiledSeeding):
        speed = form.seeds_per_ms // (SORTED_SLOWER if output.startswith("sorted_") else 1)
        return Sieve(speed, plain_sieve, farthest=NEAR)
    if isinstance(form, WideTwisterSeeding):
        kind = form.values.get(output)
        return Sieve(8_500, wide_twister_sieve, farthest=WIDE_OUTPUTS) if kind else None
    if isinstance(form, TwisterSeeding) and family.rows is not None:
        speed = row_speed(form, output, modulus, is_row_known)
        return Sieve(speed, row_sieve, whole_row=True)
    if isinstance(form, TwisterSeeding) and redrawn_from(family, output):
        speed, seeding = twister_speed(form)
        return Sieve(speed, twister_sieve, farthest=DIRECT // 2, seeding=seeding)
    reading = family.reading(output, modulus)
    return None if reading is None or form is None else _reading_sieve(family, form, reading)


def _shuffle_sieve(family: Family, output: str, modulus: int) -> Sieve | None:
    """Return the sieve of a shuffle's calls, whose values are the draws of the target."""
    sieve = sieve_of(family, output, modulus)
    if sieve is None:
        return None

    def make(_: Calls, target: Target) -> Run:
        return sieve.make([(family, output)], target)

    return replace(sieve, make=make, seeding="", whole_row=True)


def _reading_sieve(family: Family, form: SeedForm, reading: WordReading) -> Sieve:
    """Return the dedicated sieve of a form of seeding, which tests words directly."""
    if isinstance(form, TwisterSeeding):
        speed, seeding = twister_speed(form)
        return Sieve(speed, twister_sieve, reading.steps, DIRECT, seeding)
    if isinstance(form, SubtractiveSeeding):
        return Sieve(45_000, dotnet_sieve, farthest=NEAR)
    if isinstance(form, SaltedSeeding):
        return Sieve(90_000, go_sieve, farthest=form.tap, seeding=family.name)
    if isinstance(form, AdditiveSeeding):
        return Sieve(50_000, glibc_sieve, seeding=f"additive feedback, lag {form.lag}")
    return Sieve(350_000, lcg_sieve)


def go_sieve(calls: Calls, target: Target) -> Run:
    """Return the sieve of Go's first outputs."""
    form = calls[0][0].seed_form
    assert isinstance(form, SaltedSeeding)
    last, salts = form.length - 1, form.salts()
    places = [(last - form.tap - at, last - at) for at in target.positions(1)]
    factors = np.array([[f for word in two for f in go_factors(form, word)] for two in places])
    salted = np.array([[salts[a], salts[b]] for a, b in places], np.uint64)
    factors = factors.astype(np.uint64)
    both = [tested(*call, target) for call in calls]
    if target.device == "gpu":
        return one_by_one([
            runner(cuda.sieve_go, factors, salted, np.uint64(r.moved), tests, target.enough)
            for r, tests in both
        ])  # fmt: skip
    moved = np.array([reading.moved for reading, _ in both], np.uint64)
    tests = np.concatenate([tests for _, tests in both])
    return runner(golang.sieve_go, factors, salted, moved, tests, len(calls), target.enough)


def go_factors(form: SaltedSeeding, word: int) -> list[int]:
    """Return the factors that turn the seed into the three parts of a word."""
    first = form.discarded + 3 * word + 1
    return [pow(form.multiplier, first + more, int(golang.PRIME)) for more in range(3)]


def plain_sieve(calls: Calls, target: Target) -> Run:
    """Return the sieve compiled from the family's own definitions."""
    [(family, output)] = calls
    sieve = bulk.sieve_plain(family, output)
    gaps = np.array([target.start] + [target.skip] * (len(target.draws) - 1), np.int64)
    draws = np.array(target.draws, np.uint64)
    state = np.empty(family.state_words, np.uint64)
    return runner(sieve, np.uint64(target.modulus), gaps, draws, target.enough, state)


def wide_twister_sieve(calls: Calls, target: Target) -> Run:
    """Return the sieve of MT19937-64's first outputs."""
    [(family, output)] = calls
    form = family.seed_form
    assert isinstance(form, WideTwisterSeeding)
    named = {"low": mt64.LOW, "high": mt64.HIGH, "remainder": mt64.REMAINDER}
    kind = named[form.values[output]]
    calls_made = target.positions(1)[-1] + 1
    outputs = min(mt64.FAR - 1, 2 * calls_made + 16 if kind == mt64.LOW else calls_made)
    gaps = np.array([target.start] + [target.skip] * (len(target.draws) - 1), np.int64)
    mask = (1 << (target.modulus - 1).bit_length()) - 1
    return runner(
        mt64.sieve_mt64, outputs, kind, np.uint64(target.modulus), np.uint64(mask),
        np.array(target.draws, np.uint64), gaps, target.enough,
    )  # fmt: skip


def dotnet_sieve(calls: Calls, target: Target) -> Run:
    """Return the sieve of .NET's outputs."""
    [(family, output)] = calls
    _, tests = tested(family, output, target)
    sieve = cuda.sieve_dotnet if target.device == "gpu" else dotnet.sieve_dotnet
    return runner(sieve, np.array(target.positions(1)), tests, target.enough)


def glibc_sieve(calls: Calls, target: Target) -> Run:
    """Return the sieve of rand(), which reaches draws at any distance from the seed."""
    forms = [family.seed_form for family, _ in calls]
    positions = target.positions(1)
    used = [
        glibc_weights(form, at)
        for form in forms
        for at in positions
        if isinstance(form, AdditiveSeeding)
    ]
    rows = list(dict.fromkeys(used))
    weights, probes = np.array(rows, np.uint32), [rows.index(row) for row in used]
    tests = [tested(*call, target)[1] for call in calls]
    if target.device == "gpu":
        each = len(target.draws)
        return one_by_one([
            runner(cuda.sieve_glibc, weights[probes[n * each :][:each]], own, target.enough)
            for n, own in enumerate(tests)
        ])  # fmt: skip
    judged = (np.array(probes), np.concatenate(tests), len(calls), target.enough)
    return runner(glibc.sieve_glibc, weights, *judged)


def lcg_sieve(calls: Calls, target: Target) -> Run:
    """Return the sieve of a congruential generator, which reaches draws at any distance."""
    [(family, output)] = calls
    form = family.seed_form
    assert isinstance(form, LcgSeeding)
    reading, tests = tested(family, output, target)
    flip = 1 << (form.bits - 1) if reading.signed else 0
    maps = [
        affine_power(form.multiplier, form.increment, at + 1, 1 << form.bits)
        for at in target.positions(reading.steps)
    ]
    affine = np.array([(a, (c + flip) % (1 << form.bits)) for a, c in maps], np.uint64)
    first = np.array((form.scramble, form.place, form.below, (1 << form.bits) - 1), np.uint64)
    dropped = np.uint64(form.bits - 32)
    sieve = cuda.sieve_lcg if target.device == "gpu" else lcg.sieve_lcg
    return runner(sieve, first, dropped, affine, tests, target.enough)


@lru_cache(maxsize=4096)
def glibc_weights(form: AdditiveSeeding, position: int) -> tuple[int, ...]:
    """Return the weights of the seed's words in the output at a position.

    Each word is the sum of the words `lag` (3) and 31 before it, so x^n modulo x^31 - x^28 - 1
    holds the weights for word n. The first 310 words are discarded; the oldest word of the seed is
    number 3.
    """
    lag, power = form.lag, position + glibc.DEGREE + form.discarded
    result, square = [1] + [0] * 30, [0, 1] + [0] * 29
    while power:
        if power & 1:
            result = _times(result, square, lag)
        square, power = _times(square, square, lag), power >> 1
    return (*result[-lag:], *result[:-lag])


def _times(left: list[int], right: list[int], lag: int) -> list[int]:
    """Multiply two polynomials modulo x^31 - x^(31 - lag) - 1 and 2^32."""
    product = [0] * (2 * glibc.DEGREE - 1)
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            product[i + j] += a * b
    for at in range(2 * glibc.DEGREE - 2, glibc.DEGREE - 1, -1):
        product[at - glibc.DEGREE] += product[at]
        product[at - lag] += product[at]
    return [value % (1 << 32) for value in product[: glibc.DEGREE]]
