"""The model that step 5 chooses: its trials, the choice, and how the fitted model does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from weft.searches.prng.pipeline.models import ModelParams
from weft.searches.prng.pipeline.training import (
    OVERFIT,
    FoldScore,
    PreflightRecord,
    explained_on_folds,
)

SEED = 1
"""Of every rerun's model: only the history tells two reruns apart."""


class ModelTrialRecord(TypedDict):
    """The recorded form of `ModelTrial`."""

    kind: str
    params: ModelParams
    train: int
    value: int
    overfit: bool


class RerunModelRecord(TypedDict):
    """The chosen model, as passed to a rerun."""

    kind: str
    params: ModelParams
    seed: int


class ModelChoiceRecord(TypedDict, total=False):
    """The recorded form of `ModelChoice`; empty when no model was trained."""

    kind: str
    params: ModelParams
    names: list[str]
    seed: int


class MetricsRecord(TypedDict, total=False):
    """How the fitted model does, and how it was chosen; empty when no model was trained."""

    train: int
    test: int
    permutation_permille: int
    calibration: list[list[float]]
    preflight: PreflightRecord
    trials: list[ModelTrialRecord]


@dataclass(frozen=True, slots=True)
class ModelTrial:
    """A parameter set of a kind of model, judged by its folds, in thousandths."""

    kind: str
    params: ModelParams
    train: int
    value: int
    overfit: bool

    @classmethod
    def of(cls, kind: str, params: ModelParams, scores: Sequence[FoldScore]) -> ModelTrial:
        """Judge by what is explained where the model was not trained; flag overfitting."""
        train = sum(score.train for score in scores) // len(scores)
        value = explained_on_folds(scores)
        return cls(kind, params, train, value, train - value > OVERFIT)

    def to_dict(self) -> ModelTrialRecord:
        """Return the recorded form; `from_dict` undoes it."""
        return {
            "kind": self.kind,
            "params": self.params,
            "train": self.train,
            "value": self.value,
            "overfit": self.overfit,
        }

    @classmethod
    def from_dict(cls, raw: ModelTrialRecord) -> ModelTrial:
        """Read the recorded form."""
        return cls(**raw)


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The kind of model with the best parameters, and the features it is trained on."""

    kind: str
    params: ModelParams
    names: tuple[str, ...]
    seed: int = SEED

    def to_dict(self) -> ModelChoiceRecord:
        """Return the recorded form; `from_dict` undoes it."""
        return {
            "kind": self.kind,
            "params": self.params,
            "names": list(self.names),
            "seed": self.seed,
        }

    @classmethod
    def from_dict(cls, raw: ModelChoiceRecord) -> ModelChoice | None:
        """Read the recorded form; None when no model was trained."""
        return cls(raw["kind"], raw["params"], tuple(raw["names"]), raw["seed"]) if raw else None

    def for_rerun(self) -> RerunModelRecord:
        """Return what a rerun needs: it looks for features of its own."""
        return {"kind": self.kind, "params": self.params, "seed": self.seed}
