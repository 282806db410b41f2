"""Typed artifacts between the steps: JSON or Parquet bytes, each an object by its content hash.

Every JSON artifact names its kind; reading one as another kind is an error, and so is an
artifact of another schema.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from weft import get, put
from weft.errors import InputError
from weft.model.codec import Table, from_json, to_json
from weft.model.values import Object, canonical, from_wire, to_wire
from weft.searches.prng.pipeline.adapt import Facts, TrainingParams
from weft.searches.prng.pipeline.optimizer import Trial
from weft.searches.prng.pipeline.reference import ScorerConfig
from weft.searches.prng.pipeline.request import PipelineRequest
from weft.searches.prng.pipeline.scoring import Scorer, scorer_of
from weft.searches.prng.pipeline.streams import HistorySplit, Stream
from weft.searches.prng.pipeline.verdict import Sidecar
from weft.searches.prng.pipeline.vote import Predictions
from weft.searches.prng.pipeline.window import TrialJudgement, WindowCounts, WindowParams

SCHEMA_VERSION = 1
SCORED = "scored."
"""Chunks of the scored table are artifacts `scored.00000`, `scored.00001`, …"""
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Kind(Generic[R]):
    """A kind of JSON artifact, with the type of its record."""

    name: str
    record: type[R]


@dataclass(frozen=True, slots=True)
class WindowArtifact:
    """The window that step 1 chose, and all its trials."""

    params: WindowParams
    counts: tuple[WindowCounts, ...]
    tried: int
    """Hypotheses of all trials together."""
    trials: tuple[Trial, ...]
    judged: TrialJudgement


@dataclass(frozen=True, slots=True)
class ScorerArtifact:
    """The parameters of the features that step 2.5 chose, and all its trials."""

    config: ScorerConfig
    trials: tuple[Trial, ...]


@dataclass(frozen=True, slots=True)
class TrainingArtifact:
    """The training parameters of step 4, derived from facts or given."""

    training: TrainingParams
    facts: Facts | None
    given: bool


@dataclass(frozen=True, slots=True)
class ParamsArtifact:
    """Training parameters that a user gave."""

    values: TrainingParams


SPLIT = Kind("split", HistorySplit)
WINDOW = Kind("window", WindowArtifact)
SCORER = Kind("scorer", ScorerArtifact)
TRAINING = Kind("training", TrainingArtifact)
PARAMS = Kind("params", ParamsArtifact)
SIDECAR = Kind("sidecar", Sidecar)
PREDICTIONS = Kind("predictions", Predictions)


def pack(kind: Kind[R], body: R) -> bytes:
    """Write a JSON artifact in its one canonical form."""
    head = {"kind": kind.name, "schema_version": SCHEMA_VERSION}
    return canonical({**head, **to_wire(to_json(body))}).encode()


def unpack(kind: Kind[R], data: bytes) -> R:
    """Read a JSON artifact of a kind."""
    return from_json(kind.record, unpacked(kind, data))


def unpacked(kind: Kind[R], data: bytes) -> Table:
    """Read a JSON artifact of a kind as the object it is."""
    raw = from_wire(json.loads(data))
    head = raw if isinstance(raw, dict) else {}
    if head.get("kind") != kind.name or head.get("schema_version") != SCHEMA_VERSION:
        raise InputError(f"an artifact is {head.get('kind')!r}, not {kind.name!r} of schema 1")
    return head


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


def load_context(request: Table, split: Object, window: Object | None = None) -> StepContext:
    """Read what a task needs."""
    known = from_json(PipelineRequest, request), load(SPLIT, split)
    if window is None:
        return StepContext(*known)
    chosen = load(WINDOW, window)
    return StepContext(*known, chosen.params, chosen.counts, chosen.tried)


def load_scorer(reference: Object) -> ScorerConfig:
    """Read the parameters of the features."""
    return load(SCORER, reference).config
