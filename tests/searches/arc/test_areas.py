"""Black areas as objects: compared with cell-by-cell definitions, parsed, planted and learned."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from tests.support.arcvalues import grid, grids
from weft.errors import InputError
from weft.searches.arc.ops.objectparts import Cell, cells_of, neighbours
from weft.searches.arc.program import parse as read_program
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.learntables import learn_tables
from weft.searches.arc.synthesis.sample import GridVector
from weft.searches.arc.tables.areas import MOST_RECTANGLES, rectangles_of, rooms_of
from weft.searches.arc.tables.measures import column_price, columns_of
from weft.searches.arc.tables.segmentation import scene_of
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid, decode_grids, encode_grids


def black_cells(value: Grid) -> set[Cell]:
    return {(r, c) for r in range(value.height) for c in range(value.width) if value.at(r, c) == 0}


def flooded(start: Cell, free: set[Cell]) -> frozenset[Cell]:
    """The free cells connected to a cell by their sides, computed slowly."""
    reached = [start]
    for cell in reached:
        reached += [n for n in neighbours(cell, False) if n in free and n not in reached]
    return frozenset(reached)


def inside(box: tuple[int, int, int, int]) -> set[Cell]:
    top, left, bottom, right = box
    return {(r, c) for r in range(top, bottom) for c in range(left, right)}


@given(grids())
@settings(max_examples=60, deadline=None)
def test_rooms_are_what_floods_reach(value: Grid) -> None:
    black = black_cells(value)
    rooms = [frozenset(cells_of(room)) for room in rooms_of(value)]
    assert len(rooms) == len(set(rooms))
    assert set(rooms) == {flooded(cell, black) for cell in black}


@given(grids())
@settings(max_examples=60, deadline=None)
def test_rectangles_are_black_and_in_no_larger_one(value: Grid) -> None:
    black, h, w = black_cells(value), value.height, value.width
    boxes = [
        inside((top, left, bottom, right))
        for top in range(h) for left in range(w)
        for bottom in range(top + 1, h + 1) for right in range(left + 1, w + 1)
        if inside((top, left, bottom, right)) <= black
    ]  # fmt: skip
    largest = [box for box in boxes if not any(box < other for other in boxes)]
    wide = {
        frozenset(box)
        for box in largest
        if len({r for r, _ in box}) > 1 and len({c for _, c in box}) > 1
    }
    assert len(wide) <= MOST_RECTANGLES
    assert {frozenset(cells_of(piece)) for piece in rectangles_of(value)} == wide


@given(grids())
@settings(max_examples=30, deadline=None)
def test_areas_stay_black_and_all_else_stays(value: Grid) -> None:
    for name in ("rooms", "rectangles", "objects_8 and rooms"):
        own = scene_of(name, value)
        if own is not None:
            assert read_program(f'return objects(I, "{name}: else stay")\n').run(value) == value
            assert all(len(values) == len(own.bodies) for values in columns_of(own).values())


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("rooms: by border 0 paint 4, else stay", "1110/1010/1110", "1110/1410/1110"),
        ("rooms: by beside_2 1 paint 2, else stay", "2010/1111/0010", "2210/1111/0010"),
        ("rooms: else paint touching", "0110/1111/3300", "1111/1111/3311"),
        ("rectangles: by most_cells 1 paint 6, else stay", "0001100/0001100/0001111",
         "6661100/6661100/6661111"),
        ("rectangles: by overlaps 0 paint 2, else stay", "100/000/001", "122/022/001"),
        ("objects_8 and rooms: by area&cells 0&8 stay, 0&1 gone, 1&1 paint twin, else stay",
         "11102/10100/11100", "11100/12100/11100"),
        ("objects_8: by room 1 gone, else paint 5", "100/000/022", "000/000/055"),
    ],
)  # fmt: skip
def test_tables_of_areas(text: str, before: str, after: str) -> None:
    program = read_program(f'return objects(I, "{text}")\n')
    assert program.run(grid(before)) == grid(after)
    assert read_program(program.text()) == program


def test_overlap_with_several_areas_counts_once() -> None:
    own = scene_of("rectangles", grid("00010/00000/00000/01000"))
    assert own is not None
    assert columns_of(own)["overlaps"] == [0, 1, 1]


def test_the_size_of_a_box_is_a_measure_and_the_kind_of_a_body_another() -> None:
    own = scene_of("objects_8 and rooms", grid("1110/1010/1110"))
    assert own is not None
    assert [columns_of(own)[name] for name in ("room", "area")] == [[9, 3, 1], [0, 1, 1]]
    assert column_price("room") == column_price("height") > column_price("area")


@pytest.mark.parametrize("text", ["room: else stay", "objects_9 and rooms: else stay"])
def test_unknown_areas_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="is not a parameter of objects"):
        read_program(f'return objects(I, "{text}")\n')


def learned(text: str, *inputs: str) -> list[str]:
    """The programs learned from a table's outputs on all grids but the last, right on the last."""
    program = read_program(f'return objects(I, "{text}")\n')
    values = [grid(each) for each in inputs]
    outputs = [output for output in map(program.run, values) if output is not None]
    pairs = [Pair(value, output) for value, output in zip(values, outputs, strict=True)]
    task = ArcTask("planted", tuple(pairs[:-1]), (values[-1],), (outputs[-1],))
    vector = GridVector((), 0, encode_grids(values))
    candidates = learn_tables(EncodedTask(task), vector)
    return [c.program.text() for c in candidates if decode_grids(c.outputs) == task.truth]


@pytest.mark.parametrize(
    ("text", "inputs"),
    [
        ("rooms: by beside_2 1 paint 2, else stay",
         ("2010/1111/0010", "0100/1121/0010", "1013/0112/1100", "0110/2101/1011")),
        ("rectangles: by most_cells 1 paint 6, else stay",
         ("0001100/0001100/0001111", "10000/10000/11111/00111/00111", "001000/001000/111000",
          "1111000/0011000/0011000")),
        ("objects_8 and rooms: by area&cells 0&8 stay, 0&1 gone, 1&1 paint twin, else stay",
         ("11102/10100/11100", "0000000/3111001/0101000/0111000", "1110000/1010005/1110000",
          "000111/400101/000111")),
    ],
)  # fmt: skip
def test_planted_areas_are_learned(text: str, inputs: tuple[str, ...]) -> None:
    kind = text.partition(":")[0]
    assert any(f'"{kind}: ' in program for program in learned(text, *inputs))
