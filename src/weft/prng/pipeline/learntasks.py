"""Tasks of steps 5 and 6: pool, preflight, folds, final model, reruns, verdict, prediction."""

from __future__ import annotations

import hashlib
import importlib.metadata
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from weft.define import task
from weft.errors import InputError
from weft.model.values import Object
from weft.prng.pipeline import models, nulls, table, training, vote
from weft.prng.pipeline.adapt import Training
from weft.prng.pipeline.artifact import Ground, ground, keep, read
from weft.prng.pipeline.features import SKIP_GROUP, names_hash
from weft.prng.pipeline.foretell import foretold
from weft.prng.pipeline.plan import EVIDENCE, HORIZON, POOLS
from weft.prng.pipeline.reference import ScorerConfig
from weft.prng.pipeline.streams import Split, Stream, as_of_now
from weft.prng.pipeline.survivor import Survivor
from weft.prng.pipeline.verdict import Claim, Reruns, claim, decide, power
from weft.prng.pipeline.window import judge, kept, merged, survivors
from weft.prng.statistics import corrected
from weft.worker.context import get, put

LEAK_ROWS = 64
LIBRARIES = ("lightgbm", "numpy", "optuna", "polars", "scikit-learn", "xgboost")
BINS = 10


@task
def training_values(training_at: Object) -> dict[str, Any]:
    """Read the training parameters."""
    return Training.from_dict(read("training", training_at)["training"]).to_dict()


@task
def verdict_of(sidecar: Object) -> dict[str, Any]:
    """Read the verdict that an earlier run came to."""
    about = read("sidecar", sidecar)
    return {name: about[name] for name in ("signal", "why", "claims", "reruns", "power")}


@task
def pool(
    plan: dict[str, Any], split: Object, window: Object, scored: list[Object], size: int
) -> dict[str, Any]:
    """Gather the survivors to learn from and those to rank, chunk by chunk."""
    known = ground(plan, split, window)
    best_so_far = table.from_parquet(get(scored[0]))
    for piece in scored[1:]:
        kept_now = training.pooled(best_so_far, size)
        best_so_far = table.concat([kept_now, table.from_parquet(get(piece))])
    best_so_far = training.pooled(best_so_far, size)
    inner, final = nulls.divided(best_so_far, known.streams())
    seeds = nulls.null_seeds(known.plan, best_so_far)
    return {
        "inner": put(table.to_parquet(inner)),
        "final": put(table.to_parquet(final)),
        "rows": len(inner),
        "ranked": len(final),
        "null_seeds": put(seeds.astype("<u8").tobytes()),
    }


@task
def preflight(
    plan: dict[str, Any], split: Object, window: Object, scorer: Object, inner: Object
) -> dict[str, Any]:
    """Check the rows to learn from: all features there, which are constant, none leaks."""
    rows = table.from_parquet(get(inner))
    found = training.preflight(rows)
    known = ground(plan, split, window)
    config = ScorerConfig(**read("scorer", scorer)["config"])
    some = rows[:LEAK_ROWS].select([*table.IDS, *SKIP_GROUP])
    for cut in sorted(set(some["cut"].to_list())):
        part = some.filter(some["cut"] == cut)
        blind = Ground(known.plan, after_changed(known.split, cut), known.params, known.counts)
        whole, cut_short = (g.scorer(config).score(part) for g in (known, blind))
        training.check_leakage(cut_short, whole)
    return {**{name: list(value) for name, value in asdict(found).items() if name != "rows"},
            "rows": found.rows}  # fmt: skip


@task
def fold(
    kind: str, params: dict[str, Any], inner: Object, names: list[str], number: int, folds: int,
    *, seed: int,
) -> dict[str, Any]:  # fmt: skip
    """Train on all folds but one, and say how the model does on that one."""
    rows = table.from_parquet(get(inner))
    return asdict(training.fold_score(kind, params, rows, names, number, folds, seed))


@task
def fit_model(
    kind: str, params: dict[str, Any], inner: Object, final: Object, names: list[str], *, seed: int
) -> dict[str, Any]:
    """Train the chosen model on all inner rows; then look at the untouched test for once."""
    rows, test = (table.from_parquet(get(one)) for one in (inner, final))
    x, y = table.matrix(rows, names, "the pool"), training.labels(rows)
    model = models.fit(kind, params, x, y, seed)
    told = models.predict(kind, model, table.matrix(test, names, "the test"))
    truth = training.labels(test)
    return {
        "model": put(model),
        "train": training.explained(y, models.predict(kind, model, x)),
        "test": training.explained(truth, told),
        "permutation_permille": training.permutation_p(truth, told, seed),
        "calibration": calibration(told, truth),
    }


