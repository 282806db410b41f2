"""The room that each slot has left while tasks are assigned, efficient for many slots."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence

from weft.coordinator.steps import TaskClass


class Rooms:
    """The room of each slot, which only shrinks."""

    def __init__(self, capacity: Sequence[int]) -> None:
        self.left = [*capacity]
        gone = sum(1 for room in capacity if room < 0) if min(capacity, default=0) < 0 else 0
        room = self.left if not gone else [max(0, left) for left in capacity]
        self.total = sum(room)
        self.open_slots = len(room) - room.count(0)
        """How many slots have room."""
        self.in_service = len(room) - gone
        self.full_for: set[TaskClass] = set()
        """Classes of tasks for which no slot is left."""
        self._heap: list[tuple[int, int]] = []
        """Slots by most room, then by number; an entry is checked when it reaches the top."""
        self._question: object = None
        """The question for which the heap was built."""

    def take(self, slot: int, count: int) -> None:
        """Note that a slot was given tasks."""
        self.left[slot] -= count
        self.total -= count
        if self.left[slot] <= 0:
            self.open_slots -= 1
        else:
            heapq.heappush(self._heap, (-self.left[slot], slot))

    def roomiest(
        self,
        question: object,
        candidates: Callable[[], Iterable[int]],
        may_use: Callable[[int], bool],
    ) -> int | None:
        """Return the usable slot with the most room; on a tie, the first.

        `candidates` returns the slots in question. While `question` stays the same, it is not
        called again, nor is `may_use` for a slot that is not usable: as slots fill up, none
        becomes usable.
        """
        left = self.left
        if question != self._question:
            self._question = question
            self._heap = [(-left[slot], slot) for slot in candidates() if left[slot] > 0]
            heapq.heapify(self._heap)
        while self._heap:
            room, slot = self._heap[0]
            if -room == left[slot] and may_use(slot):
                return slot
            heapq.heappop(self._heap)
        return None
