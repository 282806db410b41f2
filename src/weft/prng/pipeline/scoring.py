"""Step 3: all 62 features of survivors and the label, chunk by chunk.

A row sees the draws before its cut and no other; only its label comes from those after it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from weft.prng.pipeline import table
from weft.prng.pipeline.features import GLOBAL
from weft.prng.pipeline.foretell import foretold
from weft.prng.pipeline.plan import Plan
from weft.prng.pipeline.reference import ScorerConfig, Sieved, global_features
from weft.prng.pipeline.scorekernel import COLUMNS, score_rows
from weft.prng.pipeline.streams import Split
from weft.prng.pipeline.window import WindowParams, label_hits, sieved_of

if TYPE_CHECKING:
    import polars as pl

BLOCK = 256
"""Survivors whose outputs are held at a time: they stay in the processor's cache."""


@dataclass(frozen=True, slots=True)
class Scorer:
    """All that turns survivors into features."""

    plan: Plan
    split: Split
    params: WindowParams
    windows: Mapping[tuple[int, int], Sieved]
    """What the sieve knew, by stream and cut."""
    config: ScorerConfig

    def score(self, rows: pl.DataFrame, everyone: pl.DataFrame) -> pl.DataFrame:
        """Return the rows with features and labels; `everyone` are all survivors of the trial."""
        parts = [
            self._of_window(part, int(part["stream"][0]), int(part["cut"][0]))
            for part in rows.partition_by("cut", "stream", maintain_order=True)
        ]
        if not parts:
            return self._table(rows, np.empty((0, len(COLUMNS))), np.empty(0), everyone)
        values = np.concatenate([values for values, _ in parts])
        hits = np.concatenate([hits for _, hits in parts])
        return self._table(rows, values, hits, everyone)

    def _of_window(self, rows: pl.DataFrame, stream: int, cut: int) -> tuple[Any, Any]:
        own = self.split.mode(self.params.sessions)[stream]
        sieved = self.windows[stream, cut]
        draws = np.array(own.draws[:cut], np.uint16)
        misses = (sieved.window, sieved.forward_need, sieved.reverse_need)
        config = self.config
        values = []
        for at in range(0, len(rows), BLOCK):
            part = rows[at : at + BLOCK]
            firsts = part["first"].to_numpy().astype(np.int64)
            count = cut - int(firsts.min()) + config.max_offset
            told = foretold(self.plan, part, firsts, count)
            values.append(
                score_rows(
                    told, firsts, draws, config.moduli(), self.plan.modulus,
                    config.max_offset, config.temporal_window_size, misses,
                )
            )  # fmt: skip
        return np.concatenate(values), label_hits(self.plan, own, cut, rows)

    def _table(
        self, rows: pl.DataFrame, values: Any, hits: Any, everyone: pl.DataFrame
    ) -> pl.DataFrame:
        extra: dict[str, Any] = {**skip_groups(rows, everyone), **self._metadata(rows)}
        for name, value in self.globals().items():
            extra[name] = np.full(len(rows), value)
        columns = table.feature_columns(values, extra, COLUMNS)
        streams = self.split.mode(self.params.sessions)
        places = zip(rows["stream"].to_list(), rows["cut"].to_list(), strict=True)
        draws = [streams[s].label_end(cut) - cut for s, cut in places]
        ids = {name: rows[name].to_numpy() for name in table.IDS}
        return table.frame({**ids, **columns, "label_hits": hits, "label_draws": draws})

    def _metadata(self, rows: pl.DataFrame) -> dict[str, Any]:
        places = zip(rows["stream"].to_list(), rows["cut"].to_list(), strict=True)
        known = [self.windows[place] for place in places]
        return {
            "skip_min": np.array([float(one.skip_min) for one in known]),
            "skip_max": np.array([float(one.skip_max) for one in known]),
            "bidirectional_count": np.array([float(one.bidirectional_count) for one in known]),
            "bidirectional_selectivity": np.array(
                [one.forward_survivors / max(1, one.reverse_survivors) for one in known]
            ),
        }

    def globals(self) -> dict[str, float]:
        """Return the features of the whole history before the holdout."""
        streams = self.split.mode(self.params.sessions)
        draws = [draw for stream in streams for draw in stream.draws[: stream.holdout_at]]
        found = global_features(draws, self.split.modulus)
        return {name: found[name] for name in GLOBAL}


def scorer_of(
    plan: Plan, split: Split, params: WindowParams, counts: Sequence[Any], config: ScorerConfig
) -> Scorer:
    """Build a scorer from what step 1 recorded of every window."""
    from weft.prng.pipeline.window import windows  # noqa: PLC0415

    places = windows(split.mode(params.sessions))
    known = {
        place: sieved_of(params, (c[0], c[1], c[2], c[3]))
        for place, c in zip(places, counts, strict=True)
    }
    return Scorer(plan, split, params, known, config)


def skip_groups(rows: pl.DataFrame, everyone: pl.DataFrame) -> dict[str, Any]:
    """Describe, for each row, the skips at which its seed survived in its window."""
    import polars as pl  # noqa: PLC0415 - slow to import, an extra

    key = ["cut", "stream", "seed"]
    skip = pl.col("skip").cast(pl.Float64)
    counts = everyone.group_by([*key, "skip"]).agg(pl.len().alias("many"))
    share = pl.col("many") / pl.col("many").sum()
    entropies = counts.group_by(key).agg((-(share * share.log(2)).sum()).alias("skip_entropy"))
    described = everyone.group_by(key).agg(
        (skip.max() - skip.min()).alias("skip_range"),
        skip.mean().alias("skip_mean"),
        skip.std(ddof=0).alias("skip_std"),
    )
    joined = rows.select(key).join(described, on=key, how="left", maintain_order="left")
    joined = joined.join(entropies, on=key, how="left", maintain_order="left")
    names = ("skip_range", "skip_mean", "skip_std", "skip_entropy")
    return {name: joined[name].to_numpy() + 0.0 for name in names}
