"""The plan of a study, as one frozen record, checked before a run exists."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weft.asktell.objective import Objective, load
from weft.asktell.search import BATCH, check_counts, direction_of
from weft.errors import SearchInvalid
from weft.model.tasks import TaskCall
from weft.model.values import Argument, Value
from weft.optuna.samplers import CLASSES, NEEDS, SamplerSpec, grid_of

CHECKPOINT = "checkpoint"
"""An objective with a parameter of this name continues from the previous rung."""


@dataclass(frozen=True, slots=True)
class Rungs:
    """Successive halving: every trial gets the first level, the best 1/eta of a batch the next."""

    resource: str
    levels: tuple[int, ...]
    eta: int
    has_checkpoint: bool = False


@dataclass(frozen=True, slots=True)
class StudyPlan:
    """Everything that decides a study."""

    objective: Objective
    spec: SamplerSpec
    trials: int
    batch: int | None
    """Number of trials asked for at a time; None in a stream."""
    width: int | None
    """Number of trials in flight in a stream; None in batches."""
    rungs: Rungs | None
    fixed: Mapping[str, Value]
    libraries: tuple[str, ...] = ()

    def call(
        self,
        inputs: Mapping[str, Argument],
        params: Mapping[str, Value],
        level: int | None,
        checkpoint: Value,
    ) -> TaskCall:
        """Return the call of one evaluation, up to a level of the resource."""
        args: dict[str, Argument] = {**self.fixed, **inputs, **params}
        if self.rungs is not None:
            args[self.rungs.resource] = level
            if self.rungs.has_checkpoint:
                args[CHECKPOINT] = checkpoint
        return self.objective.call(args)


def checked_spec(
    sampler: str, options: Mapping[str, Value], space: Mapping[str, Value] | str,
    directions: Sequence[str],
) -> SamplerSpec:  # fmt: skip
    """Return the sampler to use; refuse one that is not available or does not suit the space."""
    if isinstance(directions, str) or not directions:
        raise SearchInvalid('directions are a list, such as ["minimize", "maximize"]')
    ways = tuple(direction_of(direction) for direction in directions)
    if sampler not in CLASSES and ":" not in sampler:
        raise SearchInvalid(
            f"there is no sampler {sampler!r:.60}",
            hint=f"use {', '.join(CLASSES)}, or your own module:function",
        )
    check_installed("optuna", "optuna")
    for library in NEEDS.get(sampler, ()):
        check_installed(library, sampler)
    if sampler not in CLASSES:
        load(sampler, "sampler")
    if sampler == "grid" and "search_space" not in options and grid_of(space) is None:
        raise SearchInvalid("a grid needs a step for every Float; its space cannot be a function")
    return SamplerSpec(sampler, options, space, ways)


def check_installed(library: str, sampler: str) -> None:
    """Refuse a library that is not installed, with the command that installs it."""
    if importlib.util.find_spec(library) is None:
        package = "'weft[optuna]'" if library in {"cmaes", "optuna"} else library
        need = "weft.optuna" if sampler == "optuna" else f"sampler {sampler}"
        raise SearchInvalid(
            f"{need} needs {library}, which is not installed", hint=f"pip install {package}"
        )


def checked_rungs(
    rungs: Mapping[str, Sequence[int]] | None, eta: int, parameters: frozenset[str]
) -> Rungs | None:
    """Return checked rungs for an argument such as `{"epochs": [1, 3, 9]}`."""
    if rungs is None:
        return None
    if not isinstance(rungs, Mapping) or len(rungs) != 1:
        raise SearchInvalid(
            "rungs must name one resource and its levels", hint='write {"epochs": [1, 3, 9]}'
        )
    [(resource, levels)] = rungs.items()
    check_counts(**{f"level {level!r} of {resource}": level for level in levels})
    if len(levels) < 2 or list(levels) != sorted(set(levels)):
        raise SearchInvalid(f"{resource} needs two or more levels in ascending order: {levels!r}")
    if type(eta) is not int or eta < 2:
        raise SearchInvalid(f"eta must be 2 or more, not {eta!r}")
    return Rungs(resource, tuple(levels), eta, CHECKPOINT in parameters)


def batch_and_width(
    spec: SamplerSpec, trials: int, batch: int | None, width: int | None, rungs: Rungs | None
) -> tuple[int | None, int | None]:
    """Return the size of batches, or the width of a stream, and None for the other."""
    if width is None:
        batch = BATCH if batch is None else batch
        check_counts(trials=trials, batch=batch)
        return min(batch, trials), None
    check_counts(trials=trials, width=width)
    if batch is not None:
        raise SearchInvalid("a study is run in batches or as a stream: give batch or width")
    if rungs is not None:
        raise SearchInvalid("rungs compare the trials of a batch: give batch, not width")
    if not spec.is_stateless:
        raise SearchInvalid(
            f"sampler {spec.sampler} keeps a state between asks and cannot be a stream",
            hint="give batch instead of width",
        )
    return None, min(width, trials)


def most_trials(spec: SamplerSpec, trials: int) -> int:
    """Return the number of trials, limited to the number of points of a grid."""
    axes = grid_of(spec.space) if spec.sampler == "grid" else None
    if axes is None or "search_space" in spec.options:
        return trials
    return min(trials, math.prod(len(axis) for axis in axes.values()))
