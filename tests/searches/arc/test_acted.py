"""Lists that read the result of one action on all objects: masks, texts, a planted task."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.arctasks import options
from tests.support.arcvalues import grids
from weft.errors import ValueInvalid
from weft.searches.arc.check import check_program
from weft.searches.arc.fitted.celllist import Cells
from weft.searches.arc.fitted.choose import segment
from weft.searches.arc.program import parse as read_program
from weft.searches.arc.synthesis.actedcolumns import MOST_COLUMNS, acted_columns
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.learnlists import ACTIONS, LAID, ListPart, learn_part
from weft.searches.arc.synthesis.phases import shallow
from weft.searches.arc.synthesis.planner import ParallelPlanner, ShallowFacts
from weft.searches.arc.tables.everywhere import SEGMENTATIONS, acts, everywhere, plain_everywhere
from weft.searches.arc.tables.everywhere import parse as parse_acted
from weft.searches.arc.tables.scene import Scene, masks_of
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid, decode_grids

TRIED = tuple(acts((2, 5)))
PLANTED = read_program('return cells(I, "row_parity=0 -> own; else objects_8.add.outline.own")')


def speckled(height: int, width: int, *cells: tuple[int, int, int]) -> Grid:
    """A black grid with some coloured cells."""
    rows = [[0] * width for _ in range(height)]
    for row, column, colour in cells:
        rows[row][column] = colour
    return Grid.of(rows)


INPUTS = (
    speckled(7, 8, (2, 2, 3), (5, 6, 4)),
    speckled(8, 8, (1, 5, 4), (5, 1, 6), (5, 2, 6)),
    speckled(8, 9, (3, 1, 3), (2, 6, 8)),
    speckled(9, 9, (6, 2, 8), (2, 5, 3)),
)


def planted() -> ArcTask:
    """A task solved by one action and a list together; the last input is the test."""
    outputs = [PLANTED.run(grid) for grid in INPUTS]
    pairs = [Pair(i, o) for i, o in zip(INPUTS, outputs, strict=True) if o is not None]
    assert len(pairs) == len(INPUTS)
    return ArcTask("planted", tuple(pairs[:-1]), (INPUTS[-1],), (pairs[-1].output,))


@given(grids(6), st.sampled_from(SEGMENTATIONS), st.sampled_from(TRIED))
@settings(max_examples=150)
def test_masks_are_the_cells_of_the_slow_twin(
    value: Grid, name: str, action: tuple[str, ...]
) -> None:
    scene = Scene(value, segment(name, value))
    masks = everywhere(scene, action)
    assert masks == masks_of(plain_everywhere(scene, action))


@pytest.mark.parametrize("text", ["objects_8.cover.ring.own", "layers.slide.north"])
def test_source_is_text_that_can_be_read_back_and_has_a_price(text: str) -> None:
    source = parse_acted(text)
    assert source.text() == text
    assert source.millibits > 6000
    rule = Cells()
    assert rule.show(rule.parse(f"{text}=0 -> 1; else {text}")) == f"{text}=0 -> 1; else {text}"


@pytest.mark.parametrize(
    "text",
    ["objects_8.", "objects_8.stay", "objects_8.shift.1.0", "holes_4.slide.north", "I.turn.half",
     "objects_8.slide", "objects_8.slide.north.in.3", "objects_8.slide.north|grow", ".", "own.own"],
)  # fmt: skip
def test_source_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueInvalid):
        Cells().parse(f"else {text}")


def test_grid_without_objects_has_no_such_cells() -> None:
    empty, rule = speckled(2, 2), Cells()
    assert rule.apply(rule.parse("else objects_8.turn.half"), empty, empty) is None


def test_columns_are_what_their_sources_make_of_every_grid() -> None:
    problem = EncodedTask(planted().without_truth())
    columns = acted_columns(problem)
    assert 0 < len(columns) <= MOST_COLUMNS
    assert "objects_8.add.frame.own" in columns  # the same cells as the outline
    for text, column in columns.items():
        outputs = [parse_acted(text).grid(grid) for grid in problem.inputs]
        assert column.tobytes() == b"".join(grid.cells for grid in outputs if grid is not None)


def test_outputs_of_another_size_have_no_columns() -> None:
    pairs = tuple(Pair(grid, Grid.of([[1]])) for grid in INPUTS[:2])
    assert acted_columns(EncodedTask(ArcTask("", pairs, INPUTS[2:3]))) == {}


def test_list_with_an_action_is_found_and_is_right_by_its_slow_definition() -> None:
    task = planted()
    problem = EncodedTask(task.without_truth())
    phase = shallow(problem, options("mirror_rows", programs=50, depth=1))
    assert phase.sample is not None
    learned = learn_part(problem, phase.sample, ListPart(0, reads=ACTIONS))
    best = learned.candidates[0]
    assert decode_grids(best.outputs) == task.truth
    assert best.loo_passed is None
    assert best.millibits == best.program.millibits()
    assert check_program(task, best.program, [grid.rows() for grid in task.truth]).exact
    assert learned.beginnings == ()


@pytest.mark.parametrize(
    ("change", "acting", "laid"),
    [({}, 1, 1), ({"canvases": 3}, 0, 1), ({"bases": 0}, 0, 0), ({"is_solved": True}, 0, 0)],
)
def test_parts_that_read_more_run_where_nothing_answers(
    change: dict[str, int | bool], acting: int, laid: int
) -> None:
    facts = replace(ShallowFacts(0, False, True, 0, (), 2, 0, 1), **change)
    planner = ParallelPlanner(options("mirror_rows"))
    parts = planner.late(facts, (), is_validated=False)
    assert [part.reads for part in parts].count(ACTIONS) == acting
    assert [part.reads for part in parts].count(LAID) == laid
    assert planner.late(facts, (), is_validated=True) == []
    assert planner.on_ground(is_coloured=False).late(facts, (), is_validated=False) == []
    assert planner.on_ground(is_coloured=True).late(facts, (), is_validated=False) == parts
