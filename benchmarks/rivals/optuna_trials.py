"""Optuna: a trial without parameters is a task; worker processes share one storage.

The sampler has nothing to sample, so only the storage and its locks are measured.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable

import optuna
from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend

from benchmarks.rivals.ask import Ask, Outcome, Stopwatch
from benchmarks.rivals.crew import share, work_together

STUDY = "benchmark"
LOCK_WAIT_S = 100
optuna.logging.set_verbosity(optuna.logging.ERROR)


def sqlite(ask: Ask, watch: Stopwatch) -> Outcome:
    return _optimize(ask, watch, _Sqlite)


def journal(ask: Ask, watch: Stopwatch) -> Outcome:
    return _optimize(ask, watch, _Journal)


class _Sqlite:
    """Opens the study in SQLite; sent to the worker processes."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def open(self) -> BaseStorage:
        wait = {"connect_args": {"timeout": LOCK_WAIT_S}}
        return RDBStorage(f"sqlite:///{self.folder}/study.sqlite", engine_kwargs=wait)

    def __call__(self, ask: Ask, number: int) -> Callable[[], None]:
        study = optuna.load_study(
            study_name=STUDY, storage=self.open(), sampler=optuna.samplers.RandomSampler()
        )
        trials, work = len(share(ask, number)), ask.work
        return lambda: study.optimize(lambda trial: work(trial.number), n_trials=trials)


class _Journal(_Sqlite):
    """Opens the study in a journal file."""

    def open(self) -> BaseStorage:
        return JournalStorage(JournalFileBackend(f"{self.folder}/study.log"))


def _optimize(ask: Ask, watch: Stopwatch, kind: type[_Sqlite]) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        worker = kind(folder)
        study = optuna.create_study(study_name=STUDY, storage=worker.open())
        work_together(worker, ask, watch)
        total = sum(int(trial.value) for trial in study.get_trials(deepcopy=False))
        return watch.seconds(), total
