"""Reachability: the key of a state, every rule for the fewest steps, and lossless pruning."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from tests.support.arctasks import options, task_of
from weft.searches.arc.ops.operator import Palette, ShapeEffect
from weft.searches.arc.ops.registry import BY_NAME
from weft.searches.arc.program import Program
from weft.searches.arc.synthesis.ablation import LISTS
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.language import Language
from weft.searches.arc.synthesis.phases import shallow
from weft.searches.arc.synthesis.reach import (
    FAR,
    HAS_ALL,
    IN_INPUT,
    NO_SHAPE,
    NOWHERE,
    RULES,
    Fact,
    ReachabilityState,
    table,
)
from weft.searches.arc.task import ArcTask
from weft.searches.arc.values import Grid, ValueStage

GRID, OBJECTS, OBJECT = int(ValueStage.GRID), int(ValueStage.OBJECTS), int(ValueStage.OBJECT)
SMALL, LARGE = Grid.of([[1]]), Grid.of([[1, 2], [2, 1]])
EQUAL = 4
BELOW, ABOVE = 0, 8


def test_key_of_a_state_is_stage_relation_and_lack() -> None:
    state = ReachabilityState.of_grid(SMALL, SMALL, LARGE)
    assert state.key() == (GRID, BELOW, NOWHERE)
    assert ReachabilityState.of_grid(SMALL, LARGE, LARGE).key() == (GRID, BELOW, IN_INPUT)
    assert ReachabilityState.of_grid(LARGE, SMALL, LARGE).key() == (GRID, EQUAL, HAS_ALL)
    assert ReachabilityState.of_grid(LARGE, SMALL, SMALL).key() == (GRID, ABOVE, HAS_ALL)


def test_target_itself_needs_no_step() -> None:
    steps = table((), LARGE, LARGE, RULES)
    assert steps[GRID, EQUAL, HAS_ALL] == 0
    assert steps[GRID, BELOW, HAS_ALL] == FAR


def test_stage_rule_counts_the_way_to_a_grid() -> None:
    facts: tuple[Fact, ...] = (
        (GRID, OBJECTS, ShapeEffect.ANY, Palette.KEEP),
        (OBJECTS, OBJECT, ShapeEffect.ANY, Palette.KEEP),
        (OBJECT, GRID, ShapeEffect.ANY, Palette.BLACK),
    )
    steps = table(facts, LARGE, LARGE, RULES)
    assert steps[OBJECT, NO_SHAPE, HAS_ALL] == 1
    assert steps[OBJECTS, NO_SHAPE, HAS_ALL] == 2
    assert steps[GRID, ABOVE, HAS_ALL] == 3
    assert table(facts, LARGE, LARGE, ("shape", "palette"))[OBJECTS, NO_SHAPE, HAS_ALL] == 0


@pytest.mark.parametrize(
    ("shape", "below", "equal", "above"),
    [
        (ShapeEffect.KEEP, FAR, 0, FAR),
        (ShapeEffect.SHRINK, FAR, 0, 1),
        (ShapeEffect.GROW, 1, 0, FAR),
        (ShapeEffect.ANY, 1, 0, 1),
    ],
)
def test_shape_rule_follows_what_operators_can_do(
    shape: ShapeEffect, below: int, equal: int, above: int
) -> None:
    steps = table(((GRID, GRID, shape, Palette.KEEP),), LARGE, LARGE, RULES)
    assert [int(steps[GRID, r, HAS_ALL]) for r in (BELOW, EQUAL, ABOVE)] == [below, equal, above]
    free = table(((GRID, GRID, shape, Palette.KEEP),), LARGE, LARGE, ("palette", "stage"))
    assert [int(free[GRID, r, HAS_ALL]) for r in (BELOW, EQUAL, ABOVE)] == [0, 0, 0]


def test_shape_of_the_input_is_reached_where_it_is_the_targets() -> None:
    facts: tuple[Fact, ...] = ((GRID, GRID, ShapeEffect.INPUT, Palette.KEEP),)
    assert table(facts, LARGE, LARGE, RULES)[GRID, BELOW, HAS_ALL] == 1
    assert table(facts, SMALL, LARGE, RULES)[GRID, ABOVE, HAS_ALL] == FAR


@pytest.mark.parametrize(
    ("palette", "in_input", "nowhere"),
    [
        (Palette.KEEP, FAR, FAR),
        (Palette.BLACK, FAR, FAR),
        (Palette.INPUT, 1, FAR),
        (Palette.ANY, 1, 1),
    ],
)
def test_palette_rule_follows_what_operators_can_add(
    palette: Palette, in_input: int, nowhere: int
) -> None:
    steps = table(((GRID, GRID, ShapeEffect.KEEP, palette),), LARGE, LARGE, RULES)
    assert int(steps[GRID, EQUAL, IN_INPUT]) == in_input
    assert int(steps[GRID, EQUAL, NOWHERE]) == nowhere


SETS = (
    ("mirror_columns", "transpose", "trim"),
    ("mirror_rows", "rotate_90", "trim", "trim_common"),
)


PRUNED = (RULES, ("shape",), ("palette",), ("stage",))


def tasks_of(names: tuple[str, ...]) -> list[ArcTask]:
    """The distinct tasks that programs of up to three steps define."""
    chains = (chain for n in (1, 2, 3) for chain in product(names, repeat=n))
    tasks = (task_of(Program(chain)) for chain in chains)
    return list({task.digest: task for task in tasks if task is not None}.values())


@pytest.mark.parametrize("names", SETS)
def test_pruning_loses_no_program_within_the_depth(names: tuple[str, ...]) -> None:
    """Over a small set of operators, pruning loses no program of up to three steps."""
    # lists are learned after the program search, from what it reached, and prune nothing
    own = replace(options(*names, prune=(), shallow_share=100), without=(LISTS,))
    for task in tasks_of(names):
        free = shallow(EncodedTask(task), own)
        for prune in PRUNED:
            pruned = shallow(EncodedTask(task), replace(own, prune=prune))
            assert {c.outputs for c in free.candidates} <= {c.outputs for c in pruned.candidates}
            assert pruned.counts.programs <= free.counts.programs, prune


def test_operator_that_lies_about_its_shape_loses_a_program() -> None:
    """The test above can fail: pruning relies on declared facts."""
    task = task_of(Program(("mirror_rows", "transpose")))
    assert task is not None
    honest = options("transpose", "mirror_rows", depth=2, shallow_share=100)
    candidates = shallow(EncodedTask(task), honest).candidates
    assert ("mirror_rows", "transpose") in [
        c.program.names for c in candidates if not c.program.fitted
    ]
    liar = replace(BY_NAME["transpose"], shape=ShapeEffect.KEEP)
    language = Language((), [liar, BY_NAME["mirror_rows"]])
    candidates = shallow(EncodedTask(task), replace(honest, language=language)).candidates
    assert all(candidate.program.fitted for candidate in candidates)
