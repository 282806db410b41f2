"""Histories with a known truth: streams of a weak generator, reseeded, with corrupt rows."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from weft.searches.prng.generate import generate
from weft.searches.prng.history import History
from weft.searches.prng.hypothesis import Hypothesis, Skips
from weft.searches.prng.pipeline import window
from weft.searches.prng.pipeline.reference import ScorerConfig
from weft.searches.prng.pipeline.request import PipelineRequest
from weft.searches.prng.pipeline.scoring import Scorer, scorer_of
from weft.searches.prng.pipeline.streams import HistorySplit, split_history

SEEDS = 5000
EACH = 90
"""Draws between two reseeds."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Draws from one seed, starting at draw `first` of the stream."""

    stream: str
    seed: int
    skip: int
    first: int


@dataclass(frozen=True, slots=True)
class Planted:
    """A history, the segments that generated it, and the draws that follow."""

    history: History
    segments: tuple[Segment, ...]
    coming: dict[str, list[int]]

    def active(self, stream: str, at: int) -> Segment:
        """Return the segment that generates draw `at` of a stream."""
        return [s for s in self.segments if s.stream == stream and s.first <= at][-1]


def planted(length: int = 420, seeds: int = SEEDS, corrupt: float = 0.1, key: int = 5) -> Planted:
    """Two interleaved streams with skips 0 and 2, reseeded every EACH draws."""
    chance = random.Random(key)
    columns, segments, coming = [], [], {}
    for name, skip in (("a", 0), ("b", 2)):
        draws: list[int] = []
        while len(draws) < length:
            seed = chance.randrange(seeds)
            segments.append(Segment(name, seed, skip, len(draws)))
            hypothesis = Hypothesis("java", "bounded", 1000, seed, skips=Skips.constant(skip))
            generated = generate(hypothesis, min(EACH, length - len(draws)) + 20)
            coming[name] = generated[-20:]
            draws += generated[:-20]
        noisy = [d if chance.random() >= corrupt else chance.randrange(1000) for d in draws]
        columns.append(noisy)
    rows = [draw for pair in zip(*columns, strict=True) for draw in pair]
    history = History(tuple(rows), ("a", "b") * length)
    return Planted(history, tuple(segments), coming)


def plan(**changes: object) -> PipelineRequest:
    """Return the plan that finds the planted streams."""
    return PipelineRequest(**{"seeds": (0, SEEDS), "starts": (0, 300), "skips": (0, 3), **changes})  # type: ignore[arg-type]


@lru_cache(maxsize=1)
def worked() -> tuple[Planted, HistorySplit, window.WindowParams, Scorer, object]:
    """Sieve the planted history; return the truth, split, window, scorer and survivors."""
    truth, known = planted(), plan()
    split = split_history(truth.history.draws, truth.history.sessions, 1000)
    defaults = {name: spec["default"] for name, spec in window.space(known, split).items()}
    params = window.WindowParams.of(
        window.WindowChoice(**{**defaults, "reverse_threshold": 1}), known
    )
    rows = window.merged(
        [window.survivors(known, split, params, np.arange(SEEDS, dtype=np.uint64))]
    )
    counts = window.judge(known, split, params, rows, 1).counts
    scorer = scorer_of(known, split, params, counts, ScorerConfig())
    return truth, split, params, scorer, window.with_skips(rows)
