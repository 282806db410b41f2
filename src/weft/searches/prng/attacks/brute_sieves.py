"""The compiled sieves by seed: which family has which, and what it is given.

A sieve returns the seeds of a range that hit enough of the first draws of a `Target`; it may
return more, never fewer. Families without a sieve of their own have the one that is made of
their step and seeding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from weft.errors import BugError
from weft.searches.prng.arrays import ShortWords, Words
from weft.searches.prng.attacks.brute_readings import reading_of
from weft.searches.prng.families import golang
from weft.searches.prng.family import Family
from weft.searches.prng.kernels import cuda
from weft.searches.prng.kernels.glibc import DEGREE, sieve_glibc
from weft.searches.prng.kernels.golang import DIRECT as GO_DIRECT
from weft.searches.prng.kernels.golang import sieve_go
from weft.searches.prng.kernels.lcg import sieve_lcg
from weft.searches.prng.kernels.mt import DIRECT, FIRST_FORM, LEGACY, MODERN, sieve_mt
from weft.searches.prng.kernels.plain import has_sieve, sieve_plain
from weft.searches.prng.linear import affine_power

MAX_SEEDS = 4096
"""Seeds that one call reports; a sieve lets far fewer pass."""
NEAR = 512
"""Calls from the seed up to which a family's own definitions are run for every seed."""
SLOW = ("dotnet", "v8")
MT_FORMS = {"mt19937": MODERN, "php_mt": MODERN, "php_mt_legacy": LEGACY, "php_mt_52": FIRST_FORM}
GO_UP = {"bounded": 1, "scaled": 1, "high": 0}
"""Bits by which an output of Go is moved up so that what decides is on top."""
JAVA = (0x5DEECE66D, 0xB)


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
    if has_sieve(family):
        return Sieve(2_000 if family.name in SLOW else 12_000, plain_sieve, farthest=NEAR)
    reading = reading_of(family, output, modulus)
    if reading is None:
        return None
    if family.name in MT_FORMS:
        return Sieve(30_000, mt_sieve, reading.steps, DIRECT)
    if family.name == "go":
        return Sieve(5_000, go_sieve, farthest=GO_DIRECT)
    if family.name == "glibc":
        return Sieve(40_000, glibc_sieve)
    return Sieve(200_000, lcg_sieve)


def go_sieve(family: Family, output: str, target: Target) -> Run:
    """Return the sieve of Go's first outputs."""
    last, lag, salts = golang.LENGTH - 1, golang.TAP, golang.cooked()
    places = [(last - lag - at, last - at) for at in target.positions(1)]
    factors = np.array([[*go_factors(a), *go_factors(b)] for a, b in places], np.uint64)
    salted = np.array([[salts[a], salts[b]] for a, b in places], np.uint64)
    up, tests = np.uint64(GO_UP[output]), _tests(family, output, target)

    def run(lo: int, hi: int) -> list[int]:
        out = np.empty(MAX_SEEDS, np.uint64)
        return _listed(out, sieve_go(lo, hi, factors, salted, up, tests, target.enough, out))

    return run


def go_factors(word: int) -> list[int]:
    """Return what the seed is multiplied with for the three parts of a word."""
    first = golang.WARM_UP + 3 * word + 1
    return [pow(golang.FILL_MULTIPLIER, first + more, golang.M31) for more in range(3)]


def plain_sieve(family: Family, output: str, target: Target) -> Run:
    """Return the sieve made of the family's definitions."""
    sieve = sieve_plain(family, output)
    gaps = np.array([target.start] + [target.skip] * (len(target.draws) - 1), np.int64)
    draws = np.array(target.draws, np.uint64)
    state = np.empty(family.state_words, np.uint64)

    def run(lo: int, hi: int) -> list[int]:
        out = np.empty(MAX_SEEDS, np.uint64)
        modulus = np.uint64(target.modulus)
        return _listed(out, sieve(lo, hi, modulus, gaps, draws, target.enough, state, out))

    return run


