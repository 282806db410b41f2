"""Run any ask-and-tell optimizer on any number of workers.

    optimizer (ask, tell) ── a task: recorded points ──► objective tasks ── recorded values ──┐
            ▲─────────────────────────────────────────────────────────────────────────────────┘

`optimize` is the search, `Optimizer` the interface it needs, `callback` marks a function that calls
its objective itself, as SciPy's optimizers do. For Optuna's samplers see `weft.optuna`.
"""

from __future__ import annotations

from weft.asktell.optimizers import Evaluate, Optimizer, callback
from weft.asktell.search import optimize

__all__ = ["Evaluate", "Optimizer", "callback", "optimize"]
