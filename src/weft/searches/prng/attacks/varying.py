"""Likely seeds when the number of skipped calls varies from draw to draw.

Every path through the stream of a seed is considered, from every start. This tells truth from
chance only if a draw carries more information than the choice of a skip, so the range of skips is
reduced to what the draws support. A unit is 64 seeds; most are rejected after the first draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from weft.lazy_imports import lazy_imports, lazy_module
from weft.searches.prng.attack import AttackPlan, Case, Gap, HypothesisMatch, Units, best, compare
from weft.searches.prng.attacks.likely import maps
from weft.searches.prng.attacks.likely_seeds import TYPED_COUNT, typed_seeds
from weft.searches.prng.attacks.noise import unlucky
from weft.searches.prng.families import FAMILIES, family_named
from weft.searches.prng.family import Family, State
from weft.searches.prng.generate import first_state
from weft.searches.prng.hypothesis import Hypothesis, Skips
from weft.searches.prng.statistics import corrected

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy_module("numpy")

with lazy_imports():
    from weft.searches.prng.kernels import bulk, path

NAME = "varying"
SEEDS_PER_UNIT = 64
UNITS_PER_TASK = 32
MAX_DRAWS = 128
MAX_EXTENDED = 256
FIRST_LOOK = 24
ENOUGH = 12_000
"""Minimum evidence that a range of skips must leave, in thousandths of a decade."""


@dataclass(frozen=True, slots=True)
class SkipReach:
    """The number of draws compared, how many may be wrong, and the skips that they support."""

    compared: int
    allowed: int
    skips: tuple[int, int]


class Varying:
    """The attack with varying skips; stateless."""

    name = NAME
    needs_luck = True

    def plan(self, case: Case) -> Sequence[AttackPlan | Gap]:
        """Return the plans and gaps of all chosen families."""
        return [
            item
            for family in case.chosen(FAMILIES)
            for output in maps(family, case)
            for item in plan_map(case, family, output)
        ]

    def run(self, case: Case, plan: AttackPlan, units: Units) -> Sequence[HypothesisMatch]:
        """Search the streams of the units' seeds for paths that explain the draws."""
        reach = reach_of(case, TYPED_COUNT)
        assert reach is not None
        family = family_named(plan.family)
        candidates = []
        for seed in typed_seeds()[units.lo * SEEDS_PER_UNIT : units.hi * SEEDS_PER_UNIT]:
            if not is_promising(case, family, plan.output, seed, reach):
                continue
            start, listed = way_through(
                case, reach, family, plan.output, family.seeding(seed), case.starts
            )
            guess = Hypothesis(
                plan.family, plan.output, case.modulus,
                seed=seed, skips=Skips(reach.skips, listed), start=start,
            )  # fmt: skip
            candidates.append(compare(case, guess))
        return best([candidate for candidate in candidates if candidate.wrong <= reach.allowed])


