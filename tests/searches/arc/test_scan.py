"""Lists that read their own output, and lists in two layers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.arctasks import options, phase_with_learned
from tests.support.arcvalues import grid, grids
from weft.errors import InputError, ValueInvalid
from weft.searches.arc.fitted.celllist import Cells, Layered, Scanned
from weft.searches.arc.fitted.objecttable import Objects
from weft.searches.arc.lists.cells import UNDECIDED, parse
from weft.searches.arc.lists.features import features_of
from weft.searches.arc.lists.neighbours import NONE
from weft.searches.arc.lists.scan import CORNERS, made_of, plain_scan, scan
from weft.searches.arc.lists.words import MADE, NAMES
from weft.searches.arc.program import parse as read_program
from weft.searches.arc.synthesis.ablation import LISTS
from weft.searches.arc.synthesis.phases import PhaseResult
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid
from weft.searches.arc.values import decode_grids as read_grids

SCANS = (
    "all -> made_back_2; else own",
    "own=0 & made_over_back=1 -> 1; else own",
    "made_over_on!=x & own=0 -> made_over_on; made_over=2 -> made_back; else own",
    "all -> lay made_over_2; row<1 -> 4; else own",
)


# corner, feature, its values for the cells of 123/456
SEEN = (
    ("top_left", "made_back", "x12x45"),
    ("top_right", "made_back", "23x56x"),
    ("top_left", "made_back_2", "xx1xx4"),
    ("top_left", "made_over", "xxx123"),
    ("bottom_left", "made_over", "456xxx"),
    ("top_left", "made_over_2", "xxxxxx"),
    ("top_left", "made_over_back", "xxxx12"),
    ("top_left", "made_over_on", "xxx23x"),
    ("bottom_right", "made_over_back", "56xxxx"),
    ("bottom_right", "made_over_on", "x45xxx"),
)


@pytest.mark.parametrize(("corner", "name", "numbers"), SEEN)
def test_cell_sees_those_made_before_it(corner: str, name: str, numbers: str) -> None:
    expected = [NONE if symbol == "x" else int(symbol) for symbol in numbers]
    assert made_of(grid("123/456"), corner)[name].tolist() == expected


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(value=grids(7), text=st.sampled_from(SCANS), corner=st.sampled_from(list(CORNERS)))
def test_scanned_grid_is_what_its_list_says_of_each_cell_given_the_grid(
    value: Grid, text: str, corner: str
) -> None:
    """By definition, every cell of the grid follows from those before it; only one grid fits."""
    parsed = parse(text)
    columns = dict(zip(NAMES, features_of(value), strict=True))
    cells = scan(parsed, columns, (value.height, value.width), corner)
    slow = plain_scan(parsed, columns, (value.height, value.width), corner)
    assert cells.tolist() == slow.tolist()
    assert UNDECIDED not in cells
    sources = made_of(Grid(value.height, value.width, cells.tobytes()), corner)
    decided = parsed.decide({**columns, **sources}.__getitem__, len(cells))
    assert decided.tolist() == cells.tolist()


def test_corner_decides_where_a_line_runs() -> None:
    text = "own=0 & made_back=1 -> 1; else own"
    by_corner = {corner: Scanned().apply(f"{corner}: {text}".encode(), grid("0100"), grid("0100"))
                 for corner in CORNERS}  # fmt: skip
    assert by_corner["top_left"] == by_corner["bottom_left"] == grid("0111")
    assert by_corner["top_right"] == by_corner["bottom_right"] == grid("1100")


def test_layers_that_scan_from_opposite_corners_draw_a_line_both_ways() -> None:
    text = "own=0 & made_over_back=1 -> 1; else own"
    program = read_program(f'return layered(I, "top_left: {text} then bottom_right: {text}")\n')
    assert program.run(grid("000/010/000")) == grid("100/010/001")


def test_scan_ends_where_nothing_speaks_or_a_chain_has_another_size() -> None:
    assert read_program('return scanned(I, "top_left: else made_back")\n').run(grid("12")) is None
    assert read_program('return scanned(I, "top_left: else scale_2")\n').run(grid("12")) is None
    for fill in (scan, plain_scan):
        cells = fill(parse("own=1 -> 3; else across"), {"own": _u8(1, 2), "across": _u8(0, NONE)},
                     (1, 2), "top_left")  # fmt: skip
        assert cells.tolist() == [3, UNDECIDED]


def _u8(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.uint8)


@pytest.mark.parametrize(
    ("rule", "parameters"),
    [("scanned", "else own"), ("scanned", "middle: else own"), ("scanned", "top_left: own"),
     ("scanned", "top_left: tile=1 -> 2; else own"), ("layered", "else own"),
     ("layered", "else own then else own then else 0"), ("layered", "else own then made_back"),
     ("layered", "else made_back then else own"), ("cells", "else made_back"),
     ("canvas", "h w tiled: else made_back")],
)  # fmt: skip
def test_parameters_that_are_none_are_refused(rule: str, parameters: str) -> None:
    with pytest.raises(InputError, match=f"not a parameter of {rule}"):
        read_program(f'return {rule}(I, "{parameters}")\n')


def test_prices_are_those_of_the_lists_and_of_what_lies_between() -> None:
    plain = Cells().price(b"own=0 -> 1; else own")
    assert Scanned().price(b"top_left: own=0 -> 1; else own") == plain + 2000
    twice = Layered().price(b"own=0 -> 1; else own then own=0 -> 1; else own")
    assert twice == 2 * plain - 4000
    with pytest.raises(ValueInvalid):
        Layered().parse("own=0 -> 1; else own  then else own")


def phase_with_choices(task: ArcTask, *without: str) -> PhaseResult:
    own = options("trim", depth=1)
    return phase_with_learned(task, replace(own, without=without))


def made_by(text: str, inputs: tuple[str, ...]) -> ArcTask:
    """A task whose outputs a program generates; the last input is the test."""
    program = read_program(text)
    pairs = [
        Pair(grid(input_grid), program.run(grid(input_grid)) or grid("0")) for input_grid in inputs
    ]
    *train, test = pairs
    return ArcTask("made", tuple(train), (test.input,), (test.output,))


ZIGZAG = made_by(
    'return scanned(I, "top_left: made_over_back=1 -> 1; own=2 & made_over_on=3 -> 3; else own")\n',
    ("1000/0000/2000/0000/0000", "01000/00000/00003/00222/02220", "003/022/222/220/000",
     "10003/00022/00222/00220/00000"),
)  # fmt: skip
SHOOTING = made_by(
    'return layered(I, "own=3 & area_size=1 -> 5; else own then sees_north=5 -> 5; else own")\n',
    ("030033/000000/330000/000030/000000", "33000/00030/03000/00000/00033", "0003/3000/0000/0330",
     "300330/000000/000300/033000/000000", "00330/30000/00003/00000/33000"),
)  # fmt: skip


@pytest.mark.parametrize(("task", "rule"), [(ZIGZAG, Scanned.name), (SHOOTING, Layered.name)])
def test_list_is_found_and_its_program_does_what_was_recorded(task: ArcTask, rule: str) -> None:
    phase = phase_with_choices(task)
    assert phase.candidates == ()
    guesses = [guess for guess in phase.guesses if guess.program.fitted == rule]
    assert guesses
    for guess in guesses:
        assert [guess.program.run(p.input) for p in task.train] == [p.output for p in task.train]
        assert tuple(guess.program.run(input_grid) for input_grid in task.test) == read_grids(
            guess.outputs
        )
        assert guess.millibits == guess.program.millibits()
    assert any(read_grids(guess.outputs) == task.truth for guess in guesses)
    without = phase_with_choices(task, LISTS).guesses
    assert {guess.program.fitted for guess in without} <= {Objects.name}


def test_made_features_are_documented_colours() -> None:
    assert all(made_of(grid("12/34"), corner).keys() == MADE.keys() for corner in CORNERS)
