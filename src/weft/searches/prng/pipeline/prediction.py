"""What step 6 predicts: the next draws of each stream with a signal, and how far to trust them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from weft.searches.prng.hypothesis import Hypothesis
from weft.searches.prng.pipeline.vote import PoolHits


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
