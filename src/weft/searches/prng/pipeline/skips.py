"""At which skips a seed survived: four features of every survivor.

The twin is `reference.skip_group`, for one survivor.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from weft.lazy_imports import lazy_module
from weft.searches.prng.arrays import Floats, Ints
from weft.searches.prng.pipeline.features import SKIP_GROUP

if TYPE_CHECKING:
    import polars as pl
else:
    pl = lazy_module("polars")


def with_skips(rows: pl.DataFrame) -> pl.DataFrame:
    """Describe, for each survivor, the skips at which its seed survived in its window."""
    skips = rows["skip"].to_numpy().astype(np.int64)
    keys = [rows[name].to_numpy() for name in ("seed", "stream", "cut")]
    order = np.lexsort([skips, *keys])
    skips, keys = skips[order], [key[order] for key in keys]
    groups = _skip_groups(skips, _starts(*keys), _starts(*keys, skips))
    back = np.empty(len(order), np.int64)
    back[order] = np.arange(len(order))
    return rows.with_columns(
        pl.Series(name, column[back], dtype=pl.Float64)
        for name, column in zip(SKIP_GROUP, groups, strict=True)
    )


def _starts(*columns: Ints) -> Ints:
    """Return where, in sorted rows, each group of equal ones starts."""
    new = np.ones(len(columns[0]), bool)
    new[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    return np.flatnonzero(new)


def _skip_groups(skips: Ints, starts: Ints, runs: Ints) -> Floats:
    """Return range, mean, std and entropy of each row's group; `runs` are equal skips in one.

    Sums are integers and logarithms come from the C library, one at a time, so that the figures
    do not depend on what the processor's vectors can do.
    """
    if not len(skips):
        return np.empty((len(SKIP_GROUP), 0))
    sizes = np.diff(starts, append=len(skips))
    lasts = starts + sizes - 1
    sums, squares = (np.add.reduceat(values, starts) for values in (skips, skips * skips))
    std = np.sqrt((sizes * squares - sums * sums).astype(np.float64)) / sizes
    owner = np.searchsorted(starts, runs, side="right") - 1
    pairs = np.stack([np.diff(runs, append=len(skips)), sizes[owner]], axis=1)
    kinds, kind = np.unique(pairs, axis=0, return_inverse=True)
    surprise = np.array([-(a / b) * math.log2(a / b) for a, b in kinds.tolist()])
    entropy = np.bincount(owner, weights=surprise[kind.ravel()], minlength=len(starts))
    groups = np.stack([skips[lasts] - skips[starts], sums / sizes, std, entropy + 0.0])
    return np.repeat(groups, sizes, axis=1)
