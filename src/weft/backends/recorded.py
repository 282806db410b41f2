"""Backends that answer some tasks from a record and run everything else.

An external command need not be deterministic, but its result was recorded. A replay reuses that
result, so that all decisions based on it can be compared. A retry reuses the results of the
earlier run, and runs what failed there and what is new.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby

from weft.backends.contract import Backend
from weft.model.attempts import Assignment, BackendEvent, Completed, Finished, Started, Worker
from weft.model.tasks import COMMAND

Recall = Callable[[str], Finished | None]
"""Returns the recorded end of the command with this key; its ticket does not matter."""
ValueAt = Callable[[str, int, int, str, str], str | None]
"""Returns the recorded value of the task at (lane, round, index) with this function and args."""
REUSED = "reused"
"""The node of a task whose result comes from the run that is retried."""


class _Answering(ABC):
    """Wraps a backend; tasks that can be answered from a record never reach it."""

    def __init__(self, inner: Backend) -> None:
        self._inner = inner
        self._events: list[BackendEvent] = []

    @abstractmethod
    def _unanswered(self, assignment: Assignment) -> Sequence[Assignment]:
        """Add the events of recorded tasks, and return the parts that are not recorded."""

    def capacity(self) -> Sequence[int]:
        """Return the capacity of the wrapped backend."""
        return self._inner.capacity()

    def submit(self, assignments: Sequence[Assignment]) -> None:
        """Answer recorded tasks at once and pass on the rest."""
        unrecorded = [part for block in assignments for part in self._unanswered(block)]
        if unrecorded:
            self._inner.submit(unrecorded)

    def poll(self, timeout_s: float) -> list[BackendEvent]:
        """Return events of recorded tasks first, then those of the wrapped backend."""
        events, self._events = self._events, []
        return events + self._inner.poll(0.0 if events else timeout_s)

    def cancel(self, tickets: Sequence[int]) -> None:
        """Cancel attempts; those in a completed block are left to its receiver to ignore."""
        self._events = [
            event
            for event in self._events
            if isinstance(event, Completed) or event.ticket not in tickets
        ]
        self._inner.cancel(tickets)

    def close(self) -> None:
        """Close the wrapped backend."""
        self._inner.close()


class RecordedCommands(_Answering):
    """Does not run commands that `recall` knows."""

    def __init__(self, inner: Backend, recall: Recall) -> None:
        super().__init__(inner)
        self._recall = recall

    def _unanswered(self, assignment: Assignment) -> Sequence[Assignment]:
        recorded = self._recall(assignment.key) if assignment.function == COMMAND else None
        if recorded is None:
            return (assignment,)
        self._events.append(Started(assignment.ticket, Worker(node="recorded")))
        self._events.append(replace(recorded, ticket=assignment.ticket))
        return ()


class ReusedResults(_Answering):
    """Does not run tasks whose values `value_at` knows; runs the other tasks of a block."""

    def __init__(self, inner: Backend, value_at: ValueAt) -> None:
        super().__init__(inner)
        self._value_at = value_at

    def _unanswered(self, assignment: Assignment) -> Sequence[Assignment]:
        block, texts = assignment, (assignment.args, *assignment.more)
        place, function = (block.lane, block.round), block.function
        values = [
            self._value_at(*place, index, function, args)
            for index, args in enumerate(texts, start=block.index)
        ]
        parts = list[Assignment]()
        for is_new, group in groupby(range(len(texts)), lambda number: values[number] is None):
            numbers = list(group)
            start, end = numbers[0], numbers[-1] + 1
            if is_new:
                parts.append(_part(block, texts, start, end))
                continue
            reused = [value for value in values[start:end] if value is not None]
            worker = Worker(node=REUSED)
            self._events.append(Completed(block.ticket + start, reused, [0] * len(reused), worker))
        return parts


def _part(block: Assignment, texts: Sequence[str], start: int, end: int) -> Assignment:
    """Return part of a block as a block; only the key of the block's first task is known."""
    return replace(
        block,
        ticket=block.ticket + start,
        index=block.index + start,
        args=texts[start],
        key=block.key if start == 0 else "",
        more=tuple(texts[start + 1 : end]),
    )