def plan_map(case: Case, family: Family, output: str) -> list[AttackPlan | Gap]:
    """Return the plan of one output map and the gaps it leaves."""
    first, last = case.skips
    if first == last:
        return []
    seeds = TYPED_COUNT
    reach = reach_of(case, seeds)
    if reach is None:
        why = f"{len(case.draws)} draws below {case.modulus} cannot tell varying skips from chance"
        return [Gap(NAME, family.name, output, why)]
    tried = tried_in(case, seeds, reach.compared, reach.skips)
    covers = (
        f"seeds that people type, starts {case.starts[0]}..{case.starts[1]}, skips that vary in"
        f" {reach.skips[0]}..{reach.skips[1]}, {reach.allowed} wrong of {reach.compared} draws"
    )
    calls = case.starts[1] + FIRST_LOOK * (reach.skips[1] + 1)
    cost = seeds * (300 * family.state_words + 20_000 + calls * FIRST_LOOK * 3) // 1_000_000
    units = -(-seeds // SEEDS_PER_UNIT)
    planned: list[AttackPlan | Gap] = [
        AttackPlan(NAME, family.name, output, units, UNITS_PER_TASK, tried, cost + 1, covers)
    ]
    if reach.skips[1] < last:
        why = f"skips that vary beyond {reach.skips[0]}..{reach.skips[1]} leave no evidence"
        planned.append(Gap(NAME, family.name, output, why))
    return planned


def reach_of(case: Case, seeds: int) -> SkipReach | None:
    """Return the range of skips, halved until the draws support it; None if they support none."""
    first, last = case.skips
    compared = min(MAX_DRAWS, len(case.draws))
    allowed = min(case.wrong_allowed(compared), unlucky(compared, case.corrupt_percent))
    width = last - first + 1
    while width > 1:
        skips = (first, first + width - 1)
        tried = tried_in(case, seeds, compared, skips)
        if compared and corrected(compared - allowed, compared, case.modulus, tried) >= ENOUGH:
            return SkipReach(compared, allowed, skips)
        width //= 2
    return None


def tried_in(case: Case, seeds: int, compared: int, skips: tuple[int, int]) -> int:
    """Return the number of hypotheses: every seed, start and choice of skips."""
    starts = case.starts[1] - case.starts[0] + 1
    return int(seeds * starts * (skips[1] - skips[0] + 1) ** (compared - 1))


def is_promising(case: Case, family: Family, output: str, seed: int, reach: SkipReach) -> bool:
    """Whether the best path through the first draws has more hits than chance gives."""
    count = min(FIRST_LOOK, reach.compared)
    stream = stream_of(case, reach, family, output, family.seeding(seed), case.starts, count)
    _, hits = walk(case, reach, stream, case.starts, count, np.empty((0, 0), np.uint16))
    return hits >= count - unlucky(count, case.corrupt_percent)


def way_through(
    case: Case, reach: SkipReach, family: Family, output: str, state: State, starts: tuple[int, int]
) -> tuple[int, tuple[int, ...]]:
    """Return the start and the skips of the best path through the stream from a state on."""
    stream = stream_of(case, reach, family, output, state, starts, reach.compared)
    choices = np.zeros((reach.compared, stream.size), np.uint16)
    last, _ = walk(case, reach, stream, starts, reach.compared, choices)
    places = np.empty(reach.compared, np.int64)
    path.way_back(choices, last, reach.skips[0], places)
    return int(places[0]), tuple(int(gap) - 1 for gap in np.diff(places))


def stream_of(
    case: Case, reach: SkipReach, family: Family, output: str, state: State,
    starts: tuple[int, int], count: int,
) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:  # fmt: skip
    """Return the part of the stream that a path of `count` draws can reach."""
    calls = starts[1] + (count - 1) * (reach.skips[1] + 1) + 1
    return bulk.fill(family, output, state, case.modulus, np.zeros(calls, np.int64))


def walk(
    case: Case,
    reach: SkipReach,
    stream: object,
    starts: tuple[int, int],
    count: int,
    choices: object,
) -> tuple[int, int]:
    """Return the last place and the hits of the best path."""
    draws = np.array(case.draws[:count], np.uint64)
    bounds = np.array(starts, np.int64), np.array(reach.skips, np.int64)
    last, hits = path.best_path(stream, draws, *bounds, choices)
    return int(last), int(hits)


def extend_skips(hypothesis: Hypothesis, draws: Sequence[int]) -> Hypothesis:
    """Return a hypothesis whose skips, if they vary, are listed for all draws.

    They are the skips of the best path through the stream, as in the attack. For more than
    MAX_EXTENDED draws the hypothesis is returned unchanged.
    """
    if hypothesis.skips.is_constant or len(draws) > MAX_EXTENDED:
        return hypothesis
    family = family_named(hypothesis.family)
    at = (hypothesis.start, hypothesis.start)
    case = Case(tuple(draws), hypothesis.modulus, hypothesis.skips.between, at)
    reach = SkipReach(len(draws), len(draws), hypothesis.skips.between)
    first = first_state(family, hypothesis)
    start, listed = way_through(case, reach, family, hypothesis.output, first, at)
    return replace(hypothesis, start=start, skips=Skips(hypothesis.skips.between, listed))


ATTACK = Varying()
