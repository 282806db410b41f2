"""One engine, one load, one process of its own: prints how long it took and what came out.

    python -m benchmarks.rivals ENGINE LOAD N cold|warm

cold  from the call that makes the pool (or `weft.run`) to the last result in hand
warm  the same work after both workers have answered a first task

All times end when the last result is in hand: the others' in their caller's, Weft's in the
search's, with the rest of the ledger still to be sealed (some 10 ms). Warm, Weft's begins when
the manifest has the end of the last greeting, so that making, hashing and queueing the tasks is
counted. Afterwards, uncounted, the run is verified.
"""

from __future__ import annotations

import importlib.util
import json
import multiprocessing
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import weft
from benchmarks import loads
from benchmarks.woven import arrived_at, one_round
from weft.inspect.verify import verify
from weft.runs.run import real_place

WORKERS = 2
Work = Callable[[int], int]
LOADS: dict[str, Work] = {"tiny": loads.tiny, "millisecond": loads.millisecond}


class Stopwatch:
    """Starts at once when cold; when warm, once more when the workers have answered."""

    def __init__(self, warm: bool) -> None:
        self.warm = warm
        self._start_s = time.perf_counter()

    def workers_are_up(self, answers: Iterable[int]) -> None:
        """Take the greetings in and start again."""
        assert sum(answers) == sum(range(WORKERS))
        self._start_s = time.perf_counter()

    def seconds(self) -> float:
        """Since the start."""
        return time.perf_counter() - self._start_s


Engine = Callable[[str, int, Stopwatch], tuple[float, int]]
"""(load, n, watch) → seconds, sum of the results."""


def weft_plain(load: str, n: int, watch: Stopwatch) -> tuple[float, int]:
    return _weft(load, n, watch, lazy=False)


def weft_lazy(load: str, n: int, watch: Stopwatch) -> tuple[float, int]:
    return _weft(load, n, watch, lazy=True)


def weft_ray(load: str, n: int, watch: Stopwatch) -> tuple[float, int]:
    import ray  # noqa: PLC0415 - only where it is installed

    _start_ray(ray)
    try:
        return _weft(load, n, watch, lazy=True, backend="ray")
    finally:
        ray.shutdown()


def _weft(
    load: str, n: int, watch: Stopwatch, *, lazy: bool, backend: str = "local"
) -> tuple[float, int]:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        greetings = WORKERS if watch.warm else 0
        search = one_round(load, n, lazy, greetings)
        run = weft.run(search, out=out, workers=WORKERS, backend=backend)
        seconds = watch.seconds() - (time.time() - arrived_at[-1])
        if watch.warm:
            seconds = arrived_at[-1] - _last_greeting(out)
        verdict = verify(out, real_place().heads)
        assert (verdict.root, verdict.completed) == (run.head, n + greetings)
    return seconds, run.answer


def _last_greeting(out: Path) -> float:
    with closing(sqlite3.connect(f"file:{out}/manifest.sqlite?mode=ro", uri=True)) as db:
        query = "SELECT max(finished_at) FROM tasks WHERE function LIKE '%:greet'"
        return float(db.execute(query).fetchone()[0])


def executor(load: str, n: int, watch: Stopwatch) -> tuple[float, int]:
    work, context = LOADS[load], multiprocessing.get_context("forkserver")
    with ProcessPoolExecutor(WORKERS, mp_context=context) as pool:
        if watch.warm:
            watch.workers_are_up(pool.map(loads.greet, range(WORKERS)))
        futures = [pool.submit(work, i) for i in range(n)]
        total = sum(future.result() for future in futures)
        return watch.seconds(), total


def pool_single(load: str, n: int, watch: Stopwatch) -> tuple[float, int]:
    return _pool(load, n, watch, chunk=1)


def pool_chunks(load: str, n: int, watch: Stopwatch) -> tuple[float, int]:
    return _pool(load, n, watch, chunk=100)


def _pool(load: str, n: int, watch: Stopwatch, chunk: int) -> tuple[float, int]:
    with multiprocessing.get_context("forkserver").Pool(WORKERS) as pool:
        if watch.warm:
            watch.workers_are_up(pool.imap(loads.greet, range(WORKERS)))
        total = sum(pool.imap(LOADS[load], range(n), chunksize=chunk))
        return watch.seconds(), total


def joblib_loky(load: str, n: int, watch: Stopwatch) -> tuple[float, int]:
    from joblib import Parallel, delayed  # noqa: PLC0415 - only where it is measured

    with Parallel(n_jobs=WORKERS) as parallel:
        if watch.warm:
            watch.workers_are_up(parallel(delayed(loads.greet)(i) for i in range(WORKERS)))
        total = sum(parallel(delayed(LOADS[load])(i) for i in range(n)))
        return watch.seconds(), total


def _start_ray(ray: Any) -> None:
    ray.init(num_cpus=WORKERS, include_dashboard=False, logging_level="ERROR")


def ray_tasks(load: str, n: int, watch: Stopwatch) -> tuple[float, int]:
    import ray  # noqa: PLC0415 - only where it is installed

    _start_ray(ray)
    try:
        if watch.warm:
            greet = ray.remote(loads.greet)
            watch.workers_are_up(ray.get([greet.remote(i) for i in range(WORKERS)]))
        work = ray.remote(LOADS[load])
        total = sum(ray.get([work.remote(i) for i in range(n)]))
        return watch.seconds(), total
    finally:
        ray.shutdown()


def ray_actors(load: str, n: int, watch: Stopwatch) -> tuple[float, int]:
    """A bare pool of actors: every call is sent at once, to each in turn."""
    import ray  # noqa: PLC0415 - only where it is installed

    _start_ray(ray)
    try:
        actors = [ray.remote(loads.Hand).remote() for _ in range(WORKERS)]
        if watch.warm:
            greetings = [actor.do.remote("greet", i) for i, actor in enumerate(actors)]
            watch.workers_are_up(ray.get(greetings))
        asked = [actors[i % WORKERS].do.remote(load, i) for i in range(n)]
        total = sum(ray.get(asked))
        return watch.seconds(), total
    finally:
        ray.shutdown()


ENGINES: dict[str, Engine] = {
    "weft, plain round": weft_plain,
    "weft, lazy round": weft_lazy,
    "ProcessPoolExecutor": executor,
    "Pool.imap": pool_single,
    "Pool.imap, chunks of 100": pool_chunks,
    "joblib/loky": joblib_loky,
    "Ray tasks": ray_tasks,
    "Ray actor pool": ray_actors,
    "weft, ray backend": weft_ray,
}
NEEDS = {
    "joblib/loky": "joblib",
    "Ray tasks": "ray",
    "Ray actor pool": "ray",
    "weft, ray backend": "ray",
}


def is_installed(engine: str) -> bool:
    """Whether the engine can be measured here."""
    return engine not in NEEDS or importlib.util.find_spec(NEEDS[engine]) is not None


def main_process() -> None:
    name, load, n, start = sys.argv[1:]
    seconds, total = ENGINES[name](load, int(n), Stopwatch(start == "warm"))
    assert total == loads.wanted_sum(int(n)), f"{name} summed up to {total}"
    print(json.dumps({"seconds": seconds}))


if __name__ == "__main__":
    main_process()
