"""redun: its local executor with worker processes, every job and value in SQLite."""

from __future__ import annotations

import tempfile
from pathlib import Path

from redun import Scheduler, task
from redun.config import Config

from benchmarks import loads
from benchmarks.rivals.ask import Ask, Outcome, Stopwatch

redun_namespace = "benchmark"


@task(executor="default")
def greet(x: int) -> int:
    return loads.greet(x)


@task(executor="default")
def run_task(load: str, x: int) -> int:
    return loads.LOADS[load](x)


def scheduler(ask: Ask, watch: Stopwatch) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        redun = Scheduler(config=Config(_settings(ask, Path(folder))))
        redun.load()
        if ask.warm:
            greetings = [greet(i) for i in range(ask.workers)]
            watch.workers_are_up(redun.run(greetings))
        total = sum(redun.run([run_task(ask.load, i) for i in range(ask.n)]))
        return watch.seconds(), total


def _settings(ask: Ask, folder: Path) -> dict[str, dict[str, str]]:
    workers = {"type": "local", "mode": "process", "max_workers": str(ask.workers)}
    return {
        "backend": {"db_uri": f"sqlite:///{folder}/redun.db", "config_dir": str(folder)},
        "executors.default": workers,
        "scheduler": {"job_status_interval": "0"},
    }
