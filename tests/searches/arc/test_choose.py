"""The rule that returns one object of a segmentation, and the criteria that the search learns."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.arctasks import options, phase_with_learned
from tests.support.arcvalues import grids
from weft.errors import InputError
from weft.searches.arc.fitted.choose import (
    MEASURES,
    RELATIONS,
    SEGMENTATIONS,
    Choose,
    Criterion,
    measurements_of,
    returned,
    segment,
)
from weft.searches.arc.ops.registry import BY_NAME
from weft.searches.arc.program import parse as read_program
from weft.searches.arc.synthesis.ablation import FITTED, LISTS
from weft.searches.arc.synthesis.phases import PhaseResult
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid
from weft.searches.arc.values import decode_grids as read_grids

SPECKLED = "1110000/1210000/1110333/0000323/0000333"
"""Two squares, each with a red cell."""


def grid(text: str) -> Grid:
    """A grid from its rows: `01/10`."""
    return Grid.of([[int(cell) for cell in row] for row in text.split("/")])


# measure, grid, values for the grid's two blobs
MEASURED = (
    ("cells", "110/000/003", [2, 1]),
    ("room", "1100/0100/0000/0003", [4, 1]),
    ("height", "1100/0100/0000/0003", [2, 1]),
    ("width", "1110/0000/0003", [3, 1]),
    ("colours", "120/000/003", [2, 1]),
    ("main", "1120/0000/0003", [2, 1]),
    ("rest", "1120/0000/0003", [1, 0]),
    ("parts", "1110/1010/1110/0000/0003", [1, 1]),
    ("specks", "1211/1111/0000/0003", [1, 0]),
    ("holes", "1110/1010/1110/0000/0003", [1, 0]),
    ("mirrors", "110/100/000/003", [1, 4]),
    ("copies", "110/000/022", [2, 2]),
    ("likes", "110/000/022", [1, 1]),
    ("kin", "110/000/001", [2, 2]),
    ("border", "1000/0000/0020/0000", [2, 0]),
    ("top", "10/00/02", [0, 2]),
    ("right", "10/00/02", [1, 0]),
    ("count_2", "122/000/003", [2, 0]),
)


@pytest.mark.parametrize(("measure", "text", "values"), MEASURED)
def test_measure_of_objects_is_what_its_words_say(
    measure: str, text: str, values: list[int]
) -> None:
    value = grid(text)
    measured = measurements_of(segment("blobs_8", value), value)
    assert measured is not None
    assert measured[measure] == values
    assert sorted(measured) == sorted(MEASURES)


# relation, requested value, measures of the objects, index of the chosen one
CHOSEN = (
    ("most", 0, [1, 5, 3], 1),
    ("most", 0, [5, 5, 3], None),
    ("least", 0, [1, 5, 3], 0),
    ("odd", 0, [2, 7, 2], 1),
    ("odd", 0, [2, 7], None),
    ("odd", 0, [2, 7, 3], None),
    ("odd", 0, [2, 2, 7, 7], None),
    ("is", 3, [1, 5, 3], 2),
    ("is", 4, [1, 5, 3], None),
    ("is", 5, [5, 5, 3], None),
)


@pytest.mark.parametrize(("relation", "value", "values", "chosen"), CHOSEN)
def test_criterion_tells_one_object_or_none(
    relation: str, value: int, values: list[int], chosen: int | None
) -> None:
    assert Criterion(relation, "cells", value).chosen({"cells": values}) == chosen


@settings(max_examples=30, deadline=None, derandomize=True, database=None)
@given(
    value=grids(7), name=st.sampled_from(SEGMENTATIONS), relation=st.sampled_from(list(RELATIONS))
)
def test_chosen_object_is_one_of_the_segmentation(value: Grid, name: str, relation: str) -> None:
    words = f"{relation} cells" + (" 2" if relation == "is" else "")
    choice = Choose().apply(f"{name} alone: {words}".encode(), value, value)
    assert choice is None or choice in [
        returned(piece, value, "alone") for piece in segment(name, value)
    ]


@pytest.mark.parametrize(
    "parameters",
    ["", "objects_4 crop", "objects_4: most cells", "trim crop: most cells",
     "objects_4 whole: most cells", "objects_4 crop: some cells", "objects_4 crop: most",
     "objects_4 crop: most luck", "objects_4 crop: most cells 3", "objects_4 crop: is cells",
     "objects_4 crop: is cells 03", "objects_4 crop: is cells 100"],
)  # fmt: skip
def test_parameters_that_are_none_are_refused(parameters: str) -> None:
    with pytest.raises(InputError, match="not a parameter of choose"):
        read_program(f'return choose(I, "{parameters}")\n')


def test_exact_value_costs_more_than_an_extreme_and_the_cut_is_paid() -> None:
    most, exact = (
        Choose().price(text.encode())
        for text in ("objects_4 crop: most cells", "objects_4 crop: is cells 3")
    )
    assert exact == most + 3000
    more = BY_NAME["thirds_down"].millibits - BY_NAME["objects_4"].millibits
    assert Choose().price(b"thirds_down crop: most cells") == most + more


def phase_with_choices(task: ArcTask, *without: str) -> PhaseResult:
    own = options("trim", depth=1)
    return phase_with_learned(task, replace(own, without=(LISTS, *without)))


def reddest() -> ArcTask:
    """The framed square with the most red is chosen; sizes and positions are no clue."""
    program = read_program('return choose(I, "blobs_8 crop: most count_2")\n')
    inputs = [
        grid("1110000/1210444/1110424/0000244/3330000/3330000/3330000"),
        grid("5550333/5250323/5250333/0000000/0666000/0222000/0666000"),
        grid("4420111/4440121/4440111/0000000/2220000/2220000/2220000"),
        grid("2220888/2120828/2220888/0000000/0333000/0322000/0223000"),
        grid("7770000/7270000/7770000/0000444/6660424/6260422/6660000"),
        grid("3330000/3230777/3330272/0000772/1110000/1210000/1110000"),
    ]
    pairs = [Pair(input_grid, program.run(input_grid) or grid("0")) for input_grid in inputs]
    *train, test = pairs
    return ArcTask("reddest", tuple(train), (test.input,), (test.output,))


def test_criterion_is_learned_and_validated_and_its_program_does_what_was_recorded() -> None:
    task = reddest()
    phase = phase_with_choices(task)
    guesses = [guess for guess in phase.guesses if guess.program.fitted == Choose.name]
    assert guesses
    for guess in guesses:
        assert [guess.program.run(p.input) for p in task.train] == [p.output for p in task.train]
        assert tuple(guess.program.run(input_grid) for input_grid in task.test) == read_grids(
            guess.outputs
        )
        assert guess.millibits == guess.program.millibits()
    best = guesses[0]
    assert read_grids(best.outputs) == task.truth
    assert best.loo_passed == len(task.train)
    assert phase_with_choices(task, FITTED).guesses == ()


def test_nothing_is_chosen_where_outputs_are_as_large_as_inputs() -> None:
    pairs = tuple(Pair(grid(a), grid(a)) for a in ("10", "20", "030"))
    task = ArcTask("same", pairs, (grid("40"),))
    assert not any(
        guess.program.fitted == Choose.name for guess in phase_with_choices(task).guesses
    )


def test_object_alone_leaves_out_what_lies_in_its_box() -> None:
    program = read_program('return choose(I, "objects_4 alone: most cells")\n')
    assert program.run(grid("1110/1210/1110/0000")) == grid("111/101/111")
    crop = read_program('return choose(I, "objects_4 crop: most cells")\n')
    assert crop.run(grid("1110/1210/1110/0000")) == grid("111/121/111")
    tied = read_program('return choose(I, "blobs_8 crop: most count_2")\n')
    assert tied.run(grid(SPECKLED)) is None
