"""How well a hypothesis explains draws: its hits in training and in the holdout.

The measure behind every verdict: generate, compare, count. Draws need not be uniform: a state that
produces only zeros hits every zero in a history of small counts. The chance of a hit therefore
follows the frequencies of the predicted values among the draws, and periodic predictions (an
absorbing state, a short cycle) are no evidence for any generator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from weft.searches.prng.generate import generate
from weft.searches.prng.hypothesis import Hypothesis
from weft.searches.prng.rowmaps import chance_values
from weft.searches.prng.statistics import corrected_at

HOLDOUT_MOST = 100
HOLDOUT_WORDS = 8
WORD_LIKE = 1 << 24
"""Draws with at least this modulus count as (nearly) whole words."""
STATE_DRAWS = 2492
"""Consecutive draws of ten or more bits that determine a Mersenne Twister: four times 623."""
STATE_MODULUS = 1 << 10
COARSE = 1 << 16
"""Denominator of chances that are not small, which keeps the numbers of a tail short."""
PERIOD_LOOKED_FOR = 4096
"""Maximum number of predictions searched for a period."""


def split(draws: Sequence[int], modulus: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the training part and the holdout: the last fifth, at most 100 draws.

    A hundred draws are enough evidence; of draws of 24 bits or more, eight are (chance hits all of
    them once in 2^192). Linear algebra needs as many draws as possible: if holding back a hundred
    would leave too few for the state of a Mersenne Twister, but eight would not, eight are held
    back (chance hits all of them once in 2^80).
    """
    few = modulus >= WORD_LIKE or _is_scarce(len(draws), modulus)
    holdout = min(HOLDOUT_WORDS if few else HOLDOUT_MOST, len(draws) // 5)
    at = len(draws) - holdout
    return tuple(draws[:at]), tuple(draws[at:])


def _is_scarce(count: int, modulus: int) -> bool:
    """Whether draws of whole bits suffice for algebra with a holdout of eight, not of a hundred."""
    whole_bits = modulus >= STATE_MODULUS and modulus & (modulus - 1) == 0
    return whole_bits and HOLDOUT_WORDS <= count - STATE_DRAWS < HOLDOUT_MOST


@dataclass(frozen=True, slots=True)
class MatchScore:
    """Hits of one hypothesis, and their evidence after correction for all hypotheses tried.

    Evidence is −log10 of p in thousandths. The holdout is corrected for the survivors only.
    """

    hits: int
    compared: int
    evidence: int
    held_hits: int
    held: int
    held_evidence: int


def score(
    hypothesis: Hypothesis, draws: Sequence[int], modulus: int, tried: int, survivors: int
) -> MatchScore:
    """Compare a hypothesis with all draws, the holdout separately.

    If skips vary, `tried` counts only seeds and starts; it is multiplied by the number of possible
    skips for every training draw except the first. The holdout is corrected for the positions at
    which the path through the training draws may end, and for a skip before each of its draws.
    """
    predictions = tuple(generate(hypothesis, known(hypothesis, len(draws))))
    values = chance_values(hypothesis.output, modulus)
    choices = hypothesis.skips.choices
    return _score_of(predictions, tuple(draws), modulus, values, choices, tried, survivors)


@lru_cache(maxsize=4)
def _score_of(
    predictions: tuple[int, ...],
    draws: tuple[int, ...],
    modulus: int,
    values: int,
    choices: int,
    tried: int,
    survivors: int,
) -> MatchScore:
    """Return the score of predictions, cached since consecutive hypotheses may share them."""
    train, _ = split(draws, modulus)
    count = len(predictions)
    right = [a == b for a, b in zip(predictions, draws, strict=False)]
    hits, held_hits = sum(right[: len(train)]), sum(right[len(train) :])
    compared, held_count = min(count, len(train)), max(0, count - len(train))
    chosen = max(0, compared - 1)
    ends = chosen * (choices - 1) + 1
    null = ValueFrequencies.of(draws, values)
    chance = null.chance_of(predictions[:compared], draws[:compared])
    held_chance = null.chance_of(predictions[len(train) :], draws[len(train) : count])
    if is_periodic(predictions):
        chance = held_chance = Fraction(1)
    return MatchScore(
        hits,
        compared,
        corrected_at(hits, compared, chance, tried * choices**chosen),
        held_hits,
        held_count,
        corrected_at(held_hits, held_count, held_chance, survivors * ends * choices**held_count),
    )


@dataclass(frozen=True, slots=True)
class ValueFrequencies:
    """How often each value occurs; the null hypothesis is a shuffle of the same draws."""

    counts: Counter[int]
    total: int
    modulus: int

    @classmethod
    def of(cls, draws: Sequence[int], modulus: int) -> ValueFrequencies:
        """Count the values of a history."""
        return cls(Counter(draws), len(draws), modulus)

    def chance_of(self, predictions: Sequence[int], draws: Sequence[int]) -> Fraction:
        """Return the mean chance that predictions hit shuffled draws, at least 1/modulus.

        A draw is not counted for the prediction that is compared with it. Many hits are rarer
        with unequal chances than with their mean (Hoeffding 1956), so the binomial tail with the
        mean is an upper bound.
        """
        least = Fraction(1, self.modulus)
        if not predictions or self.total < 2:
            return least
        hits = sum(
            self.counts[guess] - (guess == draw)
            for guess, draw in zip(predictions, draws, strict=True)
        )
        return rounded(max(least, Fraction(hits, len(predictions) * (self.total - 1))), least)


def rounded(chance: Fraction, least: Fraction) -> Fraction:
    """Round a chance up to one with a short denominator."""
    if chance == least or chance >= 1:
        return min(chance, Fraction(1))
    if chance * COARSE > COARSE >> 6:
        return Fraction(-(-chance.numerator * COARSE // chance.denominator), COARSE)
    return Fraction(1, chance.denominator // chance.numerator)


def is_periodic(predictions: Sequence[int]) -> bool:
    """Whether predictions, or their second half, have a period of at most half their length.

    >>> is_periodic([1, 2, 3, 1, 2, 3, 1]), is_periodic([1, 2, 3, 1]), is_periodic([5, 7, 0, 0, 0])
    (True, False, True)
    """
    looked_at = predictions[:PERIOD_LOOKED_FOR]
    return _repeats(looked_at) or _repeats(looked_at[len(looked_at) // 2 :])


def _repeats(values: Sequence[int]) -> bool:
    """Whether the least period (from the Knuth-Morris-Pratt border table) is at most half."""
    borders = [0] * len(values)
    for at in range(1, len(values)):
        border = borders[at - 1]
        while border and values[at] != values[border]:
            border = borders[border - 1]
        borders[at] = border + (values[at] == values[border])
    return len(values) > 2 and 2 * (len(values) - borders[-1]) <= len(values)


def known(hypothesis: Hypothesis, most: int) -> int:
    """Return the number of draws that a hypothesis can predict, at most `most`."""
    if hypothesis.skips.is_constant:
        return most
    return min(most, len(hypothesis.skips.listed) + 1)
