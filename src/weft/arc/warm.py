"""Compile every kernel before workers need it, so that they only load what is on disk."""

from __future__ import annotations

from weft.arc.search.budget import SearchBudget
from weft.arc.search.language import Language
from weft.arc.search.phases import Options
from weft.arc.search.planner import ParallelPlanner
from weft.arc.task import ArcTask, Pair
from weft.arc.values import Grid


def compile_kernels() -> None:
    """Search a tiny task with all operators; the compiled code stays in the user's cache."""
    grid = Grid.of([[0, 1, 0], [2, 0, 0]])
    pair = Pair(grid, Grid.of([[9]]))
    budget = SearchBudget(max_programs=2000, max_depth=2)
    ParallelPlanner(Options(Language(), budget)).search(ArcTask("warm", (pair, pair), (grid,)))
