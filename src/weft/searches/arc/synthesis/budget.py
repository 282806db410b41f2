"""A search's budget, in counts, and its division into slices for the deep phase.

    SearchBudget ── split_budget(operators, slices) ──► WorkerBudget, WorkerBudget, …

A slice owns a contiguous range of first operators and a contiguous range of the programs. The
bounds depend only on the numbers of operators and slices, never on the number of workers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from weft.errors import UsageError

BRIEF_SHARE = 20
"""Percent of the shallow phase's programs that the shallow phase of a brief search may spend."""
FULL_CELLS = 800
"""Input cells up to which a puzzle gets all its programs. With more cells each program takes
longer, so there are fewer: the work, programs times cells, does not grow further."""
SLICES = 32
"""Number of slices of the deep phase, fixed so that the answer is independent of the workers."""


@dataclass(frozen=True, slots=True)
class SearchBudget:
    """The limits of a search of one task. A program is one operator applied to one vector."""

    max_programs: int = 60_000
    max_depth: int = 4
    max_states: int = 40_000
    """Most vectors kept; the search of a slice ends when it reaches this number."""
    shallow_share: int = 50
    """Percent of the programs that the shallow phase may spend."""
    shallow_most: int = 30_000
    """Most programs of the shallow phase: it is one task, whereas the deep phase is parallel."""
    view_share: int = 2
    """Percent of the programs for each view, if the shallow phase finds no short program."""
    competitor_programs: int = 6_000
    """Programs to try after the first train-perfect one, to find competitors."""
    max_candidates: int = 64
    """Most train-perfect programs kept."""
    max_millibits: int = 100_000
    """Longer programs are only guesses, never answers or competitors."""
    stop_on_first: bool = False
    is_brief: bool = False
    """Whether the search has no deep phase."""
    has_late_lists: bool = True
    """Whether lists that scan, read more columns or come in layers may follow plain ones."""
    has_compositions: bool = True
    """Whether programs for parts of a grid and pairs of tables are learned."""
    schema_version: Literal[1] = 1

    def __post_init__(self) -> None:
        for name in ("max_programs", "max_depth", "max_states", "max_candidates", "max_millibits"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be 1 or more, not {getattr(self, name)}")
        for name in ("shallow_share", "view_share"):
            if not 0 <= getattr(self, name) <= 100:
                raise UsageError(f"{name} is a percentage, not {getattr(self, name)}")
        if self.competitor_programs < 0:
            raise UsageError(f"competitor_programs must be 0 or more: {self.competitor_programs}")

    @property
    def shallow_programs(self) -> int:
        """Most programs of the shallow phase."""
        return min(self.shallow_most, self.max_programs * self.shallow_share // 100)

    @property
    def deep_programs(self) -> int:
        """Programs left for the deep phase."""
        return 0 if self.is_brief else self.max_programs - self.shallow_programs

    def for_cells(self, cells: int) -> SearchBudget:
        """Return the budget of a puzzle whose inputs have `cells` cells in all."""
        most = self.max_programs * FULL_CELLS // max(cells, FULL_CELLS)
        return replace(self, max_programs=max(1, most))

    def brief(self, *, has_late_lists: bool, has_compositions: bool = True) -> SearchBudget:
        """Return the budget of a short additional search without a deep phase."""
        return replace(
            self,
            max_programs=max(1, self.shallow_programs),
            shallow_share=BRIEF_SHARE,
            is_brief=True,
            has_late_lists=has_late_lists,
            has_compositions=has_compositions,
        )

    @property
    def view_programs(self) -> int:
        """Most programs of one view."""
        return self.max_programs * self.view_share // 100


@dataclass(frozen=True, slots=True)
class WorkerBudget:
    """One slice: the ranges of first operators and of programs that it owns."""

    slice: int
    operator_start: int
    operator_end: int
    programs_start: int
    programs_end: int
    schema_version: Literal[1] = 1

    @property
    def programs(self) -> int:
        """The number of programs that the slice may try."""
        return self.programs_end - self.programs_start


def split_budget(operators: int, slices: int, programs: int) -> tuple[WorkerBudget, ...]:
    """Divide operators and programs into contiguous slices of almost equal size.

    Slice i of n owns operators [i·k/n, (i+1)·k/n) and programs likewise, rounded down: 100
    operators, 4 slices, 500 programs give [0:25] 0–125, [25:50] 125–250, [50:75] 250–375,
    [75:100] 375–500. Slices without operators (if there are more slices than operators) are left
    out, and the programs are divided among the others.
    """
    if slices < 1 or operators < 0 or programs < 0:
        raise UsageError(f"cannot split {operators} operators, {programs} programs by {slices}")
    bounds = [i * operators // slices for i in range(slices + 1)]
    owned = [(a, b) for a, b in pairwise(bounds) if b > a]
    return share([WorkerBudget(i, a, b, 0, 0) for i, (a, b) in enumerate(owned)], programs)


def share(slices: Sequence[WorkerBudget], programs: int) -> tuple[WorkerBudget, ...]:
    """Divide programs among slices, in contiguous ranges of almost equal size."""
    n = len(slices)
    return tuple(
        replace(part, programs_start=i * programs // n, programs_end=(i + 1) * programs // n)
        for i, part in enumerate(slices)
    )
