"""The planner: phases, slices, early stop, limits, and what must not change a result."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.arctasks import options, task_of
from weft.searches.arc.program import Program
from weft.searches.arc.synthesis.cache import ApplyCache
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.log import SHALLOW
from weft.searches.arc.synthesis.phases import Options, deep, shallow
from weft.searches.arc.synthesis.planner import ParallelPlanner, ShallowFacts
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid
from weft.searches.arc.verdict import Outcome

FEW = ("mirror_columns", "mirror_rows", "transpose", "trim", "collapse", "fall_down")


@pytest.fixture
def task() -> ArcTask:
    planted = task_of(Program(("fall_down", "mirror_rows", "transpose")))
    assert planted is not None
    return planted


def hard() -> ArcTask:
    """A task that no program solves: its outputs are unrelated to its inputs."""
    grid = Grid.of([[1, 0, 2, 0], [0, 3, 0, 4], [5, 0, 6, 0]])
    other = Grid.of([[0, 7, 0, 8], [9, 0, 1, 0], [0, 2, 0, 3]])
    targets = (Grid.of([[4, 4, 5], [5, 6, 7]]), Grid.of([[9, 8, 1], [2, 2, 6]]))
    return ArcTask("hard", (Pair(grid, targets[0]), Pair(other, targets[1])), (grid,))


def small(**more: int) -> Options:
    return options(*FEW, depth=4, shallow_share=50, **more)


def test_search_finds_the_planted_program_and_shows_it(task: ArcTask) -> None:
    result = ParallelPlanner(small()).search(task)
    assert result.verdict.outcome in (Outcome.SOLVED, Outcome.AMBIGUOUS)
    assert any(group.outputs == task.truth for group in result.verdict.groups)
    kinds = [event.kind for event in result.log.events]
    assert "found" in kinds
    assert kinds[-1] == "end"
    assert result.log == ParallelPlanner(small()).search(task).log


def test_programs_found_are_right_by_their_slow_definition(task: ArcTask) -> None:
    for candidate in shallow(EncodedTask(task), small()).candidates:
        for pair in task.train:
            assert candidate.program.run(pair.input) == pair.output


def test_stop_on_first_ends_at_the_first_right_program(task: ArcTask) -> None:
    all_of_it = shallow(EncodedTask(task), small())
    first = replace(small(), budget=replace(small().budget, stop_on_first=True))
    stopped = shallow(EncodedTask(task), first)
    assert stopped.candidates[0] == all_of_it.candidates[0]
    assert stopped.counts.programs < all_of_it.counts.programs


def test_competitors_get_a_fixed_further_budget(task: ArcTask) -> None:
    phase = shallow(EncodedTask(task), small(competitor_programs=40))
    assert phase.counts.programs <= phase.candidates[0].time + 40 + 2 * len(FEW)


def test_no_more_candidates_than_the_limit(task: ArcTask) -> None:
    phase = shallow(EncodedTask(task), small(max_candidates=1))
    assert len(phase.candidates) == 1


def test_budget_is_never_exceeded_by_more_than_one_expansion() -> None:
    for programs in (10, 100, 1000):
        result = ParallelPlanner(options(programs=programs, depth=3)).search(hard())
        assert result.programs <= programs + 9 * len(options().language.entries)
        assert result.verdict.outcome is Outcome.BUDGET


def test_program_that_is_too_long_answers_nothing(task: ArcTask) -> None:
    tight = replace(small(), budget=replace(small().budget, max_millibits=1000))
    verdict = ParallelPlanner(tight).search(task).verdict
    assert verdict.outcome in (Outcome.BUDGET, Outcome.NO_PROGRAM)
    assert verdict.groups  # they remain as guesses


def test_slices_run_in_any_order_and_give_the_same_result() -> None:
    planner = ParallelPlanner(options(programs=6000, depth=4, shallow_share=20), slices=4)
    problem = EncodedTask(hard())
    first = shallow(problem, planner.options, None, planner.owners())
    parts = planner.parts(ShallowFacts.of(first)).slices
    assert [part.slice for part in parts] == [0, 1, 2, 3]
    forth = [deep(problem, planner.options, part, first.table) for part in parts]
    shared = ApplyCache()
    back = [deep(problem, planner.options, part, first.table, shared) for part in parts[::-1]]
    forwards, backwards = (
        planner.combine(hard(), first, forth),
        planner.combine(hard(), first, back[::-1]),
    )
    assert forwards.log.to_bytes() == backwards.log.to_bytes()
    assert forwards == backwards
    assert forwards.log.events[0].slice == SHALLOW
    times = [(event.time, event.slice) for event in forwards.log.events if event.slice != SHALLOW]
    assert times == sorted(times)


def test_cache_saves_work_and_changes_nothing(task: ArcTask) -> None:
    for cap in (0, 2000, 10**8):
        cache = ApplyCache(cap)
        once = shallow(EncodedTask(task), small(), cache)
        second = shallow(EncodedTask(task), small(), cache)
        assert once == second
        assert cache.size_bytes <= cap
        assert (cache.hits > 0) == (cap == 10**8)


def test_failed_slice_makes_the_answer_incomplete(task: ArcTask) -> None:
    planner = ParallelPlanner(small())
    first = shallow(EncodedTask(task), planner.options)
    assert planner.combine(task, first, [], incomplete=True).verdict.outcome is Outcome.INCOMPLETE


def test_seed_breaks_ties_only(task: ArcTask) -> None:
    plain = ParallelPlanner(small()).search(task)
    for seed in (1, 2):
        seeded = ParallelPlanner(replace(small(), seed=seed)).search(task)
        assert {g.outputs for g in seeded.verdict.groups} == {
            g.outputs for g in plain.verdict.groups
        }


def test_truth_is_never_looked_at(task: ArcTask) -> None:
    wrong = replace(task, truth=(Grid.of([[9]]),))
    planner = ParallelPlanner(small())
    assert planner.search(task).log.to_bytes() == planner.search(wrong).log.to_bytes()
