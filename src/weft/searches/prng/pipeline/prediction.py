"""What step 6 predicts: the next draws of each stream with a signal, and how far to trust them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from weft.searches.prng.hypothesis import Hypothesis, HypothesisRecord
from weft.searches.prng.pipeline.vote import PoolHits, PoolHitsRecord


class VoterRecord(TypedDict):
    """The recorded form of `Voter`."""

    seed: int
    skip: int
    base: int


class StreamPredictionRecord(TypedDict):
    """The recorded form of `StreamPrediction`; pools by their size."""

    stream: str
    hypothesis: HypothesisRecord
    first_draw: int
    evidence: int
    next: list[int]
    pools: list[dict[str, list[int]]]
    hit_at: list[PoolHitsRecord]
    voters: list[VoterRecord]


class PredictionsRecord(TypedDict):
    """The predictions of all streams."""

    streams: list[StreamPredictionRecord]
    modulus: int
    top_k: int


@dataclass(frozen=True, slots=True)
class Voter:
    """A survivor that voted."""

    seed: int
    skip: int
    base: int

    def to_dict(self) -> VoterRecord:
        """Return the recorded form; keyword arguments undo it."""
        return {"seed": self.seed, "skip": self.skip, "base": self.base}


@dataclass(frozen=True, slots=True)
class StreamPrediction:
    """The next draws of one stream, and how the same vote did on the holdout."""

    stream: str
    hypothesis: Hypothesis
    first_draw: int
    """From which draw of the stream on the hypothesis holds."""
    evidence: int
    next: tuple[int, ...]
    pools: tuple[dict[str, list[int]], ...]
    """For each draw the most likely numbers, by how many they are."""
    hit_at: tuple[PoolHits, ...]
    voters: tuple[Voter, ...]

    def to_dict(self) -> StreamPredictionRecord:
        """Return the recorded form; `from_dict` undoes it."""
        return {
            "stream": self.stream,
            "hypothesis": self.hypothesis.to_dict(),
            "first_draw": self.first_draw,
            "evidence": self.evidence,
            "next": list(self.next),
            "pools": list(self.pools),
            "hit_at": [hits.to_dict(self.hypothesis.modulus) for hits in self.hit_at],
            "voters": [voter.to_dict() for voter in self.voters],
        }

    @classmethod
    def from_dict(cls, raw: StreamPredictionRecord) -> StreamPrediction:
        """Read the recorded form."""
        return cls(
            raw["stream"],
            Hypothesis.from_dict(raw["hypothesis"]),
            raw["first_draw"],
            raw["evidence"],
            tuple(raw["next"]),
            tuple(raw["pools"]),
            tuple(PoolHits.from_dict(hits) for hits in raw["hit_at"]),
            tuple(Voter(**voter) for voter in raw["voters"]),
        )
