"""The answer of an analysis: verdict, candidates, hints, and what was and was not covered.

Each class is recorded field by field.
"""

from __future__ import annotations

from dataclasses import dataclass

from weft.model.codec import to_json
from weft.searches.prng.attack import Gap
from weft.searches.prng.attacks.detectors import Detection
from weft.searches.prng.attacks.noise import tolerated
from weft.searches.prng.hypothesis import Hypothesis
from weft.searches.prng.origins import SeedOrigin
from weft.searches.prng.planning import StreamPlan
from weft.searches.prng.scoring import MatchScore

SIGNAL = "signal"
PARTIAL = "partial signal"
STRUCTURE = "structure"
NO_SIGNAL = "no signal"


@dataclass(frozen=True, slots=True)
class StreamCandidate:
    """A hypothesis about one stream; `tried` counts the hypotheses tried, for correcting p."""

    stream: str
    hypothesis: Hypothesis
    tried: int

    def identity(self) -> str:
        """Return a string that identifies the stream and the hypothesis."""
        return f"{self.stream}\0{sorted(to_json(self.hypothesis).items())}"


@dataclass(frozen=True, slots=True)
class ScoredCandidate(StreamCandidate):
    """A candidate compared with all draws, and the draws it predicts after the last one.

    In the backtest, `tail_hits` of the last `tail` draws were predicted unseen. `next` is empty
    unless the backtest succeeded.
    """

    score: MatchScore
    next: tuple[int, ...]
    tail_hits: int = 0
    tail: int = 0
    origins: tuple[SeedOrigin, ...] = ()
    """Seeds that may have produced the draws, where the seeding can be inverted."""
    equivalents: tuple[str, ...] = ()
    """Other generators and output maps that produce the same draws."""

    def is_confirmed(self, alpha_evidence: int) -> bool:
        """Whether the evidence suffices both in training and in the holdout."""
        return min(self.score.evidence, self.score.held_evidence) >= alpha_evidence

    def explains(self, corrupt_percent: int) -> bool:
        """Whether the wrong draws are within tolerance, overall and in the holdout.

        With a constant skip, the backtest must also have predicted some of the last draws.
        """
        score = self.score
        held_wrong = score.held - score.held_hits
        wrong = held_wrong + score.compared - score.hits
        return (
            wrong <= tolerated(score.compared + score.held, corrupt_percent)
            and held_wrong <= tolerated(score.held, corrupt_percent)
            and (bool(self.tail_hits) or not self.hypothesis.skips.is_constant)
        )


@dataclass(frozen=True, slots=True)
class Coverage:
    """The number of units of a plan that were covered, and what the whole plan covers."""

    stream: str
    done: int
    attack: str
    family: str
    output: str
    covers: str
    units: int

    @classmethod
    def of(cls, planned: StreamPlan, done: int) -> list[Coverage]:
        """Return the coverage of each call of a plan after `done` of its units."""
        plan = planned.plan
        return [
            cls(planned.stream, done, plan.attack, *call, plan.covers, plan.units)
            for call in plan.calls
        ]


@dataclass(frozen=True, slots=True)
class AnalyseAnswer:
    """The conclusion; candidates in `found` have next draws only if their backtest succeeded."""

    verdict: str
    modulus: int
    found: tuple[ScoredCandidate, ...]
    hints: tuple[Detection, ...]
    covered: tuple[Coverage, ...]
    in_part: tuple[Coverage, ...]
    not_tried: tuple[Coverage, ...]
    gaps: tuple[Gap, ...]

    @property
    def is_signal(self) -> bool:
        """Whether a generator was found, even if it explains only part of the draws."""
        return self.verdict in (SIGNAL, PARTIAL)
