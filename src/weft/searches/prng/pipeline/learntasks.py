"""Tasks of steps 5 and 6: pool, preflight, folds, final model, reruns, verdict, prediction.

Tasks take and return recorded forms; the functions they call take dataclasses.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from weft import SEED, get, put, task
from weft.model.codec import Table, from_json, to_json
from weft.model.values import Object
from weft.searches.prng.arrays import Floats
from weft.searches.prng.pipeline import artifact, models, nulls, table, training, vote
from weft.searches.prng.pipeline.adapt import TrainingParams
from weft.searches.prng.pipeline.artifact import StepContext, load, load_context, load_scorer, store
from weft.searches.prng.pipeline.features import SKIP_GROUP
from weft.searches.prng.pipeline.models import ModelParams
from weft.searches.prng.pipeline.reference import ScorerConfig
from weft.searches.prng.pipeline.request import EVIDENCE, HORIZON, POOLS
from weft.searches.prng.pipeline.streams import HistorySplit, Stream, as_of_now
from weft.searches.prng.pipeline.survivor import Survivor, predicted
from weft.searches.prng.pipeline.training import FitMetrics, ModelChoice, RerunModel
from weft.searches.prng.pipeline.verdict import (
    Claim,
    PipelineVerdict,
    Reruns,
    Sidecar,
    decide,
    make_claim,
    power_of,
)
from weft.searches.prng.pipeline.vote import Predictions, StreamPrediction, Voter
from weft.searches.prng.pipeline.window import (
    continued,
    final_survivors,
    judge,
    merged,
    survivors,
)
from weft.searches.prng.statistics import corrected

if TYPE_CHECKING:
    import polars as pl

LEAK_ROWS = 64
LIBRARIES = ("lightgbm", "numpy", "optuna", "polars", "scikit-learn", "xgboost")
BINS = 10


@dataclass(frozen=True, slots=True)
class Pool:
    """The result of `pool`: rows to learn from, rows to rank, and the seeds of all reruns."""

    inner: Object
    final: Object
    rows: int
    ranked: int
    null_seeds: Object


@dataclass(frozen=True, slots=True)
class FittedModel(FitMetrics):
    """The result of `fit_model`."""

    model: Object


@task(name="prng.pipeline.training_values")
def training_values(training_at: Object) -> Table:
    """Read the training parameters."""
    return to_json(_training(training_at))


@task(name="prng.pipeline.verdict_of")
def verdict_of(sidecar: Object) -> Table:
    """Read the verdict of an earlier run."""
    return to_json(from_json(PipelineVerdict, artifact.unpacked(artifact.SIDECAR, get(sidecar))))


@task(name="prng.pipeline.pool")
def pool(plan: Table, split: Object, window: Object, scored: list[Object], size: int) -> Table:
    """Gather the survivors to learn from and those to rank, chunk by chunk."""
    context = load_context(plan, split, window)
    best_so_far = table.from_parquet(get(scored[0]))
    for piece in scored[1:]:
        best_of_pieces = training.pooled(best_so_far, size)
        best_so_far = table.concat([best_of_pieces, table.from_parquet(get(piece))])
    best_so_far = training.pooled(best_so_far, size)
    inner, final = nulls.divided(best_so_far, context.streams())
    seeds = nulls.null_seeds(context.request, best_so_far)
    return to_json(
        Pool(
            put(table.to_parquet(inner)),
            put(table.to_parquet(final)),
            len(inner),
            len(final),
            put(seeds.astype("<u8").tobytes()),
        )
    )


@task(name="prng.pipeline.preflight")
def preflight(plan: Table, split: Object, window: Object, scorer: Object, inner: Object) -> Table:
    """Check the rows to learn from: missing, constant and leaking features."""
    rows = table.from_parquet(get(inner))
    checks = training.preflight(rows)
    context, config = load_context(plan, split, window), load_scorer(scorer)
    some = rows[:LEAK_ROWS].select([*table.IDS, *SKIP_GROUP])
    for cut in sorted(set(some["cut"].to_list())):
        part = some.filter(some["cut"] == cut)
        changed = after_changed(context.split, cut)
        blind = StepContext(context.request, changed, context.params, context.counts)
        whole, cut_short = (c.scorer(config).score(part) for c in (context, blind))
        training.check_leakage(cut_short, whole)
    return to_json(checks)


@task(name="prng.pipeline.fold")
def fold(
    kind: str, params: ModelParams, inner: Object, names: list[str], number: int, folds: int,
    *, seed: int = SEED,
) -> Table:  # fmt: skip
    """Train on all folds but one, and score the model on that one."""
    rows = table.from_parquet(get(inner))
    return to_json(training.fold_score(kind, params, rows, names, number, folds, seed))


@task(name="prng.pipeline.fit_model")
def fit_model(
    kind: str,
    params: ModelParams,
    inner: Object,
    final: Object,
    names: list[str],
    *,
    seed: int = SEED,
) -> Table:
    """Train the chosen model on all inner rows, then evaluate it once on the untouched test."""
    rows, test = table.from_parquet(get(inner)), table.from_parquet(get(final))
    x, y = table.matrix(rows, names, "the pool"), training.labels(rows)
    model = models.fit(kind, params, x, y, seed)
    expected = models.predict(kind, model, table.matrix(test, names, "the test"))
    truth = training.labels(test)
    return to_json(
        FittedModel(
            training.explained(y, models.predict(kind, model, x)),
            training.explained(truth, expected),
            training.permutation_p(truth, expected, seed),
            calibration(expected, truth),
            put(model),
        )
    )


@task(name="prng.pipeline.rerun")
def rerun(
    plan: Table, split: Object, window: Object, scorer: Object, training_at: Object,
    chosen: Table, seeds: Object, history: str, number: int, *, seed: int = SEED,
) -> int:  # fmt: skip
    """Run the pipeline on one history at the reduced budget; return the holdout hits."""
    context = load_context(plan, split, window)
    del number  # distinguishes tasks of one kind, and so their seeds
    null_history = nulls.history(context.split, context.window().sessions, history, seed)
    parts = context.window(), load_scorer(scorer), _training(training_at)
    setup = nulls.RerunSetup(*parts, from_json(RerunModel, chosen))
    own = np.frombuffer(get(seeds), "<u8").astype(np.uint64)
    return nulls.rerun(context.request, null_history, setup, own)


@task(name="prng.pipeline.conclude")
def conclude(
    plan: Table, split: Object, window: Object, final: Object, model: Object | None,
    fitted: Table, chosen: Table, reruns: list[int],
    provenance: dict[str, str],
) -> Table:  # fmt: skip
    """Weigh all evidence; store the sidecar that describes the model and whether to use it."""
    context = load_context(plan, split, window)
    choice = from_json(ModelChoice, chosen) if chosen else None
    claims = _claims(context, table.from_parquet(get(final)), model, choice)
    compared = _reruns(context, reruns)
    signal, why = decide(claims, compared)
    longest = max((len(stream.draws) for stream in context.streams()), default=0)
    power = power_of(context.request, context.params, context.tried, longest)
    verdict = PipelineVerdict(signal, why, tuple(claims), compared, power)
    libraries = {name: importlib.metadata.version(name) for name in _libraries(context)}
    sidecar = Sidecar.of(verdict, model, choice, fitted, provenance, libraries)
    return {"sidecar": store(artifact.SIDECAR, sidecar), **to_json(verdict)}


@task(name="prng.pipeline.sieve_now")
def sieve_now(
    plan: Table, split: Object, window: Object, low: int, high: int
) -> Object:  # fmt: skip
    """Sieve one range of seeds with the chosen window at the end of the history."""
    context = load_context(plan, split, window)
    seeds = np.arange(low, high, dtype=np.uint64)
    now = as_of_now(context.split)
    return put(table.to_parquet(survivors(context.request, now, context.window(), seeds)))


@task(name="prng.pipeline.predict")
def predict(
    plan: Table, split: Object, window: Object, scorer: Object, final: Object,
    model: Object | None, sidecar: Object, found: list[Object],
) -> Table:  # fmt: skip
    """Let the current survivors vote on the next draws; calibrate the vote on the holdout.

    If there were too few survivors to train a model, hits in the window are the weights.
    """
    context, about = load_context(plan, split, window), load(artifact.SIDECAR, sidecar)
    about.check_signal()
    rows = table.from_parquet(get(final))
    expected = _weights(about, model, rows, "the test")
    request, streams = context.request, context.streams()
    ranks = nulls.holdout_ranks(request, streams, rows, expected, threshold_of(context))
    parts = [table.from_parquet(get(part)) for part in found]
    now, rows_now = _scored_now(context, load_scorer(scorer), parts, rows)
    expected_now = _weights(about, model, rows_now, "survivors of now")
    holding = {claim.stream for claim in about.claims if claim.holds}
    predictions = [
        _predict_stream(now, rows_now, expected_now, at, ranks[at])
        for at, stream in enumerate(streams)
        if stream.name in holding
    ]
    predicting = tuple(prediction for prediction in predictions if prediction is not None)
    body = Predictions(predicting, request.modulus, request.top_k)
    return {"predictions": store(artifact.PREDICTIONS, body), **to_json(body)}


def _weights(about: Sidecar, model: Object | None, rows: pl.DataFrame, where: str) -> Floats:
    """Return the model's expectations of survivors, or their hits if no model was trained."""
    if model is None:
        return rows["hits"].to_numpy().astype(np.float64)
    data = get(model)
    kind = about.check(data)
    return models.predict(kind, data, table.matrix(rows, about.features, where))


