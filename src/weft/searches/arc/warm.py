"""Compile the kernels, so that workers only load them from disk.

python -m weft.searches.arc.warm 4 1      two parts; `weft.searches.arc.compile` runs them all
"""

from __future__ import annotations

import gc
import importlib
import sys

import numba
import numpy as np

from weft.compiled import compile_entries_only
from weft.searches.arc.fitted.registry import RULES
from weft.searches.arc.fitted.rule import EncodedExamples
from weft.searches.arc.kernels.compiled import KERNELS
from weft.searches.arc.kernels.expand import FAMILIES
from weft.searches.arc.lists.features import features_of
from weft.searches.arc.lists.learn import TrainingCells, learn, search_of
from weft.searches.arc.lists.words import NAMES
from weft.searches.arc.synthesis.ablation import LISTS
from weft.searches.arc.synthesis.budget import SearchBudget
from weft.searches.arc.synthesis.language import Language
from weft.searches.arc.synthesis.phases import Options
from weft.searches.arc.synthesis.planner import ParallelPlanner
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid

THE_REST, OF_LISTS = 0, 9
PARTS = {OF_LISTS: 80, 2: 70, THE_REST: 60, 4: 55, 5: 45, 1: 28, 6: 28, 3: 23}
"""Parts to compile, the slowest first, with their approximate times in tenths of a second: the
families of kernels, the kernels of lists, and the rest, which judges and fits their results."""


def compile_part(part: int) -> None:
    """Compile a family by a call without work, lists by learning one, the rest by tiny searches."""
    if part == THE_REST:
        run_all((), (LISTS,))
        _fit_all()
        return
    if part == OF_LISTS:
        grid, expected = Grid.of([[0, 1], [2, 0]]), np.array([3, 1, 2, 0], np.uint8)
        columns = dict(zip(NAMES, features_of(grid), strict=True))
        learn(search_of(TrainingCells(columns, expected, np.zeros(4, np.uint8))))
        return
    data, offsets = np.zeros(8, np.uint8), np.zeros(1, np.int64)
    rows, ends = np.zeros((0, 3), np.int64), np.zeros((0, 1), np.int64)
    FAMILIES[part](rows, data, offsets, data, offsets, data, ends, 0)


def load() -> None:
    """Import the task functions, and load all kernels if they are compiled."""
    importlib.import_module("weft.searches.arc.tasks")
    if KERNELS.is_built():
        for part in PARTS:
            compile_part(part)


def run_all(operators: tuple[()] | None = None, without: tuple[str, ...] = ()) -> None:
    """Search two tiny tasks, with all operators or, for `()`, with fitted rules only."""
    grid = Grid.of([[0, 1, 0], [2, 0, 0]])
    language = Language() if operators is None else Language((), operators)
    budget = SearchBudget(max_programs=2000, max_depth=2)
    planner = ParallelPlanner(Options(language, budget, without=without))
    for targets in ([[9]], [[8, 8]]), ([[7, 1, 0], [2, 0, 0]], [[0, 1, 0], [2, 6, 5]]):
        pairs = tuple(Pair(grid, Grid.of(rows)) for rows in targets)
        planner.search(ArcTask("warm", pairs, (grid,)))


def _fit_all() -> None:
    """Fit every rule to one pair, as a search skips rules that the evidence rules out."""
    grid, target = Grid.of([[0, 1, 0], [2, 0, 0]]), Grid.of([[7, 1, 0], [2, 0, 0]])
    for rule in RULES:
        rule.fit(EncodedExamples.of((grid, grid), (grid, grid), (target,)))


def compile_quickly() -> None:
    """Turn off vectorisation: grids are small, so it gains nothing and takes long to compile."""
    gc.disable()
    compile_entries_only()
    for name in ("LOOP_VECTORIZE", "SLP_VECTORIZE"):
        setattr(numba.config, name, 0)


if __name__ == "__main__":
    compile_quickly()
    for number in sys.argv[1:]:
        compile_part(int(number))
