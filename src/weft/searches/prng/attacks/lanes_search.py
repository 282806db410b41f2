"""One skip of the low-lane split: from a window of draws to the states that explain it.

A lane that fits is followed up: a draw that it explains is taken for right (the anchor), and
every output that makes it is put on top. Enough anchors are tried that one of them is right.
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
"""Lanes that fit at one skip, at most. Where calls left out make an even stride, lanes that differ
in low bits alone show nearly the same draws: many fit, and the truth misses fewest."""
FOLLOWED_LANES = 2
"""Lanes followed up at one skip, those with the fewest misses first."""
MAX_VALUES = 1 << 29
"""Outputs put on top of one lane, at most, but for three anchors: it bounds what a unit costs."""
LEAST_ANCHORS = 3
ALL_ONES = 0xFFFFFFFF
MORE_CHECKS = 16
MANY_VALUES = 32
"""Values of a draw, its low bits given, from which on one hit of three is telling."""
PASSING = 200
"""Of so many states one may pass the checks by chance: it is compared with all draws."""
CHANCE_LANES = Fraction(1, 4)
CHANCE_STATES = Fraction(1, 1000)
"""What may survive by chance over all skips: lanes cost a search each, states mislead."""


def lcg_forms() -> list[LcgForm]:
    """Return the forms that families declare, in the families' order."""
    return [form for family in FAMILIES for form in family.lcg_forms]


def lcg_form(family: str, output: str) -> LcgForm:
    """Return the form of a plan; a wrong name is our mistake."""
    return {form.output: form for form in family_named(family).lcg_forms}[output]


