"""Learn decision lists from training cells, by sequential covering (Rivest 1987).

    default     the action for cells that no clause decides: one that is right on most cells
    clauses     while the default is wrong anywhere: the clause that explains most for its price
                and is never wrong about a cell that no earlier clause decided

The search is greedy, but tries a few defaults and a few first clauses. It knows columns of numbers
and nothing of grids. It uses integers only; ties go to the cheaper, then to the earlier.
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
"""Unfinished lists: for each of the likeliest defaults, the number of next clauses tried at each
depth.
"""
MAX_CLAUSES = 6
MAX_MILLIBITS = 130_000
MARGIN = 40_000
HOPE = 3
"""Factor by which later clauses are assumed to be better than the last one, at best."""
WIDTH = 120
"""Number of tests per action that are combined with each other."""
__all__ = ["ClauseSearch", "TrainingCells", "beginnings", "learn", "search_of"]


@dataclass(frozen=True, slots=True)
class _Branch:
    clauses: tuple[Clause, ...]
    open_cells: Sets
    score: int
    """The score of the last clause."""

    @property
    def millibits(self) -> int:
        return sum(clause.millibits for clause in self.clauses)


class ClauseSearch:
    """Finds clauses over training cells; answers are cached."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self._answers: dict[tuple[bytes, bytes], list[list[int]]] = {}

    def best(self, open_cells: Sets, faulty: Sets, most: int) -> list[list[int]]:
        """Return up to `most` best clauses, as rows with the columns that `covering` defines."""
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
    """Return the clause search over training cells."""
    return ClauseSearch(choices_of(training))


def learn(search: ClauseSearch, most: int = MAX_MILLIBITS, hope: int = HOPE) -> list[CellList]:
    """Return lists that are right on every training cell, cheapest first.

    Their clauses cost about `most` at most. A list is abandoned if clauses `hope` times as good as
    its last one could not complete it within that limit.
    """
    choices, lists = search.choices, list[CellList]()
    for default in _defaults(choices)[:DEFAULTS]:
        covers = _cover(search, default, _limit(lists, most), hope)
        lists += [CellList(clauses, choices.actions[default]) for clauses in covers]
    return sorted(lists, key=lambda cell_list: (cell_list.millibits, cell_list.text()))


def beginnings(search: ClauseSearch) -> list[CellList]:
    """Return unfinished lists: the likeliest defaults with their first one or two clauses."""
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
    """Return the branch with each of its best next clauses, if anything is left to explain."""
    faulty = branch.open_cells & ~search.choices.right[default]
    return _longer(search, branch, faulty, most) if faulty.any() else iter(())


def _limit(lists: Sequence[CellList], most: int) -> int:
    """Return the cost limit: lists much more expensive than the cheapest are not worth a guess."""
    return min([most, *(cell_list.millibits + MARGIN for cell_list in lists)])


def _cover(
    search: ClauseSearch, default: int, limit: int, hope: int
) -> Iterator[tuple[Clause, ...]]:
    """Extend a default by clauses; yield those that leave no cell wrong."""
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
    """Whether clauses `hope` times as good as the last could explain the rest within the limit."""
    needed = int(_counts(faulty)) * covering.SCALE // (hope * branch.score)
    return branch.millibits + needed <= limit


def _defaults(choices: Choices) -> list[int]:
    """Return the actions that decide every cell, by cells they are right on, then by cost."""
    c = choices
    always = np.flatnonzero(((c.right | c.wrong) == c.everything).all(axis=1)).tolist()
    right, costs = _counts(c.right).tolist(), c.action_costs.tolist()
    return sorted(always, key=lambda n: (-right[n], costs[n], n))


def _counts(sets: Sets) -> npt.NDArray[np.int64]:
    """Return the number of cells in each set."""
    counts: npt.NDArray[np.int64] = np.unpackbits(sets.view(np.uint8), axis=-1).sum(axis=-1)
    return counts


# -- leave-one-out cross-validation: each pair is predicted from the others ---------------------


def loo_passes(training: TrainingCells) -> bool:
    """Whether every pair is predicted by the cheapest list learned without it."""
    pairs = int(training.pairs.max()) + 1
    return pairs > 1 and all(_predicts(training, left) for left in range(pairs))


def _predicts(training: TrainingCells, left: int) -> bool:
    """Whether what is learned from the other pairs predicts every cell of this pair."""
    is_left_out = training.pairs == left
    lists = learn(search_of(leave_out(training, left)))
    if not lists:
        return False
    columns = {source: column[is_left_out] for source, column in training.columns.items()}
    decided = lists[0].decide(columns.__getitem__, int(is_left_out.sum()))
    return bool(np.array_equal(decided, training.expected[is_left_out]))


def leave_out(training: TrainingCells, left: int) -> TrainingCells:
    """Return the cells of all other pairs, with the pairs renumbered."""
    is_other = training.pairs != left
    pairs = training.pairs[is_other]
    columns = {source: column[is_other] for source, column in training.columns.items()}
    return TrainingCells(
        columns, training.expected[is_other], pairs - (pairs > left).astype(np.uint8)
    )
