"""DBOS with SQLite: one workflow per worker process, one step per task."""

from __future__ import annotations

import tempfile
from collections.abc import Callable

from dbos import DBOS, DBOSConfig, SetWorkflowID

from benchmarks.rivals.ask import Ask, Outcome, Stopwatch
from benchmarks.rivals.crew import share, work_together


@DBOS.step()
def run_task(load: str, x: int) -> int:
    return Ask(load, 0, warm=False, workers=1).work(x)


@DBOS.workflow()
def run_share(load: str, first: int, n: int, stride: int) -> int:
    return sum(run_task(load, x) for x in range(first, n, stride))


class _Steps:
    """Runs one worker's workflow; sent to the worker processes."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def launch(self, name: str) -> None:
        """Start DBOS on the shared database."""
        config: DBOSConfig = {
            "name": "benchmark",
            "system_database_url": f"sqlite:///{self.folder}/dbos.sqlite",
            "executor_id": name,
            "run_admin_server": False,
            "log_level": "ERROR",
        }
        DBOS(config=config)
        DBOS.launch()

    def __call__(self, ask: Ask, number: int) -> Callable[[], None]:
        self.launch(f"worker-{number}")
        tasks = share(ask, number)

        def run() -> None:
            with SetWorkflowID(f"share-{number}"):
                run_share(ask.load, tasks.start, tasks.stop, tasks.step)

        return run


def steps(ask: Ask, watch: Stopwatch) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        worker = _Steps(folder)
        worker.launch("parent")  # creates the tables, once
        work_together(worker, ask, watch)
        shares = [f"share-{number}" for number in range(ask.workers)]
        total = sum(DBOS.retrieve_workflow(name).get_result() for name in shares)
        seconds = watch.seconds()
        DBOS.destroy()
        return seconds, total
