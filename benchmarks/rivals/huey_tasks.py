"""huey with SQLite: its consumer process with worker processes; results stay stored."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from huey import SqliteHuey

from benchmarks import loads
from benchmarks.rivals.ask import Ask, Outcome, Stopwatch

STORE = "BENCHMARK_HUEY_STORE"
"""Environment variable with the path of the store, for the consumer, which imports this module."""
WAIT_S = 0.01
huey = SqliteHuey("benchmark", filename=os.environ.get(STORE, ":memory:"), timeout=100)


@huey.task()
def greet(x: int) -> int:
    return loads.greet(x)


@huey.task()
def run_task(load: str, x: int) -> int:
    return loads.LOADS[load](x)


def consumer(ask: Ask, watch: Stopwatch) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        os.environ[STORE] = str(Path(folder) / "huey.sqlite")
        huey.storage.close()
        huey.storage.filename = os.environ[STORE]
        huey.storage.initialize_schema()
        argv = [sys.executable, "-m", "huey.bin.huey_consumer", f"{__name__}.huey", "-q"]
        argv += ["-k", "process", "-w", str(ask.workers), "-d", str(WAIT_S), "-m", str(WAIT_S)]
        process = subprocess.Popen(argv)
        try:
            return _measured(ask, watch)
        finally:
            process.terminate()
            process.wait()


def _measured(ask: Ask, watch: Stopwatch) -> Outcome:
    if ask.warm:
        greetings = [greet(i) for i in range(ask.workers)]
        watch.workers_are_up([_value(greeting) for greeting in greetings])
    results = [run_task(ask.load, i) for i in range(ask.n)]
    total = sum(_value(result) for result in results)
    return watch.seconds(), total


def _value(result: object) -> int:
    wait = {"blocking": True, "backoff": 1.0, "max_delay": WAIT_S, "preserve": True}
    return int(result.get(**wait))  # type: ignore[attr-defined]
