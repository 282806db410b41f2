"""A cache of expansions with a cap on its bytes. It saves work and never changes a result.

A hit is charged to the budget like a miss, so what a search finds does not depend on it.
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
    """Where results end, example by example, operator by operator: one list, so that the cyclic
    garbage collector has one object to visit."""
    shape: list[int]
    cells: list[int]
    states: bytes

    @property
    def size_bytes(self) -> int:
        """About how much memory it holds."""
        return len(self.data) + len(self.states) + 40 * len(self.ends)


class ApplyCache:
    """Least recently used expansions of one task go first when the cap is reached."""

    def __init__(self, cap_bytes: int = CAP_BYTES) -> None:
        self._cap_bytes = cap_bytes
        self._held: OrderedDict[ExpansionKey, Expansion] = OrderedDict()
        self.size_bytes = self.hits = self.misses = 0

    def get(self, key: ExpansionKey) -> Expansion | None:
        """Return what is held under a key."""
        expansion = self._held.get(key)
        if expansion is None:
            self.misses += 1
            return None
        self.hits += 1
        self._held.move_to_end(key)
        return expansion

    def put(self, key: ExpansionKey, expansion: Expansion) -> None:
        """Hold an expansion; the oldest make room for it."""
        if expansion.size_bytes > self._cap_bytes:
            return
        self._held[key] = expansion
        self.size_bytes += expansion.size_bytes
        while self.size_bytes > self._cap_bytes:
            _, oldest = self._held.popitem(last=False)
            self.size_bytes -= oldest.size_bytes