@task
def rerun(
    plan: dict[str, Any], split: Object, window: Object, scorer: Object, training_at: Object,
    chosen: dict[str, Any], seeds: Object, history: str, number: int, *, seed: int,
) -> int:  # fmt: skip
    """Run everything again at the reduced budget on one history; return holdout hits."""
    known = ground(plan, split, window)
    del number  # tells two tasks of one kind apart, and so their seeds
    given = nulls.history(known.split, known.window().sessions, history, seed)
    made = nulls.Chosen(
        known.window(),
        ScorerConfig(**read("scorer", scorer)["config"]),
        Training.from_dict(read("training", training_at)["training"]),
        chosen["kind"],
        chosen["params"],
    )
    own = np.frombuffer(get(seeds), "<u8")
    return nulls.rerun(known.plan, given, made, own, chosen["seed"])


@task
def conclude(
    plan: dict[str, Any], split: Object, window: Object, final: Object, model: Object | None,
    fitted: dict[str, Any], chosen: dict[str, Any], reruns: list[int], provenance: dict[str, Any],
) -> dict[str, Any]:  # fmt: skip
    """Weigh all evidence; keep the sidecar that says what the model is and whether to use it."""
    known = ground(plan, split, window)
    claims = _claims(known, table.from_parquet(get(final)), model, chosen)
    seen = _reruns(known, reruns)
    signal, why = decide(claims, seen)
    body = {
        "signal": signal,
        "why": why,
        "claims": [one.to_dict() for one in claims],
        "reruns": seen.to_dict() if seen else None,
        "power": power(known.plan, known.params, known.tried),
        "model_sha256": None if model is None else model.digest,
        "model_kind": chosen.get("kind"),
        "model_params": chosen.get("params"),
        "features": chosen.get("names", []),
        "features_sha256": names_hash(chosen.get("names", [])),
        "metrics": fitted,
        "provenance": provenance,
        "libraries": {name: importlib.metadata.version(name) for name in _libraries(known)},
    }
    told = {name: body[name] for name in ("signal", "why", "claims", "reruns", "power")}
    return {"sidecar": keep("sidecar", body), **told}


@task
def sieve_now(
    plan: dict[str, Any], split: Object, window: Object, low: int, high: int
) -> Object:  # fmt: skip
    """Sieve one range of seeds with the chosen window at the end of the history."""
    known = ground(plan, split, window)
    seeds = np.arange(low, high, dtype=np.uint64)
    now = as_of_now(known.split)
    return put(table.to_parquet(survivors(known.plan, now, known.window(), seeds)))


@task
def predict(
    plan: dict[str, Any], split: Object, window: Object, scorer: Object, final: Object,
    model: Object, sidecar: Object, found: list[Object],
) -> dict[str, Any]:  # fmt: skip
    """Let what survives as of now vote on the next draws; calibrate the vote on the holdout."""
    known, about = ground(plan, split, window), read("sidecar", sidecar)
    data = get(model)
    check_sidecar(about, data)
    names = about["features"]
    rows = table.from_parquet(get(final))
    told = models.predict(about["model_kind"], data, table.matrix(rows, names, "the test"))
    ranks = nulls.holdout_ranks(known.plan, known.streams(), rows, told, bar_of(known))
    config = ScorerConfig(**read("scorer", scorer)["config"])
    parts = [table.from_parquet(get(part)) for part in found]
    now, survivors_now = _ranked_now(known, config, parts)
    expected = models.predict(
        about["model_kind"], data, table.matrix(survivors_now, names, "survivors of now")
    )
    holding = {one["stream"] for one in about["claims"] if one["holds"]}
    told_streams = [
        _foretell(now, survivors_now, expected, at, ranks[at])
        for at, stream in enumerate(known.streams())
        if stream.name in holding
    ]
    streams = [one for one in told_streams if one is not None]
    body = {"streams": streams, "modulus": known.plan.modulus, "top_k": known.plan.top_k}
    return {"predictions": keep("predictions", body), **body}


def _ranked_now(known: Ground, config: ScorerConfig, parts: list[Any]) -> tuple[Ground, Any]:
    """Score what survives at the end of the history."""
    params, split = known.window(), as_of_now(known.split)
    everyone = merged(parts)
    counts = judge(known.plan, split, params, everyone, 1).counts
    now = Ground(known.plan, split, params, counts, known.tried)
    return now, now.scorer(config).score(kept(everyone, params))


