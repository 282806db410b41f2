"""Budgets are counts. A search's budget, and how it is divided into slices for the deep phase.

    SearchBudget ── split_budget(operators, slices) ──► WorkerBudget, WorkerBudget, …

A slice owns a contiguous range of first operators and a contiguous range of the programs. The
bounds depend on the number of operators and slices alone, never on how many workers there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import cast

from weft.errors import UsageError
from weft.searches.arc.records import BudgetRecord, SliceRecord

SCHEMA_VERSION = 1
SLICES = 8
"""Slices of the deep phase: fixed, so that any number of workers gives the same answer."""


@dataclass(frozen=True, slots=True)
class SearchBudget:
    """What a search may spend on one task. A program is one operator applied to one vector."""

    max_programs: int = 60_000
    max_depth: int = 4
    max_states: int = 40_000
    """Vectors kept; the search of a slice ends when it would keep more."""
    shallow_share: int = 50
    """Percent of the programs that the shallow phase may spend."""
    shallow_most: int = 30_000
    """Programs that it may spend at most: it is one task, what is deeper runs in parallel."""
    view_share: int = 2
    """Percent of the programs that each view may spend, if the shallow phase found nothing."""
    competitor_programs: int = 6_000
    """How many more to try after the first train-perfect program, looking for competitors."""
    max_candidates: int = 64
    """Train-perfect programs kept."""
    max_millibits: int = 100_000
    """Longer programs are no evidence: they are kept as guesses and answer nothing."""
    stop_on_first: bool = False

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
        """Programs of the shallow phase."""
        return min(self.shallow_most, self.max_programs * self.shallow_share // 100)

    @property
    def view_programs(self) -> int:
        """Programs of one view."""
        return self.max_programs * self.view_share // 100

    def to_dict(self) -> BudgetRecord:
        """JSON form."""
        return cast(BudgetRecord, {"schema_version": SCHEMA_VERSION, **asdict(self)})

    @staticmethod
    def from_dict(raw: BudgetRecord) -> SearchBudget:
        """Read what `to_dict` wrote."""
        _check_fields(raw, SearchBudget.__slots__, "SearchBudget")
        return SearchBudget(
            max_programs=raw["max_programs"],
            max_depth=raw["max_depth"],
            max_states=raw["max_states"],
            shallow_share=raw["shallow_share"],
            shallow_most=raw["shallow_most"],
            view_share=raw["view_share"],
            competitor_programs=raw["competitor_programs"],
            max_candidates=raw["max_candidates"],
            max_millibits=raw["max_millibits"],
            stop_on_first=raw["stop_on_first"],
        )


@dataclass(frozen=True, slots=True)
class WorkerBudget:
    """One slice: which first operators are its own, and which part of the programs."""

    slice: int
    operator_start: int
    operator_end: int
    programs_start: int
    programs_end: int

    @property
    def programs(self) -> int:
        """How many programs it may try."""
        return self.programs_end - self.programs_start

    def to_dict(self) -> SliceRecord:
        """JSON form."""
        return cast(SliceRecord, {"schema_version": SCHEMA_VERSION, **asdict(self)})

    @staticmethod
    def from_dict(raw: SliceRecord) -> WorkerBudget:
        """Read what `to_dict` wrote."""
        _check_fields(raw, WorkerBudget.__slots__, "WorkerBudget")
        return WorkerBudget(
            raw["slice"], raw["operator_start"], raw["operator_end"], raw["programs_start"],
            raw["programs_end"],
        )  # fmt: skip


def split_budget(operators: int, slices: int, programs: int) -> tuple[WorkerBudget, ...]:
    """Divide operators and programs into contiguous slices of almost equal size.

    Slice i of n owns operators [i·k/n, (i+1)·k/n) and programs likewise, rounded down: 100
    operators, 4 slices, 500 programs give [0:25] 0–125, [25:50] 125–250, [50:75] 250–375,
    [75:100] 375–500. With more slices than operators some own no operator; those are left out
    and the programs are divided over the others.
    """
    if slices < 1 or operators < 0 or programs < 0:
        raise UsageError(f"cannot split {operators} operators, {programs} programs by {slices}")
    bounds = [i * operators // slices for i in range(slices + 1)]
    owned = [(a, b) for a, b in pairwise(bounds) if b > a]
    n = len(owned)
    return tuple(
        WorkerBudget(i, a, b, i * programs // n, (i + 1) * programs // n)
        for i, (a, b) in enumerate(owned)
    )


def _check_fields(raw: BudgetRecord | SliceRecord, fields: Sequence[str], name: str) -> None:
    if raw.get("schema_version") != SCHEMA_VERSION:
        raise UsageError(f"{name}: schema_version must be {SCHEMA_VERSION}")
    given, known = set(raw) - {"schema_version"}, set(fields)
    unknown = sorted(given - known) or sorted(known - given)
    if unknown:
        raise UsageError(f"{name}: field {unknown[0]!r} is unknown or missing")
