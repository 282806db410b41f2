"""joblib: Parallel with its default backend loky, and with every result cached by Memory."""

from __future__ import annotations

import tempfile

from joblib import Memory, Parallel, delayed

from benchmarks import loads
from benchmarks.rivals.ask import Ask, Outcome, Stopwatch


def loky(ask: Ask, watch: Stopwatch) -> Outcome:
    return _parallel(ask, watch, delayed(ask.work))


def loky_documented(ask: Ask, watch: Stopwatch) -> Outcome:
    """As its documentation has it: `delayed` is called for each task, not once."""
    return _parallel(ask, watch, lambda i: delayed(ask.work)(i))  # noqa: PLW0108 - that is the point


def memory(ask: Ask, watch: Stopwatch) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        cached = Memory(folder, verbose=0).cache(ask.work)
        return _parallel(ask, watch, delayed(cached))


def _parallel(ask: Ask, watch: Stopwatch, work: object) -> Outcome:
    with Parallel(n_jobs=ask.workers) as parallel:
        if ask.warm:
            greet = delayed(loads.greet)
            watch.workers_are_up(parallel(greet(i) for i in range(ask.workers)))
        total = sum(parallel(work(i) for i in range(ask.n)))  # type: ignore[operator]
        return watch.seconds(), total
