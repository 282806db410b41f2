"""Transforming a whole puzzle transforms its answer: orientation and colours are names.

Design tasks of different mechanisms are transposed, mirrored, recoloured and put on another
background. If one loses its answer, something works for one direction or colour only: an action,
a layout, or a tie broken by position.
"""

from __future__ import annotations

from functools import cache

import pytest

from weft.searches.arc.data import load
from weft.searches.arc.normal.ground import on_black_ground
from weft.searches.arc.symmetries import AUGMENTATIONS, COLOURS, Symmetry, permuted
from weft.searches.arc.synthesis.budget import SearchBudget
from weft.searches.arc.synthesis.language import Language
from weft.searches.arc.synthesis.phases import Options
from weft.searches.arc.synthesis.planner import ParallelPlanner
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid
from weft.searches.arc.verdict import Outcome

TASKS = {
    "a5313dff": "an operator",
    "08ed6ac7": "colours by rank",
    "1fad071e": "a chart",
    "91413438": "a canvas of copies",
    "db93a21d": "a table of two actions",
    "ddf7fa4f": "a table with the nearest colour",
}
BY_NAME = {symmetry.name: symmetry for symmetry in AUGMENTATIONS}
ON_GROUND = "on another ground"
CHANGES = ("transposed", "left to right", "colours shifted", ON_GROUND)
NEITHER = (("ddf7fa4f", ON_GROUND),)
"""That task uses all ten colours."""
PROGRAMS = 1500


def change_of(name: str, task: ArcTask) -> Symmetry:
    """The symmetry; for another background, black and a colour not in the task are exchanged."""
    if name != ON_GROUND:
        return BY_NAME[name]
    grids = [g for pair in task.train for g in (pair.input, pair.output)]
    used = {colour for grid in (*grids, *task.test, *task.truth) for colour in grid.cells}
    free = max(colour for colour in range(COLOURS) if colour not in used)
    names = [free if c == 0 else 0 if c == free else c for c in range(COLOURS)]
    return permuted(name, tuple(names))


def changed(task: ArcTask, symmetry: Symmetry) -> ArcTask:
    """Transform a whole task, including its truth."""
    pairs = [Pair(symmetry.apply(p.input), symmetry.apply(p.output)) for p in task.train]
    tests, truth = (tuple(map(symmetry.apply, grids)) for grids in (task.test, task.truth))
    return ArcTask(task.name, tuple(pairs), tests, truth)


def answered(task: ArcTask) -> tuple[Outcome, tuple[Grid, ...], int | None]:
    """The result of a short search: the outcome, the first guess and its confidence."""
    options = Options(Language(), SearchBudget(max_programs=PROGRAMS))
    verdict = ParallelPlanner(options).search(task).verdict
    return verdict.outcome, verdict.groups[0].outputs, verdict.confidence_permille


@cache
def original(name: str) -> tuple[ArcTask, Outcome, int | None]:
    """A design task, with the outcome and confidence of a search without transformations."""
    [task] = [task for task in load("arc-agi-1", "training").tasks if task.name == name]
    outcome, outputs, confidence = answered(task)
    assert outputs == task.truth
    return task, outcome, confidence


@pytest.mark.parametrize(
    ("name", "change"),
    [(name, change) for name in TASKS for change in CHANGES if (name, change) not in NEITHER],
)
def test_transformed_puzzle_has_the_transformed_answer(name: str, change: str) -> None:
    task, outcome, confidence = original(name)
    symmetry = change_of(change, task)
    answer, outputs, permille = answered(changed(task, symmetry))
    assert tuple(map(symmetry.undo, outputs)) == task.truth
    if change == ON_GROUND:
        assert (answer, permille) == (outcome, confidence), "judged as if its ground were black"


def test_ground_is_exchanged_with_black_where_there_is_no_black() -> None:
    task, _, _ = original("a5313dff")
    symmetry = change_of(ON_GROUND, task)
    on_black, view = on_black_ground(changed(task, symmetry))
    assert view is not None
    assert on_black == task.without_truth()
    assert on_black_ground(on_black) == (on_black, None)
