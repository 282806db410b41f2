"""The smallest real search, for measuring the engine itself; runs in a separate process.

python -m benchmarks.tiny RUN N [--stop-at K] [--workers W]     prints one JSON line
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import sys
import time

import weft
from weft.errors import Interrupted


@weft.task
def increment(x: int) -> int:
    return x + 1


@weft.search(version=1)
def count(n: int):
    """Run a lazy round of n tasks, then one more task."""
    results = yield weft.lazy(n, increment)
    last = yield [increment(len(results))]
    return last[0].value


class StopAt:
    """Requests a stop, as Ctrl-C would, once the given number of tasks has finished."""

    def __init__(self, finished: int) -> None:
        self._finished = finished

    def update(self, counts) -> None:
        """Check the counts."""
        if counts.finished >= self._finished:
            os.kill(os.getpid(), signal.SIGINT)
            self._finished = sys.maxsize


def main_process() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("run")
    parser.add_argument("n", type=int)
    parser.add_argument("--stop-at", type=int, default=None)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    watcher = None if options.stop_at is None else StopAt(options.stop_at)
    start_s = time.perf_counter()
    try:
        run = weft.run(count(options.n), out=options.run, workers=options.workers, watcher=watcher)
        head, answer = run.head, run.answer
    except Interrupted:
        head, answer = "", None
    seconds = time.perf_counter() - start_s
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "peak_mib": peak_mib, "head": head, "answer": answer}))


if __name__ == "__main__":
    main_process()
