"""Tasks of steps 1, 2.5, 3 and 4: each reads artifacts, calls one module, keeps what came out."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from typing import Any

import numpy as np

from weft.define import task
from weft.model.values import Object, canonical
from weft.prng.history import History
from weft.prng.pipeline import adapt, optimizer, scorertrial, table, window
from weft.prng.pipeline.artifact import ground, keep, read, unpack, window_of
from weft.prng.pipeline.nulls import divided
from weft.prng.pipeline.plan import SAMPLE_ROWS, Plan
from weft.prng.pipeline.reference import ScorerConfig
from weft.prng.pipeline.streams import split_of
from weft.worker.context import get, note, put


@task
def freeze(plan: dict[str, Any], draws: Object) -> dict[str, Any]:
    """Divide the frozen draws; say what step 1 may choose and what its target is."""
    known, history = Plan.from_dict(plan), History.from_canonical(get(draws))
    split = split_of(history, known.modulus)
    space = window.space(known, split)
    split_at = keep("split", split.to_dict())
    target = canonical([plan, split_at.digest, space, "evidence on disjoint draws"])
    return {
        "split": split_at,
        "space": space,
        "target": hashlib.sha256(target.encode()).hexdigest(),
        "streams": [[stream.name, len(stream.draws)] for stream in split.each],
        "left_out": list(split.left_out),
    }


@task
def ask(
    space: dict[str, Any], k: int, trials: list[dict[str, Any]], target: str, *, seed: int
) -> list[dict[str, Any]]:
    """Ask a fresh study, filled with the recorded trials, for k parameter sets."""
    known = [optimizer.Trial(**raw) for raw in trials]
    return optimizer.ask(space, k, known, target, seed)


@task
def sieve_range(
    plan: dict[str, Any], split: Object, requested: dict[str, Any], low: int, high: int
) -> dict[str, Any]:
    """Sieve one range of seeds with a trial's windows."""
    known = ground(plan, split)
    params = window.from_asked(requested, known.plan)
    found = window.survivors(known.plan, known.split, params, np.arange(low, high, dtype=np.uint64))
    note(seeds=high - low, survivors=len(found))
    return {"found": put(table.to_parquet(found)), "rows": len(found), "effective": asdict(params)}


@task
def judge_trial(
    plan: dict[str, Any], split: Object, requested: dict[str, Any], parts: list[dict[str, Any]],
    trials: int,
) -> dict[str, Any]:  # fmt: skip
    """Weigh a trial on disjoint draws; all its ranges must have used what was asked for."""
    known = ground(plan, split)
    params = window.from_asked(requested, known.plan)
    for part in parts:
        window.check_same(params, part["effective"])
    found = window.merged([table.from_parquet(get(part["found"])) for part in parts])
    judged = window.judge(known.plan, known.split, params, found, trials)
    return {**asdict(judged), "counts": [list(one) for one in judged.counts]}


@task
def settle_window(
    plan: dict[str, Any], requested: dict[str, Any], parts: list[dict[str, Any]],
    judged: dict[str, Any], trials: list[dict[str, Any]], tried: int,
) -> dict[str, Any]:  # fmt: skip
    """Keep the best trial: its parameters, and the survivors of both passes."""
    params = window.from_asked(requested, Plan.from_dict(plan))
    found = window.merged([table.from_parquet(get(part["found"])) for part in parts])
    rows = window.kept(found, params)
    rest = {"counts": judged["counts"], "tried": tried, "trials": trials, "judged": judged}
    return {
        "window": keep("window", window_of(params, rest)),
        "survivors": put(table.to_parquet(rows)),
        "rows": len(rows),
    }


@task
def draw_sample(
    plan: dict[str, Any], split: Object, window: Object, survivors: Object, *, seed: int
) -> dict[str, Any]:
    """Choose the survivors of inner cuts that every scorer trial is judged on."""
    known = ground(plan, split, window)
    inner, _ = divided(table.from_parquet(get(survivors)), known.streams())
    rows = scorertrial.sample(inner, SAMPLE_ROWS, seed)
    return {"sample": put(table.to_parquet(rows)), "rows": len(rows)}


@task
def scorer_trial(
    plan: dict[str, Any], split: Object, window: Object, sample: Object, requested: dict[str, Any]
) -> int:
    """Score the sample with some parameters; return what they are worth, in thousandths."""
    scorer = ground(plan, split, window).scorer(ScorerConfig(**requested))
    scored = scorer.score(table.from_parquet(get(sample)))
    scorertrial.check_effective(requested, scorer.config)
    return scorertrial.worth(scored)


@task
def settle_scorer(requested: dict[str, Any], trials: list[dict[str, Any]]) -> Object:
    """Keep the best parameters of the features."""
    return keep("scorer", {"config": ScorerConfig(**requested).to_dict(), "trials": trials})


@task
def measure(survivors: Object) -> int:
    """Count survivors."""
    return len(table.from_parquet(get(survivors)))


@task
def score_chunk(
    plan: dict[str, Any], split: Object, window: Object, scorer: Object, survivors: Object,
    low: int, high: int,
) -> dict[str, Any]:  # fmt: skip
    """Score survivors low to high-1: 62 features and the label of each."""
    config = ScorerConfig(**read("scorer", scorer)["config"])
    rows = table.part_of(get(survivors), low, high)
    scored = ground(plan, split, window).scorer(config).score(rows)
    note(rows=len(scored))
    return {"scored": put(table.to_parquet(scored)), "rows": len(scored)}


@task
def derive_training(
    plan: dict[str, Any], split: Object, window: Object, scored: list[Object]
) -> dict[str, Any]:
    """Derive training parameters from inner cuts and training draws."""
    known = ground(plan, split, window)
    streams = known.streams()
    labels: list[tuple[int, int]] = []
    for piece in scored:
        inner, _ = divided(table.from_parquet(get(piece)), streams)
        labels += list(
            zip(inner["label_hits"].to_list(), inner["label_draws"].to_list(), strict=True)
        )
    draws = [draw for stream in streams for draw in stream.draws[: stream.holdout_at]]
    windows = sum(len(stream.cuts) - 1 for stream in streams)
    facts = adapt.facts_of(windows, labels, draws, known.plan.modulus)
    found = adapt.derive(facts)
    body = {"training": found.to_dict(), "facts": asdict(facts), "given": False}
    return {"training": keep("training", body), "values": found.to_dict()}


@task
def take_training(params: Object) -> dict[str, Any]:
    """Keep the training parameters that were given in a file."""
    given = adapt.Training.from_dict(unpack("params", get(params))["values"])
    body = {"training": given.to_dict(), "facts": None, "given": True}
    return {"training": keep("training", body), "values": given.to_dict()}


@task
def finish_step(step: str, count: int, artifacts: dict[str, Object]) -> dict[str, Any]:
    """Record what a step left behind; views and later runs find it here."""
    return {"step": step, "count": count, "artifacts": artifacts}
