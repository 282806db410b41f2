"""Likely invariants: what holds at every step in training, and what planted tests violate."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from weft.model.codec import to_json
from weft.searches.arc.invariants import (
    Extrapolation,
    broken,
    components,
    extrapolation,
    value_properties,
)
from weft.searches.arc.program import Program
from weft.searches.arc.refit import chain_values
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid

LARGEST = Program(("objects_4", "pick_most_cells", "object_crop"))


def dotted(*sizes: int, width: int = 12) -> Grid:
    """Bars of different colours, one below the other; bar i has `sizes[i]` cells."""
    rows = []
    for i, size in enumerate(sizes):
        rows += [[i + 1] * size + [0] * (width - size), [0] * width]
    return Grid.of(rows)


def task_of(program: Program, *inputs: Grid) -> tuple[ArcTask, tuple[Grid, ...]]:
    """A task that a program solves, and its test output; the last input is the test."""
    outputs = [program.run(grid) for grid in inputs]
    grids = [grid for grid in outputs if grid is not None]
    pairs = tuple(map(Pair, inputs[:-1], grids))
    return ArcTask("made", pairs, inputs[-1:]), tuple(grids[-1:])


def test_constant_and_range_are_told_apart() -> None:
    training = [{"a": 1, "b": 3, "c": 0}, {"a": 1, "b": 7}]
    assert broken(training, {"a": 1, "b": 5, "c": 9}) == ([], []), "c is not known of all"
    assert broken(training, {"a": 2, "b": 7}) == (["a"], [])
    assert broken(training, {"a": 1, "b": 8}) == ([], ["b"])
    assert broken(training, {"a": 0, "b": 2}) == (["a"], ["b"])


def test_test_like_training_breaks_nothing() -> None:
    task, outputs = task_of(LARGEST, dotted(3, 5, 2), dotted(2, 6, 4), dotted(2, 5, 3))
    assert extrapolation(task, LARGEST, outputs) == Extrapolation()


def test_choice_with_another_reason_than_in_training_is_counted() -> None:
    """In training the largest is never the first, so a program that takes the second fits too."""
    task, outputs = task_of(LARGEST, dotted(3, 5, 2), dotted(2, 6, 4), dotted(6, 5, 3))
    counts = extrapolation(task, LARGEST, outputs)
    assert counts.step_constants == counts.total == 1


def test_more_objects_than_in_training_leave_a_range_and_the_input_is_new() -> None:
    task, outputs = task_of(LARGEST, dotted(3, 5, 2), dotted(2, 6, 4, 1), dotted(2, 5, 3, 1, 1))
    counts = extrapolation(task, LARGEST, outputs)
    assert counts.step_ranges > 0
    assert counts.input_ranges > 0
    assert counts.input_colours == 1


def test_one_strange_test_casts_doubt_on_all_inputs() -> None:
    task, outputs = task_of(LARGEST, dotted(3, 5, 2), dotted(2, 6, 4), dotted(6, 5, 3))
    alone = extrapolation(task, LARGEST, outputs)
    usual = dotted(2, 5, 3)
    both = ArcTask(task.name, task.train, (usual, *task.test))
    answer = LARGEST.run(usual)
    assert answer is not None
    assert extrapolation(both, LARGEST, (answer, *outputs)) == alone


def test_colour_change_that_no_pair_shows_is_counted() -> None:
    pair = Pair(Grid.of([[1, 2]]), Grid.of([[3, 2]]))
    task = ArcTask("change", (pair, pair), (Grid.of([[1, 2]]),))
    output, other = Grid.of([[3, 2]]), Grid.of([[1, 3]])
    program = Program((), "colour_map", "1:3")
    assert extrapolation(task, program, (output,)).output_changes == 0
    assert extrapolation(task, program, (other,)).output_changes == 1


def test_compiled_steps_equal_the_definitions() -> None:
    grids = [dotted(3, 5, 2), dotted(2, 6, 4, 1), dotted(2, 5, 3)]
    for names in (LARGEST.names, ("mirror_down", "fall_left"), ("objects_8", "keep_largest")):
        plain = [[value for _, _, value in Program(names).steps(grid)] for grid in grids]
        steps = chain_values(names, grids)
        assert [list(values) for values in steps] == [
            list(step) for step in zip(*plain, strict=True)
        ]
        assert all(value_properties(value, grids[0]) for values in steps for value in values)


def test_components_join_by_corners_and_colour() -> None:
    assert components(Grid.of([[1, 0, 1], [0, 1, 0], [2, 0, 0]])) == 2
    assert components(Grid.of([[0, 0]])) == 0


def test_counts_do_not_depend_on_the_hash_seed() -> None:
    code = (
        "import json; from tests.searches.arc.test_invariants import *;"
        "g = (dotted(3, 5, 2), dotted(2, 6, 4, 1), dotted(7, 5, 3));"
        "task, outputs = task_of(LARGEST, *g);"
        "print(json.dumps(to_json(extrapolation(task, LARGEST, outputs))))"
    )
    outputs = set()
    for seed in ("0", "77"):
        env = {**os.environ, "PYTHONHASHSEED": seed}
        out = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=True)
        outputs.add(out.stdout)
    assert len(outputs) == 1
    assert json.loads(outputs.pop()).keys() == to_json(Extrapolation()).keys()
