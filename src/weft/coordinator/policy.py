"""What happens after an attempt that did not succeed. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from weft.coordinator.steps import LiveTask
from weft.model.results import TaskError
from weft.model.tasks import COMMAND

LOSSES_BEFORE_ALONE = 3
COMMAND_GRACE_S = 3.5
"""After a command's limit, its supervisor may need 1 s for SIGTERM and some time for SIGKILL, and
its worker kills a supervisor that is 2.5 s late. A worker that is silent for longer is stopped or
stuck; even then the attempt is over within 5 s of its limit."""
LOSSES_BEFORE_FAILED = 6
WORKER_DIED = TaskError("worker-died", "run")
TIMED_OUT = TaskError("timeout", "run")


@dataclass(frozen=True, slots=True)
class Policy:
    """The limits of the decision, for tasks that do not set their own."""

    retries: int = 0
    timeout_s: float | None = None
    strict: bool = False

    def may_retry(self, task: LiveTask) -> bool:
        """Whether one more attempt is allowed after a fault that is worth retrying."""
        limit = self.retries if task.limits.retries is None else task.limits.retries
        return task.charged < limit

    def limit_s(self, task: LiveTask) -> float | None:
        """Return how long an attempt may run."""
        return self.timeout_s if task.limits.timeout_s is None else task.limits.timeout_s

    def deadline_s(self, task: LiveTask) -> float | None:
        """Return the monotonic time at which a running attempt is overdue.

        A command's supervisor enforces the limit itself. This deadline is for a stuck supervisor or
        worker, and for the hooks before and after the command, each of which has the whole limit.
        """
        limit = self.limit_s(task)
        if limit is None or task.started_s is None:
            return None
        return task.entered_s + limit + (COMMAND_GRACE_S if task.function == COMMAND else 0.0)


def runs_alone(task: LiveTask) -> bool:
    """Whether a task must run alone: it keeps losing workers, and this shows whose fault it is."""
    return task.losses >= LOSSES_BEFORE_ALONE


def gives_up(task: LiveTask) -> bool:
    """Whether a task is at fault: it lost its worker too often, the last times alone."""
    return task.losses >= LOSSES_BEFORE_FAILED
