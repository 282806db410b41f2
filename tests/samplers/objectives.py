"""Objectives for the tests of samplers, and user-defined samplers and optimizers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import optuna

import weft
import weft.asktell
import weft.optuna

SPACE = {
    "x": weft.optuna.Float(-5, 5),
    "n": weft.optuna.Int(1, 8),
    "kind": weft.optuna.Categorical("a", "b", None),
}
COMPLETED: list[float] = []
"""Values of x in the order in which evaluations ended in this process."""


@weft.task
def bowl(x: float, n: int = 3, kind: str | None = None) -> float:
    """Minimal at x = 2, n = 3, kind a."""
    COMPLETED.append(x)
    return (x - 2) ** 2 + abs(n - 3) + (0 if kind == "a" else 1)


@weft.task
def shifted(x: float, by: float, *, seed: int) -> float:
    return (x - by) ** 2 + seed % 2**8 / 2**20


@weft.task
def two_ways(x: float) -> list[float]:
    return [x**2, (x - 2) ** 2]


@weft.task(timeout_s=30.0, retries=1)
def brittle(x: float) -> float:
    if x < 0:
        raise ValueError("no root")
    return math.sqrt(x)


@weft.task
def wordy(x: float) -> str:
    return "much"


@weft.task
def trained(x: float, epochs: int) -> float:
    """Better with more epochs; the ranking is visible from the first epoch on."""
    return abs(x) + 1 / epochs


@weft.task
def continued(x: float, epochs: int, checkpoint: dict[str, int] | None = None) -> dict[str, Any]:
    """The value includes the epochs of all earlier rungs."""
    before = checkpoint["epochs"] if checkpoint else 0
    return {"value": abs(x) + before / 1000, "checkpoint": {"epochs": epochs}}


@weft.task
def kernels(kernel: str, gamma: float = 0.0, degree: int = 0) -> float:
    return gamma if kernel == "rbf" else degree / 10


def conditional(trial: optuna.Trial) -> None:
    """A space in which one parameter determines which others exist."""
    if trial.suggest_categorical("kernel", ["rbf", "poly"]) == "rbf":
        trial.suggest_float("gamma", 1e-3, 1.0, log=True)
    else:
        trial.suggest_int("degree", 2, 5)


def own_sampler(seed: int) -> optuna.samplers.BaseSampler:
    return optuna.samplers.RandomSampler(seed=seed)


class ArrivalSampler(optuna.samplers.RandomSampler):
    """A planted bug: its samples depend on which evaluation ended last."""

    def sample_independent(self, *args: Any) -> Any:
        super().sample_independent(*args)
        return 0.0 if not COMPLETED else COMPLETED[-1] / 2 + 0.1


def arrival_sampler(seed: int) -> optuna.samplers.BaseSampler:
    return ArrivalSampler(seed=seed)


class Annealer:
    """A user-defined optimizer: ever smaller steps from the best point; NumPy values throughout."""

    def __init__(self, seed: int, width: float = 4.0) -> None:
        self._chance = np.random.default_rng(seed)
        self._best, self._width, self._asked = (math.inf, 0.0), width, 0

    def ask(self) -> Mapping[str, Any]:
        if self._asked == 50:
            raise StopIteration
        self._asked += 1
        return {"x": self._chance.normal(self._best[1], self._width)}

    def tell(self, params: Mapping[str, Any], value: float | None) -> None:
        self._width *= 0.95
        self._best = min(self._best, (math.inf if value is None else value, params["x"]))


class UnseededAnnealer(Annealer):
    """Draws from system entropy, so it cannot be restored."""

    def __init__(self, seed: int) -> None:
        super().__init__(np.random.SeedSequence().entropy % 2**32)  # type: ignore[operator]


@weft.task
def vector_bowl(x: list[float]) -> float:
    return sum((value - 1) ** 2 for value in x)


@weft.asktell.callback
def simplex(evaluate: weft.asktell.Evaluate, *, seed: int, start: list[float]) -> None:
    """Asks for one point at a time."""
    from scipy.optimize import minimize

    minimize(evaluate, start, method="Nelder-Mead", options={"maxfev": 30})


@weft.asktell.callback
def evolution(evaluate: weft.asktell.Evaluate, *, seed: int) -> None:
    """Asks for a generation at a time, through a function with its own argument names."""
    from scipy.optimize import differential_evolution

    differential_evolution(
        lambda point: evaluate(x=point[0], n=round(point[1])), [(-5, 5), (1, 8)], rng=seed,
        popsize=4, maxiter=3, polish=False, updating="deferred", workers=evaluate.map,
    )  # fmt: skip
