"""One skip of the low-lane split: from a window of draws to the states that explain it.

A lane that fits is followed up: a draw that it explains is assumed to be right (the anchor), and
the lane is completed with every output that gives this draw. Enough anchors are tried that one of
them is right.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from weft.lazy_imports import lazy_imports, lazy_module
from weft.searches.prng.attacks.noise import affordable, unlucky
from weft.searches.prng.families import FAMILIES, family_named
from weft.searches.prng.forms import LcgForm, WordReading
from weft.searches.prng.kernels.sizes import CHECKS

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy_module("numpy")

with lazy_imports():
    from weft.searches.prng.kernels import lanes as kernels

MAX_LANES = 4096
"""Maximum number of lanes that fit at one skip. If skipped calls make the stride even, lanes that
differ only in low bits show nearly the same draws: many fit, the true one misses the fewest."""
FOLLOWED_LANES = 2
"""Lanes followed up at one skip, those with the fewest misses first."""
MAX_VALUES = 1 << 29
"""Maximum number of outputs tried per lane, except for three anchors; it bounds a unit's cost."""
LEAST_ANCHORS = 3
ALL_ONES = 0xFFFFFFFF
MORE_CHECKS = 16
MANY_VALUES = 32
"""Number of values of a draw, given its low bits, from which one hit in three is significant."""
PASSING = 200
"""One state in this many may pass the checks by chance and be compared with all draws."""
CHANCE_LANES = Fraction(1, 4)
CHANCE_STATES = Fraction(1, 1000)
"""Numbers that may pass by chance over all skips: a lane costs a search, a state misleads."""


def lcg_forms() -> list[LcgForm]:
    """Return the forms that families declare, in the families' order."""
    return [form for family in FAMILIES for form in family.lcg_forms]


def lcg_form(family: str, output: str) -> LcgForm:
    """Return the form that a plan names; an unknown name is a bug."""
    return {form.output: form for form in family_named(family).lcg_forms}[output]


