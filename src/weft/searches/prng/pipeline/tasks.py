"""Tasks of steps 1, 2.5, 3 and 4: each reads artifacts, calls one module, stores the result.

Tasks take and return recorded forms; what they call takes dataclasses.
"""

from __future__ import annotations

import hashlib
from typing import TypedDict

import numpy as np

from weft import get, note, put, task
from weft.model.values import Object, canonical
from weft.searches.prng.history import History
from weft.searches.prng.pipeline import adapt, artifact, optimizer, scorertrial, table, window
from weft.searches.prng.pipeline.artifact import load_context, load_scorer, store
from weft.searches.prng.pipeline.nulls import divided
from weft.searches.prng.pipeline.optimizer import ParamValue, Space, Trial, TrialRecord
from weft.searches.prng.pipeline.reference import ScorerConfig, ScorerRecord
from weft.searches.prng.pipeline.request import SAMPLE_ROWS, PipelineRecord, PipelineRequest
from weft.searches.prng.pipeline.streams import split_of
from weft.searches.prng.pipeline.window import (
    JudgementRecord,
    WindowChoice,
    WindowParams,
    WindowRecord,
)


class FreezeRecord(TypedDict):
    """What `freeze` returns."""

    split: Object
    space: Space
    target: str
    streams: list[list[str | int]]
    left_out: list[str]


class SieveRecord(TypedDict):
    """What `sieve_range` returns: the survivors of one range, and what the sieve used."""

    found: Object
    rows: int
    effective: WindowRecord


class SettledWindowRecord(TypedDict):
    """What `settle_window` returns."""

    window: Object
    survivors: Object
    rows: int


class SampleRecord(TypedDict):
    """What `draw_sample` returns."""

    sample: Object
    rows: int


class ChunkRecord(TypedDict):
    """What `score_chunk` returns."""

    scored: Object
    rows: int


class AdaptRecord(TypedDict):
    """What `derive_training` and `take_training` return."""

    training: Object
    values: adapt.TrainingRecord


class PipelineStepRecord(TypedDict):
    """What `finish_step` returns."""

    step: str
    count: int
    artifacts: dict[str, Object]


@task(name="prng.pipeline.freeze")
def freeze(plan: PipelineRecord, draws: Object) -> FreezeRecord:
    """Divide the frozen draws; say what step 1 may choose and what its target is."""
    request, history = PipelineRequest.from_dict(plan), History.from_canonical(get(draws))
    split = split_of(history, request.modulus)
    space = window.space(request, split)
    split_at = store(artifact.SPLIT, split.to_dict())
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
    space: Space, k: int, trials: list[TrialRecord], target: str, *, seed: int
) -> list[dict[str, ParamValue]]:
    """Ask a fresh study, filled with the recorded trials, for k parameter sets."""
    return optimizer.ask(space, k, [Trial.from_dict(raw) for raw in trials], target, seed)


@task(name="prng.pipeline.sieve_range")
def sieve_range(
    plan: PipelineRecord, split: Object, requested: WindowChoice, low: int, high: int
) -> SieveRecord:
    """Sieve one range of seeds with a trial's windows."""
    context = load_context(plan, split)
    params = WindowParams.of(requested, context.request)
    seeds = np.arange(low, high, dtype=np.uint64)
    survivors = window.survivors(context.request, context.split, params, seeds)
    note(seeds=high - low, survivors=len(survivors))
    return {
        "found": put(table.to_parquet(survivors)),
        "rows": len(survivors),
        "effective": params.to_dict(),
    }


@task(name="prng.pipeline.judge_trial")
def judge_trial(
    plan: PipelineRecord, split: Object, requested: WindowChoice, parts: list[SieveRecord],
    trials: int,
) -> JudgementRecord:  # fmt: skip
    """Weigh a trial on disjoint draws; all its ranges must have used what was asked for."""
    context = load_context(plan, split)
    params = WindowParams.of(requested, context.request)
    for part in parts:
        window.check_same(params, WindowParams.from_dict(part["effective"]))
    survivors = window.merged([table.from_parquet(get(part["found"])) for part in parts])
    return window.judge(context.request, context.split, params, survivors, trials).to_dict()


