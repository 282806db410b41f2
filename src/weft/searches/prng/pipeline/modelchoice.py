"""The model that step 5 chooses: its trials, the choice, and how the fitted model does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weft.searches.prng.pipeline.models import ModelParams
from weft.searches.prng.pipeline.training import OVERFIT, FoldScore, Preflight, explained_on_folds

SEED = 1
"""Of every rerun's model: only the history tells two reruns apart."""


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


@dataclass(frozen=True, slots=True)
class RerunModel:
    """The chosen model as a rerun needs it: it looks for features of its own."""

    kind: str
    params: ModelParams
    seed: int


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The kind of model with the best parameters, and the features it is trained on."""

    kind: str
    params: ModelParams
    names: tuple[str, ...]
    seed: int = SEED


@dataclass(frozen=True, slots=True)
class FitMetrics:
    """How the fitted model does, in thousandths."""

    train: int
    test: int
    permutation_permille: int
    calibration: tuple[tuple[float, float, float], ...]
    """For tenths of the rows: expected, observed, rows."""


@dataclass(frozen=True, slots=True)
class ModelMetrics(FitMetrics):
    """How the fitted model does, and how it was chosen."""

    preflight: Preflight
    trials: tuple[ModelTrial, ...]
