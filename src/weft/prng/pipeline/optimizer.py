"""Optuna as a pure function: recorded trials in, the next parameter sets out.

`ask` builds a fresh study in memory, adds the recorded trials in their order and asks for k
sets. k is fixed by the plan, so the study is the same for any number of workers. A history of
another target is refused: the worth of its trials would mean something else.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weft.errors import BugError
from weft.prng.statistics import MILLI

STARTUP = 4
"""Trials before the sampler begins to learn."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One evaluated parameter set; `value` in thousandths, `target` names what was optimised."""

    params: Mapping[str, Any]
    value: int
    target: str

    def to_dict(self) -> dict[str, Any]:
        """Return the recorded form; keyword arguments undo it."""
        return {"params": dict(self.params), "value": self.value, "target": self.target}


def ask(
    space: Mapping[str, Any], k: int, trials: Sequence[Trial], target: str, seed: int
) -> list[dict[str, Any]]:
    """Return the next k parameter sets; the first set of a study is the space's defaults."""
    for trial in trials:
        if trial.target != target:
            raise BugError(f"a trial of target {trial.target} in a study of {target}")
    import optuna  # noqa: PLC0415 - slow to import, an extra

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    kinds = {name: _distribution(name, spec) for name, spec in space.items()}
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
            study.enqueue_trial({name: spec["default"] for name, spec in space.items()})
        return [dict(study.ask(kinds).params) for _ in range(k)]


def _distribution(name: str, spec: Mapping[str, Any]) -> Any:
    import optuna  # noqa: PLC0415

    if "choices" in spec:
        return optuna.distributions.CategoricalDistribution(spec["choices"])
    if spec["low"] > spec["high"]:
        raise BugError(f"parameter {name} has nothing to choose from")
    if isinstance(spec["low"], float):
        low, high = spec["low"], spec["high"]
        return optuna.distributions.FloatDistribution(low, high, log=spec.get("log", False))
    return optuna.distributions.IntDistribution(spec["low"], spec["high"], step=spec.get("step", 1))
