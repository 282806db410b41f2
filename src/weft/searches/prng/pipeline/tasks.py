"""Tasks of steps 1, 2.5, 3 and 4: each reads artifacts, calls one module, stores the result.

Tasks take and return recorded forms; the functions they call take dataclasses.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from weft import SEED, get, note, put, task
from weft.model.codec import Table, from_json, to_json
from weft.model.values import Object, Value, canonical
from weft.searches.prng.history import History
from weft.searches.prng.pipeline import adapt, artifact, optimizer, scorertrial, table, window
from weft.searches.prng.pipeline.artifact import load_context, load_scorer, store
from weft.searches.prng.pipeline.nulls import divided
from weft.searches.prng.pipeline.optimizer import ParamValue, Space, Trial
from weft.searches.prng.pipeline.reference import ScorerConfig
from weft.searches.prng.pipeline.request import SAMPLE_ROWS, PipelineRequest
from weft.searches.prng.pipeline.streams import split_of
from weft.searches.prng.pipeline.window import (
    TrialJudgement,
    WindowChoice,
    WindowParams,
    check_same,
)

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class SievedRange:
    """The result of `sieve_range`: the survivors of one range, and the parameters used."""

    found: Object
    rows: int
    effective: WindowParams


@task(name="prng.pipeline.freeze")
def freeze(plan: Table, draws: Object) -> Mapping[str, object]:
    """Divide the frozen draws; return the split, the search space and the target of step 1."""
    request, history = from_json(PipelineRequest, plan), History.from_canonical(get(draws))
    split = split_of(history, request.modulus)
    space = window.space(request, split)
    split_at = store(artifact.SPLIT, split)
    target = canonical([plan, split_at.digest, space, "evidence on disjoint draws"])
    return {
        "split": split_at,
        "space": space,
        "target": hashlib.sha256(target.encode()).hexdigest(),
        "streams": [[stream.name, len(stream.draws)] for stream in split.each],
        "left_out": list(split.left_out),
    }


@task(name="prng.pipeline.ask")
def ask(
    space: Space, k: int, trials: list[Table], target: str, *, seed: int = SEED
) -> list[dict[str, ParamValue]]:
    """Ask a fresh study, filled with the recorded trials, for k parameter sets."""
    return optimizer.ask(space, k, _trials(trials), target, seed)


@task(name="prng.pipeline.sieve_range")
def sieve_range(plan: Table, split: Object, requested: Table, low: int, high: int) -> Table:
    """Sieve one range of seeds with a trial's windows."""
    context = load_context(plan, split)
    params = _window(requested, context.request)
    seeds = np.arange(low, high, dtype=np.uint64)
    survivors = window.survivors(context.request, context.split, params, seeds)
    note(seeds=high - low, survivors=len(survivors))
    return to_json(SievedRange(put(table.to_parquet(survivors)), len(survivors), params))


@task(name="prng.pipeline.judge_trial")
def judge_trial(
    plan: Table, split: Object, requested: Table, parts: list[Table],
    trials: int,
) -> Table:  # fmt: skip
    """Judge a trial on disjoint draws; all its ranges must have used the requested parameters."""
    context = load_context(plan, split)
    params = _window(requested, context.request)
    survivors = _joined(parts, params)
    return to_json(window.judge(context.request, context.split, params, survivors, trials))


@task(name="prng.pipeline.settle_window")
def settle_window(
    plan: Table, requested: Table, parts: Sequence[Table],
    judged: Table, trials: list[Table], tried: int,
) -> Table:  # fmt: skip
    """Store the best trial: its parameters, and the survivors of both passes."""
    params = _window(requested, from_json(PipelineRequest, plan))
    rows = window.final_survivors(_joined(parts, params), params)
    judgement = from_json(TrialJudgement, judged)
    chosen = artifact.WindowArtifact(params, judgement.counts, tried, _trials(trials), judgement)
    return {
        "window": store(artifact.WINDOW, chosen),
        "survivors": put(table.to_parquet(rows)),
        "rows": len(rows),
    }


