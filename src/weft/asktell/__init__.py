"""Run any optimizer that can ask for points and be told their values, on any number of workers.

    optimizer (ask, tell) ── a task: recorded points ──► objective tasks ── recorded values ──┐
            ▲─────────────────────────────────────────────────────────────────────────────────┘

`optimize` is the search, `Optimizer` what it needs of an optimizer, `callback` marks a function
that calls its objective by itself, as those of SciPy do. For Optuna's samplers see `weft.optuna`.
"""

from __future__ import annotations

from weft.asktell.optimizers import Evaluate, Optimizer, callback
from weft.asktell.search import optimize

__all__ = ["Evaluate", "Optimizer", "callback", "optimize"]
