"""Lists that read colours and smaller grids laid over the output: texts, values, learning."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.arctasks import options, task_of
from tests.support.arcvalues import grid
from weft.errors import ValueInvalid
from weft.searches.arc.fitted.celllist import Cells
from weft.searches.arc.lists.cells import source_millibits, source_of
from weft.searches.arc.program import parse as read_program
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.laidcolumns import laid_columns
from weft.searches.arc.synthesis.learnlists import LAID, ListPart, laid_parts, learn_part
from weft.searches.arc.synthesis.listcontext import context_of
from weft.searches.arc.synthesis.phases import shallow
from weft.searches.arc.synthesis.sample import VectorSample, pack, unpack
from weft.searches.arc.task import ArcTask
from weft.searches.arc.values import decode_grids

PLANTED = read_program('return cells(I, "own=5 -> spread.top_left_quarter; else own")')
OPERATORS = ("top_left_quarter", "top_half", "least_common_colour", "colour_canvas")


INPUTS = tuple(
    map(
        grid,
        (
            "1355/2455/5575/5556", "8655/3715/1585/5535", "2145/3955/5565/5755",
            "123555/456155/789555/555358/555555/225555", "7435/8255/5355/5525",
        ),
    )
)  # fmt: skip


def planted() -> ArcTask:
    """Grey cells take the colours of the upper left quarter, stretched over the grid."""
    task = task_of(PLANTED, INPUTS)
    assert task is not None
    return task


def sampled(task: ArcTask) -> tuple[EncodedTask, VectorSample]:
    problem = EncodedTask(task.without_truth())
    phase = shallow(problem, options(*OPERATORS, programs=400, depth=3, prune=()))
    assert phase.sample is not None
    return problem, phase.sample


@pytest.mark.parametrize("text", ["tiled.trim", "spread.input", "objects_8|usual_colour"])
def test_source_is_text_that_can_be_read_back_and_has_a_price(text: str) -> None:
    rule = Cells()
    whole = f"{text}=0 -> 1; else {text}"
    assert rule.show(rule.parse(whole)) == whole
    assert source_millibits(text) >= 2000


@pytest.mark.parametrize(
    "text", ["tiled.", "tiled.own", "tiled.most_common_colour", "tiled.tiled.trim", "count_cells"]
)
def test_source_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueInvalid):
        Cells().parse(f"else {text}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("else spread.top_left_quarter", "1100/1100/0011/0011"),
     ("else tiled.left_half", "1010/0101/1010/0101"),
     ("else most_common_ink", "1111/1111/1111/1111")],
)  # fmt: skip
def test_what_is_laid_fills_the_grid(text: str, expected: str) -> None:
    value, rule = grid("1011/0111/1000/0100"), Cells()
    assert rule.apply(rule.parse(text), value, value) == grid(expected)


def test_grid_that_does_not_fit_has_no_such_cells() -> None:
    value = grid("101/011/111")
    rule = Cells()
    assert rule.apply(rule.parse("else tiled.remove_border|scale_2"), value, value) is None


def test_columns_are_what_programs_read() -> None:
    problem, sample = sampled(planted())
    context = context_of(problem, sample, 0)
    columns = laid_columns(context, sample)
    assert {source_of(sample.colours[0].chain), "spread.top_left_quarter"} <= set(columns)
    rule = Cells()
    for source, cells in columns.items():
        grids = [rule.apply(rule.parse(f"else {source}"), grid, grid) for grid in problem.inputs]
        assert cells.tobytes() == b"".join(grid.cells for grid in grids if grid is not None)


def test_sample_keeps_colours_and_tiles_and_none_where_a_program_was_found() -> None:
    _, sample = sampled(planted())
    assert sample.colours
    assert sample.tiles
    assert unpack(pack(sample)) == sample
    mirrored = task_of(read_program("return mirror_rows(I)"), INPUTS)
    assert mirrored is not None
    result = shallow(
        EncodedTask(mirrored), options("mirror_rows", *OPERATORS, programs=400, depth=3)
    )
    assert result.sample is not None
    assert result.sample.is_solved
    assert (result.sample.colours, result.sample.tiles) == ((), ())


def test_list_with_a_stretched_grid_is_found_and_is_right_by_its_slow_definition() -> None:
    task = planted()
    problem, sample = sampled(task)
    assert laid_parts(2) == [ListPart(0, reads=LAID)]
    learned = learn_part(problem, sample, ListPart(0, reads=LAID))
    best = learned.candidates[0]
    assert decode_grids(best.outputs) == task.truth
    assert "spread.top_left_quarter" in best.program.parameters
    assert best.millibits == best.program.millibits()
    assert all(best.program.run(pair.input) == pair.output for pair in task.train)
    bare = replace(sample, colours=(), tiles=())
    assert learn_part(problem, bare, ListPart(0, reads=LAID)).candidates == ()
