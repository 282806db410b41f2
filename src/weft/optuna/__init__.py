"""Optuna's samplers on any number of workers, with the same trials every time.

    study(objective, space, sampler="tpe", trials=200, batch=8) ── weft.run ──► best trial
    to_study(run, storage="sqlite:///study.db")                 ──► Optuna's plots and dashboard

Sampling is a task whose points are recorded. Optuna itself is loaded only when a worker samples or
a run is exported. For other optimizers see `weft.asktell`.
"""

from __future__ import annotations

from weft.lazy_imports import lazy_imports
from weft.optuna.search import run_study, study
from weft.optuna.space import Categorical, Float, Int, space_of

with lazy_imports():
    from weft.optuna import export

__all__ = ["Categorical", "Float", "Int", "run_study", "space_of", "study", "to_study"]


def __getattr__(name: str) -> object:
    if name == "to_study":
        return export.to_study
    raise AttributeError(f"module 'weft.optuna' has no attribute {name!r}")
