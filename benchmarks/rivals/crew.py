"""Worker processes for libraries that provide a store but start no processes themselves.

    parent ── pipe ──► worker: opens the store, greets, runs its share of the tasks

A worker is a function (ask, number) that returns a function that runs the share. The time until it
returns is start-up, which does not count when warm.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection

from benchmarks import loads
from benchmarks.rivals.ask import Ask, Stopwatch

Worker = Callable[[Ask, int], Callable[[], None]]


def share(ask: Ask, number: int) -> range:
    """Return the tasks of one worker."""
    return range(number, ask.n, ask.workers)


def work_together(worker: Worker, ask: Ask, watch: Stopwatch) -> None:
    """Run each worker's share in its own process, and wait for all."""
    context = multiprocessing.get_context("spawn")
    pipes, processes = [], []
    for number in range(ask.workers):
        pipe, far_end = context.Pipe()
        process = context.Process(target=_serve, args=(worker, ask, number, far_end), daemon=True)
        process.start()
        far_end.close()
        pipes.append(pipe)
        processes.append(process)
    if ask.warm:
        watch.workers_are_up([pipe.recv() for pipe in pipes])
    for pipe in pipes:
        pipe.send("go")
    for pipe in pipes:
        while pipe.recv() != "done":
            pass
    for process in processes:
        process.kill()  # what it has stored must not depend on a clean exit


def _serve(worker: Worker, ask: Ask, number: int, pipe: Connection) -> None:
    run_share = worker(ask, number)
    if ask.warm:
        pipe.send(loads.greet(number))
    pipe.recv()
    run_share()
    pipe.send("done")
    pipe.recv()  # until it is killed
