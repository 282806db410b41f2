"""What a search may use: the registry's operators, and concepts learned as chains of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from weft.arc.ops.operator import Operator, Palette, Shape
from weft.arc.ops.registry import REGISTRY
from weft.arc.values import Stage


@dataclass(frozen=True, slots=True)
class Entry:
    """An operator or concept as the search sees it."""

    name: str
    takes: Stage
    gives: Stage
    shape: Shape
    palette: Palette
    millibits: int
    chain: tuple[tuple[int, int, int], ...]
    """Kernel, p and q of each step."""
    expands: tuple[str, ...]
    """The operators it stands for."""

    @staticmethod
    def of(operator: Operator) -> Entry:
        """An operator by itself."""
        o = operator
        return Entry(
            o.name, o.takes, o.gives, o.shape, o.palette, o.millibits,
            ((o.kernel, o.p, o.q),), (o.name,),
        )  # fmt: skip


class Language:
    """The entries of a search in their fixed order, and their rows for the kernels."""

    def __init__(self, concepts: Sequence[Entry] = (), operators: Sequence[Operator] = REGISTRY):
        self.entries = (*(Entry.of(operator) for operator in operators), *concepts)
        width = 3 * max(len(entry.chain) for entry in self.entries)
        self._rows = np.zeros((len(self.entries), width), np.int64)
        for i, entry in enumerate(self.entries):
            for j, step in enumerate(entry.chain):
                self._rows[i, 3 * j : 3 * j + 3] = step
        self.gives = np.array([entry.gives for entry in self.entries], np.int64)
        self.by_stage = {
            int(stage): [i for i, entry in enumerate(self.entries) if entry.takes is stage]
            for stage in Stage
        }
        self.firsts = self.by_stage[int(Stage.GRID)]
        """Entries a program can begin with; slices are ranges of this list."""

    def rows(self, numbers: Sequence[int]) -> npt.NDArray[np.int64]:
        """What the kernels need of some entries."""
        return np.ascontiguousarray(self._rows[list(numbers)])

    def ordered(self, seed: int) -> list[int]:
        """Ranks that break ties between entries: their order for seed 0, else a shuffle by seed.

        A linear congruential permutation key; it decides nothing but ties.
        """
        if seed == 0:
            return list(range(len(self.entries)))
        keys = [(_mix(seed * 0x9E3779B97F4A7C15 + i), i) for i in range(len(self.entries))]
        return [rank for _, rank in sorted((i, r) for r, (_, i) in enumerate(sorted(keys)))]


def _mix(x: int) -> int:
    """Spread 64 bits (the finalizer of splitmix64)."""
    x &= 2**64 - 1
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & (2**64 - 1)
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & (2**64 - 1)
    return x ^ (x >> 31)
