"""The interface of a sieve by seed: the draws it compares, its speed, and what it returns.

A sieve returns the seeds of a range that hit enough of the first draws of a `Target`; it may return
more, never fewer. It may serve several calls that share a seeding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weft.errors import BugError
from weft.lazy_imports import lazy_module
from weft.searches.prng.arrays import ShortWords
from weft.searches.prng.family import Family
from weft.searches.prng.forms import WordReading
from weft.searches.prng.kernels.sizes import CALL_BITS

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy_module("numpy")

MAX_SEEDS = 4096
"""Maximum number of seeds that one run of a sieve reports; far fewer pass."""


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
    bounds: tuple[int, ...] = ()
    """The modulus of each draw, where they differ: the calls of a shuffle."""

    def positions(self, steps: int) -> list[int]:
        """Return the positions of the words that give the draws, at `steps` words per call."""
        return [steps * (self.start + at * (self.skip + 1)) for at in range(len(self.draws))]


Calls = Sequence[tuple[Family, str]]
"""Families with output maps; more than one only where they share a seeding."""
Run = Callable[[int, int], list[int]]
"""Returns the seeds of a range that pass, as the index of the call times 2^32 plus the seed."""


@dataclass(frozen=True, slots=True)
class Sieve:
    """A sieve for a family: its `speed` in seeds per millisecond of a core, and how to make it.

    A call takes `steps` words; words from `farthest` on are out of reach. Calls whose sieves have
    the same nonempty `seeding` can be sieved together by one `make`.
    """

    speed: int
    make: Callable[[Calls, Target], Run]
    steps: int = 1
    farthest: int | None = None
    seeding: str = ""
    whole_row: bool = False
    """Whether it compares the whole first row, without wrong draws, instead of single draws."""

    def reaches(self, target: Target) -> bool:
        """Whether the draws of a target are within reach."""
        if self.whole_row:
            return target.start == target.skip == 0
        return self.farthest is None or target.positions(self.steps)[-1] < self.farthest


def tested(family: Family, output: str, target: Target) -> tuple[WordReading, ShortWords]:
    """Return how draws are read from words, and the test of each draw."""
    bounds = target.bounds or (target.modulus,) * len(target.draws)
    readings = [family.reading(output, bound) for bound in bounds]
    each = zip(readings, target.draws, bounds, strict=True)
    tests = [reading.test(draw, bound) for reading, draw, bound in each if reading is not None]
    reading = family.reading(output, target.modulus)
    assert reading is not None
    return reading, np.array(tests, np.uint32)


def runner(sieve: Callable[..., int], *args: object) -> Run:
    """Return a function that sieves a range of seeds and lists those that pass."""

    def run(lo: int, hi: int) -> list[int]:
        out = np.empty(MAX_SEEDS, np.uint64)
        count = sieve(lo, hi, *args, out)
        if count > len(out):
            raise BugError(f"a sieve let {count} seeds pass, more than {len(out)}")
        return [int(seed) for seed in out[:count]]

    return run


def one_by_one(sieves: Sequence[Run]) -> Run:
    """Combine sieves of one call each into a sieve of all calls."""

    def run(lo: int, hi: int) -> list[int]:
        return [call << CALL_BITS | s for call, sieve in enumerate(sieves) for s in sieve(lo, hi)]

    return run
