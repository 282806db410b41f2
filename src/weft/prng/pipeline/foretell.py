"""What survivors foretell for a span of draws: the one way from a row to numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from weft.prng.pipeline.compiled import outputs
from weft.prng.pipeline.plan import Plan
from weft.prng.pipeline.survivor import draw_position

if TYPE_CHECKING:
    import polars as pl


def foretold(plan: Plan, rows: pl.DataFrame, first: Any, count: int) -> Any:
    """Return `count` outputs of each survivor, for the stream's draws from `first` on.

    `first` is one index for all rows or one for each; no row speaks of draws before its own.
    """
    base, skip = rows["base"].to_numpy(), rows["skip"].to_numpy().astype(np.int64)
    leads = np.asarray(draw_position(base, skip, first), np.int64)
    assert len(rows) == 0 or leads.min() >= 0, "a survivor has no output for this draw"
    seeds = rows["seed"].to_numpy()
    return outputs(plan.family, plan.output, plan.modulus, seeds, leads, skip, count)
