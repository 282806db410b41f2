"""Measure one engine under one load in a separate process; prints one JSON line.

    python -m benchmarks.rivals MODULE:FUNCTION LOAD N cold|warm WORKERS

cold  from the call that starts the workers to the last result
warm  the same work after every worker has answered a first task
"""

from __future__ import annotations

import importlib
import json
import sys

from benchmarks import loads
from benchmarks.rivals.ask import Ask, Stopwatch


def measure_one(place: str, ask: Ask) -> float:
    """Return the seconds that the engine took, after checking what it computed."""
    module, _, function = place.partition(":")
    engine = getattr(importlib.import_module(f"benchmarks.rivals.{module}"), function)
    seconds, total = engine(ask, Stopwatch(ask))
    if total != loads.wanted_sum(ask.n):
        raise SystemExit(f"{place} summed up to {total}, not {loads.wanted_sum(ask.n)}")
    return float(seconds)


if __name__ == "__main__":
    place, load, n, start, workers = sys.argv[1:]
    seconds = measure_one(place, Ask(load, int(n), start == "warm", int(workers)))
    print(json.dumps({"seconds": seconds}), flush=True)
