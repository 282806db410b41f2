"""The engines that are compared, their numbers of tasks, and what each guarantees about a result.

Slow engines get fewer tasks than fast ones, since the cost per task is compared. Those in `SAME`
are also measured with the same number of tasks.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rival:
    """An engine that is measured."""

    name: str
    place: str
    """module:function under benchmarks/rivals."""
    tiny: int
    """Number of tiny tasks in one measurement."""
    milliseconds: int
    """Number of 1 ms tasks for each worker."""
    package: str = ""
    """The package that it imports, besides the standard library."""
    ours: bool = False
    """Whether it runs in Weft's environment, not in that of the rivals."""
    stores: str = ""
    """For durable engines: what is stored when, and what that survives."""
    wide: bool = False
    """Whether it is also measured with many workers, where its package can be imported."""

    def tasks(self, load: str, workers: int, share: float = 1.0) -> int:
        """Return the number of tasks of one measurement, scaled; at least one per worker."""
        full = self.tiny if load == "tiny" else self.milliseconds * workers
        return max(workers, int(share * full))


WEFT, PLAIN, ON_RAY = "weft, lazy round", "weft, plain round", "weft, ray backend"
JOBLIB, EXECUTOR, ACTORS = "joblib/loky", "ProcessPoolExecutor", "Ray actor pool"
DOCUMENTED = "joblib/loky, delayed(f)(x)"
"""The form that its documentation uses, with a new `delayed` for each task."""
MEMORY, HUEY, JOURNAL, DBOS = "joblib.Memory", "huey, SQLite", "Optuna, journal", "DBOS, SQLite"
OURS = (
    "Every result in SQLite (WAL, `synchronous=FULL`) and in a hash-chained ledger"
    " (`fdatasync`), committed at 1,024 results or after 50 ms; a power cut costs at most that"
    " tail, which runs again. The time ends after the last sync."
)

RIVALS = (
    Rival(WEFT, "weft_round:lazy", 100_000, 2_000, ours=True, stores=OURS, wide=True),
    Rival(PLAIN, "weft_round:plain", 100_000, 2_000, ours=True, stores=OURS),
    Rival(ON_RAY, "weft_round:on_ray", 20_000, 1_000, "ray", ours=True, stores=OURS),
    Rival(JOBLIB, "joblib_pool:loky", 400_000, 2_000, "joblib", wide=True),
    Rival(DOCUMENTED, "joblib_pool:loky_documented", 400_000, 2_000, "joblib", wide=True),
    Rival("Pool.imap", "stdlib:pool", 60_000, 2_000, wide=True),
    Rival("Pool.imap, chunks of 100", "stdlib:pool_chunks", 2_000_000, 2_000, wide=True),
    Rival(EXECUTOR, "stdlib:executor", 20_000, 2_000, wide=True),
    Rival("Ray tasks", "ray_pool:tasks", 5_000, 1_000, "ray"),
    Rival(ACTORS, "ray_pool:actors", 5_000, 1_000, "ray"),
    Rival("Dask", "dask_client:client", 2_500, 500, "distributed", wide=True),
    Rival(
        MEMORY, "joblib_pool:memory", 10_000, 1_000, "joblib", wide=True,
        stores="One folder a result, with a pickle and a JSON file, written and renamed by the"
        " worker without `fsync`: survives the process, not a power cut.",
    ),
    Rival(
        HUEY, "huey_tasks:consumer", 3_000, 500, "huey", wide=True,
        stores="Queue and results in SQLite (WAL, `synchronous=FULL`, the library's default):"
        " a transaction each to enqueue, take and store a task, 3 disk syncs a task.",
    ),
    Rival(
        JOURNAL, "optuna_trials:journal", 2_000, 500, "optuna",
        stores="One line for the start and one for the end of a trial, appended to a file under a"
        " lock, each with `fsync`: 2 disk syncs a task.",
    ),
    Rival(
        "Optuna, SQLite", "optuna_trials:sqlite", 200, 50, "optuna",
        stores="One transaction for the start and one for the end of a trial; SQLite's rollback"
        " journal, `synchronous=FULL`: 8 disk syncs a task.",
    ),
    Rival(
        DBOS, "dbos_steps:steps", 600, 200, "dbos",
        stores="One transaction a step with its output, before the workflow goes on; SQLite's"
        " rollback journal, `synchronous=FULL`: 4 disk syncs a task.",
    ),
    Rival(
        "redun", "redun_tasks:scheduler", 100, 30, "redun",
        stores="Job, call node, arguments and value of every task in several transactions; SQLite's"
        " rollback journal, `synchronous=FULL`: 24 disk syncs a task.",
    ),
)  # fmt: skip
BY_NAME = {rival.name: rival for rival in RIVALS}
SAME = (WEFT, JOBLIB, DOCUMENTED, "Pool.imap", "Pool.imap, chunks of 100", EXECUTOR)
"""Engines that run as many tasks as ours gets in less than a minute."""
SAME_TASKS = BY_NAME[WEFT].tiny


def can_import(rival: Rival) -> bool:
    """Whether this interpreter has the package that the engine needs."""
    return not rival.package or importlib.util.find_spec(rival.package) is not None
