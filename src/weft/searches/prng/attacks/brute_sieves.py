"""The compiled sieves by seed: which form of seeding has which, and what it is given.

A sieve returns the seeds of a range that hit enough of the first draws of a `Target`; it may
return more, never fewer. A seeding that is compiled makes a sieve together with the output map;
the other forms have one of their own, which reads draws off words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb

import numpy as np

from weft.errors import BugError
from weft.searches.prng.arrays import Ints, ShortWords
from weft.searches.prng.family import Family
from weft.searches.prng.forms import (
    AdditiveSeeding,
    CompiledSeeding,
    LcgSeeding,
    SaltedSeeding,
    SubtractiveSeeding,
    TwisterSeeding,
    WordReading,
)
from weft.searches.prng.kernels import cuda
from weft.searches.prng.kernels.bulk import sieve_plain
from weft.searches.prng.kernels.dotnet import sieve_dotnet
from weft.searches.prng.kernels.glibc import DEGREE, sieve_glibc
from weft.searches.prng.kernels.golang import PRIME, sieve_go
from weft.searches.prng.kernels.hits import ANY
from weft.searches.prng.kernels.lcg import sieve_lcg
from weft.searches.prng.kernels.mt import (
    BY_ARRAY,
    DIRECT,
    FAR,
    FIRST_FORM,
    LEGACY,
    MODERN,
    scan_mt,
    sieve_mt,
    step_of,
)
from weft.searches.prng.kernels.vectors import LANES
from weft.searches.prng.linear import affine_power

MAX_SEEDS = 4096
"""Seeds that one call reports; a sieve lets far fewer pass."""
NEAR = 512
"""Calls from the seed up to which a family's own definitions are run for every seed."""
MOST_BLOCKS = Fraction(1, 16)
"""Blocks of seeds that may pass the first tests by chance."""
TWISTER_SPEED, ARRAY_SPEED = 40_000, 12_000
"""Seeds per millisecond of a core by the short and by the long seeding of MT19937."""


@dataclass(frozen=True, slots=True)
class Target:
    """The draws a sieve compares, where they are in the stream, and how many must be hit."""

    draws: tuple[int, ...]
    modulus: int
    start: int
    skip: int
    enough: int
    device: str = "cpu"
    """Where to compute: `cpu`, or `gpu` where there is a sieve for it."""

    def positions(self, steps: int) -> list[int]:
        """Return the words the draws are read off, with `steps` words to a call."""
        return [steps * (self.start + at * (self.skip + 1)) for at in range(len(self.draws))]


Run = Callable[[int, int], list[int]]


@dataclass(frozen=True, slots=True)
class Sieve:
    """A way to sieve a family: `speed` in seeds per millisecond of a core, and how it is made.

    A call takes `steps` words; words from `farthest` on are out of reach.
    """

    speed: int
    make: Callable[[Family, str, Target], Run]
    steps: int = 1
    farthest: int | None = None

    def reaches(self, target: Target) -> bool:
        """Whether the sieve can look at the draws of a target."""
        return self.farthest is None or target.positions(self.steps)[-1] < self.farthest


