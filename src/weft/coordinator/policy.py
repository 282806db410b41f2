"""What becomes of an attempt that did not succeed. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from weft.coordinator.steps import LiveTask
from weft.model.results import TaskError
from weft.model.tasks import COMMAND

LOSSES_BEFORE_ALONE = 3
COMMAND_GRACE_S = 3.5
"""After a command's limit its supervisor may need 1 s for TERM and some for KILL, and its worker
ends a supervisor that is 2.5 s late. A worker silent for longer is stopped or stuck; even so the
attempt is over within 5 s of its limit."""
LOSSES_BEFORE_FAILED = 6
WORKER_DIED = TaskError("worker-died", "run")
TIMED_OUT = TaskError("timeout", "run")


@dataclass(frozen=True, slots=True)
class Policy:
    """The decision config's limits, as they stand when a task does not set its own."""

    retries: int = 0
    timeout_s: float | None = None
    strict: bool = False

    def may_retry(self, task: LiveTask) -> bool:
        """Whether one more attempt is allowed after a fault that is worth retrying."""
        limit = self.retries if task.limits.retries is None else task.limits.retries
        return task.charged < limit

    def limit_s(self, task: LiveTask) -> float | None:
        """How long an attempt may run."""
        return self.timeout_s if task.limits.timeout_s is None else task.limits.timeout_s

    def deadline_s(self, task: LiveTask) -> float | None:
        """Monotonic time at which a running attempt is overdue.

        A command's own supervisor measures its limit; this watch is for those that watch it, and
        for what runs before and after it, each of which has the limit for itself.
        """
        limit = self.limit_s(task)
        if limit is None or task.started_s is None:
            return None
        return task.entered_s + limit + (COMMAND_GRACE_S if task.function == COMMAND else 0.0)


def runs_alone(task: LiveTask) -> bool:
    """A task that keeps losing workers runs with nothing beside it, to show whose fault it is."""
    return task.losses >= LOSSES_BEFORE_ALONE


def gives_up(task: LiveTask) -> bool:
    """A task that lost its worker too often, the last times alone, is at fault."""
    return task.losses >= LOSSES_BEFORE_FAILED