@task(name="prng.pipeline.draw_sample")
def draw_sample(
    plan: Table, split: Object, window: Object, survivors: Object, *, seed: int = SEED
) -> Table:
    """Choose the survivors of inner cuts that every scorer trial is judged on."""
    context = load_context(plan, split, window)
    inner, _ = divided(table.from_parquet(get(survivors)), context.streams())
    rows = scorertrial.sample(inner, SAMPLE_ROWS, seed)
    return {"sample": put(table.to_parquet(rows)), "rows": len(rows)}


@task(name="prng.pipeline.scorer_trial")
def scorer_trial(
    plan: Table, split: Object, window: Object, sample: Object, requested: Table
) -> int:
    """Score the sample with the requested parameters; return their value, in thousandths."""
    config = from_json(ScorerConfig, requested)
    scorer = load_context(plan, split, window).scorer(config)
    scored = scorer.score(table.from_parquet(get(sample)))
    check_same(config, scorer.config)
    return scorertrial.value_of(scored)


@task(name="prng.pipeline.settle_scorer")
def settle_scorer(requested: Table, trials: list[Table]) -> Object:
    """Store the best feature parameters."""
    config = from_json(ScorerConfig, requested)
    return store(artifact.SCORER, artifact.ScorerArtifact(config, _trials(trials)))


@task(name="prng.pipeline.measure")
def measure(survivors: Object) -> int:
    """Return the number of survivors."""
    return len(table.from_parquet(get(survivors)))


@task(name="prng.pipeline.score_chunk")
def score_chunk(
    plan: Table, split: Object, window: Object, scorer: Object, survivors: Object,
    low: int, high: int,
) -> Table:  # fmt: skip
    """Score survivors low to high-1: 62 features and the label of each."""
    rows = table.part_of(get(survivors), low, high)
    scored = load_context(plan, split, window).scorer(load_scorer(scorer)).score(rows)
    note(rows=len(scored))
    return {"scored": put(table.to_parquet(scored)), "rows": len(scored)}


@task(name="prng.pipeline.derive_training")
def derive_training(plan: Table, split: Object, window: Object, scored: list[Object]) -> Table:
    """Derive training parameters from inner cuts and training draws."""
    context = load_context(plan, split, window)
    streams = context.streams()
    labels: list[tuple[int, int]] = []
    for piece in scored:
        inner, _ = divided(table.from_parquet(get(piece)), streams)
        labels += list(
            zip(inner["label_hits"].to_list(), inner["label_draws"].to_list(), strict=True)
        )
    draws = [draw for stream in streams for draw in stream.draws[: stream.holdout_at]]
    windows = sum(len(stream.cuts) - 1 for stream in streams)
    facts = adapt.facts_of(windows, labels, draws, context.request.modulus)
    return _adapted(adapt.derive(facts), facts)


@task(name="prng.pipeline.take_training")
def take_training(params: Object) -> Table:
    """Store the training parameters given in a file."""
    return _adapted(artifact.load(artifact.PARAMS, params).values, None)


def _adapted(training: adapt.TrainingParams, facts: adapt.Facts | None) -> Table:
    """Store training parameters: derived from facts, or given."""
    body = artifact.TrainingArtifact(training, facts, facts is None)
    return {"training": store(artifact.TRAINING, body), "values": to_json(training)}


@task(name="prng.pipeline.finish_step")
def finish_step(step: str, count: int, artifacts: dict[str, Value]) -> Table:
    """Record the artifacts of a step, for views and later runs."""
    return {"step": step, "count": count, "artifacts": artifacts}


def _window(requested: Table, request: PipelineRequest) -> WindowParams:
    """Return the window parameters of the optimizer's proposal."""
    return WindowParams.of(from_json(WindowChoice, requested), request)


def _joined(parts: Sequence[Table], params: WindowParams) -> pl.DataFrame:
    """Join the survivors of all ranges; all must have used the requested parameters."""
    ranges = [from_json(SievedRange, part) for part in parts]
    for part in ranges:
        check_same(params, part.effective)
    return window.merged([table.from_parquet(get(part.found)) for part in ranges])


def _trials(records: Sequence[Table]) -> tuple[Trial, ...]:
    return tuple(from_json(Trial, raw) for raw in records)
