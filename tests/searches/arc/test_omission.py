"""Puzzles that nothing fits: searched without one training pair each, for guesses only."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.arcruns import run_tasks
from tests.support.arctasks import options
from tests.support.arcvalues import grid
from weft.errors import InputError
from weft.searches.arc.assessment import Found, Standard, explanations
from weft.searches.arc.check import check_program, check_run
from weft.searches.arc.failure import analyse
from weft.searches.arc.normal.registry import FittedView
from weft.searches.arc.program import order_key, parse
from weft.searches.arc.recorded import read_run
from weft.searches.arc.request import ArcRequest
from weft.searches.arc.runview import view_of_program
from weft.searches.arc.synthesis.ablation import OMISSION, VIEWS
from weft.searches.arc.synthesis.budget import SearchBudget
from weft.searches.arc.synthesis.omission import MOST_OMITTED, as_guesses, omissions
from weft.searches.arc.synthesis.planner import ParallelPlanner, ShallowFacts
from weft.searches.arc.synthesis.space import ProgramCandidate
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.tasks import planner_of
from weft.searches.arc.values import decode_grids, encode_grids
from weft.searches.arc.wire import answer_to_wire

pytestmark = pytest.mark.xdist_group("arc-runs")
WRONG = 2
"""The number of the pair that does not follow the rule."""
TEXT = f"without pair {WRONG}\nreturn mirror_rows(I)\n"
GROUND = FittedView("ground_black")
FLIPPED = ProgramCandidate(
    parse("return mirror_rows(I)\n"), 5000, encode_grids((grid("000/406"),)), 1, 2
)


def puzzle(odd: str = "0/7/7/3/9") -> ArcTask:
    """Three grids that are flipped, and one whose output nothing explains."""
    pairs = (("100/020", "020/100"), ("030/005", odd), ("03/00/01", "01/00/03"),
             ("0210/0200", "0200/0210"))  # fmt: skip
    train = tuple(Pair(grid(given), grid(output)) for given, output in pairs)
    return ArcTask("one odd pair", train, (grid("406/000"),), (grid("000/406"),))


def test_program_names_the_pair_it_was_learned_without() -> None:
    program = parse(TEXT)
    assert (program.without_pair, program.text()) == (WRONG, TEXT)
    assert program.run(grid("12")) == replace(program, without_pair=0).run(grid("12"))
    viewed = program.through(FittedView("ground_black", "7"))
    assert viewed.text() == f'view ground_black "7"\n{TEXT}'
    assert parse(viewed.text()) == viewed
    assert parse(f"without pair {WRONG}\nreturn I\n").text() == f"without pair {WRONG}\nreturn I\n"
    assert order_key(replace(program, without_pair=0)) < order_key(program)


@pytest.mark.parametrize("line", ["without pair 0", "without pair", "without pair 2 3", "without"])
def test_other_words_are_no_omission(line: str) -> None:
    with pytest.raises(InputError, match=r"line 1: .* is not a step of a program"):
        parse(f"{line}\nreturn mirror_rows(I)\n")


def test_wrong_line_below_an_omission_is_named_by_its_number() -> None:
    with pytest.raises(InputError, match=r"line 3: 'nothing' is not a step"):
        parse("view lines_lie\nwithout pair 2\nnothing\n")


def test_program_claims_nothing_about_the_omitted_pair() -> None:
    checked = check_program(puzzle(), parse(TEXT), [[[0, 0, 0], [4, 0, 6]]])
    assert (checked.train_right, checked.train, checked.exact) == (3, 3, True)
    checked = check_program(puzzle(), parse("return mirror_rows(I)\n"), None)
    assert (checked.train_right, checked.train, checked.exact) == (3, 4, False)
    other = check_program(puzzle(), parse(TEXT.replace("2", "1")), None)
    assert (other.train_right, other.train, other.exact) == (2, 3, False)


def test_steps_are_shown_beside_their_own_lines() -> None:
    program = parse(f"view lines_lie\n{TEXT}")
    assert [step.line for step in view_of_program(puzzle(), program).steps] == [
        "view lines_lie", "return mirror_rows(I)", "view_undone",
    ]  # fmt: skip


def test_each_pair_is_omitted_in_turn_and_on_black_too() -> None:
    task = puzzle()
    plain = list(omissions(task, None))
    assert [each.pair for each in plain] == [1, 2, 3, 4]
    assert [len(each.task.train) for each in plain] == [3] * 4
    assert all(task.train[each.pair - 1] not in each.task.train for each in plain)
    both = list(omissions(task, GROUND))
    assert [(each.pair, each.view) for each in both[:3]] == [(1, None), (1, GROUND), (2, None)]
    assert both[1].task == GROUND.of(both[0].task)
    assert list(omissions(replace(task, train=task.train[:2]), GROUND)) == []
    many = replace(task, train=task.train * 3)
    assert [each.pair for each in omissions(many, None)] == list(range(1, MOST_OMITTED + 1))


def test_program_that_fits_all_pairs_but_one_is_guessed() -> None:
    planner = ParallelPlanner(options("mirror_rows", depth=1))
    result = planner.search(puzzle())
    best = result.verdict.groups[0]
    assert result.verdict.outcome.startswith("UNKNOWN")
    assert (best.outputs, best.programs[0].text()) == (puzzle().truth, TEXT)
    assert result.programs > planner.searched(puzzle()).programs


def test_pairs_are_kept_where_anything_fits_them_all() -> None:
    planner, task = ParallelPlanner(options("mirror_rows", depth=1)), puzzle()
    assert planner.omissions(task, None, Found((), ())) != ()
    assert planner.omissions(task, None, Found((FLIPPED,), ())) == ()
    assert planner.omissions(task, None, Found((), (FLIPPED,))) == ()
    own = planner.options
    without = ParallelPlanner(replace(own, without=(OMISSION,)))
    assert without.omissions(task, None, Found((), ())) == ()
    first_only = ParallelPlanner(replace(own, budget=replace(own.budget, stop_on_first=True)))
    assert first_only.omissions(task, None, Found((), ())) == ()
    assert without.search(task).verdict.groups == ()


def test_searches_without_a_pair_are_brief() -> None:
    planner = ParallelPlanner(options("mirror_rows"))
    facts = ShallowFacts(
        programs=9, is_solved=False, exhausted=False, views=2, open_slices=(0,), bases=3,
        canvases=0, segmented=4, ways=("rows",), cells=90,
    )  # fmt: skip
    brief = planner.on_omission()
    assert planner.parts(facts).ways == ("rows",)
    assert planner.has_steps(facts, is_guessed=False)
    parts = brief.parts(facts)
    assert (parts.ways, parts.slices, bool(parts.lists)) == ((), (), True)
    assert not brief.has_steps(facts, is_guessed=False)
    assert brief.late(facts, (), is_validated=False)
    assert VIEWS in brief.options.without


def test_puzzle_on_an_exchanged_ground_is_not_put_on_black_again() -> None:
    task, planner = puzzle(), ParallelPlanner(options("mirror_rows", depth=1))
    coloured = replace(task, test=(grid("777/747"),))
    assert {each.view for each in planner.omissions(coloured, None, Found((), ()))} == {
        None,
        GROUND,
    }
    exchanged = planner.omissions(coloured, FittedView("ground_black", "8"), Found((), ()))
    assert {each.view for each in exchanged} == {None}


def test_cross_validated_list_without_a_pair_never_answers() -> None:
    validated = replace(FLIPPED, loo_passed=3)
    assert explanations(Found((), (validated,)), Standard()) == [validated]
    guesses = as_guesses((validated,), WRONG)
    assert explanations(Found((), guesses), Standard()) == ()
    assert guesses[0].program.text() == TEXT


def test_guess_found_on_black_is_reported_in_the_puzzles_own_colours() -> None:
    planner, task = ParallelPlanner(options("mirror_rows", depth=1)), puzzle()
    viewed = replace(task, test=(grid("747/777"),))
    nothing = replace(planner.searched(viewed), found=Found((), ()))
    fits = replace(
        nothing, found=Found((replace(FLIPPED, outputs=encode_grids((grid("000/040"),))),), ())
    )
    omission = [each for each in omissions(viewed, GROUND) if each.view][1]
    [guess] = nothing.guessed([(omission, fits)], viewed).found.guesses
    assert guess.program.text() == f"view ground_black\n{TEXT}"
    assert decode_grids(guess.outputs) == (grid("777/747"),)


def test_engine_and_planner_agree_and_every_guess_is_exact(tmp_path: Path) -> None:
    budget = SearchBudget(max_programs=300, max_depth=1)
    run_tasks(tmp_path / "run", [puzzle()], budget=budget)
    run = read_run(tmp_path / "run")
    [item] = run.items
    assert item.answer is not None
    result = planner_of(ArcRequest((puzzle(),), budget).options()).search(puzzle())
    recorded = {key: value for key, value in item.answer.items() if key != "log"}
    assert recorded == answer_to_wire(result, analyse(result))
    texts = [text for group in item.answer["groups"] for text in group["programs"]]
    assert texts
    assert all("without pair " in text for text in texts)
    assert all(each.exact for each in check_run(run))
