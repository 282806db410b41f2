"""The six steps of the pipeline: their names in order, and the options that affect each first."""

from __future__ import annotations

STEPS = ("1", "2.5", "3", "4", "5", "6")
TITLES = {
    "1": "window optimizer",
    "2.5": "scorer meta-optimizer",
    "3": "full scoring",
    "4": "adaptive optimizer",
    "5": "anti-overfit optimizer",
    "6": "prediction",
}
DECIDED = {
    "modulus": "1",
    "family": "1",
    "output": "1",
    "seeds": "1",
    "skips": "1",
    "starts": "1",
    "window_trials": "1",
    "scorer_trials": "2.5",
    "params": "4",
    "model_trials": "5",
    "model": "5",
    "net": "5",
    "nulls": "5",
    "top_k": "6",
}
"""The first step whose outcome an option can change; a run that starts later keeps its value.

`top_k` also affects the votes of step 5, but a run that starts at step 6 may change it.
"""
