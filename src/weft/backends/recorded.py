"""A backend that answers commands from a record and runs everything else.

An external command need not be deterministic: what it returned was recorded once. A replay
takes that as given, so that everything decided from it can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from weft.backends.contract import Backend
from weft.model.attempts import Assignment, BackendEvent, Finished, Started, Worker
from weft.model.tasks import COMMAND

Recall = Callable[[str], Finished | None]
"""The recorded end of the command with this key; its ticket does not matter."""


class RecordedCommands:
    """Wraps a backend; commands that `recall` knows never reach it."""

    def __init__(self, inner: Backend, recall: Recall) -> None:
        self._inner = inner
        self._recall = recall
        self._events: list[BackendEvent] = []

    def capacity(self) -> Sequence[int]:
        """Room as the wrapped backend has it."""
        return self._inner.capacity()

    def submit(self, assignments: Sequence[Assignment]) -> None:
        """Answer recorded commands at once, pass the rest on."""
        unrecorded = []
        for assignment in assignments:
            recorded = self._recall(assignment.key) if assignment.function == COMMAND else None
            if recorded is None:
                unrecorded.append(assignment)
                continue
            self._events.append(Started(assignment.ticket, Worker(node="recorded")))
            self._events.append(replace(recorded, ticket=assignment.ticket))
        if unrecorded:
            self._inner.submit(unrecorded)

    def poll(self, timeout_s: float) -> list[BackendEvent]:
        """What was recorded first, then what happens."""
        events, self._events = self._events, []
        return events + self._inner.poll(0.0 if events else timeout_s)

    def cancel(self, tickets: Sequence[int]) -> None:
        """Forget attempts, wherever they are."""
        self._events = [event for event in self._events if event.ticket not in tickets]
        self._inner.cancel(tickets)

    def close(self) -> None:
        """Close the wrapped backend."""
        self._inner.close()
