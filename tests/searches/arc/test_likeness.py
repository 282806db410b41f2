"""Objects that resemble others in colour or shape: cell by cell, and in planted puzzles."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from tests.support.arcvalues import grid, grids
from weft.searches.arc.fitted.choose import SAME, Criterion, compared, segment
from weft.searches.arc.fitted.relations import common_form, relations_of
from weft.searches.arc.ops.objectparts import cells_of, shape_of
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.learntables import learn_input_tables
from weft.searches.arc.tables.actions import Action, applied
from weft.searches.arc.tables.colours import colour_of
from weft.searches.arc.tables.scene import Drawn, Scene, places
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid, decode_grids


def scene_of(text: str) -> Scene:
    value = grid(text)
    return Scene(value, segment("objects_8", value))


def painted(scene: Scene, drawn: Drawn | None) -> list[str] | None:
    """The cells that an object becomes and adds, as rows."""
    if drawn is None:
        return None
    rows = [[0] * scene.width for _ in range(scene.height)]
    for colour, mask in (*drawn.below, *drawn.body):
        for place in places(mask):
            rows[place // scene.width][place % scene.width] = colour
    return ["".join(map(str, row)) for row in rows]


# -- colours --------------------------------------------------------------------------------------

ELLS = "110020/100022/000000/000333/050000"
"""An L, a rotated L, a bar and a speck."""


def test_alike_is_the_colour_of_the_same_shape_turned_else_its_own() -> None:
    scene = scene_of(ELLS)
    assert [colour_of(scene, body, "alike") for body in scene.bodies] == [2, 1, 3, 5]
    assert [colour_of(scene, body, "twin") for body in scene.bodies] == [None] * 4


def test_largest_is_the_colour_of_the_single_largest_object() -> None:
    assert colour_of(scene_of(ELLS), scene_of(ELLS).bodies[0], "largest") is None
    scene = scene_of("1100/1102/0000/3033")
    assert [colour_of(scene, body, "largest") for body in scene.bodies] == [1] * 4


def test_outer_is_the_colour_of_the_smallest_box_around_it() -> None:
    scene = scene_of("111111/100001/104441/104241/104441/111111")
    colours = {body.colour: colour_of(scene, body, "outer") for body in scene.bodies}
    assert colours == {1: None, 4: 1, 2: 4}


# -- actions --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "colour", "action", "result"),
    [
        # a speck becomes a larger object, cropped at the edge; the reverse fails
        ("040000/444000/040020", 2, ("imitate", "largest", "own"), ["000000", "000020", "000222"]),
        ("040000/444000/040020", 2, ("imitate", "4", "same"), ["000000", "000040", "000444"]),
        ("040000/444000/040020", 4, ("imitate", "2", "own"), None),
        ("440000/440002", 2, ("imitate", "4", "own"), None),  # no common centre
        ("330000/300000", 3, ("beside", "east", "1", "6"), ["330660", "300600"]),
        ("330000/300000", 3, ("beside", "east", "0", "own"), ["333300", "303000"]),
        ("330000/300000", 3, ("beside", "west", "0", "6"), None),
        ("03300/33330/03000", 3, ("complete", "across", "7"), ["03300", "33330", "03700"]),
        ("2000/0000/0000/0000", 2, ("settle", "grid"), None),  # no cell in the middle
        ("200/000/000", 2, ("settle", "grid"), ["000", "020", "000"]),
        ("3330/3000/3030", 3, ("add", "rim", "8"), ["3330", "3080", "3800"]),
    ],
)
def test_actions_draw(text: str, colour: int, action: Action, result: list[str] | None) -> None:
    scene = scene_of(text)
    body = next(body for body in scene.bodies if body.colour == colour)
    assert painted(scene, applied(scene, body, action)) == result


def test_completion_in_a_colour_adds_the_cells_of_the_plain_one() -> None:
    first, second = scene_of("03300/33330/03000"), scene_of("03300/33330/03000")
    plain = applied(first, first.bodies[0], ("complete", "across"))
    for scene in (first, second):  # with the plain completion cached, and without
        coloured = applied(scene, scene.bodies[0], ("complete", "across", "7"))
        assert plain is not None
        assert coloured is not None
        assert [mask for _, mask in coloured.below] == [mask for _, mask in plain.below]


def test_planted_imitation_is_found_and_predicts() -> None:
    shapes = ("010/111/010", "101/111/101", "111/101/110")
    pairs = [_planted(shape, n) for n, shape in enumerate(shapes)]
    task = ArcTask("planted", tuple(pairs[:2]), (pairs[2].input,), (pairs[2].output,))
    tables = [c for part in range(3) for c in learn_input_tables(EncodedTask(task), part)]
    best = min(tables, key=lambda candidate: (candidate.millibits, candidate.program.text()))
    assert "imitate" in best.program.text()
    assert tuple(decode_grids(best.outputs)) == task.truth


def _planted(shape: str, n: int) -> Pair:
    """A gray shape, and specks that turn into it in their own colours."""
    before, after = ([[0] * 13 for _ in range(12)] for _ in range(2))
    for number, (row, column, colour) in enumerate(
        ((2, 2 + n, 5), (7 - n, 10, 1), (8, 2, 2), (9, 6 + n, 3))
    ):
        for r, line in enumerate(shape.split("/")):
            for c, cell in enumerate(line):
                if cell == "1":
                    after[row + r - 1][column + c - 1] = colour
                    before[row + r - 1][column + c - 1] = 0 if number else colour
        before[row][column] = colour if number else before[row][column]
    return Pair(Grid.of(before), Grid.of(after))


# -- relations of a choice ------------------------------------------------------------------------


@given(value=grids())
@settings(max_examples=100, deadline=None)
def test_relations_are_those_of_single_cells(value: Grid) -> None:
    objects = segment("objects_4", value)[:12]
    relations = relations_of(objects)
    cells = [set(cells_of(piece)) for piece in objects]
    for n, own in enumerate(cells):
        others = [other for m, other in enumerate(cells) if m != n]
        near = [
            o for o in others if any(max(abs(r - y), abs(c - x)) < 2 for r, c in own for y, x in o)
        ]
        assert relations["touching"][n] == len(near)
        rows, columns = {r for r, _ in own}, {c for _, c in own}
        box = {
            (r, c)
            for r in range(min(rows), max(rows) + 1)
            for c in range(min(columns), max(columns) + 1)
        }
        assert relations["around"][n] == sum(other <= box for other in others)
        assert relations["solid"][n] == (own == box)
    assert sum(relations["inside"]) == sum(relations["around"])


@given(value=grids())
@settings(max_examples=60, deadline=None)
def test_all_orientations_have_one_form(value: Grid) -> None:
    for piece in segment("objects_8", value)[:6]:
        height, width, cells = shape_of(piece)
        rows = [cells[r * width : (r + 1) * width] for r in range(height)]
        mirrored = tuple(cell for row in rows for cell in row[::-1])
        transposed = tuple(cell for column in zip(*rows, strict=True) for cell in column)
        form = common_form((height, width, cells))
        assert common_form((height, width, mirrored)) == form
        assert common_form((width, height, transposed)) == form


def test_several_equal_objects_are_one_choice_but_different_ones_are_none() -> None:
    value = grid("2200220/2000200/0000000/0333022/0000002")
    measured = compared(segment("objects_4", value), value)
    assert measured is not None
    assert measured[SAME][0] == measured[SAME][1]
    assert Criterion("most", "copies").chosen(measured) == 0, "two objects, the same cells"
    assert Criterion("most", "forms").chosen(measured) is None, "three, one of them turned"
    assert Criterion("most", "room").chosen(measured) is None
    assert Criterion("is", "solid", 1).chosen(measured) == 2
