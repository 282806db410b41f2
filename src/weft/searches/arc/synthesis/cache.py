"""A cache of expansions with a size limit. It saves work and never changes a result.

A hit is charged to the budget like a miss, so a search finds the same without the cache.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

CAP_BYTES = 64 * 2**20


ExpansionKey = tuple[str, int, bytes, tuple[int, ...]]
"""Task digest, stage, contents of the vector, numbers of the operators."""


@dataclass(frozen=True, slots=True)
class Expansion:
    """All results of applying some operators to one vector."""

    data: bytes
    ends: list[int]
    """End offsets of the results, for each operator one per example: a single list, so that the
    cyclic garbage collector has one object to visit."""
    shape: list[int]
    cells: list[int]
    states: bytes

    @property
    def size_bytes(self) -> int:
        """The approximate memory that the expansion takes."""
        return len(self.data) + len(self.states) + 40 * len(self.ends)


class ApplyCache:
    """An LRU cache of expansions, limited by their memory."""

    def __init__(self, cap_bytes: int = CAP_BYTES) -> None:
        self._cap_bytes = cap_bytes
        self._held: OrderedDict[ExpansionKey, Expansion] = OrderedDict()
        self.size_bytes = self.hits = self.misses = 0

    def get(self, key: ExpansionKey) -> Expansion | None:
        """Return the expansion of a key, or None."""
        expansion = self._held.get(key)
        if expansion is None:
            self.misses += 1
            return None
        self.hits += 1
        self._held.move_to_end(key)
        return expansion

    def put(self, key: ExpansionKey, expansion: Expansion) -> None:
        """Add an expansion; the least recently used ones are evicted."""
        if expansion.size_bytes > self._cap_bytes:
            return
        self._held[key] = expansion
        self.size_bytes += expansion.size_bytes
        while self.size_bytes > self._cap_bytes:
            _, oldest = self._held.popitem(last=False)
            self.size_bytes -= oldest.size_bytes
