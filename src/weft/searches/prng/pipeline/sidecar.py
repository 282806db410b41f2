"""What is stored beside a model: what it is, how it came about, and whether it may be used."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from weft.errors import InputError
from weft.model.values import Object
from weft.searches.prng.pipeline.features import names_hash
from weft.searches.prng.pipeline.modelchoice import MetricsRecord, ModelChoice
from weft.searches.prng.pipeline.models import ModelParams
from weft.searches.prng.pipeline.verdict import PipelineVerdict, VerdictRecord


class SidecarRecord(VerdictRecord):
    """The recorded form of `Sidecar`; without a model its fields are None or empty."""

    model_sha256: str | None
    model_kind: str | None
    model_params: ModelParams | None
    features: list[str]
    features_sha256: str
    metrics: MetricsRecord
    provenance: dict[str, str]
    libraries: dict[str, str]


@dataclass(frozen=True, slots=True)
class Sidecar:
    """The verdict of step 5 with the model it speaks about."""

    verdict: PipelineVerdict
    model_sha256: str | None
    model_kind: str | None
    model_params: ModelParams | None
    features: tuple[str, ...]
    features_sha256: str
    metrics: MetricsRecord
    provenance: Mapping[str, str]
    """The digest of every artifact that led to the model, by name."""
    libraries: Mapping[str, str]

    @classmethod
    def of(
        cls,
        verdict: PipelineVerdict,
        model: Object | None,
        choice: ModelChoice | None,
        metrics: MetricsRecord,
        provenance: Mapping[str, str],
        libraries: Mapping[str, str],
    ) -> Sidecar:
        """Describe a model, or that there is none."""
        features = () if choice is None else choice.names
        return cls(
            verdict,
            None if model is None else model.digest,
            None if choice is None else choice.kind,
            None if choice is None else choice.params,
            features,
            names_hash(features),
            metrics,
            provenance,
            libraries,
        )

    def to_dict(self) -> SidecarRecord:
        """Return the recorded form; `from_dict` undoes it."""
        return {
            **self.verdict.to_dict(),
            "model_sha256": self.model_sha256,
            "model_kind": self.model_kind,
            "model_params": self.model_params,
            "features": list(self.features),
            "features_sha256": self.features_sha256,
            "metrics": self.metrics,
            "provenance": dict(self.provenance),
            "libraries": dict(self.libraries),
        }

    @classmethod
    def from_dict(cls, raw: SidecarRecord) -> Sidecar:
        """Read the recorded form."""
        return cls(
            PipelineVerdict.from_dict(raw),
            raw["model_sha256"],
            raw["model_kind"],
            raw["model_params"],
            tuple(raw["features"]),
            raw["features_sha256"],
            raw["metrics"],
            raw["provenance"],
            raw["libraries"],
        )

    def check(self, model: bytes) -> str:
        """Return the model's kind; refuse one that is not the model described, or not usable."""
        if hashlib.sha256(model).hexdigest() != self.model_sha256 or self.model_kind is None:
            raise InputError("the model is not the one its sidecar names: its SHA-256 is another")
        if names_hash(self.features) != self.features_sha256:
            raise InputError("the sidecar's features are not those that their hash names")
        if not self.verdict.signal:
            raise InputError("no signal: this model is not to be used for prediction")
        return self.model_kind