@dataclass(frozen=True, slots=True)
class StateSplit:
    """How a state is taken apart for one modulus.

    The `lane` lowest bits are sieved by the top `shown` of them. `width` is that of the output,
    or less where the modulus hides its high bits.
    """

    shape: LcgForm
    modulus: int
    shown: int
    width: int

    @classmethod
    def of(cls, shape: LcgForm, modulus: int) -> StateSplit:
        """Take the state of a generator apart."""
        zeros = (modulus & -modulus).bit_length() - 1
        low_bits = min(zeros, max(3, 12 - shape.dropped), shape.width)
        if shape.absolute:  # a change of sign leaves the lowest bit alone as it is
            low_bits = min(low_bits, 1)
        whole = modulus == 1 << zeros and not (shape.absolute or shape.high_word)
        return cls(shape, modulus, low_bits, min(zeros, shape.width) if whole else shape.width)

    @property
    def modulus_zeros(self) -> int:
        """How often the modulus can be halved."""
        return (self.modulus & -self.modulus).bit_length() - 1

    @property
    def states_of_a_draw(self) -> int:
        """How many states are tried for one anchor, its lane given."""
        if self.shape.high_word is not None:
            return 1 << (self.width - self.shown)
        return max(1, (1 << self.width) // self.modulus)

    @property
    def lane(self) -> int:
        """Bits that the sieve tries."""
        return self.shape.dropped + self.shown

    @property
    def bits(self) -> int:
        """Bits of the state that the draws depend on."""
        return self.shape.dropped + self.width

    @property
    def signed(self) -> bool:
        """Whether the sign is part of what the draws depend on."""
        return self.shape.signed and self.width == self.shape.width

    def values_of(self, draw: int) -> list[tuple[int, int, int]]:
        """Return the outputs that make a draw as ranges: first, step, end."""
        width, modulus = self.width, self.modulus
        if self.shape.absolute:
            whole, half = 1 << width, 1 << (width - 1)
            last = half - (half - draw) % modulus
            return [(draw, modulus, half), (whole - last, modulus, whole - draw + (draw > 0))]
        least = -(1 << (width - 1)) if self.signed else 0
        return [(least + (draw - least) % modulus, modulus, least + (1 << width))]

    def shape_row(self) -> tuple[int, ...]:
        """Return how a draw is made of a state, as the kernel takes it."""
        width, modulus = self.width, self.modulus
        sign = 1 << (width - 1) if self.signed else 0
        shift = -(1 << width) % modulus
        return (self.shape.dropped, (1 << width) - 1, sign, shift, self.shape.absolute, modulus)

    def word_row(self) -> tuple[int, int, int, int]:
        """Return an output's mask, the bit turned before its test, what folds it, its sign."""
        place = self.width - 1
        turned = 1 << place if self.signed and not self.shape.absolute else 0
        return (1 << self.width) - 1, turned, ALL_ONES if self.shape.absolute else 0, place

    def test_row(self, draw: int) -> tuple[int, int, int, int]:
        """Return the test that an output makes a draw, which is a remainder."""
        moved = 1 << (self.width - 1) if self.signed and not self.shape.absolute else 0
        target = (draw + moved) % self.modulus
        _, least, inverse, turn, limit = WordReading("mod").test(target, self.modulus)
        return least, inverse, turn, limit

    def lane_percent(self, percent: int) -> int:
        """Return how many lane bits of a hundred draws are wrong if `percent` draws are."""
        return -(-percent * ((1 << self.shown) - 1) >> self.shown) if self.shown else percent

    def forgiven(self, compared: int, percent: int, skips: int) -> tuple[int, int]:
        """Return how many misses a window of so many draws forgives a state, and a lane."""
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
    """Draws, the step each was made at, counted from the first, and how many may be wrong.

    A state may miss `allowed` draws, a lane the low bits of `lane_allowed`.
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
        """Return the window of draws with the same number of calls left out before each."""
        return cls(split, draws, tuple(at * (skip + 1) for at in range(len(draws))), *forgiven)

    def affine(self, at: int, to: int, bits: int) -> tuple[int, int]:
        """Return the map that leads from one draw to another modulo 2^bits."""
        return self.split.shape.jumped(self.places[to] - self.places[at], bits)


@dataclass(frozen=True, slots=True)
class Fit:
    """A state just after draw `at` of a window was made, and how many draws it explains."""

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
    """Count the draws whose low bits a lane does not show."""
    split = window.split
    multiplier, increment = window.affine(0, 1, split.lane)
    mask, dropped, wrong = (1 << split.shown) - 1, split.shape.dropped, 0
    for draw in window.draws:
        wrong += lane >> dropped != draw & mask
        lane = (lane * multiplier + increment) % (1 << split.lane)
    return wrong


def explains_most(window: LaneWindow, fit: Fit) -> bool:
    """Whether three of four draws are explained: no near twin does that."""
    return fit.hits * 4 >= len(window.draws) * 3


def fitting_lanes(window: LaneWindow) -> list[int]:
    """Return the low bits at the first draw that explain the low bits of draws at one skip."""
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
    """Return the state that explains most draws, if enough, on the lane of the first draw."""
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
    """Take one draw after another of `right` for the anchor; `lows` are the bits below outputs.

    Outputs of few bits have near twins that explain a good part of the draws: such a one is
    taken only when no anchor leads to better.
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
    """Draws after an anchor that decide whether all are compared, and how many must hit."""

    draws: int
    enough: int


def checks_of(split: StateSplit, compared: int) -> Checks:
    """Return three draws of which one must hit; where chance hits too often, more of them."""
    values = split.modulus >> split.shown
    if values >= MANY_VALUES:
        return Checks(min(CHECKS, compared), 1)
    draws = min(MORE_CHECKS, compared)
    return Checks(draws, draws - max(0, affordable(draws, values, PASSING, Fraction(1))))


def anchors_in(split: StateSplit, wrong: int) -> int:
    """Return how many anchors are tried: enough, or as many as a unit may cost.

    Small moduli leave many outputs to each anchor. Then three anchors are tried, all of which are
    wrong rows about once in a thousand histories with a tenth of them wrong.
    """
    return min(anchors_for(wrong), max(LEAST_ANCHORS, MAX_VALUES // split.states_of_a_draw))


def anchors_for(wrong: int) -> int:
    """Return how many anchors are enough for one of them, and one of its next three, to be right.

    If no right anchor has a right one among the next three, right ones are at least four apart
    and more than `wrong` of the anchors are wrong.
    """
    anchors = 1
    while anchors - -(-anchors // (CHECKS + 1)) <= wrong:
        anchors += 1
    return anchors


def search_anchor(window: LaneWindow, anchor: int, low: range, order: list[int]) -> Fit | None:
    """Try every state that makes the anchor's draw against the draws in order; return the best."""
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
    """Do that for outputs that join two words: every high part of the lane is tried."""
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

    Rejected outputs on the way belong to the call that follows them.
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
