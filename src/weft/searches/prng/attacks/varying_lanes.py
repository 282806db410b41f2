"""Any state of a congruential generator modulo 2^k when the number of skipped calls varies.

The low lane is a hidden chain on a circle: its states form one cycle of length 2^L, and a draw
shows some bits of its place on it. The best path around the circle gives the lane and the skips; a
draw assumed to be right then gives the rest of the state, and the best path through the true stream
gives the skips that the low bits left open. There is one circle, and so one unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from weft.lazy_imports import lazy_imports, lazy_module
from weft.searches.prng.attack import AttackPlan, Case, Gap, HypothesisMatch, Units, best, compare
from weft.searches.prng.attacks.lanes_search import (
    Fit,
    LaneWindow,
    StateSplit,
    anchors_for,
    complete,
    lcg_form,
    lcg_forms,
)
from weft.searches.prng.attacks.noise import affordable, unlucky
from weft.searches.prng.attacks.varying import SkipReach, tried_in, way_through
from weft.searches.prng.families import family_named
from weft.searches.prng.forms import LcgForm
from weft.searches.prng.hypothesis import Hypothesis, Skips
from weft.searches.prng.statistics import corrected

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy_module("numpy")

with lazy_imports():
    from weft.searches.prng.kernels import path

NAME = "varying-lanes"
MAX_DRAWS = 96
MAX_LANE = 20
"""Maximum number of bits of a lane, as the paths around its circle are stored, a byte per step."""
CHANCE = 3_000
"""Evidence of the low bits, in thousandths of a decade, that makes the best path the true one."""
MARGIN = 4
"""Draws by which the first place on the circle may be off."""


class VaryingLanes:
    """The low-lane attack with varying skips; stateless."""

    name = NAME
    needs_luck = False

    def plan(self, case: Case) -> Sequence[AttackPlan | Gap]:
        """Return the plans and gaps of the chosen congruential generators."""
        if case.skips[0] == case.skips[1]:
            return []
        shapes = [shape for shape in lcg_forms() if case.is_chosen(shape.family)]
        single = [shape for shape in shapes if shape.high_word is None]
        return [item for shape in single for item in plan_shape(case, shape)]

    def run(self, case: Case, plan: AttackPlan, units: Units) -> Sequence[HypothesisMatch]:
        """Find the best path around the circle and the states that fit it."""
        split = StateSplit.of(lcg_form(plan.family, plan.output), case.modulus)
        reach = reach_of(case, split)
        assert reach is not None
        candidates = [
            candidate for _ in range(units.lo, units.hi) for candidate in search(case, split, reach)
        ]
        return best([candidate for candidate in candidates if candidate.wrong <= reach.allowed])


def plan_shape(case: Case, shape: LcgForm) -> list[AttackPlan | Gap]:
    """Return the plan of one output map and the gap it leaves, or why nothing is covered."""
    split = StateSplit.of(shape, case.modulus)
    if split.shown == 0 or split.lane > MAX_LANE:
        return [Gap(NAME, shape.family, shape.output, "the draws show no bits of a short lane")]
    if shape.rejects and case.modulus & (case.modulus - 1) == 0:
        return [Gap(NAME, shape.family, shape.output, "powers of two take the high bits")]
    reach = reach_of(case, split)
    if reach is None:
        why = f"{len(case.draws)} draws show too few low bits to carry skips that vary"
        return [Gap(NAME, shape.family, shape.output, why)]
    covers = (
        f"all 2^{split.bits} states, any start, skips that vary in"
        f" {reach.skips[0]}..{reach.skips[1]}, {reach.allowed} wrong of {reach.compared} draws"
    )
    tried = tried_in(case, 1 << split.bits, reach.compared, reach.skips)
    places = (1 << split.lane) + reach.compared * (reach.skips[1] + 1)
    high = (1 << split.width) // split.modulus * anchors_for(reach.allowed) // 50_000
    cost = places * reach.compared // 120_000 + high + 1
    planned: list[AttackPlan | Gap] = [
        AttackPlan(NAME, shape.family, shape.output, 1, 1, tried, cost, covers)
    ]
    if reach.skips[1] < case.skips[1]:
        why = f"skips that vary beyond {reach.skips[0]}..{reach.skips[1]} hide the low bits"
        planned.append(Gap(NAME, shape.family, shape.output, why))
    return planned


def reach_of(case: Case, split: StateSplit) -> SkipReach | None:
    """Return the widest range of skips that the draws' low bits support; None if there is none."""
    compared = min(MAX_DRAWS, len(case.draws))
    allowed = min(case.wrong_allowed(compared), unlucky(compared, case.corrupt_percent))
    for width in range(min(case.skip_count, 1 << split.shown), 1, -1):
        tried = width ** (compared - 1) << split.lane
        if (
            compared < 8
            or corrected(compared - allowed, compared, 1 << split.shown, tried) < CHANCE
        ):
            continue
        return SkipReach(compared, allowed, (case.skips[0], case.skips[0] + width - 1))
    return None