def sieve_of(family: Family, output: str, modulus: int) -> Sieve | None:
    """Return the sieve for an output map, if there is one."""
    if output == "raw" and modulus < 1 << family.word_bits:
        return None
    form = family.seed_form
    if isinstance(form, CompiledSeeding):
        return Sieve(form.seeds_per_ms, plain_sieve, farthest=NEAR)
    if isinstance(form, TwisterSeeding) and redrawn_from(family, output):
        speed = ARRAY_SPEED if form.by_array else TWISTER_SPEED
        return Sieve(speed, redrawing_mt_sieve, farthest=DIRECT // 2)
    reading = family.reading(output, modulus)
    if reading is None:
        return None
    if isinstance(form, TwisterSeeding):
        speed = ARRAY_SPEED if form.by_array else TWISTER_SPEED
        return Sieve(speed, mt_sieve, reading.steps, DIRECT)
    if isinstance(form, SubtractiveSeeding):
        return Sieve(20_000, dotnet_sieve, farthest=NEAR)
    if isinstance(form, SaltedSeeding):
        return Sieve(5_000, go_sieve, farthest=form.tap)
    if isinstance(form, AdditiveSeeding):
        return Sieve(40_000, glibc_sieve)
    return None if form is None else Sieve(200_000, lcg_sieve)


def go_sieve(family: Family, output: str, target: Target) -> Run:
    """Return the sieve of Go's first outputs."""
    form = family.seed_form
    assert isinstance(form, SaltedSeeding)
    last, salts = form.length - 1, form.salts()
    places = [(last - form.tap - at, last - at) for at in target.positions(1)]
    factors = np.array([[f for word in two for f in go_factors(form, word)] for two in places])
    salted = np.array([[salts[a], salts[b]] for a, b in places], np.uint64)
    reading, tests = _tested(family, output, target)
    factors, up = factors.astype(np.uint64), np.uint64(reading.moved)
    sieve = cuda.sieve_go if target.device == "gpu" else sieve_go
    return _runner(sieve, factors, salted, up, tests, target.enough)


def go_factors(form: SaltedSeeding, word: int) -> list[int]:
    """Return what the seed is multiplied with for the three parts of a word."""
    first = form.discarded + 3 * word + 1
    return [pow(form.multiplier, first + more, int(PRIME)) for more in range(3)]


def plain_sieve(family: Family, output: str, target: Target) -> Run:
    """Return the sieve made of the family's definitions."""
    sieve = sieve_plain(family, output)
    gaps = np.array([target.start] + [target.skip] * (len(target.draws) - 1), np.int64)
    draws = np.array(target.draws, np.uint64)
    state = np.empty(family.state_words, np.uint64)
    return _runner(sieve, np.uint64(target.modulus), gaps, draws, target.enough, state)


def mt_sieve(family: Family, output: str, target: Target) -> Run:
    """Return the sieve of MT19937's first outputs, with the draws in the order they get known."""
    reading, tests = _tested(family, output, target)
    form = twister_form(family)
    positions = target.positions(reading.steps)
    order = sorted(range(len(positions)), key=lambda at: known_after(positions[at], form))
    chance = Fraction(1, target.modulus)
    first = first_tests(chance, len(order), len(order) - target.enough)
    stops, places = schedule([positions[at] for at in order], form, first)
    sieve = cuda.sieve_mt if target.device == "gpu" else sieve_mt
    return _runner(sieve, form, stops, places, tests[order], target.enough)


def redrawing_mt_sieve(family: Family, output: str, target: Target) -> Run:
    """Return the sieve of maps that take some bits of a word, and another if they are too great.

    Which output a draw was is not known before, so all outputs are gone through in order.
    """
    high = redrawn_from(family, output) == "high"
    bits = target.modulus.bit_length() if high else (target.modulus - 1).bit_length()
    draw = np.array((32 - bits if high else 0, (1 << bits) - 1, target.modulus), np.uint32)
    compared = dict(zip(target.positions(1), target.draws, strict=True))
    calls = max(compared) + 1
    outputs = min(DIRECT, 2 * calls + 32)  # what lies beyond is not judged
    left = [sum(at >= call for at in compared) for call in range(calls)]
    rows = [(compared.get(call, ANY), left[call]) for call in range(calls)]
    expected = np.array([*rows, *([(ANY, 0)] * (outputs + 1))], np.uint32)
    form = twister_form(family)
    chance = Fraction((1 << bits) - target.modulus + 1, 1 << bits)
    first = first_tests(chance, outputs, len(target.draws) - target.enough)
    stops, places = schedule(range(outputs), form, first)
    sieve = cuda.scan_mt if target.device == "gpu" else scan_mt
    return _runner(sieve, form, stops, places, draw, expected, target.enough)


def redrawn_from(family: Family, output: str) -> str | None:
    """Return the end of a word of which a map takes bits, until they are below the modulus."""
    return family.twister.rejecting.get(output) if family.twister else None


def known_after(position: int, form: int) -> int:
    """Return after which step of the filling an output of a twister is known."""
    return max(step_of(position + more, form) for more in (0, 1, FAR))


def first_tests(chance: Fraction, tests: int, wrong: int) -> int:
    """Return how many tests end most blocks of seeds, if a seed passes one by chance."""
    for count in range(wrong + 1, tests):
        missed = range(min(wrong, count) + 1)
        passed = sum(comb(count, k) * (1 - chance) ** k * chance ** (count - k) for k in missed)
        if passed * LANES < MOST_BLOCKS:
            return count
    return tests


def schedule(positions: Sequence[int], form: int, first: int) -> tuple[Ints, Ints]:
    """Return the steps at which to stop, and each output with the number of stops before it.

    That is -1 from output `first` on: few blocks get there. init_by_array keeps every word, so
    there it is enough to stop where an output is known.
    """
    early = positions if form == BY_ARRAY else positions[:first]
    if form == BY_ARRAY:
        steps = {known_after(at, form) for at in early}
    else:
        steps = {at + more for at in early for more in (0, 1, FAR)}
    stops, last, places = sorted(steps), 0, []
    for at in early:
        last = max(last, stops.index(known_after(at, form)) + 1)
        places.append((at, last))
    places += [(at, -1) for at in positions[len(early) :]]
    return np.array(stops), np.array(places)


def twister_form(family: Family) -> int:
    """Return which of the kernel's forms a twister is."""
    assert isinstance(family.seed_form, TwisterSeeding)
    assert family.twister is not None
    if family.seed_form.by_array:
        return BY_ARRAY
    if family.seed_form.product:
        return FIRST_FORM
    return LEGACY if family.twister.misplaced else MODERN


def dotnet_sieve(family: Family, output: str, target: Target) -> Run:
    """Return the sieve of .NET's outputs."""
    _, tests = _tested(family, output, target)
    sieve = cuda.sieve_dotnet if target.device == "gpu" else sieve_dotnet
    return _runner(sieve, np.array(target.positions(1)), tests, target.enough)


def glibc_sieve(family: Family, output: str, target: Target) -> Run:
    """Return the sieve of rand(), wherever the draws are."""
    form = family.seed_form
    assert isinstance(form, AdditiveSeeding)
    weights = np.array([glibc_weights(form, at) for at in target.positions(1)], np.uint32)
    _, tests = _tested(family, output, target)
    sieve = cuda.sieve_glibc if target.device == "gpu" else sieve_glibc
    return _runner(sieve, weights, tests, target.enough)


def lcg_sieve(family: Family, output: str, target: Target) -> Run:
    """Return the sieve of a congruential generator, wherever the draws are."""
    form = family.seed_form
    assert isinstance(form, LcgSeeding)
    reading, tests = _tested(family, output, target)
    flip = 1 << (form.bits - 1) if reading.signed else 0
    maps = [
        affine_power(form.multiplier, form.increment, at + 1, 1 << form.bits)
        for at in target.positions(reading.steps)
    ]
    affine = np.array([(a, (c + flip) % (1 << form.bits)) for a, c in maps], np.uint64)
    first = np.array((form.scramble, form.place, form.below, (1 << form.bits) - 1), np.uint64)
    dropped = np.uint64(form.bits - 32)
    sieve = cuda.sieve_lcg if target.device == "gpu" else sieve_lcg
    return _runner(sieve, first, dropped, affine, tests, target.enough)


@lru_cache(maxsize=4096)
def glibc_weights(form: AdditiveSeeding, position: int) -> tuple[int, ...]:
    """Return how the words of the seed add up to the output at a position.

    A word is the sum of those `lag` (3) and 31 before it, so x^n modulo x^31 - x^28 - 1 holds
    the weights for word n. 310 words are thrown away; the oldest word of the seed is number 3.
    """
    lag, power = form.lag, position + DEGREE + form.discarded
    result, square = [1] + [0] * 30, [0, 1] + [0] * 29
    while power:
        if power & 1:
            result = _times(result, square, lag)
        square, power = _times(square, square, lag), power >> 1
    return (*result[-lag:], *result[:-lag])


def _times(left: list[int], right: list[int], lag: int) -> list[int]:
    """Multiply modulo x^31 - x^(31 - lag) - 1 and 2^32."""
    product = [0] * (2 * DEGREE - 1)
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            product[i + j] += a * b
    for at in range(2 * DEGREE - 2, DEGREE - 1, -1):
        product[at - DEGREE] += product[at]
        product[at - lag] += product[at]
    return [value % (1 << 32) for value in product[:DEGREE]]


def _tested(family: Family, output: str, target: Target) -> tuple[WordReading, ShortWords]:
    """Return how draws are read off words, and the test of each draw."""
    reading = family.reading(output, target.modulus)
    assert reading is not None
    tests = [reading.test(draw, target.modulus) for draw in target.draws]
    return reading, np.array(tests, np.uint32)


def _runner(sieve: Callable[..., int], *args: object) -> Run:
    """Return what runs a sieve over seeds and lists those that pass."""

    def run(lo: int, hi: int) -> list[int]:
        out = np.empty(MAX_SEEDS, np.uint64)
        count = sieve(lo, hi, *args, out)
        if count > len(out):
            raise BugError(f"a sieve let {count} seeds pass, more than {len(out)}")
        return [int(seed) for seed in out[:count]]

    return run
