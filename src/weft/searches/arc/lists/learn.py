"""Learn decision lists from training cells, by sequential covering (Rivest 1987).

    default     the action for cells that no clause decides: one right on most cells
    clauses     while the default is wrong somewhere: the clause that explains most for its price
                and is never wrong about a cell that no earlier clause decided

Greedy, with a few defaults and a few first clauses tried. Knows columns of numbers and nothing
of grids. Integers only; ties go to the cheaper, then to the earlier one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from weft.searches.arc.kernels.covering import (
    ACTION,
    FIELDS,
    FIRST,
    SCALE,
    SCORE,
    SECOND,
    Sets,
    best_clauses,
)
from weft.searches.arc.lists.cells import CellList, Clause
from weft.searches.arc.lists.choices import Choices, TrainingCells, choices_of

DEFAULTS = 4
BEGUN = 2
"""Defaults of unfinished lists."""
FIRST_CLAUSES = 3
MAX_CLAUSES = 6
MAX_MILLIBITS = 130_000
MARGIN = 40_000
HOPE = 3
WIDTH = 120
"""Tests per action that are combined with each other."""
__all__ = ["TrainingCells", "beginnings", "learn"]


@dataclass(frozen=True, slots=True)
class _Branch:
    clauses: tuple[Clause, ...]
    open_cells: Sets
    score: int
    """Of the last clause."""

    @property
    def millibits(self) -> int:
        return sum(clause.millibits for clause in self.clauses)


def learn(training: TrainingCells, most: int = MAX_MILLIBITS) -> list[CellList]:
    """Return lists that are right on every training cell, cheapest first.

    Their clauses may cost so much at `most`, or a little more.
    """
    choices = choices_of(training)
    lists: list[CellList] = []
    for default in _defaults(choices)[:DEFAULTS]:
        covers = _cover(choices, default, _limit(lists, most))
        lists += [CellList(clauses, choices.actions[default]) for clauses in covers]
    return sorted(lists, key=lambda cell_list: (cell_list.millibits, cell_list.text()))


def beginnings(training: TrainingCells) -> list[CellList]:
    """Return unfinished lists: the likeliest defaults with the first clause or two."""
    choices = choices_of(training)
    lists: list[CellList] = []
    for default in _defaults(choices)[:BEGUN]:
        begun = [_Branch((), choices.everything, SCALE)]
        for most in (FIRST_CLAUSES, 1):
            begun = [
                longer for branch in begun for longer in _continued(choices, branch, default, most)
            ]
            lists += [CellList(branch.clauses, choices.actions[default]) for branch in begun]
    return lists


def _continued(choices: Choices, branch: _Branch, default: int, most: int) -> Iterator[_Branch]:
    """A branch with each of its best next clauses, if something is left to explain."""
    faulty = branch.open_cells & ~choices.right[default]
    return _longer(choices, branch, faulty, most) if faulty.any() else iter(())


def _limit(lists: Sequence[CellList], most: int) -> int:
    """What clauses may cost: more than the best by so much, and they are not worth a guess."""
    return min([most, *(cell_list.millibits + MARGIN for cell_list in lists)])


def _cover(choices: Choices, default: int, limit: int) -> Iterator[tuple[Clause, ...]]:
    """Complete a default by clauses; yield those that leave nothing wrong."""
    branches = [_Branch((), choices.everything, SCALE)]
    for depth in range(MAX_CLAUSES + 1):
        longer: list[_Branch] = []
        for branch in branches:
            faulty = branch.open_cells & ~choices.right[default]
            if not faulty.any():
                yield branch.clauses
            elif depth < MAX_CLAUSES and _could_end(branch, faulty, limit):
                longer += _longer(choices, branch, faulty, 1 if depth else FIRST_CLAUSES)
        branches = longer


def _longer(choices: Choices, branch: _Branch, faulty: Sets, most: int) -> Iterator[_Branch]:
    c, best = choices, np.empty((most, FIELDS), np.int64)
    best_clauses(
        c.test_sets, c.test_costs, c.right, c.wrong, c.action_costs, branch.open_cells, faulty,
        c.pairs, WIDTH, best,
    )  # fmt: skip
    for row in best.tolist():
        if row[SCORE] < 0:
            return
        numbers = [n for n in (row[FIRST], row[SECOND]) if n >= 0]
        tests = tuple(test for n in numbers for test in c.test(n))
        applies = c.right[row[ACTION]] | c.wrong[row[ACTION]]
        for n in numbers:
            applies = applies & c.test_sets[n]
        clause = Clause(tests, c.actions[row[ACTION]])
        yield _Branch((*branch.clauses, clause), branch.open_cells & ~applies, row[SCORE])


def _could_end(branch: _Branch, faulty: Sets, limit: int) -> bool:
    """Whether clauses several times as good as the last one could explain the rest in the limit."""
    needed = int(_counts(faulty)) * SCALE // (HOPE * branch.score)
    return branch.millibits + needed <= limit


def _defaults(choices: Choices) -> list[int]:
    """The actions that decide every cell: those right on most cells first, then the cheapest."""
    c = choices
    always = np.flatnonzero(((c.right | c.wrong) == c.everything).all(axis=1)).tolist()
    right, costs = _counts(c.right).tolist(), c.action_costs.tolist()
    return sorted(always, key=lambda n: (-right[n], costs[n], n))


def _counts(sets: Sets) -> npt.NDArray[np.int64]:
    """How many cells each set has."""
    counts: npt.NDArray[np.int64] = np.unpackbits(sets.view(np.uint8), axis=-1).sum(axis=-1)
    return counts
