"""The verdict: signal or no signal, with what would have been found. Integers only.

Three conditions, all of them: the best survivor's window is too good for all hypotheses that
were tried; its holdout is too good for all survivors there were; and the pipeline's own reruns
on histories without signal never come near the observed one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from weft.searches.prng.pipeline.request import EVIDENCE, PipelineRequest
from weft.searches.prng.pipeline.window import WindowParams
from weft.searches.prng.statistics import corrected, hits_needed, probability_text


class ClaimRecord(TypedDict):
    """The recorded form of `Claim`, with its probabilities in words."""

    stream: str
    seed: int
    skip: int
    base: int
    window_hits: int
    window_draws: int
    holdout_hits: int
    holdout_draws: int
    window_evidence: int
    holdout_evidence: int
    window_p: str
    holdout_p: str
    holds: bool


class RerunsRecord(TypedDict):
    """The recorded form of `Reruns`."""

    observed: int
    nulls: list[int]
    draws: int
    above_all: bool
    p: list[int]


class PowerRecord(TypedDict):
    """The recorded form of `Power`."""

    searched: str
    tried: int
    would_be_found: str
    not_covered: str


class VerdictRecord(TypedDict):
    """The recorded form of `PipelineVerdict`."""

    signal: bool
    why: str
    claims: list[ClaimRecord]
    reruns: RerunsRecord | None
    power: PowerRecord


@dataclass(frozen=True, slots=True)
class Claim:
    """The survivor that ranks first in a stream, with its evidence."""

    stream: str
    seed: int
    skip: int
    base: int
    window_hits: int
    window_draws: int
    holdout_hits: int
    holdout_draws: int
    window_evidence: int
    holdout_evidence: int

    @property
    def holds(self) -> bool:
        """Whether the evidence of both windows suffices."""
        return min(self.window_evidence, self.holdout_evidence) >= EVIDENCE

    @property
    def window_p(self) -> str:
        """The probability of the window's hits by chance, in words."""
        return probability_text(self.window_evidence)

    @property
    def holdout_p(self) -> str:
        """The probability of the holdout's hits by chance, in words."""
        return probability_text(self.holdout_evidence)

    def to_dict(self) -> ClaimRecord:
        """Return the recorded form; `from_dict` undoes it."""
        return {
            "stream": self.stream,
            "seed": self.seed,
            "skip": self.skip,
            "base": self.base,
            "window_hits": self.window_hits,
            "window_draws": self.window_draws,
            "holdout_hits": self.holdout_hits,
            "holdout_draws": self.holdout_draws,
            "window_evidence": self.window_evidence,
            "holdout_evidence": self.holdout_evidence,
            "window_p": self.window_p,
            "holdout_p": self.holdout_p,
            "holds": self.holds,
        }

    @classmethod
    def from_dict(cls, raw: ClaimRecord) -> Claim:
        """Read the recorded form."""
        return cls(
            raw["stream"], raw["seed"], raw["skip"], raw["base"], raw["window_hits"],
            raw["window_draws"], raw["holdout_hits"], raw["holdout_draws"],
            raw["window_evidence"], raw["holdout_evidence"],
        )  # fmt: skip


def make_claim(
    stream: str, row: dict[str, int], params: WindowParams, modulus: int, tried: int, ranked: int
) -> Claim:
    """Weigh a stream's first survivor: corrected for all tried, and for all that were ranked."""
    return Claim(
        stream, row["seed"], row["skip"], row["base"], row["hits"], params.window,
        row["label_hits"], row["label_draws"],
        corrected(row["hits"], params.window, modulus, tried),
        corrected(row["label_hits"], row["label_draws"], modulus, max(1, ranked)),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reruns:
    """Holdout hits of the vote at the reduced budget: observed, and without signal."""

    observed: int
    nulls: tuple[int, ...]
    draws: int

    @property
    def above_all(self) -> bool:
        """Whether no history without signal comes as far as the observed one."""
        return bool(self.nulls) and self.observed > max(self.nulls)

    def to_dict(self) -> RerunsRecord:
        """Return the recorded form; `from_dict` undoes it."""
        rank = 1 + sum(hits >= self.observed for hits in self.nulls)
        return {
            "observed": self.observed,
            "nulls": list(self.nulls),
            "draws": self.draws,
            "above_all": self.above_all,
            "p": [rank, 1 + len(self.nulls)],
        }

    @classmethod
    def from_dict(cls, raw: RerunsRecord) -> Reruns:
        """Read the recorded form."""
        return cls(raw["observed"], tuple(raw["nulls"]), raw["draws"])


@dataclass(frozen=True, slots=True)
class Power:
    """What would have been found, and what was not looked for."""

    searched: str
    tried: int
    would_be_found: str
    not_covered: str

    def to_dict(self) -> PowerRecord:
        """Return the recorded form; `from_dict` undoes it."""
        return {
            "searched": self.searched,
            "tried": self.tried,
            "would_be_found": self.would_be_found,
            "not_covered": self.not_covered,
        }

    @classmethod
    def from_dict(cls, raw: PowerRecord) -> Power:
        """Read the recorded form."""
        return cls(**raw)


@dataclass(frozen=True, slots=True)
class PipelineVerdict:
    """Whether there is a signal, why, and on what evidence."""

    signal: bool
    why: str
    claims: tuple[Claim, ...]
    reruns: Reruns | None
    power: Power

    def to_dict(self) -> VerdictRecord:
        """Return the recorded form; `from_dict` undoes it."""
        return {
            "signal": self.signal,
            "why": self.why,
            "claims": [claim.to_dict() for claim in self.claims],
            "reruns": None if self.reruns is None else self.reruns.to_dict(),
            "power": self.power.to_dict(),
        }

    @classmethod
    def from_dict(cls, raw: VerdictRecord) -> PipelineVerdict:
        """Read the recorded form; what else a sidecar or an answer holds is left out."""
        reruns = raw["reruns"]
        return cls(
            raw["signal"],
            raw["why"],
            tuple(Claim.from_dict(claim) for claim in raw["claims"]),
            None if reruns is None else Reruns.from_dict(reruns),
            Power.from_dict(raw["power"]),
        )


def decide(claims: Sequence[Claim], reruns: Reruns | None) -> tuple[bool, str]:
    """Return whether there is a signal, and in a sentence why or why not."""
    if not claims:
        return False, "no hypothesis survived the sieve"
    if not any(claim.window_evidence >= EVIDENCE for claim in claims):
        return False, "what survived is what chance leaves among so many hypotheses"
    if not any(claim.holds for claim in claims):
        return False, "what fits the training draws does not hold on the holdout"
    if reruns is None or not reruns.above_all:
        return False, "histories without signal do as well"
    return True, "found on the training draws, held on the holdout, above every null history"


def power_of(request: PipelineRequest, params: WindowParams | None, tried: int) -> Power:
    """Say what would have been found, and what was not looked for."""
    low, high = request.seeds
    searched = (
        f"{request.family} ({request.output}), seeds {low:,} to {high - 1:,}, skips"
        f" {request.skips[0]} to {request.skips[1]}, starts {request.starts[0]} to"
        f" {request.starts[1]}"
    )
    needed = None
    if params is not None:
        needed = hits_needed(params.window, request.modulus, max(1, tried), EVIDENCE)
    enough = (
        f"a stream that hits {needed} of {params.window} draws before the holdout"
        if params is not None and needed is not None
        else "no share of hits would have been enough: ask for fewer hypotheses"
    )
    return Power(
        searched,
        tried,
        enough,
        "other families and output maps, other seeds, skips that vary, reseeds within a window",
    )
