"""A search as a user would write it: numbers and texts in, a number out, and a few failures."""

from __future__ import annotations

import math

import weft

OPTIMIZERS = ("adam", "rmsprop", "sgd")


@weft.task
def train(lr: float, depth: int, optimizer: str) -> float:
    if depth == 9 and optimizer == "sgd":
        raise ValueError("diverged")
    return round((math.log10(lr) + 2.5) ** 2 + 0.1 * OPTIMIZERS.index(optimizer), 6)


@weft.search(version=1, failures_expected=True)
def tune(trials: int = 60):
    yield weft.Plan(total=trials, best="min")
    points = [10 ** -(1 + 3 * ((i * 37) % trials) / trials) for i in range(trials)]
    calls = [train(lr, 2 + i * 5 % 8, OPTIMIZERS[i % 3]) for i, lr in enumerate(points)]
    results = yield calls
    best = min((r for r in results if r.ok), key=lambda r: (r.value, r.index))
    return {"best_error": best.value, "args": best.args}
