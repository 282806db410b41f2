"""The tasks of a study: `optuna.ask` samples, `optuna.trial` samples and evaluates."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from weft.asktell import history
from weft.asktell.objective import Objective, load_task
from weft.define import SEED, task
from weft.model.codec import Table, from_json
from weft.model.values import Object, Value
from weft.optuna import samplers
from weft.optuna.samplers import SamplerSpec


@task(name="optuna.ask")
def ask(
    spec: Table, count: int, state: Object | None, told: list[Table], *, seed: int = SEED
) -> dict[str, Value]:
    """Return `count` points, sampled given all trials told so far."""
    sampler = from_json(SamplerSpec, spec)
    ended = history.read_told(told)
    points, new_state = samplers.ask_points(sampler, state, ended, count, seed)
    return {"points": points, "state": new_state}


@task(name="optuna.trial")
def sample_and_evaluate(
    spec: Table, objective: Table, args: Mapping[str, Value], number: int, state: Object | None,
    told: list[Table], *, seed: int = SEED,
) -> dict[str, Value]:  # fmt: skip
    """Sample one point and evaluate it at once: a stream has no room for a separate ask."""
    sampler = from_json(SamplerSpec, spec)
    ended = history.read_told(told)
    [point], new_state = samplers.ask_points(sampler, state, ended, 1, seed)
    assert isinstance(point, dict)
    params = point["params"]
    assert isinstance(params, dict)
    history.note_trial(number, params)
    evaluated = load_task(from_json(Objective, objective).path)
    own_seed = {"seed": _own_seed(seed)} if evaluated.needs_seed else {}
    value = evaluated.function(**args, **params, **own_seed)
    return {"point": point, "value": value, "state": new_state}


def _own_seed(seed: int) -> int:
    """Return a seed for the objective that is independent of the sampler's."""
    return int.from_bytes(hashlib.sha256(f"objective {seed}".encode()).digest()[:8], "big")
