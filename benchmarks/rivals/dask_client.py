"""Dask: a local cluster of single-threaded worker processes, all tasks mapped at once."""

from __future__ import annotations

import dask
from distributed import Client, LocalCluster

from benchmarks import loads
from benchmarks.rivals.ask import Ask, Outcome, Stopwatch

SETTINGS = {"distributed.logging.distributed": "error"}


def client(ask: Ask, watch: Stopwatch) -> Outcome:
    with (
        dask.config.set(SETTINGS),
        LocalCluster(ask.workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as dask_client,
    ):
        if ask.warm:
            greetings = dask_client.map(loads.greet, range(ask.workers), pure=False)
            watch.workers_are_up(dask_client.gather(greetings))
        futures = dask_client.map(ask.work, range(ask.n), pure=False)
        total = sum(dask_client.gather(futures))
        return watch.seconds(), total
