"""Views: round trips, what they fit, programs with a view, and the search's use of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings

from tests.support.arctasks import options
from tests.support.arcvalues import grids
from weft.errors import InputError
from weft.searches.arc.check import check_program
from weft.searches.arc.evidence import examine
from weft.searches.arc.learn import Solved, below_view
from weft.searches.arc.normal.ground import ground_colour, on_black_ground
from weft.searches.arc.normal.registry import BRIEF, VIEWS, FittedView, is_coloured, worthwhile
from weft.searches.arc.normal.view import ByCount, ViewDefinition
from weft.searches.arc.program import VIEW_UNDONE, Program, order_key, parse
from weft.searches.arc.refit import predict
from weft.searches.arc.runview import view_of_program
from weft.searches.arc.symmetries import AUGMENTATIONS
from weft.searches.arc.synthesis.ablation import VIEWS as PART
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.log import VIEWED
from weft.searches.arc.synthesis.phases import PhaseResult, shallow, viewed
from weft.searches.arc.synthesis.planner import ParallelPlanner, ParallelSearchResult, ShallowFacts
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid
from weft.searches.arc.wire import phase_from_wire, phase_to_wire

BY_COUNT = "colours_by_count"
SEARCH = options("mirror_rows", depth=2, programs=2000, view_share=10)


def grid(text: str) -> Grid:
    """A grid from its rows: `01/10`."""
    return Grid.of([[int(cell) for cell in row] for row in text.split("/")])


def pair(before: str, after: str) -> Pair:
    return Pair(grid(before), grid(after))


def swapped() -> ArcTask:
    """The common and the rare colour are swapped; every example has its own two colours."""
    pairs = [
        pair(f"0{a}{a}/{b}{a}0", f"0{b}{b}/{a}{b}0") for a, b in ((3, 4), (5, 6), (7, 3), (8, 4))
    ]
    return ArcTask("swapped", tuple(pairs[:3]), (pairs[3].input,), (pairs[3].output,))


def seen_program(found: PhaseResult | ParallelSearchResult) -> Program:
    """The first program with a view."""
    if isinstance(found, PhaseResult):
        return found.candidates[0].program
    programs = (program for group in found.verdict.groups for program in group.programs)
    return next(program for program in programs if program.view is not None)


# -- round trips ---------------------------------------------------------------------------------


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
@given(given_=grids(), output=grids(), other=grids())
@settings(max_examples=60, deadline=None)
def test_undoing_a_view_gives_the_grid_back(
    view: ViewDefinition, given_: Grid, output: Grid, other: Grid
) -> None:
    chosen = FittedView(view.name, view.fit([Pair(given_, output), Pair(other, output)]))
    for grid_ in (given_, other):
        symmetry = chosen.symmetry(grid_)
        assert symmetry.undo(symmetry.apply(output)) == output
        assert symmetry.apply(symmetry.undo(output)) == output


def test_colours_are_named_by_count_then_place_and_listed_ones_stay() -> None:
    symmetry = FittedView(BY_COUNT, "05").symmetry(grid("77355/99303"))
    assert symmetry.apply(grid("0123456789")) == grid("0461758293")
    assert symmetry.apply(grid("77355/99303")).cells == grid("22155/33101").cells


def test_colours_of_every_input_and_those_that_outputs_add_keep_their_names() -> None:
    train = (pair("15/20", "15/28"), pair("15/30", "15/38"))
    assert ByCount().fit(train) == "0158"


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("lines_lie", "030/031", "00/33/01"),
        ("lines_lie", "333/030", "333/030"),
        ("lines_lie", "300/300/555", "300/300/555"),
        ("ground_black", "7707/1777", "0070/1000"),
        ("ground_black", "7700/1122", "7700/1122"),
        ("ground_by_count", "7707/1777", "0010/2000"),
        ("ground_by_count", "5355/1155", "0200/1100"),
    ],
)
def test_grid_is_seen_as_its_lines_or_ground_determine(name: str, before: str, after: str) -> None:
    value = grid(before)
    assert FittedView(name).symmetry(value).apply(value) == grid(after)


@pytest.mark.parametrize(
    ("first", "test", "expected"),
    [("77/71", "22/23", True), ("77/71", "00/01", False), ("01/00", "77/71", False)],
)
def test_task_is_coloured_where_no_input_has_black_ground(
    first: str, test: str, expected: bool
) -> None:
    assert is_coloured(ArcTask("t", (pair(first, "1"),), (grid(test),))) is expected


# -- the background of a whole puzzle ------------------------------------------------------------


@pytest.mark.parametrize(
    ("pairs", "test", "ground"),
    [
        ([("771/777", "772")], "73/77", 7),  # without black: the most common in every input
        ([("711/771", "772")], "73/77", 7),  # of two that are, the one that all inputs have
        ([("771", "7"), ("771", "7"), ("718", "7")], "733", 7),  # of most inputs, present in all
        ([("771", "7"), ("711", "7")], "711", 1),
        ([("77", "7"), ("88", "8")], "777", 0),  # not present in all
        ([("771", "7"), ("711", "1")], "71/22", 0),  # not of most inputs
        ([("7770/7771", "7")], "777/777/012", 7),  # with black: twice as common as any other
        ([("7770/7771", "0")], "777/011", 0),
        ([("77/71", "0")], "7771", 7),  # black in an output
        ([("0001", "0")], "0071", 0),
    ],
)
def test_ground_is_the_commonest_colour_by_far_if_there_is_black(
    pairs: list[tuple[str, str]], test: str, ground: int
) -> None:
    task = ArcTask("t", tuple(pair(*both) for both in pairs), (grid(test),))
    assert ground_colour(task) == ground
    on_black, view = on_black_ground(task)
    assert view == (FittedView("ground_black", str(ground)) if ground else None)
    assert ground_colour(on_black) == 0
    if view is not None:
        assert view.back(task.test, on_black.test) == task.test


def test_view_below_a_ground_is_read_as_written_and_follows_augmentations() -> None:
    text = 'view ground_black "7"\nview lines_lie\nreturn mirror_rows(I)\n'
    program = parse(text)
    assert program.text() == text
    assert program == parse("view lines_lie\nreturn mirror_rows(I)\n").through(
        FittedView("ground_black", "7")
    )
    assert program.millibits() == parse("view lines_lie\nreturn mirror_rows(I)\n").millibits()
    assert program.run(grid("371/372")) == grid("173/273")
    task = ArcTask("t", (pair("371/372", "173/273"),), (grid("33/71"),))
    lines = [step.line for step in view_of_program(task, program).steps]
    assert lines == [
        'view ground_black "7"',
        "view lines_lie",
        "return mirror_rows(I)",
        VIEW_UNDONE,
    ]
    assert program.view is not None
    for symmetry in AUGMENTATIONS:
        symmetry_there = program.view.under(symmetry).symmetry(symmetry.apply(grid("371/372")))
        assert symmetry_there.undo(symmetry_there.apply(grid("123"))) == grid("123")
    assert program.view.under(AUGMENTATIONS[-1]).parameters == "1"


# -- views worth a search ------------------------------------------------------------------------


def test_view_that_treats_all_examples_alike_is_left_out() -> None:
    alike = ArcTask("alike", (pair("12", "21"), pair("112", "211")), (grid("1112"),))
    assert worthwhile(alike) == ()
    assert [view.name for view in worthwhile(swapped())] == [BY_COUNT, "ground_by_count"]


def test_view_that_does_what_an_earlier_one_does_is_left_out() -> None:
    """Lines are vertical in one example only; on a black background, one view repeats another."""
    task = ArcTask("t", (pair("30/30", "30/30"), pair("33/00", "33/00")), (grid("33/00"),))
    assert [view.name for view in worthwhile(task)] == ["lines_lie"]
    named = ArcTask("t", (pair("100/000", "1"), pair("200/000", "2")), (grid("300/000"),))
    assert [view.name for view in worthwhile(named)] == [BY_COUNT], "as ground_by_count does"


def test_objects_are_asked_about_in_one_of_the_short_searches() -> None:
    assert [view.name for view in BRIEF if view.shows_objects] == [BY_COUNT]


# -- programs with a view ------------------------------------------------------------------------

TEXT = f'view {BY_COUNT} "05"\na = mirror_rows(I)\nreturn colour_map(a, "1:2")\n'


def test_program_with_a_view_is_read_as_written_and_pays_for_it() -> None:
    program = parse(TEXT)
    assert program.text() == TEXT
    bare = replace(program, view=None)
    assert program.millibits() == bare.millibits() + 6000 + 3322
    assert order_key(bare) < order_key(program)
    assert parse("view lines_lie\nreturn I\n") == Program((), view=FittedView("lines_lie"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("view upside_down\nreturn I\n", "line 1: 'view upside_down' is not a view"),
        ('view lines_lie "1"\nreturn I\n', "line 1: '1' is not a parameter of lines_lie"),
        (f"view {BY_COUNT}\nreturn I\n", "line 1: '' is not a parameter"),
        (f'view {BY_COUNT} "50"\nreturn I\n', "line 1: '50' is not a parameter"),
        ("view lines_lie\nview lines_lie\nreturn I\n", "line 2: 'view lines_lie' is not a step"),
        ('view ground_black "0"\nreturn I\n', "line 1: '0' is not a parameter of ground_black"),
        ("view ground_black\nview none\nreturn I\n", "line 2: 'view none' is not a view"),
        ("view lines_lie\na = nothing(I)\nreturn trim(a)\n", "line 2: there is no operator"),
        ("view lines_lie\n", "a program ends with a grid"),
    ],
)
def test_view_that_is_none_is_refused_with_its_line(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse(text)


def test_program_runs_on_the_viewed_input_and_the_view_is_undone() -> None:
    program = parse("view lines_lie\nreturn mirror_rows(I)\n")
    assert program.run(grid("301/302")) == grid("103/203")
    assert program.run(grid("33/01")) == grid("01/33")


def test_steps_show_the_viewed_grid_and_the_view_undone() -> None:
    task = ArcTask("t", (pair("301/302", "103/203"),), (grid("33/01"),))
    steps = view_of_program(task, parse("view lines_lie\nreturn mirror_rows(I)\n")).steps
    assert [step.line for step in steps] == ["view lines_lie", "return mirror_rows(I)", VIEW_UNDONE]
    assert [step.values[0] for step in steps] == [
        grid("33/00/12"), grid("12/00/33"), grid("103/203"),
    ]  # fmt: skip


# -- evidence ------------------------------------------------------------------------------------


def test_view_follows_a_task_that_is_transformed() -> None:
    view = FittedView(BY_COUNT, "05")
    for symmetry in AUGMENTATIONS:
        given_ = grid("5530/4430")
        own_symmetry = view.under(symmetry).symmetry(symmetry.apply(given_))
        expected = [symmetry.apply(grid(colour)) for colour in "05"]
        assert all(own_symmetry.apply(colour) == colour for colour in expected)
    assert view.under(AUGMENTATIONS[-1]) == FittedView(BY_COUNT, "08")
    assert FittedView("lines_lie").under(AUGMENTATIONS[-1]) == FittedView("lines_lie")


def test_rule_below_a_view_is_examined_as_any_other() -> None:
    task = swapped()
    view = FittedView(BY_COUNT, "0")
    examined = examine(task, Program((), "colour_map", "1:2 2:1", view), task.truth)
    assert (examined.loo_passed, examined.refuted, examined.doubt_millibits) == (3, 0, 0)
    one_of = replace(task, train=(*task.train[:2], pair("700/370", "900/390")))
    assert predict(Program((), "colour_map", "", view), *_split(one_of)) is None


def test_tie_that_a_view_breaks_by_place_is_found_by_augmentation() -> None:
    """Everything becomes the rarer of two colours; in one test they tie, and position decides."""
    train = tuple(pair(f"0{a}{a}/{b}{a}0", f"0{b}{b}/{b}{b}0") for a, b in ((3, 4), (5, 6), (7, 8)))
    program = Program((), "colour_map", "", FittedView(BY_COUNT, "0"))
    for test, is_tie in (("884", False), ("844/088", False), ("84", True)):
        task = ArcTask("tie", train, (grid(test),))
        outputs = predict(program, *_split(task))
        assert outputs is not None
        assert (examine(task, program, outputs[-1:]).inconsistent > 0) is is_tie


def _split(task: ArcTask) -> tuple[list[Grid], list[Grid]]:
    """All inputs, and the training outputs."""
    return [*(p.input for p in task.train), *task.test], [p.output for p in task.train]


# -- the search ----------------------------------------------------------------------------------


def test_search_finds_what_only_a_view_shows() -> None:
    task = swapped()
    assert shallow(EncodedTask(task), SEARCH).candidates == ()
    result = ParallelPlanner(SEARCH).search(task)
    program = seen_program(result)
    assert program.view == FittedView(BY_COUNT, "0")
    assert result.verdict.groups[0].outputs == task.truth
    assert check_program(task, program, [g.rows() for g in task.truth]).exact
    assert any(event.slice == VIEWED for event in result.log.events)


def test_search_without_views_finds_nothing_there() -> None:
    bare = ParallelPlanner(replace(SEARCH, without=(PART,))).search(swapped())
    assert not any(p.view for group in bare.verdict.groups for p in group.programs)
    assert all(event.slice != VIEWED for event in bare.log.events)


def test_what_a_view_recorded_is_what_its_programs_do() -> None:
    task = swapped()
    phase = viewed(task, SEARCH, FittedView(BY_COUNT, "0"), 0)
    assert phase.candidates
    for candidate in (*phase.candidates, *phase.guesses):
        assert [candidate.program.run(p.input) for p in task.train] == [
            p.output for p in task.train
        ]
        outputs = [candidate.program.run(given_) for given_ in task.test]
        assert candidate.outputs == b"".join(
            bytes((g.height, g.width)) + g.cells for g in outputs if g is not None
        )
        assert candidate.millibits == candidate.program.millibits()
    assert phase_from_wire(phase_to_wire(phase), phase.log).candidates == phase.candidates


def facts(spent: int, views: int) -> ShallowFacts:
    return ShallowFacts(spent, False, False, views, range(32), 3, 0, 0)


def test_views_have_their_share_before_the_slices() -> None:
    planner = ParallelPlanner(options(programs=1000, view_share=10))
    parts = planner.parts(facts(400, views=2))
    assert sum(part.programs for part in parts.slices) == 1000 - 400 - 2 * 100
    assert planner.parts(facts(800, views=2)).slices == ()


@pytest.mark.parametrize(("spent", "share", "most"), [(400, 10, 6), (950, 10, 0), (1200, 10, 0)])
def test_views_stay_within_the_budget(spent: int, share: int, most: int) -> None:
    some, none = (ParallelPlanner(options(programs=1000, view_share=n)) for n in (share, 0))
    assert some.parts(facts(spent, views=9)).views == most
    assert none.parts(facts(spent, views=9)).views == 0


# -- concepts ------------------------------------------------------------------------------------


def test_concepts_are_learned_from_what_lies_below_a_view() -> None:
    task = swapped()
    program = seen_program(ParallelPlanner(SEARCH).search(task))
    below = below_view(Solved(task, program, [g.rows() for g in task.truth], task.digest))
    assert below.program.view is None
    assert below.digest == task.digest != below.task.digest
    assert check_program(below.task, below.program, below.outputs).exact
