"""Likely seeds at every start and every constant skip, for every family and output map.

`likely` tries seeds that people type (small and round numbers, repeated digits, known words);
`dates` tries the other small integers, which include process ids, and days and dates. A unit is 64
seeds: the stream of each is generated once and searched for all places. Compiled code processes
several seeds at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from weft.lazy_imports import lazy_imports, lazy_module
from weft.searches.prng.attack import AttackPlan, Case, Gap, HypothesisMatch, Units, best, compare
from weft.searches.prng.attacks.brute import enough_draws
from weft.searches.prng.attacks.likely_seeds import (
    DATED_COUNT,
    TYPED_COUNT,
    dated_seeds,
    typed_seeds,
)
from weft.searches.prng.families import FAMILIES, family_named
from weft.searches.prng.family import Family
from weft.searches.prng.hypothesis import Hypothesis, Skips

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy_module("numpy")

with lazy_imports():
    from weft.searches.prng.kernels import bulk, path, seeding

SEEDS_PER_UNIT = 64
UNITS_PER_TASK = 32
MAX_DRAWS = 96
LEAST_DRAWS = 2
"""Two consecutive draws identify a place."""
MAX_PLACES = 64
MAX_WORDS = 1 << 16
"""Approximate number of draws generated at a time for all streams; they fit a processor's cache."""
CHANCE_PLACES = Fraction(1, 1000)
SEED_NS = 25_000
WORD_NS, COMPILED_WORD_NS = 300, 5
"""Cost of each state word that a seed fills; SEED_NS is the fixed cost of a seed."""


class Likely:
    """The attack with one list of seeds."""

    needs_luck = True

    def __init__(
        self, name: str, count: int, make_seeds: Callable[[], tuple[int, ...]], description: str
    ) -> None:
        self.name, self.count, self.description = name, count, description
        self.make_seeds = make_seeds

    @property
    def seeds(self) -> tuple[int, ...]:
        """All seeds, generated on first use."""
        return self.make_seeds()

    def plan(self, case: Case) -> Sequence[AttackPlan | Gap]:
        """Return a plan for every family and output map, or a gap if there are too few draws."""
        return [
            self._plan(case, family, output)
            for family in case.chosen(FAMILIES)
            for output in maps(family, case)
        ]

    def _plan(self, case: Case, family: Family, output: str) -> AttackPlan | Gap:
        judged = case.judged_as(output)
        window = self.window(judged)
        if window is None:
            why = f"needs {self.draws_needed(judged)} draws, there are {len(case.draws)}"
            return Gap(self.name, family.name, output, why)
        covers = (
            f"{self.description}, starts {case.starts[0]}..{case.starts[1]},"
            f" skips {case.skips[0]}..{case.skips[1]}, {window[1]} wrong of {window[0]} draws"
        )
        units = -(-self.count // SEEDS_PER_UNIT)
        return AttackPlan(
            self.name, family.name, output, units, UNITS_PER_TASK,
            self.count * case.place_count, self._cost(case, family, window[0]), covers,
        )  # fmt: skip

    def _cost(self, case: Case, family: Family, compared: int) -> int:
        """Estimate milliseconds for seeding, the stream, and the successors of matches in it."""
        calls = calls_for(case, compared)
        met = calls * compared // (2 * case.modulus) + 1
        word_ns = COMPILED_WORD_NS if family.is_twister_seeded else WORD_NS
        nanoseconds = word_ns * family.state_words + SEED_NS + calls * (10 + compared // 8)
        return self.count * (nanoseconds + met * case.skip_count * 2) // 1_000_000 + 1

    def window(self, case: Case) -> tuple[int, int] | None:
        """Return the number of draws to find and how many may be wrong; None if too few exist."""
        tried = self.count * case.place_count
        return enough_draws(case, tried, CHANCE_PLACES, MAX_DRAWS, least=LEAST_DRAWS)

    @lru_cache(maxsize=64)  # noqa: B019 - there are two of these, for as long as the process
    def draws_needed(self, case: Case) -> int:
        """Return the number of draws needed to tell a place from chance."""
        return case.fewest_draws(MAX_DRAWS, lambda longer: self.window(longer) is not None)

    def run(self, case: Case, plan: AttackPlan, units: Units) -> Sequence[HypothesisMatch]:
        """Search the streams of the units' seeds for the draws."""
        window = self.window(case.judged_as(plan.output))
        assert window is not None
        candidates, made_by = [], (plan.family, plan.output, case.modulus)
        seeds = self.seeds[units.lo * SEEDS_PER_UNIT : units.hi * SEEDS_PER_UNIT]
        for seed, start, skip in places(case, plan, seeds, *window):
            guess = Hypothesis(*made_by, seed=seed, skips=Skips.constant(skip), start=start)
            candidates.append(compare(case, guess))
        return best(candidates)


def maps(family: Family, case: Case) -> list[str]:
    """Return the output maps that fit the modulus; `raw` does if every word is below it."""
    raw_fits = case.modulus >= 1 << family.word_bits
    return [output for output in case.outputs_of(family) if output != "raw" or raw_fits]


def calls_for(case: Case, compared: int) -> int:
    """Return the number of calls that a seed's stream must contain."""
    return case.starts[1] + (compared - 1) * (case.skips[1] + 1) + 1


def places(
    case: Case, plan: AttackPlan, seeds: Sequence[int], compared: int, allowed: int
) -> Iterator[tuple[int, int, int]]:
    """Yield seed, start and skip of every place at which a seed gives the draws."""
    family, calls = family_named(plan.family), calls_for(case, compared)
    gaps = np.zeros(calls, np.int64)
    draws = np.array(case.draws[:compared], np.uint64)
    starts, skips = np.array(case.starts, np.int64), np.array(case.skips, np.int64)
    for batch in batched(seeds, max(1, min(SEEDS_PER_UNIT, MAX_WORDS // calls))):
        states = seeding.first_states(family, batch)
        streams = bulk.streams(family, plan.output, states, case.modulus, gaps)
        out, counts = np.empty((len(batch), MAX_PLACES, 3), np.int64), np.empty(len(batch), int)
        path.find_in_each(streams, draws, starts, skips, compared - allowed, out, counts)
        for row in np.flatnonzero(counts).tolist():
            for start, skip, _ in out[row, : counts[row]].tolist():
                yield batch[row], start, skip


def batched(seeds: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    """Yield seeds in order, `size` at a time."""
    for at in range(0, len(seeds), size):
        yield seeds[at : at + size]


TYPED = Likely("likely", TYPED_COUNT, typed_seeds, "seeds that people type")
DATED = Likely(
    "dates", DATED_COUNT, dated_seeds, "process ids, days and dates from 1990 to 2029 as seeds"
)
