"""Step 5: which kind of model best distinguishes survivors that hold from those that do not.

    pool ──► inner rows: folds by cut, so that a model is judged on unseen cuts
         └─► final rows: the untouched test, as of the last cut, labelled by the holdout

Labels are hit rates on the draws after a cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from weft.errors import InputError
from weft.searches.prng.arrays import Floats, Ints
from weft.searches.prng.pipeline import models, table
from weft.searches.prng.pipeline.features import ALL, PER_SURVIVOR
from weft.searches.prng.pipeline.request import PERMUTATIONS

if TYPE_CHECKING:
    import polars as pl

MILLI = 1000
MILLION = 1_000_000
LEAST = -1_000 * MILLI
OVERFIT = 300
"""Drop in explained variance from training to validation that is flagged, in thousandths."""
LEAST_ROWS = 20
SEED = 1
"""Seed of every rerun's model, so that reruns differ only in their histories."""


def pooled(rows: pl.DataFrame, size: int) -> pl.DataFrame:
    """Keep the `size` survivors of each window with the most hits; ties keep table order."""
    parts = rows.partition_by("cut", "stream", maintain_order=True)
    best = [part.sort("hits", descending=True, maintain_order=True).head(size) for part in parts]
    return table.concat(best) if best else rows


def labels(rows: pl.DataFrame) -> Floats:
    """Return the labels: hit rates on the draws after the cut."""
    rates: Floats = rows["label_hits"].to_numpy() / np.maximum(1, rows["label_draws"].to_numpy())
    return rates


def fold_of(rows: pl.DataFrame, folds: int) -> Ints:
    """Return each row's fold; cuts are assigned round-robin, so that a cut is never divided."""
    cuts = np.unique(rows["cut"].to_numpy(), return_inverse=True)[1]
    return cuts % folds


@dataclass(frozen=True, slots=True)
class Preflight:
    """The results of the checks before any model is trained."""

    features: tuple[str, ...]
    """Features that vary, in the order of ALL."""
    constant: tuple[str, ...]
    rows: int
    suspicious: tuple[str, ...]
    """Features that are almost perfectly correlated with the label."""


def preflight(rows: pl.DataFrame) -> Preflight:
    """Check for missing features, constants, and copies of the label.

    Raises InputError if a feature is missing or not finite.
    """
    x, y = table.matrix(rows, ALL, "the scored table"), labels(rows)
    if not np.isfinite(x).all():
        at = int(np.argwhere(~np.isfinite(x))[0][1])
        raise InputError(f"feature {ALL[at]} contains a value that is not a number")
    varies = (x != x[0]).any(axis=0) if len(x) else np.zeros(len(ALL), bool)
    close = [
        name
        for at, name in enumerate(ALL)
        if varies[at] and y.std() > 0 and abs(np.corrcoef(x[:, at], y)[0, 1]) > 0.9995
    ]
    return Preflight(
        tuple(name for name, varied in zip(ALL, varies, strict=True) if varied),
        tuple(name for name, varied in zip(ALL, varies, strict=True) if not varied),
        len(x),
        tuple(close),
    )


def check_leakage(cut_short: pl.DataFrame, whole: pl.DataFrame) -> None:
    """Refuse features that change with the draws after the cut, since they leak the label."""
    for name in PER_SURVIVOR:
        if not (cut_short[name].to_numpy() == whole[name].to_numpy()).all():
            raise InputError(f"feature {name} looks at draws after its cut: it contains the label")


def explained(y: Floats, predictions: Floats) -> int:
    """Return the explained variance in thousandths; 0 is as good as predicting the mean."""
    spread = float(((y - y.mean()) ** 2).sum())
    if spread == 0:
        return 0
    share = 1 - float(((y - predictions) ** 2).sum()) / spread
    return max(LEAST, int(np.floor(MILLI * share)))


@dataclass(frozen=True, slots=True)
class FoldScore:
    """A model's result on one fold, in integers; errors are squared, in millionths.

    Folds are combined by sums, so that one whose labels hardly vary does not outweigh others.
    """

    train: int
    """Variance explained in training, in thousandths."""
    error: int
    spread: int
    """The error of predicting the mean of all labels."""


def fold_score(
    kind: str, params: models.ModelParams, rows: pl.DataFrame, names: Sequence[str], fold: int,
    folds: int, seed: int,
) -> FoldScore:  # fmt: skip
    """Train on all folds but one and score that one."""
    x, y = table.matrix(rows, names, "the pool"), labels(rows)
    in_fold = fold_of(rows, folds) == fold
    model = models.fit(kind, params, x[~in_fold], y[~in_fold], seed)
    predictions = models.predict(kind, model, x)
    error = ((y[in_fold] - predictions[in_fold]) ** 2).sum()
    spread = ((y[in_fold] - y.mean()) ** 2).sum()
    train = explained(y[~in_fold], predictions[~in_fold])
    return FoldScore(train, round(MILLION * float(error)), round(MILLION * float(spread)))


def explained_on_folds(scores: Sequence[FoldScore]) -> int:
    """Return the cross-validated explained variance, in thousandths."""
    spread = max(1, sum(score.spread for score in scores))
    return max(LEAST, MILLI - MILLI * sum(score.error for score in scores) // spread)


def permutation_p(y: Floats, predictions: Floats, seed: int) -> int:
    """Return the p of a permutation test of the labels, in permille, rounded up."""
    draws = np.random.Generator(np.random.PCG64(seed))
    centred = predictions - predictions.mean()
    observed = float(centred @ y)
    as_good = sum(float(centred @ draws.permutation(y)) >= observed for _ in range(PERMUTATIONS))
    return -(-MILLI * (1 + as_good) // (1 + PERMUTATIONS))


# -- the choice ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ModelTrial:
    """A parameter set of a kind of model and its cross-validation results, in thousandths."""

    kind: str
    params: models.ModelParams
    train: int
    value: int
    overfit: bool

    @classmethod
    def of(cls, kind: str, params: models.ModelParams, scores: Sequence[FoldScore]) -> ModelTrial:
        """Combine the scores of all folds; flag overfitting."""
        train = sum(score.train for score in scores) // len(scores)
        value = explained_on_folds(scores)
        return cls(kind, params, train, value, train - value > OVERFIT)


@dataclass(frozen=True, slots=True)
class RerunModel:
    """The chosen model for a rerun, which determines its features itself."""

    kind: str
    params: models.ModelParams
    seed: int


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The chosen kind of model, its parameters, and the features it is trained on."""

    kind: str
    params: models.ModelParams
    names: tuple[str, ...]
    seed: int = SEED


@dataclass(frozen=True, slots=True)
class FitMetrics:
    """The metrics of the fitted model, in thousandths."""

    train: int
    test: int
    permutation_permille: int
    calibration: tuple[tuple[float, float, float], ...]
    """Mean expectation, mean observation and row count, for each tenth of the rows."""


@dataclass(frozen=True, slots=True)
class ModelMetrics(FitMetrics):
    """The metrics of the fitted model, and how it was chosen."""

    preflight: Preflight
    trials: tuple[ModelTrial, ...]
