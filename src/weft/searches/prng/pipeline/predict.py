"""What survivors predict for a span of draws: the one way from a row to numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from weft.searches.prng.arrays import Draws16, Ints
from weft.searches.prng.pipeline.compiled import outputs
from weft.searches.prng.pipeline.request import PipelineRequest
from weft.searches.prng.pipeline.survivor import draw_position

if TYPE_CHECKING:
    import polars as pl


def predicted(
    request: PipelineRequest, rows: pl.DataFrame, first: int | Ints, count: int
) -> Draws16:
    """Return `count` outputs of each survivor, for the stream's draws from `first` on.

    `first` is one index for all rows or one for each; no row predicts draws before its own.
    """
    base = rows["base"].to_numpy().astype(np.int64)
    skip = rows["skip"].to_numpy().astype(np.int64)
    leads = draw_position(base, skip, np.asarray(first, np.int64))
    assert len(rows) == 0 or leads.min() >= 0, "a survivor has no output for this draw"
    seeds = rows["seed"].to_numpy()
    return outputs(request.family, request.output, request.modulus, seeds, leads, skip, count)
