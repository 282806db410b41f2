"""Containers that spill, stairs and fences: masks against single cells, and planted tables."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.arcvalues import grid, grids
from weft.searches.arc.fitted.choose import segment
from weft.searches.arc.ops.objectparts import Cell, cells_of
from weft.searches.arc.tables.actions import applied
from weft.searches.arc.tables.learn import TableSearch
from weft.searches.arc.tables.openings import SPILLS, SPREAD
from weft.searches.arc.tables.scene import STEPS, Body, Scene, places
from weft.searches.arc.tables.sides import CORNERS
from weft.searches.arc.tables.stairs import FIRST, TREADS
from weft.searches.arc.tables.table import drawn, parse
from weft.searches.arc.values import Grid


def scene(value: Grid) -> Scene:
    return Scene(value, segment("objects_8", value))


def added(own: Scene, body: Body, text: str) -> set[Cell] | None:
    """The cells that an action adds."""
    result = applied(own, body, tuple(text.split()))
    layers = None if result is None else result.below
    return None if layers is None else {divmod(p, own.width) for _, m in layers for p in places(m)}


def own_cells(body: Body) -> set[Cell]:
    return {place for place, colour in cells_of(body.piece).items() if colour}


def in_grid(own: Scene, cell: Cell) -> bool:
    return 0 <= cell[0] < own.height and 0 <= cell[1] < own.width


def areas(cells: set[Cell]) -> list[set[Cell]]:
    """Areas of cells connected by their sides, in the order of their first cells."""
    areas_found = []
    while cells:
        area, open_cells = set[Cell](), [min(cells)]
        while open_cells:
            r, c = open_cells.pop()
            if (r, c) in cells - area:
                area.add((r, c))
                open_cells += [(r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)]
        areas_found.append(area)
        cells = cells - area
    return areas_found


def way_out(own: Scene, cell: Cell, step: Cell) -> Iterator[Cell]:
    while in_grid(own, cell := (cell[0] + step[0], cell[1] + step[1])):
        yield cell


def spilled(own: Scene, body: Body, how: str) -> set[Cell]:
    """The cells reached by walking out of the largest area of a box, cell by cell."""
    top, left, bottom, right = body.box
    box = {(r, c) for r in range(top, bottom) for c in range(left, right)}
    inside = max(areas(box - own_cells(body)), key=len, default=set[Cell]())
    cells = set(inside)
    for r, c in inside:
        for (down, along), side in product(STEPS.values(), (0, 1)):
            ahead = (down, 0) if side == 0 else (0, along)
            turn = (down - ahead[0], along - ahead[1])
            if ahead == (0, 0) or (r + ahead[0], c + ahead[1]) in box:
                continue  # does not leave the box on this side
            is_end = how == SPREAD and (r + turn[0], c + turn[1]) not in inside
            if turn == (0, 0) or is_end:
                cells |= set(way_out(own, (r, c), (down, along)))
    return cells


@given(value=grids(), how=st.sampled_from(SPILLS))
@settings(max_examples=100, deadline=None)
def test_containers_spill_as_a_walk_over_cells_does(value: Grid, how: str) -> None:
    own = scene(value)
    for body in own.bodies:
        assert (added(own, body, f"spill {how} 7") or set()) == spilled(own, body, how)


def climbed(own: Scene, body: Body, corner: str, first: str, tread: int) -> set[Cell]:
    (down, along), ((row, column),) = STEPS[corner], own_cells(body)
    occupied = {cell for other in own.objects if other is not body for cell in own_cells(other)}
    path: list[Cell] = []
    while True:
        is_even = len(path) // tread % 2 == 0
        along_row = is_even == (first == "row")
        row, column = (row, column + along) if along_row else (row + down, column)
        if not in_grid(own, (row, column)) or (row, column) in occupied:
            return set(path)
        path.append((row, column))


@given(grids(), st.sampled_from(CORNERS), st.sampled_from(FIRST), st.sampled_from(TREADS))
@settings(max_examples=100, deadline=None)
def test_stairs_are_climbed_cell_by_cell(value: Grid, corner: str, first: str, tread: str) -> None:
    own = scene(value)
    for body in own.bodies:
        cells = added(own, body, f"stairs {corner} {first} {tread} 7")
        is_single = len(own_cells(body)) == 1
        assert cells == (climbed(own, body, corner, first, int(tread)) if is_single else None)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("000300/000000/301000/000003/000000/003000",
         "000300/011110/311010/010013/011110/003000"),
        ("30001/00000/00030", "30001/00000/00030"),
        ("00000/00100/00000", "00000/00100/00000"),
    ],
)  # fmt: skip
def test_fence_lies_inside_the_box_of_all_others(before: str, after: str) -> None:
    assert drawn(scene(grid(before)), parse("by colour 3 stay, else add fence own")) == grid(after)


@pytest.mark.parametrize(
    ("text", "inputs"),
    [
        ("else spill spread 4", ("0000000/0110110/0100010/0111110", "02020/02220/00000")),
        ("else spill straight 4", ("0000000/0110110/0100010/0111110", "02020/02220/00000")),
        ("else stairs southwest column 2 5", ("00001/00000/00000/00000", "000000/000002/000000")),
        ("else add wings 4", ("00000/01110/01110/01110/00000", "000000/022220/000000/000000")),
        (
            "else add fence own",
            ("0003000/0000000/3010000/0000003/0000000/0030000", "00300/00000/31003/00000/00300"),
        ),
    ],
)
def test_planted_actions_are_found(text: str, inputs: tuple[str, ...]) -> None:
    scenes = [scene(grid(each)) for each in inputs]
    targets = [drawn(own, parse(text)) for own in scenes]
    tables = TableSearch(scenes, [target for target in targets if target]).fitting()
    assert text in [table.text() for table in tables]
