"""Canvases: size formulas, placing the input, features of their cells, and lists over them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.arctasks import options, phase_with_learned
from tests.support.arcvalues import grids
from weft.errors import InputError, ValueInvalid
from weft.searches.arc.fitted.celllist import Cells, OnCanvas
from weft.searches.arc.lists.canvas import LAID, Canvas, size_loo_passes, supposed
from weft.searches.arc.lists.canvas import parse as parse_canvas
from weft.searches.arc.lists.sizes import _ALL, Formula, formulas, measures_of, parse
from weft.searches.arc.lists.words import CANVAS_NAMES, COUNTS, NAMES
from weft.searches.arc.program import parse as read_program
from weft.searches.arc.synthesis.ablation import LISTS
from weft.searches.arc.synthesis.phases import PhaseResult
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid
from weft.searches.arc.values import decode_grids as read_grids


def grid(text: str) -> Grid:
    """A grid from its rows: `01/10`."""
    return Grid.of([[int(cell) for cell in row] for row in text.split("/")])


def sized(height: int, width: int) -> Grid:
    return Grid(height, width, bytes(height * width))


# -- sizes ---------------------------------------------------------------------------------------


def test_measures_count_what_they_say() -> None:
    measures = measures_of(grid("1002/0120/0000"))
    assert measures == {"h": 3, "w": 4, "cells": 4, "gaps": 8, "marks": 2, "blobs": 1}
    assert measures_of(grid("10/00/02"))["blobs"] == 2


@pytest.mark.parametrize(
    ("text", "value"),
    [("h", 3), ("w*3", 12), ("h+2", 5), ("w-1", 3), ("w/2", 2), ("h/2", 0), ("7", 7),
     ("marks", 2), ("h*marks", 6), ("h*w", 12), ("cells-4", 0)],
)  # fmt: skip
def test_formula_gives_a_side(text: str, value: int) -> None:
    assert parse(text).value(measures_of(grid("1002/0120/0000"))) == value


def test_formulas_are_read_as_written() -> None:
    for formula in sorted(_ALL, key=Formula.text):
        assert parse(formula.text()) == formula
        assert formula.millibits("h") > 0


@pytest.mark.parametrize("text", ["", "0", "07", "100", "x", "h*", "h*h*2", "h*7", "h+11", "2*h"])
def test_text_that_is_no_formula_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^"):
        parse(text)


def test_formulas_that_all_pairs_obey_come_cheapest_first() -> None:
    inputs = [sized(2, 3), sized(3, 5), sized(4, 4)]
    texts = [formula.text() for formula in formulas("h", inputs, [4, 6])]
    assert texts[0] == "h*2"
    assert formulas("h", inputs, [4, 5])[0].text() == "h+2"
    assert formulas("h", inputs, [3, 5])[0].text() == "w"
    assert [f.text() for f in formulas("h", inputs, [9, 9])] == ["9"]
    assert formulas("h", inputs, [9, 20]) == []


def test_formulas_that_agree_on_every_input_are_one() -> None:
    inputs = [sized(2, 2), sized(3, 3), sized(4, 4)]
    values = [
        tuple(formula.value(measures_of(input_grid)) for input_grid in inputs)
        for formula in formulas("w", inputs, [4, 6])
    ]
    assert len(set(values)) == len(values)


def test_formula_that_makes_an_impossible_test_is_left_out() -> None:
    inputs = [sized(2, 3), sized(3, 5), sized(20, 4)]
    assert "h*2" not in [formula.text() for formula in formulas("h", inputs, [4, 6])]


# -- canvases ------------------------------------------------------------------------------------

# layer, height, width, result
LAYERS = (
    ("tiled", 3, 5, "12121/34343/12121"),
    ("spread", 4, 4, "1122/1122/3344/3344"),
    ("spread", 1, 1, "1"),
    ("top_left", 3, 3, "120/340/000"),
    ("bottom_left", 3, 3, "000/120/340"),
    ("top_right", 2, 3, "012/034"),
    ("bottom_right", 3, 3, "000/012/034"),
    ("bottom_right", 1, 1, "4"),
)


@pytest.mark.parametrize(("laid", "height", "width", "expected"), LAYERS)
def test_input_is_laid_as_said(laid: str, height: int, width: int, expected: str) -> None:
    canvas = parse_canvas(f"{height} {width} {laid}")
    assert canvas.base(grid("12/34")) == grid(expected)
    assert canvas.text() == f"{height} {width} {laid}"


@given(value=grids(5), height=st.integers(1, 9), width=st.integers(1, 9))
@settings(max_examples=60, deadline=None)
def test_features_of_a_canvas_are_what_they_say(value: Grid, height: int, width: int) -> None:
    """Compares the features with a slow twin, cell by cell."""
    columns = Canvas(parse(str(height)), parse(str(width)), "tiled").columns(value)
    assert columns is not None
    assert list(columns) == [*NAMES, *CANVAS_NAMES]
    measures = measures_of(value)
    deep, across = -(-height // value.height), -(-width // value.width)
    for place in range(height * width):
        row, column = divmod(place, width)
        down, y = divmod(row, value.height)
        right, x = divmod(column, value.width)
        cell = {name: int(columns[name][place]) for name in CANVAS_NAMES}
        assert cell["tiled"] == value.at(y, x)
        assert cell["spread"] == value.at(
            row * value.height // height, column * value.width // width
        )
        folded_y = value.height - 1 - y if down % 2 else y
        assert cell["folded"] == value.at(folded_y, value.width - 1 - x if right % 2 else x)
        tile = down * across + right
        numbers = {
            ("rows", "top_right"): down * across + across - 1 - right,
            ("rows", "bottom_left"): (deep - 1 - down) * across + right,
            ("rows", "bottom_right"): deep * across - 1 - tile,
            ("columns", "top_left"): right * deep + down,
            ("columns", "top_right"): (across - 1 - right) * deep + down,
            ("columns", "bottom_left"): right * deep + deep - 1 - down,
            ("columns", "bottom_right"): (across - 1 - right) * deep + deep - 1 - down,
        }
        assert (cell["tile_row"], cell["tile_column"], cell["tile"]) == (down, right, tile)
        for name in COUNTS:
            count = measures[name]
            assert cell[f"input_{name}"] == min(60, count)
            assert cell[f"tile_under_{name}"] == (tile < count)
            for (order, corner), number in numbers.items():
                assert cell[f"tile_{order}_{corner}_under_{name}"] == (number < count)
            assert cell[f"place_under_{name}"] == (place < count)
            assert cell[f"row_under_{name}"] == (row < count)
            assert cell[f"column_under_{name}"] == (column < count)


def test_supposed_canvases_fit_the_outputs_and_differ() -> None:
    inputs = [grid("12/30"), grid("01/20"), grid("11/22")]
    expected = [sized(4, 4), sized(4, 4)]
    canvases = supposed(inputs, expected, 6)
    assert len(canvases) == 6
    assert canvases[0].text() == "h*2 w*2 tiled"
    prices = [canvas.millibits for canvas in canvases]
    assert prices == sorted(prices)
    assert (
        len({tuple(canvas.base(input_grid) for input_grid in inputs) for canvas in canvases}) == 6
    )
    assert {canvas.laid for canvas in canvases} <= set(LAID)
    assert supposed(inputs, [sized(4, 4), sized(5, 9)], 6) == []


def test_size_that_one_pair_alone_tells_is_not_steady() -> None:
    inputs = [sized(2, 2), sized(3, 3), sized(4, 4)]
    assert size_loo_passes(inputs, [sized(4, 4), sized(6, 6), sized(8, 8)])
    assert not size_loo_passes(inputs[:2], [sized(4, 4), sized(5, 5)])


# -- lists on canvases ---------------------------------------------------------------------------

TEXT = 'return canvas(I, "h*2 w*2 tiled: tile=3 -> spread; tile_under_marks=1 -> own; else 0")\n'


def test_list_on_a_canvas_is_read_as_written_and_priced() -> None:
    program = read_program(TEXT)
    assert program.text() == TEXT
    canvas, cell_list = program.parameters.split(": ")
    assert program.millibits() == Cells().price(cell_list.encode()) + (
        parse_canvas(canvas).millibits
    )
    assert program.run(grid("12/34")) == grid("1212/3434/1244/3444")


@pytest.mark.parametrize(
    "parameters",
    ["h*2 w*2 tiled", "h*2 w*2 upright: else own", "h*2 tiled: else own", "h w tiled: own",
     "h w tiled: tile=1 -> tile; else own"],
)  # fmt: skip
def test_canvas_that_is_none_is_refused(parameters: str) -> None:
    with pytest.raises(InputError, match="not a parameter of canvas"):
        read_program(f'return canvas(I, "{parameters}")\n')


def test_list_without_a_canvas_may_not_ask_for_one() -> None:
    with pytest.raises(ValueInvalid, match="not a parameter of cells"):
        Cells().parse("tile=1 -> 2; else own")
    assert OnCanvas().parse("h w tiled: tile=1 -> 2; else own")


def test_canvas_that_is_too_large_or_a_chain_of_another_size_says_nothing() -> None:
    small, large = grid("12/34"), sized(20, 2)
    assert read_program('return canvas(I, "h*2 w tiled: else own")\n').run(large) is None
    assert read_program('return canvas(I, "h*2 w tiled: else input")\n').run(small) is None


def phase_with_choices(task: ArcTask, *without: str) -> PhaseResult:
    own = options("trim", depth=1)
    return phase_with_learned(task, replace(own, without=without))


def diagonals() -> ArcTask:
    """The input in the corner of a grid of twice its size; its colours spread down to the right."""
    program = read_program(
        'return canvas(I, "h*2 w*2 top_left: own=0 -> sees_northwest; else own")\n'
    )
    inputs = [grid("120/304/560"), grid("78/09"), grid("103/000/020"), grid("40/35")]
    outputs = [program.run(input_grid) for input_grid in inputs]
    pairs = [
        Pair(input_grid, other)
        for input_grid, other in zip(inputs, outputs, strict=True)
        if other is not None
    ]
    assert len(pairs) == len(inputs)
    return ArcTask("diagonals", tuple(pairs[:3]), (inputs[3],), (pairs[3].output,))


def test_list_is_learned_where_only_a_canvas_has_the_size() -> None:
    task = diagonals()
    phase = phase_with_choices(task)
    assert phase.candidates == ()
    best = phase.guesses[0]
    assert best.program.fitted == OnCanvas.name
    assert read_grids(best.outputs) == task.truth
    assert phase_with_choices(task, LISTS).guesses == ()


def test_what_the_search_recorded_of_a_canvas_is_what_its_program_does() -> None:
    task = diagonals()
    guesses = [
        guess for guess in phase_with_choices(task).guesses if guess.program.fitted == OnCanvas.name
    ]
    assert guesses
    for guess in guesses:
        assert [guess.program.run(p.input) for p in task.train] == [p.output for p in task.train]
        assert tuple(guess.program.run(input_grid) for input_grid in task.test) == read_grids(
            guess.outputs
        )
        assert guess.millibits == guess.program.millibits()


def test_task_whose_outputs_are_as_large_as_their_inputs_gets_no_canvas() -> None:
    pairs = tuple(Pair(grid(a), grid(b)) for a, b in (("10", "01"), ("20", "02"), ("030", "030")))
    assert not any(
        guess.program.fitted == OnCanvas.name
        for guess in phase_with_choices(ArcTask("same", pairs, (grid("40"),))).guesses
    )
