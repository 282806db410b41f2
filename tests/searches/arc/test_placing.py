"""Objects that fall together, dock at marks, lay trails and bounce: masks against single cells."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.arcvalues import grids
from weft.searches.arc.fitted.choose import segment
from weft.searches.arc.ops.objectparts import Cell, cells_of
from weft.searches.arc.tables.actions import applied
from weft.searches.arc.tables.scene import STEPS, Body, Layer, Scene, places
from weft.searches.arc.values import Grid

Cells = dict[Cell, int]
SIDES = ("north", "south", "west", "east")


def cells_in(body: Body) -> Cells:
    return {place: colour for place, colour in cells_of(body.piece).items() if colour}


def by(cells: Cells, down: int, along: int) -> Cells:
    return {(r + down, c + along): colour for (r, c), colour in cells.items()}


def in_grid(own: Scene, cells: Cells) -> bool:
    return all(0 <= r < own.height and 0 <= c < own.width for r, c in cells)


def drawn_cells(own: Scene, layers: tuple[Layer, ...]) -> set[tuple[Cell, int]]:
    return {(divmod(p, own.width), colour) for colour, mask in layers for p in places(mask)}


def packed(own: Scene, body: Body, side: str) -> Cells:
    """The cells where an object ends when all of its colour fall one step at a time."""
    down, along = STEPS[side]
    falling = sorted(
        (other for other in own.bodies if other.colour == body.colour),
        key=lambda other: max(r * down + c * along for r, c in cells_in(other)),
        reverse=True,
    )
    ground: set[Cell] = set()
    for other in falling:
        cells = cells_in(other)
        while in_grid(own, moved := by(cells, down, along)) and not ground & set(moved):
            cells = moved
        if other is body:
            return cells
        ground |= set(cells)
    raise AssertionError("the object is not among them")


def docked(own: Scene, body: Body) -> list[Cells]:
    """The copies of an object whose marks lie on other objects, or the object itself."""
    cells = cells_in(body)
    colours = sorted(set(cells.values()), key=lambda own: (list(cells.values()).count(own), own))
    for colour in colours:
        marks = sorted(place for place, own_colour in cells.items() if own_colour == colour)
        copies = []
        for other in own.bodies:
            goal = sorted(cells_in(other))
            if other is body or set(cells_in(other).values()) != {colour}:
                continue
            copy = by(cells, goal[0][0] - marks[0][0], goal[0][1] - marks[0][1])
            if in_grid(own, copy) and {p for p, c in copy.items() if c == colour} == set(goal):
                copies.append(copy)
        if copies and colour != body.colour:
            return copies
    return [cells]


def trails(own: Scene, body: Body) -> Iterator[tuple[Cell, int]]:
    """The cells and colours of all copies in the trails that marks begin."""
    shape, far_most = set(cells_in(body)), max(own.height, own.width)
    for mark in own.bodies:
        cells = set(cells_in(mark))
        if mark.colour == body.colour or len(cells) >= len(shape):
            continue
        for down, along in STEPS.values():
            steps = [
                far
                for far in range(1, far_most)
                for copy in [{(r + far * down, c + far * along) for r, c in shape}]
                if cells <= copy and not copy & shape
            ]
            if steps:
                for far in range(steps[-1], far_most, steps[-1]):
                    for r, c in shape:
                        place = (r + far * down, c + far * along)
                        if in_grid(own, {place: 0}):
                            yield place, mark.colour
                break


@given(value=grids(), side=st.sampled_from(SIDES))
@settings(max_examples=60, deadline=None)
def test_objects_of_a_colour_fall_together(value: Grid, side: str) -> None:
    own = Scene(value, segment("objects_8", value))
    for body in own.bodies:
        result = applied(own, body, ("pack", side))
        assert result is not None
        assert drawn_cells(own, result.body) == set(packed(own, body, side).items())


@given(value=grids())
@settings(max_examples=80, deadline=None)
def test_objects_dock_where_their_marks_are(value: Grid) -> None:
    own = Scene(value, segment("blobs_4", value))
    for body in own.bodies:
        result = applied(own, body, ("dock", "plain"))
        assert result is not None
        copies = [cell for copy in docked(own, body) for cell in copy.items()]
        assert drawn_cells(own, result.body) == set(copies)


@given(value=grids())
@settings(max_examples=80, deadline=None)
def test_trails_begin_with_their_marks(value: Grid) -> None:
    own = Scene(value, segment("objects_4", value))
    for body in own.bodies:
        result = applied(own, body, ("trail",))
        expected = set(trails(own, body))
        assert (set() if result is None else drawn_cells(own, result.below)) == expected


def bounced(own: Scene, body: Body, side: str) -> set[Cell]:
    """The cells of a bouncing line that moves diagonally, one cell at a time."""
    (down, along), ((row, column),) = STEPS[side], cells_in(body)
    occupied = {cell for other in own.objects if other is not body for cell in cells_in(other)}
    at, end = (column, own.width) if down else (row, own.height)
    way, path = (1 if end - 1 - at > at else -1), {(row, column)}
    while True:
        for turn in (way, -way):
            cell = (row + (down or turn), column + (along or turn))
            if in_grid(own, {cell: 1}) and cell not in occupied:
                break
        else:
            return path
        (row, column), way = cell, turn
        path.add(cell)


@given(grids(), st.sampled_from(SIDES))
@settings(max_examples=150, deadline=None)
def test_a_line_bounces_as_a_walk_over_cells_does(given_grid: Grid, side: str) -> None:
    own = Scene(given_grid, segment("objects_8", given_grid))
    for body in own.bodies:
        result = applied(own, body, ("bounce", side, "7"))
        if len(cells_in(body)) > 1:
            assert result is None
            continue
        assert result is not None
        line = {cell for cell, _ in drawn_cells(own, result.below)}
        assert line == bounced(own, body, side) - set(cells_in(body))
