"""The room that each slot has left while tasks are handed out, however many slots there are."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from itertools import compress

from weft.coordinator.steps import TaskClass


class Rooms:
    """Room per slot, taken up step by step; it only shrinks."""

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
            left = self.left
            open_slots = compress(slots, map(left.__getitem__, slots))
            heap = self._heaps[gpu] = [(-left[i], i) for i in open_slots if left[i] > 0]
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
