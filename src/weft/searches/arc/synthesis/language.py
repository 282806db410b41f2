"""The language of a search: the registry's operators, and concepts learned as chains of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import numpy.typing as npt

from weft.searches.arc.kernels.expand import family_of
from weft.searches.arc.ops.operator import Operator, Palette, ShapeEffect
from weft.searches.arc.ops.registry import REGISTRY
from weft.searches.arc.values import ValueStage

Step = tuple[int, int, int]
"""Kernel, p and q."""


@dataclass(frozen=True, slots=True)
class LanguageEntry:
    """An operator or concept as the search uses it."""

    name: str
    takes: ValueStage
    gives: ValueStage
    shape: ShapeEffect
    palette: Palette
    millibits: int
    chain: tuple[Step, ...]
    expands: tuple[str, ...]
    """The operators of its chain."""

    @staticmethod
    def of(operator: Operator) -> LanguageEntry:
        """Return the entry of a single operator."""
        o = operator
        return LanguageEntry(
            o.name, o.takes, o.gives, o.shape, o.palette, o.millibits,
            ((o.kernel, o.p, o.q),), (o.name,),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class PlanPart:
    """Entries of one family of kernels: their rows, and their range in the plan."""

    family: int
    rows: npt.NDArray[np.int64]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ExpansionPlan:
    """How to apply some entries: family by family, then the chains of concepts."""

    parts: tuple[PlanPart, ...]
    chains: tuple[tuple[Step, ...], ...]
    gives: npt.NDArray[np.int64]


class Language:
    """The entries of a search in their fixed order: operators by family, then concepts."""

    def __init__(
        self, concepts: Sequence[LanguageEntry] = (), operators: Sequence[Operator] = REGISTRY
    ) -> None:
        self.entries = (*(LanguageEntry.of(operator) for operator in operators), *concepts)
        self.gives = np.array([entry.gives for entry in self.entries], np.int64)
        self.by_stage = {
            int(stage): [i for i, entry in enumerate(self.entries) if entry.takes is stage]
            for stage in ValueStage
        }
        self.firsts = self.by_stage[int(ValueStage.GRID)]
        """Entries with which a program can begin; slices are ranges of this list."""

    def plan(self, numbers: Sequence[int]) -> ExpansionPlan:
        """Plan the kernel calls for some entries, given in ascending order."""
        single = [n for n in numbers if len(self.entries[n].chain) == 1]
        families = [family_of(self.entries[n].chain[0][0]) for n in single]
        parts, start = [], 0
        for family, run in groupby(families):
            end = start + len(list(run))
            rows = np.array([self.entries[n].chain[0] for n in single[start:end]], np.int64)
            parts.append(PlanPart(family, rows, start, end))
            start = end
        chains = [self.entries[n].chain for n in numbers[len(single) :]]
        return ExpansionPlan(tuple(parts), tuple(chains), self.gives[list(numbers)])

    def ordered(self, seed: int) -> list[int]:
        """Return each entry's rank in a shuffle by seed, which only breaks ties."""
        keys = [(_mix(seed * 0x9E3779B97F4A7C15 + i), i) for i in range(len(self.entries))]
        return [rank for _, rank in sorted((i, r) for r, (_, i) in enumerate(sorted(keys)))]


def _mix(x: int) -> int:
    """Mix 64 bits (the finalizer of splitmix64)."""
    x &= 2**64 - 1
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & (2**64 - 1)
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & (2**64 - 1)
    return x ^ (x >> 31)
