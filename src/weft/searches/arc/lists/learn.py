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

from weft.searches.arc.kernels import covering
from weft.searches.arc.kernels.covering import Sets
from weft.searches.arc.lists.cells import CellList, Clause
from weft.searches.arc.lists.choices import Choices, TrainingCells, choices_of

DEFAULTS = 4
FIRST_CLAUSES = 3
BEGUN = ((FIRST_CLAUSES, 1), (FIRST_CLAUSES,))
"""Unfinished lists have one of the likeliest defaults, the first with a clause or two, the next
with one; so many ways to go on are tried at each depth."""
MAX_CLAUSES = 6
MAX_MILLIBITS = 130_000
MARGIN = 40_000
HOPE = 3
"""Clauses so many times as good as the last one are hoped for."""
WIDTH = 120
"""Tests per action that are combined with each other."""
__all__ = ["ClauseSearch", "TrainingCells", "beginnings", "learn", "search_of"]


@dataclass(frozen=True, slots=True)
class _Branch:
    clauses: tuple[Clause, ...]
    open_cells: Sets
    score: int
    """Of the last clause."""

    @property
    def millibits(self) -> int:
        return sum(clause.millibits for clause in self.clauses)


class ClauseSearch:
    """Finds clauses over some training cells, each question asked once."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self._answers: dict[tuple[bytes, bytes], list[list[int]]] = {}

    def best(self, open_cells: Sets, faulty: Sets, most: int) -> list[list[int]]:
        """Return the best clauses, as rows that `covering` describes."""
        key = (open_cells.tobytes(), faulty.tobytes())
        known = self._answers.get(key)
        if known is None or len(known) < most:
            c, best = self.choices, np.empty((most, covering.FIELDS), np.int64)
            covering.best_clauses(
                c.test_sets, c.test_costs, c.right, c.wrong, c.action_costs, open_cells, faulty,
                c.pairs, WIDTH, best,
            )  # fmt: skip
            known = self._answers[key] = best.tolist()
        return [row for row in known[:most] if row[covering.SCORE] >= 0]


def search_of(training: TrainingCells) -> ClauseSearch:
    """Return the search for clauses over some training cells."""
    return ClauseSearch(choices_of(training))


def learn(search: ClauseSearch, most: int = MAX_MILLIBITS, hope: int = HOPE) -> list[CellList]:
    """Return lists that are right on every training cell, cheapest first.

    Their clauses may cost so much at `most`, or a little more. A list is given up where clauses
    `hope` times as good as its last one would not complete it.
    """
    choices, lists = search.choices, list[CellList]()
    for default in _defaults(choices)[:DEFAULTS]:
        covers = _cover(search, default, _limit(lists, most), hope)
        lists += [CellList(clauses, choices.actions[default]) for clauses in covers]
    return sorted(lists, key=lambda cell_list: (cell_list.millibits, cell_list.text()))


def beginnings(search: ClauseSearch) -> list[CellList]:
    """Return unfinished lists: the likeliest defaults with the first clause or two."""
    choices, lists = search.choices, list[CellList]()
    for default, ways in zip(_defaults(choices), BEGUN, strict=False):
        branches = [_Branch((), choices.everything, covering.SCALE)]
        for most in ways:
            branches = [
                longer
                for branch in branches
                for longer in _continued(search, branch, default, most)
            ]
            lists += [CellList(branch.clauses, choices.actions[default]) for branch in branches]
    return lists


def _continued(search: ClauseSearch, branch: _Branch, default: int, most: int) -> Iterator[_Branch]:
    """A branch with each of its best next clauses, if something is left to explain."""
    faulty = branch.open_cells & ~search.choices.right[default]
    return _longer(search, branch, faulty, most) if faulty.any() else iter(())


def _limit(lists: Sequence[CellList], most: int) -> int:
    """What clauses may cost: more than the best by so much, and they are not worth a guess."""
    return min([most, *(cell_list.millibits + MARGIN for cell_list in lists)])


def _cover(
    search: ClauseSearch, default: int, limit: int, hope: int
) -> Iterator[tuple[Clause, ...]]:
    """Complete a default by clauses; yield those that leave nothing wrong."""
    choices = search.choices
    branches = [_Branch((), choices.everything, covering.SCALE)]
    for depth in range(MAX_CLAUSES + 1):
        longer: list[_Branch] = []
        for branch in branches:
            faulty = branch.open_cells & ~choices.right[default]
            if not faulty.any():
                yield branch.clauses
            elif depth < MAX_CLAUSES and _could_end(branch, faulty, limit, hope):
                longer += _longer(search, branch, faulty, 1 if depth else FIRST_CLAUSES)
        branches = longer


def _longer(search: ClauseSearch, branch: _Branch, faulty: Sets, most: int) -> Iterator[_Branch]:
    c = search.choices
    for row in search.best(branch.open_cells, faulty, most):
        numbers = [n for n in (row[covering.FIRST], row[covering.SECOND]) if n >= 0]
        tests = tuple(test for n in numbers for test in c.test(n))
        applies = c.right[row[covering.ACTION]] | c.wrong[row[covering.ACTION]]
        for n in numbers:
            applies = applies & c.test_sets[n]
        clause = Clause(tests, c.actions[row[covering.ACTION]])
        yield _Branch((*branch.clauses, clause), branch.open_cells & ~applies, row[covering.SCORE])


def _could_end(branch: _Branch, faulty: Sets, limit: int, hope: int) -> bool:
    """Whether clauses `hope` times as good as the last one could explain the rest in the limit."""
    needed = int(_counts(faulty)) * covering.SCALE // (hope * branch.score)
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


# -- leave-one-out cross-validation: each pair is predicted from the others ---------------------


def loo_passes(training: TrainingCells) -> bool:
    """Whether every pair is predicted by the cheapest list learned without it."""
    pairs = int(training.pairs.max()) + 1
    return pairs > 1 and all(_predicts(training, left) for left in range(pairs))


def _predicts(training: TrainingCells, left: int) -> bool:
    """Whether a pair is predicted cell for cell by what is learned from the others."""
    is_left_out = training.pairs == left
    lists = learn(search_of(leave_out(training, left)))
    if not lists:
        return False
    columns = {source: column[is_left_out] for source, column in training.columns.items()}
    decided = lists[0].decide(columns.__getitem__, int(is_left_out.sum()))
    return bool(np.array_equal(decided, training.expected[is_left_out]))


def leave_out(training: TrainingCells, left: int) -> TrainingCells:
    """Return the cells of all other pairs, the pairs renumbered."""
    is_other = training.pairs != left
    pairs = training.pairs[is_other]
    columns = {source: column[is_other] for source, column in training.columns.items()}
    return TrainingCells(
        columns, training.expected[is_other], pairs - (pairs > left).astype(np.uint8)
    )
