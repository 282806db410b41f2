"""Step 6: survivors vote for the next numbers, each weighted by the model's expectation.

Numbers are ranked by weight, then by size; a pool of K is the first K. Without a signal a pool
contains the draw with probability K/m, with which its hits are compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weft.searches.prng.arrays import Draws16, Floats, Ints
from weft.searches.prng.hypothesis import Hypothesis
from weft.searches.prng.statistics import tail_evidence


def weights_of(expected: Floats) -> Floats:
    """Return each voter's weight: its expectation, at least 0; equal weights if all are 0."""
    weights = np.maximum(expected, 0.0)
    return weights if weights.sum() > 0 else np.ones(len(weights))


def ranking(votes: Draws16, weights: Floats, modulus: int) -> Ints:
    """Return all numbers by descending weight, then ascending size."""
    return np.argsort(-np.bincount(votes, weights, modulus), kind="stable")


def ranks(votes: Draws16, weights: Floats, actual: Sequence[int], modulus: int) -> list[int]:
    """Return the rank of each actual draw among the numbers; each has a column of `votes`."""
    places = []
    for at, draw in enumerate(actual):
        weight = np.bincount(votes[:, at], weights, modulus)
        before = int((weight > weight[draw]).sum()) + int((weight[:draw] == weight[draw]).sum())
        places.append(before)
    return places


@dataclass(frozen=True, slots=True)
class PoolHits:
    """How often the draw was among the first K numbers, compared with a chance of K in m."""

    k: int
    hits: int
    draws: int
    evidence: int
    chance: tuple[int, int]


def pool_hits(places: Sequence[int], size: int, modulus: int) -> PoolHits:
    """Count draws within the first `size` numbers; evidence is for a chance of at least size/m."""
    size = min(size, modulus)
    hits = sum(place < size for place in places)
    one_in = modulus // size
    evidence = tail_evidence(hits, len(places), one_in) if one_in > 1 else 0
    return PoolHits(size, hits, len(places), evidence, (size, modulus))


@dataclass(frozen=True, slots=True)
class Voter:
    """A survivor that voted."""

    seed: int
    skip: int
    base: int


@dataclass(frozen=True, slots=True)
class StreamPrediction:
    """The next draws of one stream, and the results of the same vote on the holdout."""

    stream: str
    hypothesis: Hypothesis
    first_draw: int
    """Index of the stream's first draw that the hypothesis predicts."""
    evidence: int
    next: tuple[int, ...]
    pools: tuple[Mapping[str, tuple[int, ...]], ...]
    """For each draw, the most likely numbers by pool size."""
    hit_at: tuple[PoolHits, ...]
    voters: tuple[Voter, ...]


@dataclass(frozen=True, slots=True)
class Predictions:
    """The predictions of all streams."""

    streams: tuple[StreamPrediction, ...]
    modulus: int
    top_k: int
