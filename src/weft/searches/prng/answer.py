"""What an analysis concludes: verdict, candidates, hints, what was covered and what was not.

The dataclasses travel between modules; their recorded forms are what tasks return and what the
ledger holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from weft.searches.prng.attack import Gap, GapRecord
from weft.searches.prng.attacks.detectors import Detection, DetectionRecord
from weft.searches.prng.hypothesis import Hypothesis, HypothesisRecord
from weft.searches.prng.planning import StreamPlan
from weft.searches.prng.scoring import MatchScore, MatchScoreRecord

SIGNAL = "signal"
STRUCTURE = "structure"
NO_SIGNAL = "no signal"


class StreamCandidateRecord(TypedDict):
    """The recorded form of `StreamCandidate`."""

    stream: str
    hypothesis: HypothesisRecord
    tried: int


class ScoredRecord(StreamCandidateRecord):
    """The recorded form of `ScoredCandidate`."""

    score: MatchScoreRecord
    next: list[int]


class CoverageRecord(TypedDict):
    """The recorded form of `Coverage`."""

    stream: str
    done: int
    attack: str
    family: str
    output: str
    covers: str
    units: int


class AnalyseAnswerRecord(TypedDict):
    """The recorded form of `AnalyseAnswer`."""

    verdict: str
    modulus: int
    found: list[ScoredRecord]
    hints: list[DetectionRecord]
    covered: list[CoverageRecord]
    in_part: list[CoverageRecord]
    not_tried: list[CoverageRecord]
    gaps: list[GapRecord]


@dataclass(frozen=True, slots=True)
class StreamCandidate:
    """A hypothesis about one stream; `tried` is how many were, for the correction of p."""

    stream: str
    hypothesis: Hypothesis
    tried: int

    def to_dict(self) -> StreamCandidateRecord:
        """Return the recorded form; `from_dict` undoes it."""
        return {
            "stream": self.stream,
            "hypothesis": self.hypothesis.to_dict(),
            "tried": self.tried,
        }

    @classmethod
    def from_dict(cls, raw: StreamCandidateRecord) -> StreamCandidate:
        """Read the recorded form, also that of a candidate that was scored before."""
        return cls(raw["stream"], Hypothesis.from_dict(raw["hypothesis"]), raw["tried"])

    def identity(self) -> str:
        """Return a text that only an equal hypothesis about the same stream has."""
        return f"{self.stream}\0{sorted(self.hypothesis.to_dict().items())}"


@dataclass(frozen=True, slots=True)
class ScoredCandidate:
    """A candidate compared with all draws, and the draws it predicts after the last one."""

    candidate: StreamCandidate
    score: MatchScore
    next: tuple[int, ...]

    def to_dict(self) -> ScoredRecord:
        """Return the recorded form; `from_dict` undoes it."""
        return {
            **self.candidate.to_dict(),
            "score": self.score.to_dict(),
            "next": list(self.next),
        }

    @classmethod
    def from_dict(cls, raw: ScoredRecord) -> ScoredCandidate:
        """Read the recorded form."""
        score = MatchScore.from_dict(raw["score"])
        return cls(StreamCandidate.from_dict(raw), score, tuple(raw["next"]))

    def is_confirmed(self, alpha_evidence: int) -> bool:
        """Whether the evidence suffices, in training and in the holdout."""
        return min(self.score.evidence, self.score.held_evidence) >= alpha_evidence


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many units of a plan were covered, and what the whole plan covers."""

    stream: str
    done: int
    attack: str
    family: str
    output: str
    covers: str
    units: int

    @classmethod
    def of(cls, planned: StreamPlan, done: int) -> Coverage:
        """Return the coverage of a plan of which so many units were done."""
        plan = planned.plan
        return cls(
            planned.stream, done, plan.attack, plan.family, plan.output, plan.covers, plan.units
        )

    def to_dict(self) -> CoverageRecord:
        """Return the recorded form; `from_dict` undoes it."""
        return {
            "stream": self.stream,
            "done": self.done,
            "attack": self.attack,
            "family": self.family,
            "output": self.output,
            "covers": self.covers,
            "units": self.units,
        }

    @classmethod
    def from_dict(cls, raw: CoverageRecord) -> Coverage:
        """Read the recorded form."""
        return cls(**raw)


@dataclass(frozen=True, slots=True)
class AnalyseAnswer:
    """The conclusion; candidates predict draws only with a signal."""

    verdict: str
    modulus: int
    candidates: tuple[ScoredCandidate, ...]
    hints: tuple[Detection, ...]
    covered: tuple[Coverage, ...]
    in_part: tuple[Coverage, ...]
    not_tried: tuple[Coverage, ...]
    gaps: tuple[Gap, ...]

    @property
    def is_signal(self) -> bool:
        """Whether a generator was found."""
        return self.verdict == SIGNAL

    def to_dict(self) -> AnalyseAnswerRecord:
        """Return the recorded form; `from_dict` undoes it."""
        return {
            "verdict": self.verdict,
            "modulus": self.modulus,
            "found": [scored.to_dict() for scored in self.candidates],
            "hints": [hint.to_dict() for hint in self.hints],
            "covered": [item.to_dict() for item in self.covered],
            "in_part": [item.to_dict() for item in self.in_part],
            "not_tried": [item.to_dict() for item in self.not_tried],
            "gaps": [gap.to_dict() for gap in self.gaps],
        }

    @classmethod
    def from_dict(cls, raw: AnalyseAnswerRecord) -> AnalyseAnswer:
        """Read the recorded form."""
        return cls(
            raw["verdict"],
            raw["modulus"],
            tuple(ScoredCandidate.from_dict(scored) for scored in raw["found"]),
            tuple(Detection.from_dict(hint) for hint in raw["hints"]),
            _coverages(raw["covered"]),
            _coverages(raw["in_part"]),
            _coverages(raw["not_tried"]),
            tuple(Gap.from_dict(gap) for gap in raw["gaps"]),
        )


def _coverages(records: list[CoverageRecord]) -> tuple[Coverage, ...]:
    return tuple(Coverage.from_dict(raw) for raw in records)