def check_sidecar(about: Mapping[str, Any], model: bytes) -> None:
    """Refuse a model that is not the one its sidecar describes, or that is not to be used."""
    if hashlib.sha256(model).hexdigest() != about["model_sha256"]:
        raise InputError("the model is not the one its sidecar names: its SHA-256 is another")
    if names_hash(about["features"]) != about["features_sha256"]:
        raise InputError("the sidecar's features are not those that their hash names")
    if not about["signal"]:
        raise InputError("no signal: this model is not to be used for prediction")


def bar_of(known: Ground) -> nulls.Bar:
    """Return the hits in a window that chance cannot explain, for all that was tried."""
    return nulls.Bar.of(known.plan, known.window(), known.tried)


def after_changed(split: Split, cut: int) -> Split:
    """Return the split with every draw from a cut on replaced by another one."""

    def changed(stream: Stream) -> Stream:
        later = tuple((draw + 1) % split.modulus for draw in stream.draws[cut:])
        return Stream(stream.name, stream.draws[:cut] + later, stream.cuts, stream.block)

    merged = None if split.merged is None else changed(split.merged)
    return Split(split.modulus, tuple(map(changed, split.each)), merged, split.left_out)


def calibration(told: Any, truth: Any) -> list[list[float]]:
    """Return, for tenths of the rows by what was expected: expected, observed, rows."""
    order = np.argsort(told, kind="stable")
    parts = [part for part in np.array_split(order, BINS) if len(part)]
    return [[float(told[p].mean()), float(truth[p].mean()), float(len(p))] for p in parts]


def _claims(
    known: Ground, rows: Any, model: Object | None, chosen: Mapping[str, Any]
) -> list[Claim]:
    """The first survivor of each stream: by the model, or by hits where none was trained."""
    if not len(rows):
        return []
    told = rows["hits"].to_numpy().astype(float)
    if model is not None:
        x = table.matrix(rows, chosen["names"], "the test")
        told = models.predict(chosen["kind"], get(model), x)
    claims = []
    for at, stream in enumerate(known.streams()):
        voters, _ = nulls.electorate(known.plan, rows, told, at, bar_of(known))
        if len(voters):
            first = voters.row(0, named=True)
            args = (known.window(), known.plan.modulus, known.tried, len(rows))
            claims.append(claim(stream.name, first, *args))
    return claims


def _libraries(known: Ground) -> tuple[str, ...]:
    return (*LIBRARIES, "torch") if known.plan.net == "torch" else LIBRARIES


def _reruns(known: Ground, hits: list[int]) -> Reruns | None:
    draws = sum(len(stream.draws) - stream.holdout_at for stream in known.streams())
    return Reruns(hits[0], tuple(hits[1:]), draws) if hits else None


def _foretell(
    now: Ground, rows: Any, told: Any, at: int, places: list[int]
) -> dict[str, Any] | None:
    """A stream's prediction; none when its best survivor of now is what chance leaves."""
    plan, stream = now.plan, now.streams()[at]
    voters, weights = nulls.electorate(plan, rows, told, at, bar_of(now))
    if not len(voters):
        return None
    first = voters.row(0, named=True)
    evidence = corrected(first["hits"], now.window().window, plan.modulus, now.tried)
    if evidence < EVIDENCE:
        return None
    votes = foretold(plan, voters, len(stream.draws), HORIZON)
    ranked = [vote.ranking(votes[:, ahead], weights, plan.modulus) for ahead in range(HORIZON)]
    best = Survivor(stream.name, first["seed"], first["skip"], first["base"])
    hits = [vote.pool_hits(places, size, plan.modulus) for size in (1, *POOLS)]
    return {
        "stream": stream.name,
        "hypothesis": best.hypothesis(plan.family, plan.output, plan.modulus).to_dict(),
        "first_draw": best.first(),
        "evidence": evidence,
        "next": [int(order[0]) for order in ranked],
        "pools": [
            {str(size): [int(n) for n in order[: min(size, plan.modulus)]] for size in POOLS}
            for order in ranked
        ],
        "hit_at": [one.to_dict(plan.modulus) for one in hits],
        "voters": [
            {"seed": row["seed"], "skip": row["skip"], "base": row["base"]}
            for row in voters.iter_rows(named=True)
        ],
    }
