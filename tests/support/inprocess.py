"""Tasks without worker processes: they run here, one after another, in the real executor.

    with workers_here(): weft.run(search, …)

For tests of a search's logic. Loading the kernels of a search takes every new worker a second or
more, but this process only once. Worker processes have their own tests.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from unittest.mock import patch

from weft.backends.process import WorkerSetup
from weft.model.attempts import Assignment, BackendEvent, Lost, Started, Worker
from weft.model.slots import Slot
from weft.worker.context import WorkerPlace
from weft.worker.execute import Executor


class HereBackend:
    """The backend contract with room for one task per slot."""

    def __init__(
        self, setup: WorkerSetup, slots: Sequence[Slot], max_credit: int = 1, stagger_s: float = 0.0
    ) -> None:
        place = WorkerPlace(setup.objects, setup.staging, setup.logs, setup.attempts)
        self._executor = Executor(setup.run_seed, place)
        self._slots, self._queue = len(slots), list[Assignment]()

    def capacity(self) -> list[int]:
        """Room for one task on each slot."""
        slots = [assignment.slot for assignment in self._queue]
        return [1 - slots.count(slot) for slot in range(self._slots)]

    def submit(self, assignments: Sequence[Assignment]) -> None:
        """Accept assignments, the tasks of a block one by one."""
        self._queue += [task for assignment in assignments for task in assignment.each()]

    def poll(self, timeout_s: float) -> list[BackendEvent]:
        """Run the next task."""
        if not self._queue:
            return []
        assignment = self._queue.pop(0)
        started = Started(assignment.ticket, Worker(os.getpid(), 0.0, "local"))
        prepared = self._executor.prepare(assignment)
        if isinstance(prepared, Lost):
            return [prepared]
        return [started, self._executor.run(assignment, *prepared)]

    def cancel(self, tickets: Sequence[int]) -> None:
        """Drop the tickets from the queue."""
        self._queue = [a for a in self._queue if a.ticket not in tickets]

    def close(self) -> None:
        """Do nothing, since nothing was started."""


@contextmanager
def workers_here() -> Iterator[None]:
    """Runs started within the block have no worker processes."""
    with patch("weft.runs.session.LocalBackend", HereBackend):
        yield
