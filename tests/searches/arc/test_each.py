"""Programs for parts of a grid: boxes, texts, planted parts, cross-validation, the whole search."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings

from tests.support.arctasks import options
from tests.support.arcvalues import grids
from weft.errors import InputError
from weft.searches.arc.fitted.each import (
    COLOURS,
    WAYS,
    arranged,
    assembled,
    boxes_of,
    colours_of,
    cut,
    layer,
    overlaid,
)
from weft.searches.arc.fitted.registry import BY_NAME
from weft.searches.arc.program import Program
from weft.searches.arc.program import parse as read_program
from weft.searches.arc.synthesis.ablation import FITTED
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.learneach import MOST_PARTS, divide, ways_of
from weft.searches.arc.synthesis.phases import parted, shallow
from weft.searches.arc.synthesis.planner import ParallelPlanner, ParallelSearchResult
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Box, Grid, decode_grids

MIRRORED = 'return each(I, "blobs_8: mirror_columns")\n'


def grid(text: str) -> Grid:
    """A grid from its rows: `01/10`."""
    return Grid.of([[int(cell) for cell in row] for row in text.split("/")])


def pair(given: str, expected: str) -> Pair:
    return Pair(grid(given), grid(expected))


# -- parts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
@given(value=grids())
@settings(max_examples=30, deadline=None)
def test_boxes_are_apart_and_put_together_again(way: str, value: Grid) -> None:
    boxes = boxes_of(way, value)
    if boxes is not None:
        parts = [cut(value, box) for box in boxes]
        assert assembled(value, boxes, parts) == value
        places = [
            (row, column)
            for box in boxes
            for row in range(box.row, box.row + box.height)
            for column in range(box.col, box.col + box.width)
        ]
        assert len(places) == len(set(places))
        cells = {place: value.at(*place) for place in places}
        assert [cell for part in parts for cell in part.cells] == [cells[p] for p in places]


def test_box_in_another_one_belongs_to_it_and_overlapping_boxes_divide_nothing() -> None:
    ring = grid("2220/2020/2220/0003")
    assert boxes_of("blobs_8", grid("22200/21200/22200/00000/00033")) == (
        Box(0, 0, 3, 3),
        Box(4, 3, 1, 2),
    )
    assert boxes_of("objects_4", ring) == (Box(0, 0, 3, 3), Box(3, 3, 1, 1))
    assert boxes_of("objects_4", grid("2000/2333/2223/0003")) is None
    assert boxes_of("blobs_8", grid("00/00")) is None


def test_part_that_is_missing_or_of_another_size_fails() -> None:
    value, boxes = grid("11/22"), (Box(0, 0, 1, 2),)
    assert assembled(value, boxes, [grid("34")]) == grid("34/22")
    assert assembled(value, boxes, [grid("345")]) is None
    assert assembled(value, boxes, [None]) is None


def test_parts_of_another_size_are_put_side_by_side() -> None:
    boxes = (Box(0, 0, 2, 2), Box(0, 3, 2, 2), Box(3, 0, 2, 2), Box(3, 3, 2, 2))
    ones = [grid(colour) for colour in "1234"]
    assert arranged(boxes, ones) == grid("12/34")
    assert arranged(boxes, [grid("55"), *ones[1:]]) is None
    assert arranged(boxes, [*ones[:3], None]) is None
    assert arranged(boxes[:3], ones[:3]) is None
    assert arranged(boxes, [Grid(1, 16, bytes(16))] * 4) is None


@given(value=grids())
@settings(max_examples=30, deadline=None)
def test_layers_lie_over_each_other_as_the_grid(value: Grid) -> None:
    colours = colours_of(value)
    layers = [layer(value, colour) for colour in colours]
    assert overlaid(colours, layers) == (value if colours else None)


def test_layers_of_different_sizes_or_missing_ones_fail() -> None:
    assert overlaid([2, 3], [grid("10"), grid("11")]) == grid("33")
    assert overlaid([2, 3], [grid("10"), grid("1")]) is None
    assert overlaid([2, 3], [grid("10"), None]) is None


# -- programs -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "given", "expected"),
    [
        ("single_rows: mirror_columns", "120/003", "021/300"),
        ("single_columns: mirror_rows|colour_map 1:5 keep", "12/03", "03/52"),
        ("split_lines: cells own=1 & row=0 -> 4; else own", "105/015/555/135", "405/015/555/435"),
        ("blobs_8: mirror_columns", "0120/0000/3400", "0210/0000/4300"),
        ("single_rows: repeat_down", "12/34", "12/12/34/34"),
        ("colours: mirror_columns", "120/003", "021/300"),
    ],
)
def test_program_runs_on_each_part(text: str, given: str, expected: str) -> None:
    program = read_program(f'return each(I, "{text}")\n')
    assert program.run(grid(given)) == grid(expected)
    assert read_program(program.text()) == program


def test_program_costs_its_segmentation_operators_and_rule() -> None:
    rule, inner = BY_NAME["each"], BY_NAME["colour_map"]
    plain = rule.price(rule.parse("single_rows: mirror_columns"))
    both = rule.price(rule.parse("single_rows: mirror_columns|colour_map 1:5 keep"))
    assert both - plain == inner.price(inner.parse("1:5 keep"))
    assert plain > Program(("mirror_columns",)).millibits()


@pytest.mark.parametrize(
    "text",
    ["single_rows", "layers: mirror_columns", "single_rows: fly", "single_rows: objects_8",
     "single_rows: cells", "single_rows: mirror_columns own=1 -> 2; else own", "single_rows: ",
     "single_rows: cells|mirror_columns else own",
     "single_rows: each single_columns: mirror_columns", "single_rows:  mirror_columns"],
)  # fmt: skip
def test_bad_parameters_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="is not a parameter of each"):
        read_program(f'return each(I, "{text}")\n')


def test_bad_parameters_of_a_rule_are_refused_as_its_own() -> None:
    with pytest.raises(InputError, match="'own=1 -> 2' is not a parameter of cells"):
        read_program('return each(I, "single_rows: cells own=1 -> 2")\n')


def test_parts_that_are_no_lattice_must_keep_their_size() -> None:
    assert read_program('return each(I, "objects_4: repeat_down")\n').run(grid("10/02")) is None


# -- division -------------------------------------------------------------------------------------

PAIRS = (
    pair("12000/00000/00340", "21000/00000/00430"),
    pair("00560/00000/71000", "00650/00000/17000"),
    pair("80100/00000/00023", "80100/00000/00032"),
)


def test_task_is_divided_where_only_its_parts_change() -> None:
    division = divide(PAIRS, [grid("45000/00000/00067")], "blobs_8")
    assert division is not None
    assert division.outputs[grid("12")] == grid("21")
    assert [part.size for part in division.task().test] == [(1, 2), (1, 2)]
    assert divide([*PAIRS, pair("12000/00000", "21000/00001")], [], "blobs_8") is None
    assert divide([*PAIRS, pair("12000", "12000")], [], "blobs_8") is None
    assert divide([*PAIRS, pair("12", "1")], [], "blobs_8") is None
    assert divide([*PAIRS, pair("00", "0")], [], "blobs_8") is None
    assert divide(PAIRS, [grid("000/000")], "blobs_8") is None


def test_task_with_no_more_parts_than_pairs_or_too_many_is_not_divided() -> None:
    assert divide([pair("120", "210"), pair("034", "043")], [], "blobs_8") is None
    rows = "/".join(f"{n // 10}{n % 10}" for n in range(29))
    many = [Pair(grid(rows), grid(rows)), Pair(grid(f"{rows}/99"), grid(f"{rows}/99"))]
    assert divide(many, [], "single_rows") is not None
    more = "/".join(f"{n // 10}{n % 10}" for n in range(30, MOST_PARTS + 1))
    assert divide([*many, Pair(grid(more), grid(more))], [], "single_rows") is None


def test_output_of_another_size_is_cut_into_as_many_parts() -> None:
    pairs = [pair("1252/2153", "12"), pair("3350/3452/5555/1152/1151", "30/12")]
    division = divide(pairs, [grid("7859/8752")], "split_lines")
    assert division is not None
    assert division.outputs[grid("33/34")] == grid("3")
    assert division.outputs[grid("2/3")] == grid("2")
    assert divide([*pairs, pair("1252/2153", "123")], [], "split_lines") is None


def test_task_is_divided_by_colour_where_outputs_have_no_other() -> None:
    pairs = [pair("120", "021"), pair("304", "403")]
    division = divide(pairs, [grid("560")], COLOURS)
    assert division is not None
    assert division.outputs[grid("010")] == grid("010")
    assert list(division.task().test) == [grid("100"), grid("010")]
    assert divide([*pairs, pair("120", "025")], [], COLOURS) is None


def test_ways_that_divide_alike_are_tried_once() -> None:
    task = ArcTask("t", PAIRS, (grid("45000/00000/00067"),))
    assert ways_of(task) == ("single_rows", "split_black_lines", "blobs_8")


# -- learning -------------------------------------------------------------------------------------


def planted() -> ArcTask:
    """A task in which every blob is mirrored in place."""
    test = pair("45000/00000/00067", "54000/00000/00076")
    return ArcTask("planted", PAIRS, (test.input,), (test.output,))


def test_planted_program_is_learned_and_predicts_every_pair() -> None:
    task = planted()
    learned = parted(task.without_truth(), options("mirror_columns", depth=1), "blobs_8")
    assert learned[0].program.text() == MIRRORED
    assert decode_grids(learned[0].outputs) == task.truth
    assert learned[0].loo_passed == 3
    assert learned[0].program.run(task.test[0]) == task.truth[0]
    assert learned[0].millibits == learned[0].program.millibits()


def test_two_pairs_are_too_few_for_cross_validation() -> None:
    task = planted()
    few = ArcTask("few", task.train[:2], task.test)
    learned = parted(few, options("mirror_columns", depth=1), "blobs_8")
    assert learned[0].program.text() == MIRRORED
    assert learned[0].loo_passed is None


def rules_of(search: ParallelSearchResult) -> list[str]:
    return [program.fitted for group in search.verdict.groups for program in group.programs]


def test_whole_search_divides_a_task_unless_told_not_to() -> None:
    own = options("mirror_columns", depth=1, programs=2000)
    result = ParallelPlanner(own).search(planted())
    assert result.verdict.groups[0].outputs == planted().truth
    assert "each" in rules_of(result)
    without = ParallelPlanner(replace(own, without=(FITTED,))).search(planted())
    assert "each" not in rules_of(without)


def test_task_with_a_short_program_is_not_divided() -> None:
    task = EncodedTask(planted().without_truth())
    assert shallow(task, options("mirror_rows", depth=1)).ways
    rows = (pair("120/003", "021/300"), pair("450/600", "054/006"))
    mirrored = EncodedTask(ArcTask("t", rows, (grid("780/009"),)))
    assert shallow(mirrored, options("mirror_columns", depth=1)).ways == ()
