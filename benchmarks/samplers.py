"""Compare TPE in batches and as a stream with Optuna's own sequential study.

    python -m benchmarks.samplers      # a Markdown table: median and quartiles of the best value

Batch and stream sample as `weft.optuna.study` does, from the same history, without executing a run.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from itertools import pairwise

import optuna

from weft.asktell.trials import TrialRecord
from weft.optuna.samplers import SamplerSpec, ask_from_trials
from weft.optuna.space import Float, space_of

TRIALS, SEEDS = 100, 20
Function = Callable[[dict[str, float]], float]


def branin(p: dict[str, float]) -> float:
    """Minimum 0.398."""
    x, y = 15 * p["a"] - 5, 15 * p["b"]
    bent = y - 5.1 / (4 * math.pi**2) * x**2 + 5 / math.pi * x - 6
    return bent**2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10


def rosenbrock(p: dict[str, float]) -> float:
    """Minimum 0; four variables."""
    x = [4 * p[name] - 2 for name in "abcd"]
    return sum(100 * (v - u**2) ** 2 + (1 - u) ** 2 for u, v in pairwise(x))


def rastrigin(p: dict[str, float]) -> float:
    """Minimum 0; five variables, many local minima."""
    x = [10.24 * p[name] - 5.12 for name in "abcde"]
    return sum(v**2 - 10 * math.cos(2 * math.pi * v) + 10 for v in x)


FUNCTIONS: dict[str, tuple[Function, str]] = {
    "Branin": (branin, "ab"),
    "Rosenbrock, 4": (rosenbrock, "abcd"),
    "Rastrigin, 5": (rastrigin, "abcde"),
}


def optunas_own(function: Function, names: str, seed: int) -> float:
    """Run trials one after the other, as Optuna does; return the best value."""
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(
        lambda trial: function({n: trial.suggest_float(n, 0, 1) for n in names}), n_trials=TRIALS
    )
    return study.best_value


def sampled(function: Function, names: str, seed: int, batch: int, lag: int, sampler: str) -> float:
    """Ask for `batch` points at a time, knowing all trials but the last `lag`."""
    space = space_of({name: Float(0, 1) for name in names})
    spec = SamplerSpec(sampler, {}, space, ("minimize",))
    trials: list[TrialRecord] = []
    while len(trials) < TRIALS:
        known = trials[: max(0, len(trials) - lag)]
        count = min(batch, TRIALS - len(trials))
        for point in ask_from_trials(spec, known, count, 1000 * seed + len(trials)):
            params = point["params"]  # type: ignore[call-overload, index]
            trials.append(TrialRecord(len(trials), params, "complete", (function(params),)))
    return min(trial.values[0] for trial in trials)


METHODS: dict[str, Callable[[Function, str, int], float]] = {
    "Optuna, sequential": optunas_own,
    "weft, batch 1": lambda f, names, seed: sampled(f, names, seed, 1, 0, "tpe"),
    "weft, batch 8": lambda f, names, seed: sampled(f, names, seed, 8, 0, "tpe"),
    "weft, stream of 8": lambda f, names, seed: sampled(f, names, seed, 1, 7, "tpe"),
    "random": lambda f, names, seed: sampled(f, names, seed, 8, 0, "random"),
}


def shown(values: Sequence[float]) -> str:
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:.3g} ({low:.3g} to {high:.3g})"


def main() -> None:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    print(f"| best of {TRIALS} trials, {SEEDS} seeds | {' | '.join(FUNCTIONS)} |")
    print("|---" * (len(FUNCTIONS) + 1) + "|")
    for name, method in METHODS.items():
        cells = [
            shown([method(function, names, seed) for seed in range(SEEDS)])
            for function, names in FUNCTIONS.values()
        ]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
