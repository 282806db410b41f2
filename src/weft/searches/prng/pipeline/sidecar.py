"""What is stored beside a model: what it is, how it came about, and whether it may be used."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from weft.errors import InputError
from weft.model.codec import from_json
from weft.model.values import Object, Value
from weft.searches.prng.pipeline.features import names_hash
from weft.searches.prng.pipeline.modelchoice import ModelChoice, ModelMetrics
from weft.searches.prng.pipeline.models import ModelParams
from weft.searches.prng.pipeline.verdict import PipelineVerdict


@dataclass(frozen=True, slots=True)
class Sidecar(PipelineVerdict):
    """The verdict of step 5 with the model it speaks about; without one its fields are empty."""

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
        """Describe a model, or that there is none."""
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
        """Return how the model does; None when none was trained."""
        return from_json(ModelMetrics, self.metrics) if self.metrics else None

    def check(self, model: bytes) -> str:
        """Return the model's kind; refuse one that is not the model described, or not usable."""
        if hashlib.sha256(model).hexdigest() != self.model_sha256 or self.model_kind is None:
            raise InputError("the model is not the one its sidecar names: its SHA-256 is another")
        if names_hash(self.features) != self.features_sha256:
            raise InputError("the sidecar's features are not those that their hash names")
        if not self.signal:
            raise InputError("no signal: this model is not to be used for prediction")
        return self.model_kind
