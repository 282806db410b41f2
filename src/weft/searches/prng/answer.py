"""What an analysis concludes: verdict, candidates, hints, what was covered and what was not.

Each class is recorded as it is, by its fields.
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
    """A hypothesis about one stream; `tried` is how many were, for the correction of p."""

    stream: str
    hypothesis: Hypothesis
    tried: int

    def identity(self) -> str:
        """Return a text that only an equal hypothesis about the same stream has."""
        return f"{self.stream}\0{sorted(to_json(self.hypothesis).items())}"


@dataclass(frozen=True, slots=True)
class ScoredCandidate(StreamCandidate):
    """A candidate compared with all draws, and the draws it predicts after the last one.

    `tail_hits` of the last `tail` draws were predicted before they were looked at, as the next
    ones are; without that there are no next ones.
    """

    score: MatchScore
    next: tuple[int, ...]
    tail_hits: int = 0
    tail: int = 0
    origins: tuple[SeedOrigin, ...] = ()
    """Seeds that the draws may come from, where a seeding can be inverted."""
    equivalents: tuple[str, ...] = ()
    """Generators and output maps that make the same draws."""

    def is_confirmed(self, alpha_evidence: int) -> bool:
        """Whether the evidence suffices, in training and in the holdout."""
        return min(self.score.evidence, self.score.held_evidence) >= alpha_evidence

    def explains(self, corrupt_percent: int) -> bool:
        """Whether no more draws are wrong than rows may be, in all and in the holdout.

        With a constant skip the last draws must have been predicted as well.
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
    """How many units of a plan were covered, and what the whole plan covers."""

    stream: str
    done: int
    attack: str
    family: str
    output: str
    covers: str
    units: int

    @classmethod
    def of(cls, planned: StreamPlan, done: int) -> list[Coverage]:
        """Return the coverage of each call of a plan of which so many units were done."""
        plan = planned.plan
        return [
            cls(planned.stream, done, plan.attack, *call, plan.covers, plan.units)
            for call in plan.calls
        ]


@dataclass(frozen=True, slots=True)
class AnalyseAnswer:
    """The conclusion; the candidates `found` predict draws only if they predicted unseen ones."""

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
        """Whether a generator was found, one that explains part of the draws too."""
        return self.verdict in (SIGNAL, PARTIAL)