def _training(reference: Object) -> TrainingParams:
    return load(artifact.TRAINING, reference).training


def _scored_now(
    context: StepContext, config: ScorerConfig, parts: Sequence[pl.DataFrame], tested: pl.DataFrame
) -> tuple[StepContext, pl.DataFrame]:
    """Score the survivors at the end of the history, including those tested on the holdout."""
    params, split = context.window(), as_of_now(context.split)
    again = continued(context.request, split, params, tested)
    everyone = merged([*parts, again]).unique(maintain_order=True)
    counts = judge(context.request, split, params, everyone, 1).counts
    now = StepContext(context.request, split, params, counts, context.tried)
    return now, now.scorer(config).score(final_survivors(everyone, params))


def threshold_of(context: StepContext) -> int | None:
    """Return the hits in a window beyond chance, corrected for all hypotheses tried."""
    return nulls.hit_threshold(context.request, context.window(), context.tried)


def after_changed(split: HistorySplit, cut: int) -> HistorySplit:
    """Return the split with every draw from a cut on changed."""

    def changed(stream: Stream) -> Stream:
        later = tuple((draw + 1) % split.modulus for draw in stream.draws[cut:])
        return Stream(stream.name, stream.draws[:cut] + later, stream.cuts, stream.block)

    joined = None if split.merged is None else changed(split.merged)
    return HistorySplit(split.modulus, tuple(map(changed, split.each)), joined, split.left_out)


