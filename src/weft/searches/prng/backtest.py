"""Whether a hypothesis has earned a prediction: it must predict the last draws unseen.

The last draws of a history are held back, whatever the hypothesis has is fitted to those before,
and the rest is predicted as the next draws would be: with the skips and the alignment that the
hypothesis ends with. Only what hits beyond chance there may say what comes next.

    draws ──► fitted to all but the tail ──► predicts the tail ──► hits of how many, and next draws

A constant skip is a prediction as it stands. Where skips vary, or the alignment was lost (calls
that somebody else made), the way through the stream is fitted and then goes on with its usual skip.
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
"""Evidence that the tail must give, in thousandths of a decade: one in a hundred."""
LOST_CALLS = 16
"""Calls that may be lost before a draw when an alignment is looked for again."""
RECENT = 16
"""Skips of which the most frequent is taken to go on."""


@dataclass(frozen=True, slots=True)
class Backtest:
    """What a hypothesis predicted of the last draws, and what it then predicts to come."""

    hypothesis: Hypothesis
    hits: int
    compared: int
    next: tuple[int, ...]
    """Empty unless the hits are beyond chance."""


def backtest(hypothesis: Hypothesis, draws: Sequence[int], most: int) -> Backtest:
    """Predict the last draws unseen and, where that goes well, `most` draws after them."""
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
    """Return how many of the last draws are predicted: never more than the holdout has."""
    _, holdout = split(draws, modulus)
    least = next(
        (n for n in range(1, len(holdout) + 1) if hits_needed(n, modulus, 1, ENOUGH) is not None),
        len(holdout),
    )
    return min(len(holdout), max(min(TAIL_MOST, len(holdout) // 2), least))


def _with_lost_calls(hypothesis: Hypothesis) -> Hypothesis:
    """Return a hypothesis with a constant skip as one before whose draws calls may be lost."""
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
    """Return a hypothesis fitted to draws that goes on for `more` with its usual skip."""
    if hypothesis.skips.is_constant:
        return hypothesis
    fitted = extend_skips(hypothesis, draws)
    listed = fitted.skips.listed
    going_on = (_usual(listed[-RECENT:]),) * more if listed else ()
    return replace(fitted, skips=Skips(fitted.skips.between, (*listed, *going_on)))


def _usual(skips: Sequence[int]) -> int:
    """Return the most frequent number, the least of several."""
    counts = Counter(skips)
    return min(counts, key=lambda skip: (-counts[skip], skip))


def steadied(hypothesis: Hypothesis) -> Hypothesis | None:
    """Return skips that vary as the constant one that most places agree with; None if few do.

    A wrong row sends the best way astray around it, and is no skip that varies.
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
