"""Run many rounds of one tiny task each in a separate process; prints one JSON line.

    python -m benchmarks.enginerounds weft|executor ROUNDS WORKERS

Each round needs the value of the one before, so rounds cannot overlap.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor

import weft
from benchmarks import loads, loadsearches


def weft_rounds(rounds: int, workers: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        return int(
            weft.run(loadsearches.many_rounds(rounds), out=f"{folder}/run", workers=workers).answer
        )


def executor_rounds(rounds: int, workers: int) -> int:
    value = 0
    context = multiprocessing.get_context("forkserver")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        for _ in range(rounds):
            value = pool.submit(loads.tiny, value).result()
    return value


ENGINES = {"weft": weft_rounds, "executor": executor_rounds}

if __name__ == "__main__":
    name, rounds, workers = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    start_s = time.perf_counter()
    total = ENGINES[name](rounds, workers)
    seconds = time.perf_counter() - start_s
    assert total == rounds, f"{name} counted to {total}"
    print(json.dumps({"seconds": seconds}))
