"""Typed artifacts between the steps: JSON or Parquet bytes, each an object by its content hash.

Every JSON artifact names its kind; reading one as another kind is an error, and so is an
artifact of another schema.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypedDict, TypeVar, cast

from weft import get, put
from weft.errors import InputError
from weft.model.values import Object, canonical, from_wire, to_wire
from weft.searches.prng.pipeline.adapt import FactsRecord, TrainingRecord
from weft.searches.prng.pipeline.optimizer import TrialRecord
from weft.searches.prng.pipeline.prediction import PredictionsRecord
from weft.searches.prng.pipeline.reference import ScorerConfig, ScorerRecord
from weft.searches.prng.pipeline.request import PipelineRecord, PipelineRequest
from weft.searches.prng.pipeline.scoring import Scorer, scorer_of
from weft.searches.prng.pipeline.sidecar import SidecarRecord
from weft.searches.prng.pipeline.streams import HistorySplit, SplitRecord, Stream
from weft.searches.prng.pipeline.window import (
    JudgementRecord,
    WindowCounts,
    WindowParams,
    WindowRecord,
)

SCHEMA_VERSION = 1
SCORED = "scored."
"""Chunks of the scored table are artifacts `scored.00000`, `scored.00001`, …"""
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Kind(Generic[R]):
    """A kind of JSON artifact, with the type of its record."""

    name: str


class WindowArtifact(TypedDict):
    """The window that step 1 chose, and all its trials."""

    params: WindowRecord
    counts: list[list[int]]
    tried: int
    trials: list[TrialRecord]
    judged: JudgementRecord


class ScorerArtifact(TypedDict):
    """The parameters of the features that step 2.5 chose, and all its trials."""

    config: ScorerRecord
    trials: list[TrialRecord]


class TrainingArtifact(TypedDict):
    """The training parameters of step 4, derived from facts or given."""

    training: TrainingRecord
    facts: FactsRecord | None
    given: bool


class ParamsArtifact(TypedDict):
    """Training parameters that a user gave."""

    values: TrainingRecord


SPLIT: Kind[SplitRecord] = Kind("split")
WINDOW: Kind[WindowArtifact] = Kind("window")
SCORER: Kind[ScorerArtifact] = Kind("scorer")
TRAINING: Kind[TrainingArtifact] = Kind("training")
PARAMS: Kind[ParamsArtifact] = Kind("params")
SIDECAR: Kind[SidecarRecord] = Kind("sidecar")
PREDICTIONS: Kind[PredictionsRecord] = Kind("predictions")


def pack(kind: Kind[R], body: R) -> bytes:
    """Write a JSON artifact in its one canonical form."""
    wire = to_wire(body)
    head = {"kind": kind.name, "schema_version": SCHEMA_VERSION}
    return canonical({**head, **wire}).encode()


def unpack(kind: Kind[R], data: bytes) -> R:
    """Read a JSON artifact of a kind."""
    raw = from_wire(json.loads(data))
    head = raw if isinstance(raw, dict) else {}
    if head.get("kind") != kind.name or head.get("schema_version") != SCHEMA_VERSION:
        raise InputError(f"an artifact is {head.get('kind')!r}, not {kind.name!r} of schema 1")
    return cast(R, raw)


def store(kind: Kind[R], body: R) -> Object:
    """Store a JSON artifact as an object of the run."""
    return put(pack(kind, body))


def load(kind: Kind[R], reference: Object) -> R:
    """Read a JSON artifact of the run."""
    return unpack(kind, get(reference))


@dataclass(frozen=True, slots=True)
class StepContext:
    """What most tasks need: request, split and, after step 1, the chosen window."""

    request: PipelineRequest
    split: HistorySplit
    params: WindowParams | None = None
    counts: Sequence[WindowCounts] = ()
    tried: int = 0
    """Hypotheses of all trials together."""

    def window(self) -> WindowParams:
        """Return the chosen window."""
        assert self.params is not None
        return self.params

    def streams(self) -> tuple[Stream, ...]:
        """Return the streams as the chosen window looks at them."""
        return self.split.mode(self.window().sessions)

    def scorer(self, config: ScorerConfig) -> Scorer:
        """Return the scorer with some parameters."""
        return scorer_of(self.request, self.split, self.window(), self.counts, config)


def load_context(
    request: PipelineRecord, split: Object, window: Object | None = None
) -> StepContext:
    """Read what a task needs."""
    known = PipelineRequest.from_dict(request), HistorySplit.from_dict(load(SPLIT, split))
    if window is None:
        return StepContext(*known)
    chosen = load(WINDOW, window)
    counts = [WindowCounts(*row) for row in chosen["counts"]]
    return StepContext(*known, WindowParams.from_dict(chosen["params"]), counts, chosen["tried"])


def load_scorer(reference: Object) -> ScorerConfig:
    """Read the parameters of the features."""
    return ScorerConfig.from_dict(load(SCORER, reference)["config"])
