"""Reruns at a reduced budget, on the observed history and on histories without signal.

A rerun sieves some of the seeds with the chosen window, scores, retrains the chosen model on the
inner cuts and lets the best survivors of the last cut vote on the holdout. Its result is the
number of holdout draws that the vote hits. A rerun does not know which history it is given.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from weft.searches.prng.arrays import Floats, Words
from weft.searches.prng.pipeline import models, table, training, vote, window
from weft.searches.prng.pipeline.adapt import TrainingParams
from weft.searches.prng.pipeline.reference import ScorerConfig
from weft.searches.prng.pipeline.request import EVIDENCE, NULL_BEST, NULL_SEEDS, PipelineRequest
from weft.searches.prng.pipeline.scoring import scorer_of
from weft.searches.prng.pipeline.streams import MERGED, HistorySplit, Stream
from weft.searches.prng.pipeline.survivor import predicted
from weft.searches.prng.pipeline.training import RerunModel
from weft.searches.prng.statistics import hits_needed

if TYPE_CHECKING:
    import polars as pl

OBSERVED, SHUFFLED, RANDOM = "observed", "shuffled", "random"


@dataclass(frozen=True, slots=True)
class RerunSetup:
    """The pipeline's choices that a rerun repeats: window, scorer, model."""

    params: window.WindowParams
    config: ScorerConfig
    training: TrainingParams
    model: RerunModel


def null_seeds(request: PipelineRequest, pool: pl.DataFrame) -> Words:
    """Return the seeds of all reruns: the best of every window, and others.

    The best are chosen by hits in windows, so the holdout plays no part. The others are the first
    seeds of the range that are not among them.
    """
    best = [
        int(seed)
        for part in pool.partition_by("cut", "stream", maintain_order=True)
        for seed in part.sort("hits", descending=True, maintain_order=True)["seed"][:NULL_BEST]
    ]
    chosen = sorted(set(best[:NULL_SEEDS]))
    known = set(chosen)
    low, high = request.seeds
    rest = [seed for seed in range(low, min(high, low + NULL_SEEDS)) if seed not in known]
    return np.array(sorted([*chosen, *rest][:NULL_SEEDS]), np.uint64)


def history(split: HistorySplit, sessions: str, kind: str, seed: int) -> HistorySplit:
    """Return the split with the draws of a rerun and the cuts of the observed history."""
    if kind == OBSERVED:
        return split
    streams = [
        replace(stream, draws=_drawn(stream, kind, split.modulus, f"{seed}/{at}"))
        for at, stream in enumerate(split.mode(sessions))
    ]
    if sessions == MERGED:
        return replace(split, merged=streams[0])
    return replace(split, each=tuple(streams))


def _drawn(stream: Stream, kind: str, modulus: int, name: str) -> tuple[int, ...]:
    if kind == RANDOM:
        return tuple(_numbers(name, modulus, len(stream.draws)))
    draws = list(stream.draws)
    places = _numbers(name, 1 << 62, len(draws))
    for at in range(len(draws) - 1, 0, -1):
        other = places[at] % (at + 1)
        draws[at], draws[other] = draws[other], draws[at]
    return tuple(draws)


def _numbers(name: str, below: int, count: int) -> list[int]:
    """Return pseudorandom numbers derived from a name with SHAKE-256."""
    stream = hashlib.shake_256(name.encode()).digest(16 * count)
    return [int.from_bytes(stream[at : at + 16], "big") % below for at in range(0, 16 * count, 16)]


def rerun(request: PipelineRequest, split: HistorySplit, setup: RerunSetup, seeds: Words) -> int:
    """Return the number of holdout draws that the vote of a rerun hits."""
    params = setup.params
    rows = window.survivors(request, split, params, seeds)
    counts = window.judge(request, split, params, rows, 1).counts
    rows = window.final_survivors(window.merged([rows]), params)
    scored = scorer_of(request, split, params, counts, setup.config).score(rows)
    pool = training.pooled(scored, setup.training.pool_size)
    inner, final = divided(pool, split.mode(params.sessions))
    if not len(final):
        return 0
    expected = _expected(setup, inner, final)
    tried = len(seeds) * params.sieve_request(request).hypotheses() * len(counts)
    threshold = hit_threshold(request, params, tried)
    ranks = holdout_ranks(request, split.mode(params.sessions), final, expected, threshold)
    return sum(place == 0 for places in ranks for place in places)


def _expected(setup: RerunSetup, inner: pl.DataFrame, final: pl.DataFrame) -> Floats:
    """Retrain the chosen model; with too few rows, all survivors have the same weight."""
    names = training.preflight(inner).features if len(inner) >= training.LEAST_ROWS else ()
    if not names:
        return np.ones(len(final))
    x, y = table.matrix(inner, names, "a rerun"), training.labels(inner)
    chosen = setup.model
    model = models.fit(chosen.kind, chosen.params, x, y, chosen.seed)
    return models.predict(chosen.kind, model, table.matrix(final, names, "a rerun"))


def divided(pool: pl.DataFrame, streams: Sequence[Stream]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Separate the survivors of inner cuts from those of the last cut."""
    last = np.array([stream.holdout_at for stream in streams])[pool["stream"].to_numpy()]
    is_final = pool["cut"].to_numpy() == last
    return pool.filter(~is_final), pool.filter(is_final)


def holdout_ranks(
    request: PipelineRequest,
    streams: Sequence[Stream],
    final: pl.DataFrame,
    expected: Floats,
    threshold: int | None,
) -> list[list[int]]:
    """Return, for each stream, the rank of each holdout draw in the vote."""
    ranks = []
    for at, stream in enumerate(streams):
        voters, weights = electorate(request, final, expected, at, threshold)
        actual = stream.draws[stream.holdout_at :]
        if not len(voters):
            ranks.append([request.modulus] * len(actual))
            continue
        votes = predicted(request, voters, stream.holdout_at, len(actual))
        ranks.append(vote.ranks(votes, weights, actual, request.modulus))
    return ranks


def hit_threshold(request: PipelineRequest, params: window.WindowParams, tried: int) -> int | None:
    """Return the hits in a window beyond chance after `tried` hypotheses; None if none suffice."""
    return hits_needed(params.window, request.modulus, max(1, tried), EVIDENCE)


def electorate(
    request: PipelineRequest,
    final: pl.DataFrame,
    expected: Floats,
    stream: int,
    threshold: int | None,
) -> tuple[pl.DataFrame, Floats]:
    """Return a stream's voters, highest expectation first, and their weights.

    If chance cannot explain some survivors, only those vote: a model trained on few held survivors
    must not rank chance survivors above them.
    """
    own = final["stream"].to_numpy() == stream
    enough = np.inf if threshold is None else threshold
    proven = own & (final["hits"].to_numpy() >= enough)
    chosen = np.flatnonzero(proven if proven.any() else own)
    best = chosen[np.argsort(-expected[chosen], kind="stable")][: request.top_k]
    return final[best], vote.weights_of(expected[best])