def calibration(expected: Floats, truth: Floats) -> tuple[tuple[float, float, float], ...]:
    """Return mean expectation, mean observation and row count for tenths by expectation."""
    order = np.argsort(expected, kind="stable")
    parts = [part for part in np.array_split(order, BINS) if len(part)]
    return tuple((float(expected[p].mean()), float(truth[p].mean()), float(len(p))) for p in parts)


def _claims(
    context: StepContext, rows: pl.DataFrame, model: Object | None, choice: ModelChoice | None
) -> list[Claim]:
    """Return a claim for each stream's first survivor, by the model or by hits without one."""
    if not len(rows):
        return []
    expected = rows["hits"].to_numpy().astype(np.float64)
    if model is not None and choice is not None:
        x = table.matrix(rows, choice.names, "the test")
        expected = models.predict(choice.kind, get(model), x)
    claims = []
    request, threshold = context.request, threshold_of(context)
    for at, stream in enumerate(context.streams()):
        voters, _ = nulls.electorate(request, rows, expected, at, threshold)
        if len(voters):
            first = voters.row(0, named=True)
            args = (context.window(), request.modulus, context.tried, len(rows))
            claims.append(make_claim(stream.name, first, *args))
    return claims


def _libraries(context: StepContext) -> tuple[str, ...]:
    return (*LIBRARIES, "torch") if context.request.net == "torch" else LIBRARIES


def _reruns(context: StepContext, hits: list[int]) -> Reruns | None:
    draws = sum(len(stream.draws) - stream.holdout_at for stream in context.streams())
    return Reruns.of(hits[0], tuple(hits[1:]), draws) if hits else None


def _predict_stream(
    now: StepContext, rows: pl.DataFrame, expected: Floats, at: int, places: list[int]
) -> StreamPrediction | None:
    """Return a stream's prediction; None if chance can explain its best current survivor."""
    request, stream = now.request, now.streams()[at]
    voters, weights = nulls.electorate(request, rows, expected, at, threshold_of(now))
    if not len(voters):
        return None
    first = voters.row(0, named=True)
    evidence = corrected(first["hits"], now.window().window, request.modulus, now.tried)
    if evidence < EVIDENCE:
        return None
    votes = predicted(request, voters, len(stream.draws), HORIZON)
    ranked = [vote.ranking(votes[:, ahead], weights, request.modulus) for ahead in range(HORIZON)]
    best = Survivor(stream.name, first["seed"], first["skip"], first["base"])
    return StreamPrediction(
        stream.name,
        best.hypothesis(request.family, request.output, request.modulus),
        best.first(),
        evidence,
        tuple(int(order[0]) for order in ranked),
        tuple(
            {str(k): tuple(int(n) for n in order[: min(k, request.modulus)]) for k in POOLS}
            for order in ranked
        ),
        tuple(vote.pool_hits(places, size, request.modulus) for size in (1, *POOLS)),
        tuple(Voter(row["seed"], row["skip"], row["base"]) for row in voters.iter_rows(named=True)),
    )
