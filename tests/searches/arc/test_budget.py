"""Budgets: splitting into slices, and round trips."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.errors import LedgerDamaged, UsageError
from weft.model.codec import from_json, to_json
from weft.searches.arc.synthesis.budget import SearchBudget, WorkerBudget, split_budget


def bounds(parts: tuple[WorkerBudget, ...]) -> list[tuple[int, int, int, int]]:
    return [(p.operator_start, p.operator_end, p.programs_start, p.programs_end) for p in parts]


def test_split_of_100_operators_in_4_slices_of_500_programs_is_the_table() -> None:
    assert bounds(split_budget(100, 4, 500)) == [
        (0, 25, 0, 125),
        (25, 50, 125, 250),
        (50, 75, 250, 375),
        (75, 100, 375, 500),
    ]


def test_uneven_split_differs_by_at_most_one() -> None:
    assert bounds(split_budget(10, 4, 10)) == [
        (0, 2, 0, 2),
        (2, 5, 2, 5),
        (5, 7, 5, 7),
        (7, 10, 7, 10),
    ]


def test_more_slices_than_operators_leaves_the_empty_ones_out() -> None:
    parts = split_budget(3, 8, 100)
    assert [(p.operator_start, p.operator_end) for p in parts] == [(0, 1), (1, 2), (2, 3)]
    assert [p.slice for p in parts] == [0, 1, 2]
    assert [p.programs for p in parts] == [33, 33, 34]


def test_no_operators_give_no_slices() -> None:
    assert split_budget(0, 4, 100) == ()


@given(st.integers(0, 300), st.integers(1, 40), st.integers(0, 10_000))
def test_split_tiles_operators_and_programs_exactly(n: int, slices: int, programs: int) -> None:
    parts = split_budget(n, slices, programs)
    if n == 0:
        assert parts == ()
        return
    assert (parts[0].operator_start, parts[-1].operator_end) == (0, n)
    assert (parts[0].programs_start, parts[-1].programs_end) == (0, programs)
    for part, next_ in pairwise(parts):
        assert part.operator_end == next_.operator_start
        assert part.programs_end == next_.programs_start
    sizes = [p.operator_end - p.operator_start for p in parts]
    assert min(sizes) >= 1
    assert max(sizes) - min(sizes) <= 1


def test_budgets_round_trip_with_their_schema_version() -> None:
    budget = SearchBudget(max_programs=7, stop_on_first=True)
    assert to_json(budget)["schema_version"] == 1
    assert from_json(SearchBudget, to_json(budget)) == budget
    part = split_budget(100, 4, 500)[2]
    assert from_json(WorkerBudget, to_json(part)) == part


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"max_depth": 0}, "max_depth must be 1 or more"),
        ({"shallow_share": 101}, "percentage"),
        ({"competitor_programs": -1}, "competitor_programs"),
    ],
)
def test_wrong_budget_is_refused_by_name(change: dict[str, int], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        SearchBudget(**change)


def test_budget_of_another_format_is_refused() -> None:
    with pytest.raises(LedgerDamaged, match=r"SearchBudget\.schema_version is not 1"):
        from_json(SearchBudget, {**to_json(SearchBudget()), "schema_version": 2})


def test_split_by_no_slices_is_refused() -> None:
    with pytest.raises(UsageError, match="cannot split"):
        split_budget(3, 0, 5)


@pytest.mark.parametrize(
    ("cells", "programs"), [(1, 60_000), (800, 60_000), (801, 59_925), (1600, 30_000)]
)
def test_puzzle_with_many_cells_gets_fewer_programs(cells: int, programs: int) -> None:
    own = SearchBudget().for_cells(cells)
    assert own.max_programs == programs
    assert own.shallow_programs == programs // 2
    assert SearchBudget(max_programs=1).for_cells(cells).max_programs == 1


def test_brief_search_has_a_short_first_phase_and_no_deep_one() -> None:
    brief = SearchBudget().brief(has_late_lists=False)
    assert (brief.max_programs, brief.shallow_programs, brief.deep_programs) == (30_000, 6_000, 0)
    assert not brief.has_late_lists
    assert SearchBudget().brief(has_late_lists=True).has_late_lists
