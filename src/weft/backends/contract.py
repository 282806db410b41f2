"""The contract between the coordinator and whatever runs its tasks.

    submit(assignment) ─► … ─► poll() gives Started, then one of Finished | Lost | GivenBack
                                             └─► Entered, for each further stage of a command
    or, for tasks that were over before it was worth reporting their start, Completed;
    and NodeEvent, when a node or a slot is lost, refused, retired or back

An assignment may be a block of tasks; a backend that cannot use that takes them one by one.

`weft.testing.conformance` is the suite every backend must pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from weft.model.attempts import Assignment, BackendEvent


class Backend(Protocol):
    """What the coordinator asks of a backend. All calls come from one thread."""

    def capacity(self) -> Sequence[int]:
        """How many more tasks each slot would take right now, by slot number.

        A slot that is out of service is −1: retired because it keeps losing workers, or while
        its node is lost. What waits for it goes elsewhere.
        """

    def submit(self, assignments: Sequence[Assignment]) -> None:
        """Take assignments, no more tasks for a slot than it has room, to run in this order."""

    def poll(self, timeout_s: float) -> list[BackendEvent]:
        """Return what happened, waiting up to `timeout_s` for something to happen."""

    def cancel(self, tickets: Sequence[int]) -> None:
        """Give attempts up, killing what runs; no event of them is delivered any more."""

    def close(self) -> None:
        """Kill everything that still runs and release all resources; may be called twice."""
