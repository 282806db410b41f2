"""Step 3: all 62 features and the label of survivors, chunk by chunk.

The survivor features of a row depend only on draws before its cut; only its label depends on later
ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from weft.searches.prng.arrays import Draws16, Floats, Ints
from weft.searches.prng.pipeline import table
from weft.searches.prng.pipeline.features import GLOBAL, METADATA, SKIP_GROUP
from weft.searches.prng.pipeline.reference import ScorerConfig, SieveStats, global_features
from weft.searches.prng.pipeline.request import PipelineRequest
from weft.searches.prng.pipeline.scorekernel import COLUMNS, score_rows
from weft.searches.prng.pipeline.streams import HistorySplit
from weft.searches.prng.pipeline.survivor import predicted
from weft.searches.prng.pipeline.window import WindowCounts, WindowParams, sieve_stats, windows

if TYPE_CHECKING:
    import polars as pl

BLOCK = 256
"""Number of survivors whose outputs are in memory at a time, to fit the processor's cache."""


@dataclass(frozen=True, slots=True)
class Scorer:
    """Everything needed to compute the features of survivors."""

    request: PipelineRequest
    split: HistorySplit
    params: WindowParams
    windows: Mapping[tuple[int, int], SieveStats]
    """The sieve's statistics, by stream and cut."""
    config: ScorerConfig

    def score(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return survivors, as from `window.final_survivors`, with features and labels."""
        parts = [
            self._of_window(part, int(part["stream"][0]), int(part["cut"][0]))
            for part in rows.partition_by("cut", "stream", maintain_order=True)
        ]
        values, labels, known = (
            np.concatenate([part[at] for part in parts]) if parts else np.empty((0, width))
            for at, width in enumerate((len(COLUMNS), 2, len(METADATA)))
        )
        extra: dict[str, Floats] = {name: rows[name].to_numpy() for name in SKIP_GROUP}
        extra |= {name: known[:, at] for at, name in enumerate(METADATA)}
        extra |= {name: np.full(len(rows), value) for name, value in self.globals().items()}
        columns = table.feature_columns(values, extra, COLUMNS)
        ids = {name: rows[name].to_numpy() for name in table.IDS}
        label_columns = {name: labels[:, at] for at, name in enumerate(table.LABELS)}
        return table.frame({**ids, **columns, **label_columns})

    def _of_window(self, rows: pl.DataFrame, stream: int, cut: int) -> tuple[Floats, Ints, Floats]:
        """Return features, labels and sieve metadata of the survivors of one window."""
        own = self.split.mode(self.params.sessions)[stream]
        sieved, end = self.windows[stream, cut], own.label_end(cut)
        draws, later = (np.array(own.draws[a:b], np.uint16) for a, b in ((0, cut), (cut, end)))
        misses = (sieved.window, sieved.forward_need, sieved.reverse_need)
        config = self.config
        values, hits = [], []
        for at in range(0, len(rows), BLOCK):
            part = rows[at : at + BLOCK]
            firsts = part["first"].to_numpy().astype(np.int64)
            count = max(end, cut + config.max_offset) - int(firsts.min())
            predictions = predicted(self.request, part, firsts, count)
            hits.append(_hits_after(predictions, cut - firsts, later))
            values.append(
                score_rows(
                    predictions, firsts, draws, config.moduli(), self.request.modulus,
                    config.max_offset, config.temporal_window_size, misses,
                )
            )  # fmt: skip
        counted = np.concatenate(hits)
        labels = np.stack([counted, np.full(len(rows), len(later))], axis=1)
        return np.concatenate(values), labels, np.tile(_metadata(sieved), (len(rows), 1))

    def globals(self) -> dict[str, float]:
        """Return the features of the whole history before the holdout."""
        streams = self.split.mode(self.params.sessions)
        draws = [draw for stream in streams for draw in stream.draws[: stream.holdout_at]]
        features = global_features(draws, self.split.modulus)
        return {name: features[name] for name in GLOBAL}


def _hits_after(predictions: Draws16, ends: Ints, later: Draws16) -> Ints:
    """Count hits on the draws after the cut; `ends` is where each row's draws up to the cut end."""
    hits = np.empty(len(predictions), np.int64)
    for end in np.unique(ends):
        own = ends == end
        hits[own] = (predictions[own, end : end + len(later)] == later).sum(axis=1)
    return hits


def _metadata(sieved: SieveStats) -> list[float]:
    """Return the METADATA features of a window, in order."""
    selectivity = sieved.forward_survivors / max(1, sieved.reverse_survivors)
    counts = (sieved.skip_min, sieved.skip_max, sieved.bidirectional_count)
    return [*map(float, counts), selectivity]


def scorer_of(
    request: PipelineRequest,
    split: HistorySplit,
    params: WindowParams,
    counts: Sequence[WindowCounts],
    config: ScorerConfig,
) -> Scorer:
    """Build a scorer from the counts that step 1 recorded for every window."""
    places = windows(split.mode(params.sessions))
    known = {place: sieve_stats(params, own) for place, own in zip(places, counts, strict=True)}
    return Scorer(request, split, params, known, config)
