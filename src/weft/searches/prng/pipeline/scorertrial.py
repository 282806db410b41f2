"""Step 2.5: the feature parameters that best predict which survivors hold.

A trial computes the features of one fixed sample of survivors of inner cuts and measures how well
a linear model, trained on the other cuts, predicts the labels of the same survivors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from weft.searches.prng.arrays import Floats
from weft.searches.prng.pipeline import table
from weft.searches.prng.pipeline.features import PER_SURVIVOR
from weft.searches.prng.pipeline.optimizer import Space
from weft.searches.prng.pipeline.request import FOLDS
from weft.searches.prng.pipeline.training import explained, fold_of, labels

if TYPE_CHECKING:
    import polars as pl

SPACE: Space = {
    "residue_mod_1": {"low": 5, "high": 20, "default": 8},
    "residue_mod_2": {"low": 50, "high": 150, "default": 125},
    "residue_mod_3": {"low": 500, "high": 1500, "default": 1000},
    "max_offset": {"low": 1, "high": 15, "default": 5},
    "temporal_window_size": {"choices": [50, 100, 150, 200], "default": 50},
}
RIDGE = 1.0
MILLI = 1000


def sample(inner: pl.DataFrame, rows: int, seed: int) -> pl.DataFrame:
    """Choose the survivors that every trial scores."""
    if len(inner) <= rows:
        return inner
    draws = np.random.Generator(np.random.PCG64(seed))
    chosen = np.sort(draws.choice(len(inner), rows, replace=False))
    return inner[chosen]


def value_of(scored: pl.DataFrame) -> int:
    """Return the cross-validated explained variance, in thousandths, at least -1000."""
    if len(scored) < 2:
        return 0
    x, y = table.matrix(scored, PER_SURVIVOR, "the sample"), labels(scored)
    folds = fold_of(scored, FOLDS)
    predictions = np.empty(len(y))
    for fold in range(FOLDS):
        in_fold = folds == fold
        if in_fold.any():
            predictions[in_fold] = _ridge(x[~in_fold], y[~in_fold], x[in_fold])
    return max(-MILLI, explained(y, predictions))


def _ridge(x: Floats, y: Floats, queries: Floats) -> Floats:
    """Fit a ridge regression to x and y; return its predictions for the queries."""
    if not len(x):
        return np.zeros(len(queries))
    mean, scale = x.mean(axis=0), x.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    a = (x - mean) / scale
    weights = np.linalg.solve(a.T @ a + RIDGE * np.eye(a.shape[1]), a.T @ (y - y.mean()))
    predictions: Floats = ((queries - mean) / scale) @ weights + y.mean()
    return predictions