@dataclass(frozen=True, slots=True)
class StateSplit:
    """How a state is split for one modulus.

    The sieve tries the `lane` lowest bits and compares the top `shown` of them. `width` is that of
    the output, or less where the modulus hides its high bits.
    """

    shape: LcgForm
    modulus: int
    shown: int
    width: int

    @classmethod
    def of(cls, shape: LcgForm, modulus: int) -> StateSplit:
        """Return the split of a generator's state."""
        zeros = (modulus & -modulus).bit_length() - 1
        low_bits = min(zeros, max(3, 12 - shape.dropped), shape.width)
        if shape.absolute:  # a change of sign preserves only the lowest bit
            low_bits = min(low_bits, 1)
        whole = modulus == 1 << zeros and not (shape.absolute or shape.high_word)
        return cls(shape, modulus, low_bits, min(zeros, shape.width) if whole else shape.width)

    @property
    def modulus_zeros(self) -> int:
        """Number of times the modulus can be halved."""
        return (self.modulus & -self.modulus).bit_length() - 1

    @property
    def states_of_a_draw(self) -> int:
        """Number of states tried for one anchor, given its lane."""
        if self.shape.high_word is not None:
            return 1 << (self.width - self.shown)
        return max(1, (1 << self.width) // self.modulus)

    @property
    def lane(self) -> int:
        """Number of low bits that the sieve tries."""
        return self.shape.dropped + self.shown

    @property
    def bits(self) -> int:
        """Number of state bits that the draws depend on."""
        return self.shape.dropped + self.width

    @property
    def signed(self) -> bool:
        """Whether the draws depend on the sign."""
        return self.shape.signed and self.width == self.shape.width

    def values_of(self, draw: int) -> list[tuple[int, int, int]]:
        """Return the outputs that give a draw, as ranges: first, step, end."""
        width, modulus = self.width, self.modulus
        if self.shape.absolute:
            whole, half = 1 << width, 1 << (width - 1)
            last = half - (half - draw) % modulus
            return [(draw, modulus, half), (whole - last, modulus, whole - draw + (draw > 0))]
        least = -(1 << (width - 1)) if self.signed else 0
        return [(least + (draw - least) % modulus, modulus, least + (1 << width))]

    def shape_row(self) -> tuple[int, ...]:
        """Return how a state gives a draw, in the form that the kernel takes."""
        width, modulus = self.width, self.modulus
        sign = 1 << (width - 1) if self.signed else 0
        shift = -(1 << width) % modulus
        return (self.shape.dropped, (1 << width) - 1, sign, shift, self.shape.absolute, modulus)

    def word_row(self) -> tuple[int, int, int, int]:
        """Return the output mask, the bit to flip before a test, the fold mask, the sign place."""
        place = self.width - 1
        turned = 1 << place if self.signed and not self.shape.absolute else 0
        return (1 << self.width) - 1, turned, ALL_ONES if self.shape.absolute else 0, place

    def test_row(self, draw: int) -> tuple[int, int, int, int]:
        """Return the test of whether an output gives a draw, which is a remainder."""
        moved = 1 << (self.width - 1) if self.signed and not self.shape.absolute else 0
        target = (draw + moved) % self.modulus
        _, least, inverse, turn, limit = WordReading("mod").test(target, self.modulus)
        return least, inverse, turn, limit

    def lane_percent(self, percent: int) -> int:
        """Return the percentage of draws with wrong lane bits if `percent` of draws are wrong."""
        return -(-percent * ((1 << self.shown) - 1) >> self.shown) if self.shown else percent

    def forgiven(self, compared: int, percent: int, skips: int) -> tuple[int, int]:
        """Return the misses that a window of `compared` draws forgives a state, and a lane."""
        states = affordable(compared, self.modulus, skips << self.bits, CHANCE_STATES)
        lanes = states
        if self.shown:
            lanes = affordable(compared, 1 << self.shown, skips << self.lane, CHANCE_LANES)
        return (
            min(unlucky(compared, percent), states),
            min(unlucky(compared, self.lane_percent(percent)), lanes),
        )


@dataclass(frozen=True, slots=True)
class LaneWindow:
    """Draws, the step of each counted from the first, and how many may be wrong.

    A state may miss `allowed` draws; a lane may miss the low bits of `lane_allowed` draws.
    """

    split: StateSplit
    draws: tuple[int, ...]
    places: tuple[int, ...]
    allowed: int
    lane_allowed: int

    @classmethod
    def at_skip(
        cls, split: StateSplit, draws: tuple[int, ...], skip: int, forgiven: tuple[int, int]
    ) -> LaneWindow:
        """Return the window of draws at a constant skip."""
        return cls(split, draws, tuple(at * (skip + 1) for at in range(len(draws))), *forgiven)

    def affine(self, at: int, to: int, bits: int) -> tuple[int, int]:
        """Return the affine map from the state at one draw to that at another, modulo 2^bits."""
        return self.split.shape.jumped(self.places[to] - self.places[at], bits)


@dataclass(frozen=True, slots=True)
class Fit:
    """The state just after draw `at` of a window, and the number of draws it explains."""

    at: int
    state: int
    hits: int


def search(window: LaneWindow) -> list[Fit]:
    """Return the states that explain a window, in the order of their lanes."""
    if window.split.shown == 0:
        free = range(1 << window.split.shape.dropped)
        fits = [best_fit(window, list(range(len(window.draws))), [free] * len(window.draws))]
    else:
        return followed(window, fitting_lanes(window))
    return [fit for fit in fits if fit is not None]


def followed(window: LaneWindow, lanes: list[int]) -> list[Fit]:
    """Follow up the lanes with the fewest misses until one explains most draws."""
    fits: list[Fit] = []
    for lane in sorted(lanes, key=lambda lane: misses(window, lane))[:FOLLOWED_LANES]:
        fit = complete(window, lane)
        if fit is not None:
            fits.append(fit)
            if explains_most(window, fit):
                break
    return fits


def misses(window: LaneWindow, lane: int) -> int:
    """Count the draws whose low bits differ from those of a lane."""
    split = window.split
    multiplier, increment = window.affine(0, 1, split.lane)
    mask, dropped, wrong = (1 << split.shown) - 1, split.shape.dropped, 0
    for draw in window.draws:
        wrong += lane >> dropped != draw & mask
        lane = (lane * multiplier + increment) % (1 << split.lane)
    return wrong


def explains_most(window: LaneWindow, fit: Fit) -> bool:
    """Whether three in four draws are explained, which no near twin achieves."""
    return fit.hits * 4 >= len(window.draws) * 3


def fitting_lanes(window: LaneWindow) -> list[int]:
    """Return the lanes at the first draw that explain the low bits of the draws at one skip."""
    split = window.split
    multiplier, increment = window.affine(0, 1, split.lane)
    mask, dropped = (1 << split.shown) - 1, split.shape.dropped
    out = np.empty(MAX_LANES, np.uint32)
    count = kernels.sieve_lanes(
        split.lane,
        np.uint32(multiplier),
        np.uint32(increment),
        np.uint32(mask << dropped),
        np.array([(draw & mask) << dropped for draw in window.draws], np.uint32),
        np.uint32(window.lane_allowed),
        out,
    )
    return [int(lane) for lane in out[:count]]


def complete(window: LaneWindow, lane: int) -> Fit | None:
    """Return the state that explains most draws, given the lane at the first; None if too few."""
    split = window.split
    mask, dropped = (1 << split.shown) - 1, split.shape.dropped
    right, lows = [], []
    for at, draw in enumerate(window.draws):
        multiplier, increment = window.affine(0, at, split.lane)
        here = (lane * multiplier + increment) % (1 << split.lane)
        low = here % (1 << dropped)
        lows.append(range(low, low + 1))
        if here >> dropped == draw & mask:
            right.append(at)
    return best_fit(window, right, lows)


def best_fit(window: LaneWindow, right: list[int], lows: list[range]) -> Fit | None:
    """Try the draws in `right` as anchors, one after another; `lows` are the bits below outputs.

    With outputs of few bits, near twins explain a good part of the draws; one is returned only if
    no anchor leads to a better state.
    """
    best: Fit | None = None
    wrong_left = window.allowed - (len(window.draws) - len(right))
    for turn in range(min(len(right), anchors_in(window.split, wrong_left))):
        following = [*right[turn + 1 :], *right[:turn]][:MORE_CHECKS]
        rest = [at for at in range(len(window.draws)) if at not in following]
        anchor = right[turn]
        fit = search_anchor(window, anchor, lows[anchor], [*following, *rest])
        if fit is not None and (best is None or fit.hits > best.hits):
            best = fit
        if best is not None and explains_most(window, best):
            break
    return best


@dataclass(frozen=True, slots=True)
class Checks:
    """Number of draws that decide whether a state is compared with all, and the hits it needs."""

    draws: int
    enough: int


def checks_of(split: StateSplit, compared: int) -> Checks:
    """Return a check of one hit in three draws, or of more draws if chance hits are frequent."""
    values = split.modulus >> split.shown
    if values >= MANY_VALUES:
        return Checks(min(CHECKS, compared), 1)
    draws = min(MORE_CHECKS, compared)
    return Checks(draws, draws - max(0, affordable(draws, values, PASSING, Fraction(1))))


def anchors_in(split: StateSplit, wrong: int) -> int:
    """Return the number of anchors to try: enough, or as many as the cost of a unit allows.

    Small moduli leave many outputs for each anchor. Then three anchors are tried; with a tenth of
    the rows wrong, all three are wrong in about one history in a thousand.
    """
    return min(anchors_for(wrong), max(LEAST_ANCHORS, MAX_VALUES // split.states_of_a_draw))


def anchors_for(wrong: int) -> int:
    """Return how many anchors guarantee that one of them, and one of its next three, is right.

    If no right anchor had a right one among its next three, right ones would be at least four
    apart, and more than `wrong` of the anchors would be wrong.
    """
    anchors = 1
    while anchors - -(-anchors // (CHECKS + 1)) <= wrong:
        anchors += 1
    return anchors


def search_anchor(window: LaneWindow, anchor: int, low: range, order: list[int]) -> Fit | None:
    """Compare each state that gives the anchor's draw with the other draws; return the best."""
    split = window.split
    if split.shape.high_word is not None:
        return search_pairs(window, anchor, low, order)
    checks = checks_of(split, len(order))
    tests = [split.test_row(window.draws[at]) for at in order[: checks.draws]]
    affine = [window.affine(anchor, at, split.bits) for at in order]
    best: Fit | None = None
    for values in split.values_of(window.draws[anchor]):
        state, hits = kernels.search_high(
            np.array((low.start, low.stop), np.int64),
            np.array(split.shape_row(), np.uint64),
            np.array(values, np.int64),
            np.array(affine, np.uint64),
            np.array([window.draws[at] for at in order], np.uint64),
            window.allowed if best is None else len(order) - best.hits - 1,
            np.array(split.word_row(), np.uint32),
            np.array(tests, np.uint32),
            checks.enough,
        )
        if hits:
            best = Fit(anchor, int(state), int(hits))
    return best


def search_pairs(window: LaneWindow, anchor: int, low: range, order: list[int]) -> Fit | None:
    """Do what `search_anchor` does for outputs of two words, for every low word of the lane."""
    split = window.split
    assert split.shape.high_word is not None
    places = [anchor, *(at for at in order if at != anchor)]
    low_modulus, modulus = 1 << split.shown, split.modulus
    moved = 0 if split.shape.absolute else 1 << (2 * split.width - 1)
    targets = [(window.draws[at] + moved) % modulus for at in places]
    turn = split.modulus_zeros
    test = (targets[0], pow(modulus >> turn, -1, 1 << 64), turn, ((1 << 64) - 1) // modulus)
    state, hits = kernels.search_pairs(
        np.uint64(low.start),
        np.array(split.shape_row(), np.uint64),
        np.array((window.draws[anchor] % low_modulus, low_modulus, 1 << split.width), np.int64),
        np.array([window.affine(anchor, at, split.bits) for at in places], np.uint64),
        np.array(targets, np.uint64),
        window.allowed,
        np.array((*split.shape.high_word, split.width), np.uint64),
        np.array(test, np.uint64),
    )
    return Fit(anchor, int(state), int(hits)) if hits else None


def state_before(split: StateSplit, state: int, calls: int) -> int:
    """Return the state before a call, given the one after the call `calls` later.

    Rejected outputs in between belong to the call that follows them.
    """
    modulus = 1 << split.bits
    if not split.shape.rejects:
        multiplier, increment = split.shape.jumped(-calls - 1, split.bits)
        return (state * multiplier + increment) % modulus
    back, shift = split.shape.jumped(-1, split.bits)
    while calls:
        state = (state * back + shift) % modulus
        calls -= split.shape.accepts(split.shape.value(state), split.modulus)
    return (state * back + shift) % modulus
