"""The tests and actions available to clauses, on columns of training cells, as sets of cells.

    cells ──► every test, every action ──► sets of cells ──► the cheapest of equal sets

Sets are rows of 64-bit words. `choices_of` is fast; `plain_choices_of` is its definition.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from weft.searches.arc.kernels.packing import (
    HIGHEST,
    RELATION,
    SOURCE,
    Sets,
    pack_actions,
    pack_tests,
)
from weft.searches.arc.lists.cells import (
    RELATIONS,
    UNDECIDED,
    Action,
    Bools,
    Test,
    source_millibits,
)
from weft.searches.arc.lists.features import U8
from weft.searches.arc.lists.neighbours import NONE
from weft.searches.arc.lists.words import TESTED, WORDS

I64 = npt.NDArray[np.int64]
_RELATIONS = tuple(RELATIONS)
"""Indexed by the kernel's relation numbers."""
_NO_TEST = (-1, -1, -1)


@dataclass(frozen=True, slots=True)
class TrainingCells:
    """The training cells of all pairs, concatenated."""

    columns: dict[str, U8]
    """The columns by source, in order."""
    expected: U8
    pairs: U8
    """The pair that each cell belongs to."""


@dataclass(frozen=True, slots=True)
class Choices:
    """The cheapest test or action for each distinct set, by cost; the first test is no test."""

    sources: list[str]
    tests: I64
    """Source, relation and number of each test; -1 for no test."""
    test_sets: Sets
    test_costs: I64
    actions: list[Action]
    right: Sets
    wrong: Sets
    action_costs: I64
    pairs: Sets
    everything: Sets

    def test(self, n: int) -> tuple[Test, ...]:
        """Return a test as a clause holds it; empty for no test."""
        source, relation, value = self.tests[n].tolist()
        return (Test(self.sources[source], _RELATIONS[relation], value),) if source >= 0 else ()


def choices_of(training: TrainingCells) -> Choices:
    """Return all choices for training cells."""
    names, cells = list(training.columns), len(training.expected)
    columns = np.array(list(training.columns.values()), np.uint8).reshape(len(names), cells)
    everything = _packed([np.ones(cells, np.bool_)])
    what, sets = pack_tests(columns, np.array([name in TESTED for name in names], np.uint8))
    what, sets = np.concatenate([[_NO_TEST], what]), np.concatenate([everything, sets])
    costs = _test_costs(names, what)
    distinct = _unlike(sets, costs)
    actions = list(_actions(training))
    spoken = _spoken(training, names, columns, actions)
    prices = np.array([action.millibits for action in actions], np.int64)
    useful = _unlike(spoken, prices)
    spoken, words = spoken[useful], everything.shape[1]
    return Choices(
        names, what[distinct], sets[distinct], costs[distinct], [actions[n] for n in useful],
        spoken[:, :words].copy(), spoken[:, words:].copy(), prices[useful], _pairs(training),
        everything[0],
    )  # fmt: skip


def _test_costs(names: Sequence[str], what: I64) -> I64:
    """Return the costs of tests; each source and each relation is priced only once."""
    plain = source_millibits(names[0])
    relations = [Test(names[0], relation, 0).millibits - plain for relation in _RELATIONS]
    sources = np.array([source_millibits(name) for name in names], np.int64)
    costs = sources[what[:, SOURCE]] + np.array(relations, np.int64)[what[:, RELATION]]
    return np.where(what[:, SOURCE] < 0, 0, costs)


def _spoken(
    training: TrainingCells, names: Sequence[str], columns: U8, actions: Sequence[Action]
) -> Sets:
    """Return where actions are right and wrong; a colour is the copy of a constant column."""
    number = {name: n for n, name in enumerate(names)}
    colours = [action.colour for action in actions if not action.source]
    plain = np.repeat(np.array(colours, np.uint8)[:, None], columns.shape[1], axis=1)
    sources = [number[action.source] + len(colours) for action in actions if action.source]
    return pack_actions(
        np.concatenate([plain, columns]), np.array([*range(len(colours)), *sources], np.int64),
        np.array([action.lay for action in actions], np.uint8), training.expected.copy(), NONE,
    )  # fmt: skip


def plain_choices_of(training: TrainingCells) -> Choices:
    """Slow twin of `choices_of`: test by test, cell by cell."""
    tests = [(), *((test,) for source in training.columns for test in _tests(training, source))]
    sets = _packed([_holds(training, test) for test in tests])
    costs = np.array([sum(part.millibits for part in test) for test in tests], np.int64)
    distinct = _unlike(sets, costs)
    actions = list(_actions(training))
    predictions = [
        action.colours(training.columns.__getitem__, len(training.expected)) for action in actions
    ]
    right = _packed([colours == training.expected for colours in predictions])
    wrong = _packed([(c != training.expected) & (c != UNDECIDED) for c in predictions])
    prices = np.array([action.millibits for action in actions], np.int64)
    useful = _unlike(np.hstack([right, wrong]), prices)
    names = list(training.columns)
    what = [
        (names.index(test.source), _RELATIONS.index(test.relation), test.value)
        for clause_tests in tests for test in clause_tests
    ]  # fmt: skip
    return Choices(
        names, np.array([_NO_TEST, *what], np.int64)[distinct], sets[distinct], costs[distinct],
        [actions[n] for n in useful], right[useful], wrong[useful], prices[useful],
        _pairs(training), sets[0],
    )  # fmt: skip


def _tests(training: TrainingCells, source: str) -> Iterator[Test]:
    values = np.unique(training.columns[source]).tolist()
    if len(values) < 2:
        return
    for value in values:
        if source not in TESTED:
            yield from (Test(source, "=", value), Test(source, "!=", value))
            continue
        if value <= HIGHEST:
            yield Test(source, "=", value)
        if value != values[0]:
            yield from (Test(source, ">=", value), Test(source, "<", value))


def _holds(training: TrainingCells, tests: tuple[Test, ...]) -> Bools:
    mask = np.ones(len(training.expected), np.bool_)
    for test in tests:
        mask &= test.holds(training.columns[test.source])
    return mask


def _actions(training: TrainingCells) -> Iterator[Action]:
    yield from (Action("", colour) for colour in np.unique(training.expected).tolist())
    for source in training.columns:
        if source not in TESTED:
            yield Action(source)
            if source not in WORDS:
                yield Action(source, lay=True)


def _unlike(sets: Sets, costs: I64) -> list[int]:
    """Return the cheapest index for each distinct set, in order of cost; ties go to the first."""
    order = np.argsort(costs, kind="stable")
    rows = sets[order].view(np.dtype((np.void, sets[0].nbytes))).ravel().tolist()
    first = dict(zip(reversed(rows), reversed(range(len(rows))), strict=True))
    return [int(n) for n in order[sorted(first.values())]]


def _pairs(training: TrainingCells) -> Sets:
    return _packed([training.pairs == pair for pair in range(int(training.pairs.max()) + 1)])


def _packed(sets: Sequence[Bools]) -> Sets:
    rows = np.array(sets)
    padded = np.pad(rows, [(0, 0), (0, -rows.shape[1] % 64)])
    return np.ascontiguousarray(np.packbits(padded, axis=1, bitorder="little")).view(np.uint64)
