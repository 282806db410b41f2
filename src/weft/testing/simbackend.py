"""The backend of a simulation: runs tasks in this process, in a seeded order, with seeded faults.

    coordinator ── assignments ──► SimBackend ── poll: one thing happens ──► events

`Faults` decides what happens; time passes only in `poll`.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from weft.model.attempts import (
    Assignment,
    BackendEvent,
    Completed,
    Finished,
    GivenBack,
    Lost,
    Started,
    Worker,
)
from weft.model.results import TaskError
from weft.testing.checker import Checker
from weft.testing.simworld import Faults, SimClock
from weft.worker.execute import Executor

WORKER = Worker(pid=1, started=0.0, node="sim")


@dataclass(slots=True)
class SimBackend:
    """Virtual workers: runs tasks in this process, in a seeded order, with seeded faults."""

    chance: random.Random
    clock: SimClock
    executor: Executor
    checker: Checker
    faults: Faults
    slots: int = 4
    room: int = 6
    """Number of tasks that a slot holds: one that may run, and a block behind it."""
    _queue: list[Assignment] = field(default_factory=list)
    _running: list[Assignment] = field(default_factory=list)
    _hung: list[Assignment] = field(default_factory=list)
    _ghosts: list[BackendEvent] = field(default_factory=list)

    def capacity(self) -> list[int]:
        """Return the room per slot."""
        loads = [0] * self.slots
        for assignment in (*self._queue, *self._running, *self._hung):
            loads[assignment.slot] += 1
        return [self.room - count for count in loads]

    def submit(self, assignments: Sequence[Assignment]) -> None:
        """Accept assignments, splitting blocks into single tasks."""
        self._queue.extend(task for assignment in assignments for task in assignment.each())

    def poll(self, timeout_s: float) -> list[BackendEvent]:
        """Let one thing happen; time passes."""
        self.clock.now_s += self.faults.pass_time((0.01, 0.001, timeout_s))
        if self._ghosts and self.chance.random() < 0.3:
            return [self._ghosts.pop(self.chance.randrange(len(self._ghosts)))]
        if len(self._queue) > 1 and self.faults.pick(3) == 1:
            return self._end_block()
        if self._queue and (not self._running or self.faults.pick(2) == 0):
            return self._start()
        if self._running:
            return self._end_one()
        self.clock.now_s += timeout_s
        return []

    def cancel(self, tickets: Sequence[int]) -> None:
        """Discard attempts."""
        for tasks in (self._queue, self._running, self._hung):
            tasks[:] = [a for a in tasks if a.ticket not in tickets]

    def close(self) -> None:
        """Do nothing: nothing outlives the simulation."""

    def _start(self) -> list[BackendEvent]:
        if self.faults.strikes("given-back"):
            return [GivenBack(self._queue.pop().ticket)]
        assignment = self._queue.pop(self.faults.pick(len(self._queue)))
        self._running.append(assignment)
        return [Started(assignment.ticket, WORKER)]

    def _end_block(self) -> list[BackendEvent]:
        """Let a worker run what it holds of a block, or die in its last task.

        Only ends are reported. A worker that dies loses the values that it has not sent: the task
        that it ran is lost, the others come back.
        """
        block = self._consecutive()
        dies = self.faults.may_lose(_place(block[-1])) and self.faults.strikes("lost")
        self._queue = [a for a in self._queue if a not in block]
        if dies:
            *others, last = block
            back: list[BackendEvent] = [GivenBack(a.ticket) for a in reversed(others)]
            return [Started(last.ticket, WORKER), Lost(last.ticket, "simulated"), *back]
        self.faults.spared(_place(block[-1]))
        events: list[BackendEvent] = []
        values: list[str] = []
        for assignment in block:
            end = self._run(assignment)
            if isinstance(end, Finished) and end.value is not None and not end.staged:
                values.append(end.value)
                continue
            events += _completed(assignment.ticket, values)
            events += [Started(assignment.ticket, WORKER), end]
            values = []
        events += _completed(block[-1].ticket + 1, values)
        if self.faults.strikes("repeated"):
            self._ghosts += [e for e in events if isinstance(e, Completed)]
        return events

    def _consecutive(self) -> list[Assignment]:
        """Return some waiting tasks of one slot and round with consecutive tickets."""
        first = self._queue[self.faults.pick(len(self._queue))]
        block = [first]
        for assignment in sorted(self._queue, key=lambda a: a.ticket):
            follows = assignment.ticket == block[-1].ticket + 1
            if follows and assignment.slot == first.slot and _round(assignment) == _round(first):
                block.append(assignment)
        return block[: 1 + self.faults.pick(len(block))]

    def _end_one(self) -> list[BackendEvent]:
        assignment = self._running.pop(self.faults.pick(len(self._running)))
        place = _place(assignment)
        if self.faults.may_lose(place) and self.faults.strikes("lost"):
            if self.chance.random() < 0.5:  # the result of a lost attempt arrives late
                self._ghosts.append(self._run(assignment))
            return [Lost(assignment.ticket, "simulated")]
        if self.faults.strikes("hang"):
            self._hung.append(assignment)
            return []
        self.faults.spared(place)
        if self.faults.strikes("temporary"):
            error = TaskError("temporary", "run")
            return [Finished(assignment.ticket, error=error, retriable=True)]
        end = self._run(assignment)
        if self.faults.strikes("repeated"):
            self._ghosts.append(end)
        return [end]

    def _run(self, assignment: Assignment) -> BackendEvent:
        self.checker.executed(assignment)
        prepared = self.executor.prepare(assignment)
        if isinstance(prepared, Lost):
            return prepared
        return self.executor.run(assignment, *prepared)


def _place(assignment: Assignment) -> tuple[str, int, int]:
    return (assignment.lane, assignment.round, assignment.index)


def _round(assignment: Assignment) -> tuple[str, int]:
    return (assignment.lane, assignment.round)


def _completed(end: int, values: Sequence[str]) -> list[BackendEvent]:
    """Return the event of values whose tickets end before `end`; none without values."""
    if not values:
        return []
    return [Completed(end - len(values), tuple(values), (0,) * len(values), WORKER)]