@task(name="prng.pipeline.settle_window")
def settle_window(
    plan: PipelineRecord, requested: WindowChoice, parts: list[SieveRecord],
    judged: JudgementRecord, trials: list[TrialRecord], tried: int,
) -> SettledWindowRecord:  # fmt: skip
    """Store the best trial: its parameters, and the survivors of both passes."""
    params = WindowParams.of(requested, PipelineRequest.from_dict(plan))
    survivors = window.merged([table.from_parquet(get(part["found"])) for part in parts])
    rows = window.final_survivors(survivors, params)
    chosen: artifact.WindowArtifact = {
        "params": params.to_dict(),
        "counts": judged["counts"],
        "tried": tried,
        "trials": trials,
        "judged": judged,
    }
    return {
        "window": store(artifact.WINDOW, chosen),
        "survivors": put(table.to_parquet(rows)),
        "rows": len(rows),
    }


@task(name="prng.pipeline.draw_sample")
def draw_sample(
    plan: PipelineRecord, split: Object, window: Object, survivors: Object, *, seed: int
) -> SampleRecord:
    """Choose the survivors of inner cuts that every scorer trial is judged on."""
    context = load_context(plan, split, window)
    inner, _ = divided(table.from_parquet(get(survivors)), context.streams())
    rows = scorertrial.sample(inner, SAMPLE_ROWS, seed)
    return {"sample": put(table.to_parquet(rows)), "rows": len(rows)}


@task(name="prng.pipeline.scorer_trial")
def scorer_trial(
    plan: PipelineRecord, split: Object, window: Object, sample: Object, requested: ScorerRecord
) -> int:
    """Score the sample with some parameters; return their value, in thousandths."""
    scorer = load_context(plan, split, window).scorer(ScorerConfig.from_dict(requested))
    scored = scorer.score(table.from_parquet(get(sample)))
    scorertrial.check_effective(requested, scorer.config)
    return scorertrial.value_of(scored)


@task(name="prng.pipeline.settle_scorer")
def settle_scorer(requested: ScorerRecord, trials: list[TrialRecord]) -> Object:
    """Store the best parameters of the features."""
    config = ScorerConfig.from_dict(requested).to_dict()
    body: artifact.ScorerArtifact = {"config": config, "trials": trials}
    return store(artifact.SCORER, body)


@task(name="prng.pipeline.measure")
def measure(survivors: Object) -> int:
    """Count survivors."""
    return len(table.from_parquet(get(survivors)))


@task(name="prng.pipeline.score_chunk")
def score_chunk(
    plan: PipelineRecord, split: Object, window: Object, scorer: Object, survivors: Object,
    low: int, high: int,
) -> ChunkRecord:  # fmt: skip
    """Score survivors low to high-1: 62 features and the label of each."""
    rows = table.part_of(get(survivors), low, high)
    scored = load_context(plan, split, window).scorer(load_scorer(scorer)).score(rows)
    note(rows=len(scored))
    return {"scored": put(table.to_parquet(scored)), "rows": len(scored)}


@task(name="prng.pipeline.derive_training")
def derive_training(
    plan: PipelineRecord, split: Object, window: Object, scored: list[Object]
) -> AdaptRecord:
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
def take_training(params: Object) -> AdaptRecord:
    """Store the training parameters that were given in a file."""
    given = artifact.unpack(artifact.PARAMS, get(params))["values"]
    return _adapted(adapt.TrainingParams.from_dict(given), None)


def _adapted(training: adapt.TrainingParams, facts: adapt.Facts | None) -> AdaptRecord:
    """Store training parameters: derived from facts, or given."""
    body: artifact.TrainingArtifact = {
        "training": training.to_dict(),
        "facts": None if facts is None else facts.to_dict(),
        "given": facts is None,
    }
    return {"training": store(artifact.TRAINING, body), "values": training.to_dict()}


@task(name="prng.pipeline.finish_step")
def finish_step(step: str, count: int, artifacts: dict[str, Object]) -> PipelineStepRecord:
    """Record what a step left behind; views and later runs find it here."""
    return {"step": step, "count": count, "artifacts": artifacts}
