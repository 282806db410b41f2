"""Puzzles searched in their own colours on a coloured background: briefly, for guesses only."""

from __future__ import annotations

from dataclasses import replace

from tests.support.arctasks import options
from tests.support.arcvalues import grid
from weft.searches.arc.assessment import Found
from weft.searches.arc.normal.ground import as_it_is, on_black_ground, read_puzzle
from weft.searches.arc.normal.registry import FittedView
from weft.searches.arc.program import parse
from weft.searches.arc.synthesis.planner import ParallelPlanner
from weft.searches.arc.synthesis.space import ProgramCandidate
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import decode_grids, encode_grids

GROUND = FittedView("ground_black", "7")
TASK = ArcTask(
    "planted",
    (Pair(grid("7717/7777"), grid("7777/7717")), Pair(grid("7777/2777"), grid("2777/7777"))),
    (grid("7377/7777"),),
)
FLIPPED = grid("7777/7377")
PLAIN = ProgramCandidate(
    parse("return mirror_rows(I)\n"), 5000, encode_grids((FLIPPED,)), 1, None
)  # fmt: skip


def test_task_written_as_it_is_is_not_exchanged_again() -> None:
    puzzle, exchange = read_puzzle(TASK.canonical())
    assert (puzzle, exchange) == (replace(on_black_ground(TASK)[0], name=""), GROUND)
    assert read_puzzle(as_it_is(TASK)) == (replace(TASK, name=""), None)


def test_ground_exchanged_twice_is_no_view() -> None:
    twice = PLAIN.program.through(GROUND).through(GROUND)
    assert twice == PLAIN.program
    other = PLAIN.program.through(FittedView("ground_black", "8")).through(GROUND)
    assert other.view is not None
    assert [view.parameters for view in other.view.layers()] == ["7", "8"]


def test_puzzle_as_it_is_is_searched_only_where_nothing_may_answer() -> None:
    planner, puzzle = ParallelPlanner(options("mirror_rows", depth=1)), GROUND.of(TASK)
    validated = replace(PLAIN, loo_passed=2)
    assert planner.ground(puzzle, GROUND, Found((), ())) == GROUND
    assert planner.ground(puzzle, GROUND, Found((), (PLAIN,))) == GROUND
    assert planner.ground(puzzle, GROUND, Found((), (validated,))) is None
    assert planner.ground(puzzle, GROUND, Found((PLAIN,), ())) is None


def test_what_fits_a_puzzle_as_it_is_is_a_guess() -> None:
    planner, puzzle = ParallelPlanner(options("mirror_rows", depth=1)), GROUND.of(TASK)
    nothing = replace(planner.searched(puzzle), found=Found((), ()))
    fits = replace(nothing, found=Found((PLAIN,), ()))
    joined = nothing.beside(fits, puzzle, GROUND).found
    assert (joined.candidates, len(joined.guesses)) == ((), 1)
    assert GROUND.back(TASK.test, decode_grids(joined.guesses[0].outputs)) == (FLIPPED,)
    assert nothing.beside(fits, puzzle, FittedView("ground_black")).found.candidates
