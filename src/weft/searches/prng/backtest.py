"""Backtesting: a hypothesis may predict the next draws only if it predicts the last ones unseen.

The last draws of a history are held back, the hypothesis is fitted to the earlier ones, and the
tail is predicted as the next draws would be: with the skips and the alignment at the end of the
fit. Only a hypothesis that hits the tail beyond chance may predict the next draws.

    draws ──► fitted to all but the tail ──► predicts the tail ──► hits of how many, and next draws

A constant skip needs no fitting. Where skips vary, or the alignment was lost (another consumer
made calls), the path through the stream is fitted and then extended with its most frequent skip.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from weft.searches.prng.attacks.varying import MAX_EXTENDED, extend_skips
from weft.searches.prng.generate import generate
from weft.searches.prng.hypothesis import Hypothesis, Skips, position
from weft.searches.prng.rowmaps import chance_values
from weft.searches.prng.scoring import ValueFrequencies, is_periodic, split
from weft.searches.prng.statistics import corrected_at, hits_needed

TAIL_MOST = 20
ENOUGH = 2000
"""Evidence required of the tail, in thousandths of a decade: one in a hundred."""
LOST_CALLS = 16
"""Maximum number of calls that may be lost before a draw when realigning."""
RECENT = 16
"""Number of recent skips whose most frequent value extends the path."""


@dataclass(frozen=True, slots=True)
class Backtest:
    """How well a hypothesis predicted the last draws, and the next draws it predicts."""

    hypothesis: Hypothesis
    hits: int
    compared: int
    next: tuple[int, ...]
    """Empty unless the hits are beyond chance."""


def backtest(hypothesis: Hypothesis, draws: Sequence[int], most: int) -> Backtest:
    """Predict the last draws unseen and, if that succeeds, `most` draws after them."""
    values = chance_values(hypothesis.output, hypothesis.modulus)
    cut = len(draws) - tail_length(draws, values)
    trials = [hypothesis] if hypothesis.skips.is_constant else []
    if len(draws) <= MAX_EXTENDED:
        trials.append(_with_lost_calls(hypothesis))
    first: Backtest | None = None
    for trial in trials:
        outcome = _tried(trial, draws, cut, most)
        if outcome.next or len(draws) == cut:
            return outcome
        first = first or outcome
    return first or Backtest(hypothesis, 0, len(draws) - cut, ())


def tail_length(draws: Sequence[int], modulus: int) -> int:
    """Return the number of last draws to predict, never more than the holdout has."""
    _, holdout = split(draws, modulus)
    least = next(
        (n for n in range(1, len(holdout) + 1) if hits_needed(n, modulus, 1, ENOUGH) is not None),
        len(holdout),
    )
    return min(len(holdout), max(min(TAIL_MOST, len(holdout) // 2), least))


def _with_lost_calls(hypothesis: Hypothesis) -> Hypothesis:
    """Return a hypothesis with a constant skip as one that may lose calls before each draw."""
    least, greatest = hypothesis.skips.between
    if least < greatest:
        return hypothesis
    return replace(hypothesis, skips=Skips((least, least + LOST_CALLS)))


def _tried(hypothesis: Hypothesis, draws: Sequence[int], cut: int, most: int) -> Backtest:
    predictions = generate(continued(hypothesis, draws[:cut], len(draws) - cut), len(draws))
    tail, expected = draws[cut:], predictions[cut:]
    hits = sum(a == b for a, b in zip(expected, tail, strict=False))
    if len(expected) < len(tail):
        return Backtest(hypothesis, hits, len(tail), ())
    values = chance_values(hypothesis.output, hypothesis.modulus)
    chance = ValueFrequencies.of(draws, values).chance_of(expected, tail)
    earned = corrected_at(hits, len(tail), chance, 1) >= ENOUGH and not is_periodic(predictions)
    whole = continued(hypothesis, draws, most)
    coming = generate(whole, len(draws) + most)[len(draws) :] if earned else []
    return Backtest(whole, hits, len(tail), tuple(coming))


def continued(hypothesis: Hypothesis, draws: Sequence[int], more: int) -> Hypothesis:
    """Fit a hypothesis to draws and extend it by `more` draws with its most frequent skip."""
    if hypothesis.skips.is_constant:
        return hypothesis
    fitted = extend_skips(hypothesis, draws)
    listed = fitted.skips.listed
    going_on = (_usual(listed[-RECENT:]),) * more if listed else ()
    return replace(fitted, skips=Skips(fitted.skips.between, (*listed, *going_on)))


def _usual(skips: Sequence[int]) -> int:
    """Return the most frequent number, the least in a tie."""
    counts = Counter(skips)
    return min(counts, key=lambda skip: (-counts[skip], skip))


def steadied(hypothesis: Hypothesis) -> Hypothesis | None:
    """Return the hypothesis with the constant skip that most positions fit; None if few do.

    A wrong row diverts the best path around it, which does not mean that the skips vary.
    """
    if hypothesis.skips.is_constant or not hypothesis.skips.listed:
        return None
    skip = _usual(hypothesis.skips.listed)
    count = len(hypothesis.skips.listed) + 1
    starts = Counter(position(hypothesis, at) - at * (skip + 1) for at in range(count))
    start = min(starts, key=lambda place: (-starts[place], place))
    if start < 0 or 2 * starts[start] < count:
        return None
    return replace(hypothesis, skips=Skips.constant(skip), start=start)