def search(case: Case, split: StateSplit, reach: SkipReach) -> list[HypothesisMatch]:
    """Return the hypothesis of the best path around the circle, if a state fits it."""
    places = best_way(case, split, reach)
    fit = fit_on(case, split, reach, places)
    if fit is None:
        return []
    shape, family = split.shape, family_named(split.shape.family)
    margin = MARGIN * (reach.skips[1] + 1)
    steps = places[fit.at] - places[0] + margin + 1
    multiplier, increment = shape.jumped(-steps, split.bits)
    state = [(fit.state * multiplier + increment) % (1 << split.bits)]
    raw = family.state_text(state)
    start, listed = way_through(case, reach, family, shape.output, state, (0, 2 * margin))
    guess = Hypothesis(
        shape.family, shape.output, case.modulus,
        state=raw, skips=Skips(reach.skips, listed), start=start,
    )  # fmt: skip
    return [compare(case, guess)]


def best_way(case: Case, split: StateSplit, reach: SkipReach) -> list[int]:
    """Return the places of the path around the circle that explains most low bits."""
    lanes = circle(split, (1 << split.lane) + reach.compared * (reach.skips[1] + 1))
    mask = (1 << split.shown) - 1
    draws = np.array([draw & mask for draw in case.draws[: reach.compared]], np.uint64)
    choices = np.zeros((reach.compared, lanes.size), np.uint8)
    starts = np.array((0, (1 << split.lane) - 1), np.int64)
    bits = (lanes >> np.uint64(split.shape.dropped)) & np.uint64(mask)
    last, _ = path.best_path(bits, draws, starts, np.array(reach.skips, np.int64), choices)
    places = np.empty(reach.compared, np.int64)
    path.way_back(choices, last, reach.skips[0], places)
    return [int(place) for place in places]


def circle(split: StateSplit, count: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """Return the first `count` states of the lane from 0 on, doubling the known ones."""
    lanes = np.zeros(1, np.uint64)
    mask = np.uint64((1 << split.lane) - 1)
    while lanes.size < count:
        multiplier, increment = split.shape.jumped(lanes.size, split.lane)
        lanes = np.append(lanes, (lanes * np.uint64(multiplier) + np.uint64(increment)) & mask)
    return lanes[:count]


def fit_on(case: Case, split: StateSplit, reach: SkipReach, places: list[int]) -> Fit | None:
    """Return the state on the lane that explains most draws at these places."""
    draws = case.draws[: reach.compared]
    chance = affordable(reach.compared, case.modulus, 1 << split.bits, Fraction(1, 1000))
    relative = tuple(place - places[0] for place in places)
    allowed = min(chance, (reach.compared + reach.allowed) // 2)
    window = LaneWindow(split, draws, relative, allowed, allowed)
    return complete(window, int(circle(split, places[0] + 1)[-1]))


ATTACK = VaryingLanes()
