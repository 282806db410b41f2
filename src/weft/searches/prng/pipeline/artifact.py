"""Typed artifacts passed between the steps: JSON or Parquet bytes, each stored as an object.

Every JSON artifact names its kind and schema version; reading one as another kind or version is
an error.
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
"""Name prefix of the chunks of the scored table: `scored.00000`, `scored.00001`, …"""
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Kind(Generic[R]):
    """A kind of JSON artifact and the type of its record."""

    name: str
    record: type[R]


@dataclass(frozen=True, slots=True)
class WindowArtifact:
    """The window that step 1 chose, and all its trials."""

    params: WindowParams
    counts: tuple[WindowCounts, ...]
    tried: int
    """Number of hypotheses tried in all trials together."""
    trials: tuple[Trial, ...]
    judged: TrialJudgement


@dataclass(frozen=True, slots=True)
class ScorerArtifact:
    """The feature parameters that step 2.5 chose, and all its trials."""

    config: ScorerConfig
    trials: tuple[Trial, ...]


@dataclass(frozen=True, slots=True)
class TrainingArtifact:
    """The training parameters of step 4, derived from facts or given by the user."""

    training: TrainingParams
    facts: Facts | None
    given: bool


@dataclass(frozen=True, slots=True)
class ParamsArtifact:
    """Training parameters given by the user."""

    values: TrainingParams


SPLIT = Kind("split", HistorySplit)
WINDOW = Kind("window", WindowArtifact)
SCORER = Kind("scorer", ScorerArtifact)
TRAINING = Kind("training", TrainingArtifact)
PARAMS = Kind("params", ParamsArtifact)
SIDECAR = Kind("sidecar", Sidecar)
PREDICTIONS = Kind("predictions", Predictions)


def pack(kind: Kind[R], body: R) -> bytes:
    """Encode a JSON artifact in its canonical form."""
    head = {"kind": kind.name, "schema_version": SCHEMA_VERSION}
    return canonical({**head, **to_wire(to_json(body))}).encode()


def unpack(kind: Kind[R], data: bytes) -> R:
    """Decode a JSON artifact of a kind. Raises InputError for another kind or schema."""
    return from_json(kind.record, unpacked(kind, data))


def unpacked(kind: Kind[R], data: bytes) -> Table:
    """Decode a JSON artifact of a kind to its JSON object."""
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
    """The context of most tasks: request, split and, after step 1, the chosen window."""

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
        """Return the streams in the session mode of the chosen window."""
        return self.split.mode(self.window().sessions)

    def scorer(self, config: ScorerConfig) -> Scorer:
        """Return a scorer with the given parameters."""
        return scorer_of(self.request, self.split, self.window(), self.counts, config)


def load_context(request: Table, split: Object, window: Object | None = None) -> StepContext:
    """Load the context of a task."""
    known = from_json(PipelineRequest, request), load(SPLIT, split)
    if window is None:
        return StepContext(*known)
    chosen = load(WINDOW, window)
    return StepContext(*known, chosen.params, chosen.counts, chosen.tried)


def load_scorer(reference: Object) -> ScorerConfig:
    """Load the feature parameters."""
    return load(SCORER, reference).config
