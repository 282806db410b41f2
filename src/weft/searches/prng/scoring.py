"""How well a hypothesis explains draws: what it hits in training and in the holdout.

The plain measure behind every verdict: generate, compare, count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weft.searches.prng.generate import generate
from weft.searches.prng.hypothesis import Hypothesis
from weft.searches.prng.statistics import corrected

HOLDOUT_MOST = 100


def split(draws: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the training part and the holdout: the last fifth, at most 100 draws.

    A hundred are evidence enough, and algebra needs every draw it can get.
    """
    held = min(HOLDOUT_MOST, len(draws) // 5)
    at = len(draws) - held
    return tuple(draws[:at]), tuple(draws[at:])


@dataclass(frozen=True, slots=True)
class MatchScore:
    """Hits of one hypothesis, and how surprising they are after correction for all that was tried.

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
    """Compare a hypothesis with all draws, the holdout apart.

    Where skips vary, `tried` counts seeds and starts only, and each skip that was chosen to fit
    multiplies it once: one before every draw but the first. The holdout begins where the way
    through the training draws may end, and has a skip before each of its draws.
    """
    train, _ = split(draws)
    count = known(hypothesis, len(draws))
    predictions = generate(hypothesis, count)
    right = [a == b for a, b in zip(predictions, draws, strict=False)]
    hits, held_hits = sum(right[: len(train)]), sum(right[len(train) :])
    compared, held_count = min(count, len(train)), max(0, count - len(train))
    choices, chosen = hypothesis.skips.choices, max(0, compared - 1)
    ends = chosen * (choices - 1) + 1
    return MatchScore(
        hits,
        compared,
        corrected(hits, compared, modulus, tried * choices**chosen),
        held_hits,
        held_count,
        corrected(held_hits, held_count, modulus, survivors * ends * choices**held_count),
    )


def known(hypothesis: Hypothesis, most: int) -> int:
    """Return how many draws a hypothesis can predict, at most `most`."""
    if hypothesis.skips.is_constant:
        return most
    return min(most, len(hypothesis.skips.listed) + 1)
