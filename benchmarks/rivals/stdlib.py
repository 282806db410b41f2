"""The pools of Python's standard library, with the start method that is safe with threads."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

from benchmarks import loads
from benchmarks.rivals.ask import Ask, Outcome, Stopwatch

START_METHOD = "forkserver"


def executor(ask: Ask, watch: Stopwatch) -> Outcome:
    context = multiprocessing.get_context(START_METHOD)
    with ProcessPoolExecutor(ask.workers, mp_context=context) as pool:
        if ask.warm:
            watch.workers_are_up(pool.map(loads.greet, range(ask.workers)))
        futures = [pool.submit(ask.work, i) for i in range(ask.n)]
        total = sum(future.result() for future in futures)
        return watch.seconds(), total


def pool(ask: Ask, watch: Stopwatch) -> Outcome:
    return _pool(ask, watch, chunk=1)


def pool_chunks(ask: Ask, watch: Stopwatch) -> Outcome:
    return _pool(ask, watch, chunk=100)


def _pool(ask: Ask, watch: Stopwatch, chunk: int) -> Outcome:
    with multiprocessing.get_context(START_METHOD).Pool(ask.workers) as workers:
        if ask.warm:
            watch.workers_are_up(workers.imap(loads.greet, range(ask.workers)))
        total = sum(workers.imap(ask.work, range(ask.n), chunksize=chunk))
        return watch.seconds(), total
