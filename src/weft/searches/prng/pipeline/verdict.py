"""The verdict: signal or no signal, with what would have been found. Integers only.

Evidence decides, and the reason names the test that decided. The best survivor's hits in its window
must be beyond chance after correction for all hypotheses tried, and its hits on the untouched
holdout after correction for all survivors. If a model was trained, the null reruns must also stay
below the observed one, unless the holdout alone is beyond doubt. A `Sidecar` is stored beside a
model, or in its place.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weft.errors import InputError
from weft.model.codec import from_json
from weft.model.values import Object, Value
from weft.searches.prng.pipeline.features import names_hash
from weft.searches.prng.pipeline.models import ModelParams
from weft.searches.prng.pipeline.request import EVIDENCE, PipelineRequest
from weft.searches.prng.pipeline.training import ModelChoice, ModelMetrics
from weft.searches.prng.pipeline.window import WindowParams
from weft.searches.prng.statistics import corrected, hits_needed, probability_text

BEYOND_DOUBT = 9_000
"""Holdout evidence, in thousandths of a decade, that overrides the null reruns."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A stream's first-ranked survivor and its evidence; probabilities are formatted strings."""

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
    """Whether the evidence suffices in the window and in the holdout."""


def make_claim(
    stream: str, row: dict[str, int], params: WindowParams, modulus: int, tried: int, ranked: int
) -> Claim:
    """Weigh a stream's first survivor.

    The window is corrected for all hypotheses `tried`, the holdout for all survivors `ranked`.
    """
    window = corrected(row["hits"], params.window, modulus, tried)
    held = corrected(row["label_hits"], row["label_draws"], modulus, max(1, ranked))
    return Claim(
        stream, row["seed"], row["skip"], row["base"], row["hits"], params.window,
        row["label_hits"], row["label_draws"], window, held,
        probability_text(window), probability_text(held), min(window, held) >= EVIDENCE,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reruns:
    """Holdout hits of the vote at the reduced budget: on the observed and on null histories."""

    observed: int
    nulls: tuple[int, ...]
    draws: int
    above_all: bool
    """Whether no null history reaches the hits of the observed one."""
    p: tuple[int, int]
    """The rank of the observed history, and the number of all histories."""

    @classmethod
    def of(cls, observed: int, nulls: tuple[int, ...], draws: int) -> Reruns:
        """Compare the observed history with the null histories."""
        rank = 1 + sum(hits >= observed for hits in nulls)
        return cls(observed, nulls, draws, bool(nulls) and rank == 1, (rank, 1 + len(nulls)))


@dataclass(frozen=True, slots=True)
class Power:
    """What would have been found, and what was not covered."""

    searched: str
    tried: int
    would_be_found: str
    not_covered: str


@dataclass(frozen=True, slots=True)
class PipelineVerdict:
    """Whether there is a signal, the reason, and the evidence."""

    signal: bool
    why: str
    claims: tuple[Claim, ...]
    reruns: Reruns | None
    power: Power


def decide(claims: Sequence[Claim], reruns: Reruns | None) -> tuple[bool, str]:
    """Return whether there is a signal, and the reason as a sentence."""
    if not claims:
        return False, "no hypothesis survived the sieve"
    if not any(claim.window_evidence >= EVIDENCE for claim in claims):
        return False, "what survived is what chance leaves among so many hypotheses"
    holding = [claim for claim in claims if claim.holds]
    if not holding:
        return False, "what fits the training draws does not hold on the holdout"
    best = max(holding, key=lambda claim: claim.holdout_evidence)
    reason = (
        f"seed {best.seed} hits {best.holdout_hits} of {best.holdout_draws} holdout draws that"
        f" nothing had looked at, p {best.holdout_p} after correction"
    )
    if reruns is None:
        return True, f"{reason}; survivors were too few for a model and its null reruns"
    rank, of = reruns.p
    if reruns.above_all:
        return True, f"{reason}; above all {of - 1} null histories"
    if best.holdout_evidence >= BEYOND_DOUBT:
        return True, f"{reason}, though the model's vote is no better than in null histories"
    return False, f"{rank - 1} of {of - 1} histories without signal do as well as this one"


def power_of(
    request: PipelineRequest, params: WindowParams | None, tried: int, draws: int = 0
) -> Power:
    """Describe what would have been found in a stream of `draws`, and what was not covered."""
    low, high = request.seeds
    searched = (
        f"{request.family} ({request.output}), seeds {low:,} to {high - 1:,}, skips"
        f" {request.skips[0]} to {request.skips[1]}, starts {request.starts[0]} to"
        f" {request.starts[1]} from the first draw on or from a window on"
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
        "other families and output maps, other seeds, skips that vary, reseeds within a window"
        + _out_of_reach(request, params, draws),
    )


def _out_of_reach(request: PipelineRequest, params: WindowParams | None, draws: int) -> str:
    """Describe the skips at which late windows are unreachable from a seed that was set once."""
    if params is None:
        return ""
    sieve_request = params.sieve_request(request)
    once = sieve_request.seeded_once(max(0, draws - params.window))
    if once is not None and once.skips[1] == sieve_request.skips[1]:
        return ""
    first = sieve_request.skips[0] if once is None else once.skips[1] + 1
    return f", a seed set once before all {draws:,} draws with {first} skips or more"


@dataclass(frozen=True, slots=True)
class Sidecar(PipelineVerdict):
    """The verdict of step 5 with a description of its model; empty fields if there is none."""

    model_sha256: str | None
    model_kind: str | None
    model_params: ModelParams | None
    features: tuple[str, ...]
    features_sha256: str
    metrics: Mapping[str, Value]
    """`ModelMetrics` as recorded; empty when no model was trained."""
    provenance: Mapping[str, str]
    """The digest of every artifact that led to the model, by name."""
    libraries: Mapping[str, str]

    @classmethod
    def of(
        cls,
        verdict: PipelineVerdict,
        model: Object | None,
        choice: ModelChoice | None,
        metrics: Mapping[str, Value],
        provenance: Mapping[str, str],
        libraries: Mapping[str, str],
    ) -> Sidecar:
        """Build the sidecar of a model, or of a verdict without one."""
        features = () if choice is None else choice.names
        return cls(
            verdict.signal,
            verdict.why,
            verdict.claims,
            verdict.reruns,
            verdict.power,
            None if model is None else model.digest,
            None if choice is None else choice.kind,
            None if choice is None else choice.params,
            features,
            names_hash(features),
            metrics,
            provenance,
            libraries,
        )

    def fitted(self) -> ModelMetrics | None:
        """Return the metrics of the model; None if none was trained."""
        return from_json(ModelMetrics, self.metrics) if self.metrics else None

    def check(self, model: bytes) -> str:
        """Return the model's kind. Raises InputError if it is another model or must not be used."""
        if hashlib.sha256(model).hexdigest() != self.model_sha256 or self.model_kind is None:
            raise InputError("the model is not the one its sidecar names: its SHA-256 is another")
        if names_hash(self.features) != self.features_sha256:
            raise InputError("the sidecar's features are not those that their hash names")
        self.check_signal()
        return self.model_kind

    def check_signal(self) -> None:
        """Refuse to predict without a signal."""
        if not self.signal:
            raise InputError("no signal: this model is not to be used for prediction")
