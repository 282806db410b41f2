"""The room that each slot has left while tasks are handed out, however many slots there are."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence

TaskClass = tuple[bool, bool]
"""Whether a task needs a GPU, and whether it is a command: all that decides where it fits."""


class Rooms:
    """Room per slot, taken up step by step; it only shrinks."""

    def __init__(self, capacity: Sequence[int]) -> None:
        self.left = list(capacity)
        open_slots = [room for room in capacity if room > 0]
        self.total = sum(open_slots)
        self.open_slots = len(open_slots)
        """How many slots have room."""
        self.in_service = sum(1 for room in capacity if room >= 0)
        self.full_for: set[TaskClass] = set()
        """Classes of tasks for which no slot is left."""
        self._heaps: dict[bool, list[tuple[int, int]]] = {}
        """Slots by most room, then by number; entries are checked when they come up."""

    def take(self, slot: int, count: int) -> None:
        """Note that a slot was given tasks."""
        self.left[slot] -= count
        self.total -= count
        if self.left[slot] <= 0:
            self.open_slots -= 1
        else:
            for heap in self._heaps.values():
                heapq.heappush(heap, (-self.left[slot], slot))

    def roomiest(
        self, slots: Sequence[int], *, gpu: bool, may_use: Callable[[int], bool]
    ) -> int | None:
        """Return the slot with the most room that may be used, the first of several."""
        heap = self._heaps.get(gpu)
        if heap is None:
            heap = self._heaps[gpu] = [(-self.left[i], i) for i in slots if self.left[i] > 0]
            heapq.heapify(heap)
        refused, best = list[tuple[int, int]](), None
        while heap and best is None:
            entry = heap[0]
            if -entry[0] == self.left[entry[1]]:
                if may_use(entry[1]):
                    best = entry[1]
                    break
                refused.append(entry)
            heapq.heappop(heap)
        for entry in refused:
            heapq.heappush(heap, entry)
        return best
