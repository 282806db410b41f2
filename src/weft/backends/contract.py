"""The contract between the coordinator and the backends that run its tasks.

    submit(assignment) ─► … ─► poll() gives Started, then one of Finished | Lost | GivenBack
                                             └─► Entered, for each further stage of a command
    or, for tasks too short for a separate report of their start, Completed;
    and NodeEvent, when a node or a slot is lost, refused, retired or back

An assignment may be a block of tasks; a backend that does not use blocks runs them one by one.

`weft.testing.conformance` is the suite every backend must pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from weft.model.attempts import Assignment, BackendEvent


class Backend(Protocol):
    """What the coordinator requires of a backend. All calls come from one thread."""

    def capacity(self) -> Sequence[int]:
        """Return how many more tasks each slot accepts now, by slot number.

        −1 means that the slot is out of service: retired because it keeps losing workers, or its
        node is lost. Tasks that wait for it go elsewhere.
        """

    def submit(self, assignments: Sequence[Assignment]) -> None:
        """Accept assignments, to run in this order; no more tasks per slot than it has room for."""

    def poll(self, timeout_s: float) -> list[BackendEvent]:
        """Return what happened, waiting up to `timeout_s` for something to happen."""

    def cancel(self, tickets: Sequence[int]) -> None:
        """Cancel attempts, killing running ones; no further event of them is delivered."""

    def close(self) -> None:
        """Kill everything that is still running and release all resources; may be called twice."""
