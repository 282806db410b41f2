"""Ray: tasks, and a bare pool of actors to which every call is sent at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import ray

from benchmarks import loads
from benchmarks.rivals.ask import Ask, Outcome, Stopwatch


@contextmanager
def cluster(workers: int) -> Iterator[None]:
    """Run Ray on this machine only, for the duration of a measurement."""
    ray.init(num_cpus=workers, include_dashboard=False, logging_level="ERROR")
    try:
        yield
    finally:
        ray.shutdown()


def tasks(ask: Ask, watch: Stopwatch) -> Outcome:
    with cluster(ask.workers):
        if ask.warm:
            greet = ray.remote(loads.greet)
            watch.workers_are_up(ray.get([greet.remote(i) for i in range(ask.workers)]))
        work = ray.remote(ask.work)
        total = sum(ray.get([work.remote(i) for i in range(ask.n)]))
        return watch.seconds(), total


def actors(ask: Ask, watch: Stopwatch) -> Outcome:
    with cluster(ask.workers):
        hands = [ray.remote(loads.Hand).remote() for _ in range(ask.workers)]
        if ask.warm:
            greetings = [hand.do.remote("greet", i) for i, hand in enumerate(hands)]
            watch.workers_are_up(ray.get(greetings))
        references = [hands[i % ask.workers].do.remote(ask.load, i) for i in range(ask.n)]
        total = sum(ray.get(references))
        return watch.seconds(), total
