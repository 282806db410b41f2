"""Completed and restored objects: masks compared with single cells, and planted puzzles."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.arcvalues import grid, grids
from weft.searches.arc.fitted.choose import segment
from weft.searches.arc.ops.objectparts import Cell, cells_of, grid_cells
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.learntables import learn_input_tables
from weft.searches.arc.tables.actions import applied
from weft.searches.arc.tables.completing import POSITIONS, SYMMETRIES
from weft.searches.arc.tables.scene import Body, Scene, places
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid, decode_grids

Cells = dict[Cell, int]
Turn = Callable[[int, int], Cell]
TURNS: dict[str, Turn] = {
    "across": lambda y, x: (y, -x), "down": lambda y, x: (-y, x), "half": lambda y, x: (-y, -x),
    "transposed": lambda y, x: (x, y), "slanted": lambda y, x: (-x, -y),
    "left": lambda y, x: (-x, y), "right": lambda y, x: (x, -y), "plain": lambda y, x: (y, x),
}  # fmt: skip
"""Transformations of a cell's offset from a centre, in half cells."""


def cells_in(body: Body) -> Cells:
    return {place: colour for place, colour in cells_of(body.piece).items() if colour}


def image(cells: Cells, how: str, centre: Cell) -> Cells | None:
    """The cells transformed one by one about a centre; None if any falls between cells."""
    turned = {}
    for (r, c), colour in cells.items():
        y, x = TURNS[how](2 * r - centre[0], 2 * c - centre[1])
        if (y + centre[0]) % 2 or (x + centre[1]) % 2:
            return None
        turned[(y + centre[0]) // 2, (x + centre[1]) // 2] = colour
    return turned


def added(own: Scene, body: Body, how: str, centre: Cell) -> Cells | None:
    """The cells that complete an object about a centre; None if the centre is not possible."""
    cells, lacking = cells_in(body), Cells()
    for n, each in enumerate(SYMMETRIES[how]):
        turned = image(cells, each, centre)
        if turned is None or not all(0 <= r < own.height and 0 <= c < own.width for r, c in turned):
            return None
        if any(cells.get(place, colour) != colour for place, colour in turned.items()):
            return None
        if n == 0 and 2 * len(turned.keys() & cells.keys()) < len(cells):
            return None
        lacking |= {place: colour for place, colour in turned.items() if place not in cells}
    return lacking


def completed(own: Scene, body: Body, how: str) -> Cells:
    """The cells that complete an object about the best of all centres."""
    top, left, bottom, right = body.box
    middle = top + bottom - 1, left + right - 1
    rows = range(2 * top, 2 * bottom - 1) if how != "across" else (middle[0],)
    columns = range(2 * left, 2 * right - 1) if how != "down" else (middle[1],)
    best = [
        (len(lacking), abs(r - middle[0]) + abs(c - middle[1]), (r, c), lacking)
        for r in rows
        for c in columns
        if (lacking := added(own, body, how, (r, c))) is not None
    ]
    return min(best, key=lambda each: each[:3])[3] if best else {}


@given(value=grids(), how=st.sampled_from(sorted(SYMMETRIES)))
@settings(max_examples=100, deadline=None)
def test_masks_complete_objects_as_cells_do(value: Grid, how: str) -> None:
    own = Scene(value, segment("blobs_8", value))
    for body in own.bodies:
        result = applied(own, body, ("complete", how))
        assert result is not None
        assert result.body == body.layers
        lacking = {divmod(p, own.width): c for c, mask in result.below for p in places(mask)}
        assert lacking == completed(own, body, how)


def planted(how: str, texts: tuple[str, ...]) -> ArcTask:
    """A task whose objects the plain definition completes; the last grid is the test."""
    pairs = []
    for text in texts:
        own = Scene(grid(text), segment("blobs_8", grid(text)))
        cells = {p: c for body in own.bodies for p, c in completed(own, body, how).items()}
        cells |= {p: c for body in own.bodies for p, c in cells_in(body).items()}
        rows = [[cells.get((r, c), 0) for c in range(own.width)] for r in range(own.height)]
        pairs.append(Pair(grid(text), Grid.of(rows)))
    return ArcTask("planted", tuple(pairs[:-1]), (pairs[-1].input,), (pairs[-1].output,))


CORES = (
    "00000000/01000000/00220000/00220000/00002000/00000000",
    "00000000/00000300/00055000/00055000/00030000/00000000/00000000",
    "000000000/000066000/001066000/000000000/000000000/000000000",
    "00000000/00000000/00044100/00044000/00000100/00000000",
)
"""Squares with some cells around them."""


@pytest.mark.parametrize("how", ["quarter", "fourfold"])
def test_planted_completion_is_found_and_predicts(how: str) -> None:
    task = planted(how, CORES)
    assert any(pair.input != pair.output for pair in task.train)
    tables = [c for part in range(3) for c in learn_input_tables(EncodedTask(task), part)]
    best = min(tables, key=lambda candidate: candidate.millibits)
    assert best.program.text() == f'return objects(I, "blobs_8: else complete {how}")\n'
    assert tuple(decode_grids(best.outputs)) == task.truth


def test_no_completion_explains_a_cell_too_few() -> None:
    task = planted("quarter", CORES)
    first, *others = task.train
    changed = first.output.cells.replace(b"\x01", b"\0", 1)
    output = Grid(first.output.height, first.output.width, changed)
    spoiled = ArcTask("spoiled", (Pair(first.input, output), *others), task.test, task.truth)
    tables = [c for part in range(3) for c in learn_input_tables(EncodedTask(spoiled), part)]
    assert not any("complete quarter" in candidate.program.text() for candidate in tables)


def restored(own: Scene, body: Body) -> Cells:
    """The cells that make an object a copy of the largest one it is part of, cell by cell."""
    cells = cells_in(body)
    ink = {p for other in own.bodies if other is not body for p in cells_in(other)}
    larger = [cells_in(other) for other in own.bodies if len(set(cells_in(other).values())) > 1]
    for other in sorted(larger, key=len, reverse=True):
        if len(other) <= len(cells):
            continue
        for how in POSITIONS:
            turned = {TURNS[how](r, c): colour for (r, c), colour in other.items()}
            for copy in copies_over(turned, cells):
                is_inside = all(0 <= r < own.height and 0 <= c < own.width for r, c in copy)
                if is_inside and not ink & copy.keys():
                    return {p: c for p, c in copy.items() if p not in cells}
    return {}


def copies_over(image_cells: Cells, part: Cells) -> Iterator[Cells]:
    """The copies of an image that contain a part, aligned at the part's first rarest cell."""
    colours = list(image_cells.values())
    rare = min(sorted(set(part.values())), key=colours.count)
    row, column = min(place for place, colour in part.items() if colour == rare)
    for (r, c), colour in sorted(image_cells.items()):
        if colour == rare:
            copy = {(y + row - r, x + column - c): own for (y, x), own in image_cells.items()}
            if all(copy.get(place) == own for place, own in part.items()):
                yield copy


@given(value=grids())
@settings(max_examples=100, deadline=None)
def test_masks_restore_objects_as_cells_do(value: Grid) -> None:
    own = Scene(value, segment("blobs_8", value))
    for body in own.bodies:
        result = applied(own, body, ("restore",))
        assert result is not None
        assert result.body == body.layers
        added_cells = {divmod(p, own.width): c for c, mask in result.below for p in places(mask)}
        assert added_cells == restored(own, body)


PARTS = (
    ("12300000/04000000/00000030/00000024/00000000",
     "12300000/04000000/00000030/00000024/00000010"),
    ("00000000/05130000/00600000/00000001/00000000",
     "00000000/05130000/00600005/00000061/00000003"),
    ("71000000/02800000/00000000/00007100/00000200",
     "71000000/02800000/00000000/00007100/00000280"),
)  # fmt: skip
"""Parts of larger objects; the second has room only for a transformed copy."""


@pytest.mark.parametrize(("before", "after"), PARTS)
def test_part_is_restored_where_the_larger_object_fits(before: str, after: str) -> None:
    own = Scene(grid(before), segment("blobs_8", grid(before)))
    cells = {p: c for body in own.bodies for p, c in restored(own, body).items()}
    cells |= {p: c for body in own.bodies for p, c in cells_in(body).items()}
    assert cells == {p: c for p, c in grid_cells(grid(after)).items() if c}


def test_planted_restoring_is_found_and_predicts() -> None:
    pairs = [Pair(grid(before), grid(after)) for before, after in PARTS]
    task = ArcTask("planted", tuple(pairs[:2]), (pairs[2].input,), (pairs[2].output,))
    tables = [c for part in range(3) for c in learn_input_tables(EncodedTask(task), part)]
    best = min(tables, key=lambda candidate: candidate.millibits)
    assert best.program.text() == 'return objects(I, "blobs_8: else restore")\n'
    assert tuple(decode_grids(best.outputs)) == task.truth


def test_other_colours_are_not_restored() -> None:
    pairs = [Pair(grid(before), grid(after.replace("1", "9"))) for before, after in PARTS[:2]]
    task = ArcTask("spoiled", tuple(pairs), (grid(PARTS[2][0]),), ())
    tables = [c for part in range(3) for c in learn_input_tables(EncodedTask(task), part)]
    assert not any("else restore" in candidate.program.text() for candidate in tables)
