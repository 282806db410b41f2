"""Low-lane split: every state of a linear congruential generator modulo 2^k, at constant skips.

With m = 2^t·q the draws show t bits just above the dropped ones, which depend only on the low bits
of the state (the lane). Every lane is tried against a window of draws (2^20 lanes for Java's
nextInt(1000)). For the few that fit, a fitting draw is assumed to be right (the anchor), and the
lane is completed with each output that the anchor allows. Enough anchors are tried that one of them
is right.

A rejection inside nextInt shifts all later draws. It is not searched for within a window: for a
bound of 1000, one call in 3 million is rejected, and a second window is likely to be free of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from weft.searches.prng.attack import (
    AttackPlan,
    Case,
    Gap,
    HypothesisMatch,
    Units,
    best,
    compare,
    wrong_allowed,
)
from weft.searches.prng.attacks.lanes_search import (
    FOLLOWED_LANES,
    Fit,
    LaneWindow,
    StateSplit,
    anchors_in,
    checks_of,
    lcg_form,
    lcg_forms,
    search,
    state_before,
)
from weft.searches.prng.attacks.noise import unlucky
from weft.searches.prng.families import family_named
from weft.searches.prng.forms import LcgForm
from weft.searches.prng.hypothesis import Hypothesis, Skips

NAME = "lanes"
MAX_WINDOW = 256
MAX_BITS = 32
"""Maximum number of state bits for attacking an odd modulus, which shows no low bits."""
SKIPS_PER_TASK = 32
LONGEST_TASK_MS = 10_000
"""Largest estimated cost of a task that covers several skips."""
FEW_BITS = 3
"""Low bits that draws must show so that the true lane hardly ever has a near twin."""
STATES_CHECKED_PER_MS = 3_000_000
"""Comparisons of outputs with draws on one core, if a state is tested on several draws at once."""
SHORT_BLOCKS = 6
"""Slowdown factor without a lane, where every low part needs a separate, short block."""
SHIFTED = Fraction(1, 16)
"""Maximum expected number of rejections in a window for its skip to count as covered."""


class LanesAttack:
    """The low-lane attack; stateless."""

    name = NAME
    needs_luck = False

    def plan(self, case: Case) -> Sequence[AttackPlan | Gap]:
        """Return the plans and gaps of the chosen congruential generators."""
        shapes = [shape for shape in lcg_forms() if case.is_chosen(shape.family)]
        return [item for shape in shapes for item in plan_shape(case, shape)]

    def run(self, case: Case, plan: AttackPlan, units: Units) -> Sequence[HypothesisMatch]:
        """Try every state at the skips of the units; a unit is a window and a skip."""
        split = StateSplit.of(lcg_form(plan.family, plan.output), case.modulus)
        compared = window_of(case, split)
        assert compared is not None
        skips = covered_skips(case, split, compared)
        candidates: dict[Hypothesis, HypothesisMatch] = {}
        for unit in range(units.lo, units.hi):
            window, skip = divmod(unit, len(skips))
            first = window * compared
            for fit in search(window_at(case, split, first, compared, skips[skip])):
                guess = explained(split, fit, first, skips[skip])
                candidates.setdefault(guess, compare(case, guess))
        return best(list(candidates.values()))


def plan_shape(case: Case, shape: LcgForm) -> list[AttackPlan | Gap]:
    """Return the plan of one output map and the gaps it leaves."""
    split = StateSplit.of(shape, case.modulus)
    why = unfit(case, split)
    if why:
        return [Gap(NAME, shape.family, shape.output, why)]
    compared = window_of(case, split)
    assert compared is not None
    skips = covered_skips(case, split, compared)
    planned: list[AttackPlan | Gap] = []
    if skips:
        planned.append(plan_skips(case, split, compared, len(skips)))
    first_left = case.skips[0] + len(skips)
    if first_left <= case.skips[1]:
        reason = f"skips {first_left}..{case.skips[1]}: nextInt draws again too often"
        planned.append(Gap(NAME, shape.family, shape.output, reason))
    return planned


def unfit(case: Case, split: StateSplit) -> str:
    """Return why the attack does not apply; empty if it does."""
    shape = split.shape
    if split.shown == 0 and split.bits > MAX_BITS:
        return (
            f"an odd modulus shows no low bits, and 2^{split.bits} states are too many to try;"
            " likely seeds are tried"
        )
    if shape.rejects and case.modulus & (case.modulus - 1) == 0:
        return "a power of two as bound takes the high bits: see lattice"
    if shape.high_word is not None and (split.shown == 0 or split.modulus >> split.shown < 32):
        return "an odd or small modulus leaves too many outputs of 64 bits; likely seeds are tried"
    if window_of(case, split) is None:
        return f"needs {needed(case, split)} draws, there are {len(case.draws)}"
    return ""


def plan_skips(case: Case, split: StateSplit, compared: int, skips: int) -> AttackPlan:
    """Return the plan for the `skips` smallest skips."""
    shape = split.shape
    windows = windows_of(case, split, compared)
    units = skips * windows
    first = case.skips[0]
    allowed, lane_allowed = split.forgiven(compared, case.corrupt_percent, case.skip_count)
    covers = (
        f"all 2^{split.bits} states, skips {first}..{first + skips - 1}, any start,"
        f" {allowed} wrong of {compared} draws"
    )
    cost = cost_ms(split, allowed, lane_allowed, units)
    per_task = max(1, min(SKIPS_PER_TASK, LONGEST_TASK_MS * units // cost))
    return AttackPlan(
        NAME, shape.family, shape.output, units, per_task, units << split.bits, cost, covers
    )


def cost_ms(split: StateSplit, allowed: int, lane_allowed: int, units: int) -> int:
    """Estimate the cost: sieving lanes draw by draw, then searching the high bits.

    Over all skips hardly any lane fits by chance (CHANCE_LANES), so the search of the high bits
    counts once, for the skip at which the true lane and its near twins fit.
    """
    sieve = units * (1 << split.lane) * (lane_allowed + 8) // 8_000_000
    states = split.states_of_a_draw * anchors_in(split, allowed)
    outputs = states * checks_of(split, MAX_WINDOW).draws
    if not split.shown:
        tried = units * outputs << split.shape.dropped
        return tried // (STATES_CHECKED_PER_MS // SHORT_BLOCKS) + 1
    high = outputs // STATES_CHECKED_PER_MS
    return sieve + high * (FOLLOWED_LANES if split.shown < FEW_BITS else 1) + 1


def window_of(case: Case, split: StateSplit) -> int | None:
    """Return the smallest window that tolerates bad luck, else the largest allowed, or None."""
    last = None
    for compared in range(8, min(MAX_WINDOW, len(case.draws)) + 1, 4):
        if tolerates(case, split, compared, unlucky):
            return compared
        if tolerates(case, split, compared, wrong_allowed):
            last = compared
    return last


def needed(case: Case, split: StateSplit) -> int:
    """Return the number of draws needed; MAX_WINDOW + 1 if no window suffices."""
    for compared in range(8, MAX_WINDOW + 1, 4):
        if tolerates(case, split, compared, wrong_allowed):
            return compared
    return MAX_WINDOW + 1


def tolerates(
    case: Case, split: StateSplit, compared: int, wrong: Callable[[int, int], int]
) -> bool:
    """Whether a window forgives a state and its lane the misses that `wrong` expects."""
    percent = case.corrupt_percent
    allowed, lane_allowed = split.forgiven(compared, percent, case.skip_count)
    lanes_wrong = wrong(compared, split.lane_percent(percent))
    return allowed >= wrong(compared, percent) and lane_allowed >= lanes_wrong


def windows_of(case: Case, split: StateSplit, compared: int) -> int:
    """Return 2 if a rejection may spoil a window and there are draws for another, else 1."""
    return 2 if split.shape.rejects and len(case.draws) >= 2 * compared else 1


def covered_skips(case: Case, split: StateSplit, compared: int) -> range:
    """Return the skips at which a window hardly ever contains a rejection."""
    first, last = case.skips
    if split.shape.rejects:
        rejected = Fraction((1 << split.width) % case.modulus, 1 << split.width)
        if rejected:
            last = min(last, int(SHIFTED / (rejected * compared)) - 1)
    return range(first, last + 1)


def window_at(case: Case, split: StateSplit, first: int, compared: int, skip: int) -> LaneWindow:
    """Return the window of `compared` draws from draw `first` on."""
    forgiven = split.forgiven(compared, case.corrupt_percent, case.skip_count)
    return LaneWindow.at_skip(split, case.draws[first : first + compared], skip, forgiven)


def explained(split: StateSplit, fit: Fit, first: int, skip: int) -> Hypothesis:
    """Return a fit as a hypothesis with the state before draw 0."""
    before = state_before(split, fit.state, (first + fit.at) * (skip + 1))
    shape, skips = split.shape, Skips.constant(skip)
    state = family_named(shape.family).state_text([before])
    return Hypothesis(shape.family, shape.output, split.modulus, state=state, skips=skips)


ATTACK = LanesAttack()
