"""Step 6: survivors vote for the next numbers, each with what the model expects of it.

Numbers are ranked by weight, then by size; a pool of K is the first K. With no signal a pool
holds the draw with probability K/m, so that is what its hits are compared with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weft.searches.prng.arrays import Draws16, Floats, Ints
from weft.searches.prng.hypothesis import Hypothesis
from weft.searches.prng.statistics import tail_evidence


def weights_of(expected: Floats) -> Floats:
    """Return the weight of each voter: what is expected of it, never below nothing."""
    weights = np.maximum(expected, 0.0)
    return weights if weights.sum() > 0 else np.ones(len(weights))


def ranking(votes: Draws16, weights: Floats, modulus: int) -> Ints:
    """Return all numbers, the one with most weight first, equal ones by size."""
    return np.argsort(-np.bincount(votes, weights, modulus), kind="stable")


def ranks(votes: Draws16, weights: Floats, actual: Sequence[int], modulus: int) -> list[int]:
    """Return at which rank each draw of a span stood; a column of `votes` for each."""
    places = []
    for at, draw in enumerate(actual):
        weight = np.bincount(votes[:, at], weights, modulus)
        before = int((weight > weight[draw]).sum()) + int((weight[:draw] == weight[draw]).sum())
        places.append(before)
    return places


@dataclass(frozen=True, slots=True)
class PoolHits:
    """How often the draw was among the first K numbers, and what chance gives: K of m."""

    k: int
    hits: int
    draws: int
    evidence: int
    chance: tuple[int, int]


def pool_hits(places: Sequence[int], size: int, modulus: int) -> PoolHits:
    """Count draws within the first `size` numbers; evidence against a chance of size/m."""
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
    """The next draws of one stream, and how the same vote did on the holdout."""

    stream: str
    hypothesis: Hypothesis
    first_draw: int
    """From which draw of the stream on the hypothesis holds."""
    evidence: int
    next: tuple[int, ...]
    pools: tuple[Mapping[str, tuple[int, ...]], ...]
    """For each draw the most likely numbers, by how many they are."""
    hit_at: tuple[PoolHits, ...]
    voters: tuple[Voter, ...]


@dataclass(frozen=True, slots=True)
class Predictions:
    """The predictions of all streams."""

    streams: tuple[StreamPrediction, ...]
    modulus: int
    top_k: int
