"""The verdict: signal or no signal, with what would have been found. Integers only.

Three conditions, all of them: the best survivor's window is too good for all hypotheses that
were tried; its holdout is too good for all survivors there were; and the pipeline's own reruns
on histories without signal never come near the observed one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from weft.prng.pipeline.plan import EVIDENCE, Plan
from weft.prng.pipeline.window import WindowParams
from weft.prng.statistics import corrected, hits_needed, probability_text


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
        """Whether both windows speak for it."""
        return min(self.window_evidence, self.holdout_evidence) >= EVIDENCE

    def to_dict(self) -> dict[str, Any]:
        """Return the recorded form."""
        return {
            **asdict(self),
            "window_p": probability_text(self.window_evidence),
            "holdout_p": probability_text(self.holdout_evidence),
            "holds": self.holds,
        }


def claim(
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

    def to_dict(self) -> dict[str, Any]:
        """Return the recorded form."""
        rank = 1 + sum(one >= self.observed for one in self.nulls)
        return {
            "observed": self.observed,
            "nulls": list(self.nulls),
            "draws": self.draws,
            "above_all": self.above_all,
            "p": [rank, 1 + len(self.nulls)],
        }


def decide(claims: Sequence[Claim], reruns: Reruns | None) -> tuple[bool, str]:
    """Return whether there is a signal, and in a sentence why or why not."""
    if not claims:
        return False, "no hypothesis survived the sieve"
    if not any(one.window_evidence >= EVIDENCE for one in claims):
        return False, "what survived is what chance leaves among so many hypotheses"
    if not any(one.holds for one in claims):
        return False, "what fits the training draws does not hold on the holdout"
    if reruns is None or not reruns.above_all:
        return False, "histories without signal do as well"
    return True, "found on the training draws, held on the holdout, above every null history"


def power(plan: Plan, params: WindowParams | None, tried: int) -> dict[str, Any]:
    """Say what would have been found, and what was not looked for."""
    low, high = plan.seeds
    searched = (
        f"{plan.family} ({plan.output}), seeds {low:,} to {high - 1:,}, skips {plan.skips[0]} to"
        f" {plan.skips[1]}, starts {plan.starts[0]} to {plan.starts[1]}"
    )
    needed = None
    if params is not None:
        needed = hits_needed(params.window, plan.modulus, max(1, tried), EVIDENCE)
    enough = (
        f"a stream that hits {needed} of {params.window} draws before the holdout"
        if params is not None and needed is not None
        else "no share of hits would have been enough: ask for fewer hypotheses"
    )
    return {
        "searched": searched,
        "tried": tried,
        "would_be_found": enough,
        "not_covered": "other families and output maps, other seeds, skips that vary, reseeds"
        " within a window",
    }