def mt_sieve(family: Family, output: str, target: Target) -> Run:
    """Return the sieve of MT19937's first outputs."""
    reading = reading_of(family, output, target.modulus)
    assert reading is not None
    positions = target.positions(reading.steps)
    needed = sorted({at + more for at in positions for more in (0, 1, 397)})
    place = {word: row for row, word in enumerate(needed)}
    rows = np.array([[place[at], place[at + 1], place[at + 397]] for at in positions])
    tests = _tests(family, output, target)
    form, words = MT_FORMS[family.name], np.array(needed)
    sieve = cuda.sieve_mt if target.device == "gpu" else sieve_mt

    def run(lo: int, hi: int) -> list[int]:
        out = np.empty(MAX_SEEDS, np.uint64)
        count = sieve(lo, hi, form, words, rows, tests, target.enough, out)
        return _listed(out, count)

    return run


def glibc_sieve(family: Family, output: str, target: Target) -> Run:
    """Return the sieve of rand(), wherever the draws are."""
    weights = np.array([glibc_weights(at) for at in target.positions(1)], np.uint32)
    tests = _tests(family, output, target)
    sieve = cuda.sieve_glibc if target.device == "gpu" else sieve_glibc

    def run(lo: int, hi: int) -> list[int]:
        out = np.empty(MAX_SEEDS, np.uint64)
        return _listed(out, sieve(lo, hi, weights, tests, target.enough, out))

    return run


def lcg_sieve(family: Family, output: str, target: Target) -> Run:
    """Return the sieve of java.util.Random and drand48, which share their constants."""
    reading = reading_of(family, output, target.modulus)
    assert reading is not None
    flip = 1 << 47 if reading.signed else 0
    maps = [affine_power(*JAVA, at + 1, 1 << 48) for at in target.positions(reading.steps)]
    affine = np.array([(a, (c + flip) % (1 << 48)) for a, c in maps], np.uint64)
    seeding = (JAVA[0], 0, 0, (1 << 48) - 1)
    if family.name == "drand48":
        seeding = (0, 16, 0x330E, (1 << 48) - 1)
    first = np.array(seeding, np.uint64)
    tests = _tests(family, output, target)
    sieve = cuda.sieve_lcg if target.device == "gpu" else sieve_lcg

    def run(lo: int, hi: int) -> list[int]:
        out = np.empty(MAX_SEEDS, np.uint64)
        count = sieve(lo, hi, first, np.uint64(16), affine, tests, target.enough, out)
        return _listed(out, count)

    return run


@lru_cache(maxsize=4096)
def glibc_weights(position: int) -> tuple[int, ...]:
    """Return how the words of the seed add up to the output at a position.

    A word is the sum of those 3 and 31 before it, so x^n modulo x^31 - x^28 - 1 holds the
    weights for word n. 310 words are thrown away; the oldest word of the seed is number 3.
    """
    result, square, power = [1] + [0] * 30, [0, 1] + [0] * 29, position + DEGREE + 310
    while power:
        if power & 1:
            result = _times(result, square)
        square, power = _times(square, square), power >> 1
    return (*result[-3:], *result[:-3])


def _times(left: list[int], right: list[int]) -> list[int]:
    """Multiply modulo x^31 - x^28 - 1 and 2^32."""
    product = [0] * (2 * DEGREE - 1)
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            product[i + j] += a * b
    for at in range(2 * DEGREE - 2, DEGREE - 1, -1):
        product[at - DEGREE] += product[at]
        product[at - 3] += product[at]
    return [value % (1 << 32) for value in product[:DEGREE]]


def _tests(family: Family, output: str, target: Target) -> ShortWords:
    reading = reading_of(family, output, target.modulus)
    assert reading is not None
    return np.array([reading.test(draw, target.modulus) for draw in target.draws], np.uint32)


def _listed(out: Words, count: int) -> list[int]:
    if count > len(out):
        raise BugError(f"a sieve let {count} seeds pass, more than {len(out)}")
    return [int(seed) for seed in out[:count]]
