"""Evidence on planted tasks: programs pass, are refuted, break ties or violate invariants."""

from __future__ import annotations

import pytest

from tests.support.arcruns import scattered
from weft.model.codec import from_json
from weft.searches.arc.evidence import (
    CONTRARY,
    EXTRAPOLATED,
    LACKING,
    LOO_REQUIRED,
    REFUTED,
    Evidence,
    examine,
    violated,
)
from weft.searches.arc.invariants import Extrapolation
from weft.searches.arc.program import Program, parse
from weft.searches.arc.refit import predict, run_chain
from weft.searches.arc.symmetries import AUGMENTATIONS
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid


def pair(before: list[list[int]], after: list[list[int]]) -> Pair:
    return Pair(Grid.of(before), Grid.of(after))


def refitted(task: ArcTask, *names: str, rule: str = "") -> tuple[Program, tuple[Grid, ...]]:
    """A program fitted to all pairs of a task, and its outputs on the tests."""
    program = Program(names, rule)
    inputs = [*(p.input for p in task.train), *task.test]
    outputs = predict(program, inputs, [p.output for p in task.train])
    assert outputs is not None, "the program must be right on every pair"
    return program, outputs[len(task.train) :]


def map_task(*pairs: tuple[list[int], list[int]], test: list[int]) -> ArcTask:
    train = tuple(pair([before], [after]) for before, after in pairs)
    return ArcTask("map", train, (Grid.of([test]),))


def test_rule_that_every_pair_shows_passes_cross_validation() -> None:
    task = map_task(([1, 3], [2, 3]), ([3, 1], [3, 2]), ([1, 1, 3], [2, 2, 3]), test=[3, 1])
    evidence = examine(task, *refitted(task, rule="colour_map"))
    assert (evidence.loo_passed, evidence.loo_required, evidence.refuted) == (3, LOO_REQUIRED, 0)
    assert evidence.doubt_millibits == 0


def test_rule_that_needs_every_pair_is_doubtful() -> None:
    task = map_task(([1], [2]), ([3], [4]), ([5], [6]), test=[1, 3])
    evidence = examine(task, *refitted(task, rule="colour_map"))
    assert evidence.loo_passed == 0
    assert evidence.doubt_millibits >= LOO_REQUIRED * LACKING


def test_two_pairs_require_one_prediction() -> None:
    task = map_task(([1, 3], [2, 3]), ([3, 1], [3, 2]), test=[1])
    evidence = examine(task, *refitted(task, rule="colour_map"))
    assert (evidence.loo_passed, evidence.loo_required) == (2, 1)


def test_rule_that_predicts_a_pair_wrongly_is_refuted() -> None:
    """Without the third pair, every colour but 1 seems to stay; in the third, 4 changes."""
    task = map_task(([1, 3], [2, 3]), ([3, 1], [3, 2]), ([1, 4], [2, 5]), test=[1, 4])
    evidence = examine(task, *refitted(task, rule="colour_map"))
    assert evidence.refuted == 1
    assert evidence.doubt_millibits >= REFUTED


def test_program_without_a_rule_passes_on_every_pair() -> None:
    grids = [scattered(i) for i in range(3)]
    rotated = run_chain(("rotate_90",), grids)
    assert rotated is not None
    train = tuple(Pair(a, b) for a, b in zip(grids[:2], rotated[:2], strict=True))
    task = ArcTask("rotated", train, (grids[2],))
    evidence = examine(task, Program(("rotate_90",)), rotated[2:], behaviour=False)
    assert evidence.loo_passed == 2
    assert evidence.doubt_millibits == 0, "a task that has a direction allows no other"


def majority(block: list[int]) -> ArcTask:
    """Each block of three becomes its most common colour; the test has one more block."""
    train = tuple(
        pair([[b, a, a, c, b, b, c, a, c]], [[a, b, c]])
        for a, b, c in ((1, 2, 3), (4, 5, 6), (7, 8, 9))
    )
    return ArcTask("majority", train, (Grid.of([[1, 1, 2, 3, 3, 1, *block]]),))


def test_tie_that_training_never_showed_is_found_by_augmentation() -> None:
    clear, tie = majority([5, 7, 5]), majority([5, 7, 6])
    assert examine(clear, *refitted(clear, rule="block_reduce")).inconsistent == 0
    evidence = examine(tie, *refitted(tie, rule="block_reduce"))
    assert evidence.inconsistent > 0
    assert evidence.doubt_millibits >= CONTRARY


def test_evidence_is_read_back_as_written() -> None:
    broken = Extrapolation(input_constants=5, step_constants=1, output_ranges=2)
    evidence = Evidence(1, 2, 1, 3, ("size", "kept"), broken)
    assert from_json(Evidence, evidence.to_dict()) == evidence
    assert evidence.doubt_millibits == LACKING + 3 * CONTRARY + REFUTED + 3 * EXTRAPOLATED


INVARIANT_CASES = {
    "size": ([[1, 2]], [[2, 1]], [[1, 2, 1]]),
    "change": ([[1, 2]], [[2, 1]], [[2, 2]]),
    "colours": ([[1, 2]], [[2, 1]], [[3, 1]]),
    "contrast": ([[1, 2]], [[2, 1]], [[2, 2]]),
    "kept": ([[0, 2]], [[2, 2]], [[2, 1]]),
    "palette": ([[1, 2]], [[2, 4]], [[2, 9]]),
}


@pytest.mark.parametrize("name", sorted(INVARIANT_CASES))
def test_answer_that_violates_an_invariant_of_all_pairs_is_named(name: str) -> None:
    before, after, answer = INVARIANT_CASES[name]
    test = Grid.of([[2, 2]]) if name in ("change", "palette") else Grid.of(before)
    task = ArcTask("invariant", (pair(before, after), pair(before, after)), (test,))
    assert name in violated(task, (Grid.of(answer),))


def test_invariant_that_one_pair_violates_does_not_apply() -> None:
    task = ArcTask("free", (pair([[1, 2]], [[2, 1]]), pair([[1, 2]], [[7]])), (Grid.of([[1, 2]]),))
    assert violated(task, (Grid.of([[1, 2, 7]]),)) == ()


def test_every_augmentation_has_an_inverse_and_no_two_are_equal() -> None:
    grid = Grid.of([[1, 2, 3], [4, 5, 6]])
    images = [symmetry.apply(grid) for symmetry in AUGMENTATIONS]
    assert all(symmetry.undo(symmetry.apply(grid)) == grid for symmetry in AUGMENTATIONS)
    assert len(set(images) | {grid}) == len(AUGMENTATIONS) + 1


def test_compiled_chain_equals_the_definition() -> None:
    grids = [scattered(i, 5, 6) for i in range(4)]
    largest = ("objects_4", "pick_most_cells", "object_crop")
    for names in (("mirror_down", "fall_left"), largest, ("trim", "rotate_90", "collapse")):
        plain = [Program(names).run(grid) for grid in grids]
        assert run_chain(names, grids) == (tuple(plain) if None not in plain else None)


def test_program_that_misses_a_target_predicts_nothing() -> None:
    grid = scattered(1)
    assert predict(parse("return rotate_180(I)\n"), [grid], [grid]) is None
