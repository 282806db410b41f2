"""A memory page that a worker shares with its parent: which task is running, and since when.

Marking a start costs a store, not a message. After a death or at a time limit the parent reads
which task to charge; the block's other tasks go back uncharged. Both processes run on the same
machine and so share the kernel's monotonic clock.
"""

from __future__ import annotations

import mmap
import os
from dataclasses import dataclass

PAGE_BYTES = mmap.PAGESIZE
NOTHING = 0
"""Stored instead of a ticket while no task runs; tickets start at 1."""
NS = 1_000_000_000


def new_page() -> int:
    """Return the descriptor of a new anonymous page."""
    descriptor = os.memfd_create("weft-starts")
    os.ftruncate(descriptor, PAGE_BYTES)
    return descriptor


@dataclass(frozen=True, slots=True)
class Mark:
    """The running task, and when it started on the monotonic clock."""

    ticket: int
    started_s: float


class StartPage:
    """One side of a page; the worker writes, the parent reads."""

    def __init__(self, descriptor: int) -> None:
        self._memory = mmap.mmap(descriptor, PAGE_BYTES)
        self.cells = memoryview(self._memory).cast("Q")
        """Ticket and start in nanoseconds; each is stored atomically, the start first."""

    def read(self) -> Mark | None:
        """Return the running task; None if there is none."""
        ticket = self.cells[0]
        while ticket != NOTHING:
            started_ns = self.cells[1]
            if self.cells[0] == ticket:
                return Mark(ticket, started_ns / NS)
            ticket = self.cells[0]
        return None

    def close(self) -> None:
        """Release the memory."""
        self.cells.release()
        self._memory.close()
