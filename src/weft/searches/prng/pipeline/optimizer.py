"""Optuna as a pure function: recorded trials in, the next parameter sets out.

`ask` builds a fresh study in memory, adds the recorded trials in order and asks for k sets. k is
fixed by the request, so the study is the same for any number of workers. A trial of another
target is refused, since its value has another meaning.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypedDict, final

from weft.errors import BugError
from weft.lazy_imports import lazy_module
from weft.searches.prng.statistics import MILLI

if TYPE_CHECKING:
    import optuna
    from optuna.distributions import BaseDistribution
else:
    optuna = lazy_module("optuna")

STARTUP = 4
"""Random trials before the sampler starts to learn."""
ParamValue: TypeAlias = int | float | str
ParamSet: TypeAlias = Mapping[str, ParamValue]


@final
class IntRange(TypedDict):
    """An integer from `low` to `high`."""

    low: int
    high: int
    default: int


@final
class LogRange(TypedDict):
    """A number from `low` to `high` on a logarithmic scale."""

    low: float
    high: float
    default: float
    log: bool


@final
class Choice(TypedDict):
    """One of a few values."""

    choices: Sequence[ParamValue]
    default: ParamValue


Space: TypeAlias = Mapping[str, IntRange | LogRange | Choice]
"""The range or choices of each parameter, by name; recorded as given."""


@dataclass(frozen=True, slots=True)
class Trial:
    """An evaluated parameter set; `value` is in thousandths, `target` names the objective."""

    params: ParamSet
    value: int
    target: str


def ask(
    space: Space, k: int, trials: Sequence[Trial], target: str, seed: int
) -> list[dict[str, ParamValue]]:
    """Return the next k parameter sets; a study starts with the defaults of the space."""
    for trial in trials:
        if trial.target != target:
            raise BugError(f"a trial of target {trial.target} in a study of {target}")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    kinds = {name: _distribution(name, axis) for name, axis in space.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        sampler = optuna.samplers.TPESampler(
            seed=seed % 2**32, constant_liar=True, n_startup_trials=STARTUP
        )
        study = optuna.create_study(direction="maximize", sampler=sampler)
        for trial in trials:
            study.add_trial(
                optuna.trial.create_trial(
                    params=dict(trial.params), distributions=kinds, value=trial.value / MILLI
                )
            )
        if not trials:
            study.enqueue_trial({name: axis["default"] for name, axis in space.items()})
        return [dict(study.ask(kinds).params) for _ in range(k)]


def _distribution(name: str, axis: IntRange | LogRange | Choice) -> BaseDistribution:
    if "choices" in axis:
        return optuna.distributions.CategoricalDistribution(axis["choices"])
    if axis["low"] > axis["high"]:
        raise BugError(f"parameter {name} has nothing to choose from")
    if "log" in axis:
        return optuna.distributions.FloatDistribution(axis["low"], axis["high"], log=axis["log"])
    return optuna.distributions.IntDistribution(axis["low"], axis["high"])
