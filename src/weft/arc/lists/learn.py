"""Learn decision lists from training cells, by covering.

    default     the action that decides what no clause speaks of: one right on most cells
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

from weft.arc.kernels.covering import (
    ACTION,
    FIELDS,
    FIRST,
    SCALE,
    SCORE,
    SECOND,
    Sets,
    best_clauses,
)
from weft.arc.lists.cells import UNDECIDED, Action, Bools, CellList, Clause, Test
from weft.arc.lists.features import U8
from weft.arc.lists.words import ASKED, WORDS

DEFAULTS = 4
BEGUN = 2
"""Defaults of lists that are only begun."""
FIRST_CLAUSES = 3
MAX_CLAUSES = 6
MAX_MILLIBITS = 130_000
MARGIN = 40_000
HOPE = 3
WIDTH = 120
"""Tests per action that are combined with each other."""
MAX_VALUE = 9
"""Numbers above it are asked for more or less only."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """The training cells of all pairs, one behind the other."""

    columns: dict[str, U8]
    """By source, in order."""
    wanted: U8
    pairs: U8
    """Which pair each cell is of."""


@dataclass(frozen=True, slots=True)
class _Choices:
    """What clauses can be made of, as sets of cells; equal sets are there once, the cheapest."""

    tests: list[tuple[Test, ...]]
    test_sets: Sets
    test_costs: npt.NDArray[np.int64]
    actions: list[Action]
    right: Sets
    wrong: Sets
    action_costs: npt.NDArray[np.int64]
    pairs: Sets
    everything: Sets


@dataclass(frozen=True, slots=True)
class _Branch:
    clauses: tuple[Clause, ...]
    open_cells: Sets
    score: int
    """Of the last clause."""

    @property
    def millibits(self) -> int:
        return sum(clause.millibits for clause in self.clauses)


def learn(lesson: Lesson, most: int = MAX_MILLIBITS) -> list[CellList]:
    """Return lists that are right on every training cell, cheapest first.

    Their clauses may cost so much at `most`, or a little more.
    """
    choices = _choices(lesson)
    found: list[CellList] = []
    for default in _defaults(choices)[:DEFAULTS]:
        covers = _cover(choices, default, _limit(found, most))
        found += [CellList(clauses, choices.actions[default]) for clauses in covers]
    return sorted(found, key=lambda one: (one.millibits, one.text()))


def beginnings(lesson: Lesson) -> list[CellList]:
    """Return lists that are not complete: the likeliest defaults with the first clause or two."""
    choices = _choices(lesson)
    found: list[CellList] = []
    for default in _defaults(choices)[:BEGUN]:
        begun = [_Branch((), choices.everything, SCALE)]
        for most in (FIRST_CLAUSES, 1):
            begun = [
                longer for branch in begun for longer in _continued(choices, branch, default, most)
            ]
            found += [CellList(branch.clauses, choices.actions[default]) for branch in begun]
    return found


def _continued(choices: _Choices, branch: _Branch, default: int, most: int) -> Iterator[_Branch]:
    """A branch with each of its best next clauses, if something is left to explain."""
    faulty = branch.open_cells & ~choices.right[default]
    return _longer(choices, branch, faulty, most) if faulty.any() else iter(())


def _limit(found: Sequence[CellList], most: int) -> int:
    """What clauses may cost: more than the best by so much, and they are not worth a guess."""
    return min([most, *(one.millibits + MARGIN for one in found)])


def _cover(choices: _Choices, default: int, limit: int) -> Iterator[tuple[Clause, ...]]:
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


def _longer(choices: _Choices, branch: _Branch, faulty: Sets, most: int) -> Iterator[_Branch]:
    c, best = choices, np.empty((most, FIELDS), np.int64)
    best_clauses(
        c.test_sets, c.test_costs, c.right, c.wrong, c.action_costs, branch.open_cells, faulty,
        c.pairs, WIDTH, best,
    )  # fmt: skip
    for row in best.tolist():
        if row[SCORE] < 0:
            return
        numbers = [n for n in (row[FIRST], row[SECOND]) if n >= 0]
        tests = tuple(test for n in numbers for test in c.tests[n])
        speaks = c.right[row[ACTION]] | c.wrong[row[ACTION]]
        for n in numbers:
            speaks = speaks & c.test_sets[n]
        clause = Clause(tests, c.actions[row[ACTION]])
        yield _Branch((*branch.clauses, clause), branch.open_cells & ~speaks, row[SCORE])


def _could_end(branch: _Branch, faulty: Sets, limit: int) -> bool:
    """Whether clauses several times as good as the last one could explain the rest in the limit."""
    needed = int(_bools(faulty).sum()) * SCALE // (HOPE * branch.score)
    return branch.millibits + needed <= limit


def _defaults(choices: _Choices) -> list[int]:
    """The actions that always speak: those right on most cells first, then the cheapest."""
    always = [
        n
        for n in range(len(choices.actions))
        if np.array_equal(choices.right[n] | choices.wrong[n], choices.everything)
    ]
    right = [int(_bools(choices.right[n]).sum()) for n in always]
    costs = choices.action_costs.tolist()
    ranked = sorted(zip(always, right, strict=True), key=lambda one: (-one[1], costs[one[0]], one))
    return [n for n, _ in ranked]


def _choices(lesson: Lesson) -> _Choices:
    tests = [(), *((test,) for source in lesson.columns for test in _tests(lesson, source))]
    sets = [_holds(lesson, test) for test in tests]
    costs = [sum(part.millibits for part in test) for test in tests]
    kept = _unlike(sets, costs)
    actions = list(_actions(lesson))
    spoken = [action.colours(lesson.columns.__getitem__, len(lesson.wanted)) for action in actions]
    right = [colours == lesson.wanted for colours in spoken]
    wrong = [(colours != lesson.wanted) & (colours != UNDECIDED) for colours in spoken]
    prices = [action.millibits for action in actions]
    useful = _unlike([np.concatenate(both) for both in zip(right, wrong, strict=True)], prices)
    pairs = [lesson.pairs == pair for pair in range(int(lesson.pairs.max()) + 1)]
    return _Choices(
        [tests[n] for n in kept], _packed([sets[n] for n in kept]), _numbers(costs, kept),
        [actions[n] for n in useful], _packed([right[n] for n in useful]),
        _packed([wrong[n] for n in useful]), _numbers(prices, useful), _packed(pairs),
        _packed([np.ones(len(lesson.wanted), np.bool_)])[0],
    )  # fmt: skip


def _tests(lesson: Lesson, source: str) -> Iterator[Test]:
    values = np.unique(lesson.columns[source]).tolist()
    if len(values) < 2:
        return
    for value in values:
        if source not in ASKED:
            yield from (Test(source, "=", value), Test(source, "!=", value))
            continue
        if value <= MAX_VALUE:
            yield Test(source, "=", value)
        if value != values[0]:
            yield from (Test(source, ">=", value), Test(source, "<", value))


def _holds(lesson: Lesson, tests: tuple[Test, ...]) -> Bools:
    found = np.ones(len(lesson.wanted), np.bool_)
    for test in tests:
        found &= test.holds(lesson.columns[test.source])
    return found


def _actions(lesson: Lesson) -> Iterator[Action]:
    yield from (Action("", colour) for colour in np.unique(lesson.wanted).tolist())
    for source in lesson.columns:
        if source not in ASKED:
            yield Action(source)
            if source not in WORDS:
                yield Action(source, lay=True)


def _unlike(sets: Sequence[Bools], costs: Sequence[int]) -> list[int]:
    """One of each set, the cheapest, in order of cost."""
    first: dict[bytes, int] = {}
    for n in sorted(range(len(sets)), key=lambda n: (costs[n], n)):
        first.setdefault(np.packbits(sets[n]).tobytes(), n)
    return list(first.values())


def _packed(sets: Sequence[Bools]) -> Sets:
    rows = np.array(sets)
    padded = np.pad(rows, [(0, 0), (0, -rows.shape[1] % 64)])
    return np.ascontiguousarray(np.packbits(padded, axis=1, bitorder="little")).view(np.uint64)


def _bools(row: Sets) -> U8:
    return np.unpackbits(row.view(np.uint8), bitorder="little")


def _numbers(costs: Sequence[int], kept: Sequence[int]) -> npt.NDArray[np.int64]:
    return np.array([costs[n] for n in kept], np.int64)
