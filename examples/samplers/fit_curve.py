"""Run a SciPy optimizer that calls its objective itself: each call becomes a task.

python fit_curve.py
"""

import math

from scipy.optimize import differential_evolution

import weft
import weft.asktell

BOUNDS = [(0.1, 5.0), (0.0, 2.0)]


@weft.task
def residual(x: list) -> float:
    """Return the squared distance of a damped wave to measurements; imagine it takes minutes."""
    frequency, damping = x
    times = [i / 10 for i in range(50)]
    measured = [math.exp(-0.5 * t) * math.cos(2.0 * t) for t in times]
    wave = [math.exp(-damping * t) * math.cos(frequency * t) for t in times]
    return sum((a - b) ** 2 for a, b in zip(wave, measured, strict=True))


@weft.asktell.callback
def evolve(evaluate, *, seed: int, population: int) -> None:
    """Let SciPy map `evaluate` over a whole generation, whose members are evaluated in parallel."""
    differential_evolution(
        evaluate, BOUNDS, rng=seed, popsize=population, maxiter=12, tol=0, polish=False,
        updating="deferred", workers=evaluate.map,
    )  # fmt: skip


if __name__ == "__main__":
    search = weft.asktell.optimize(
        residual, evolve, trials=130, options={"population": 5}, libraries=["scipy", "numpy"]
    )
    print(weft.run(search, out="runs/curve", workers=2).answer["best"])
