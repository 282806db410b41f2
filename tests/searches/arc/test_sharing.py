"""Objects that share one shape: masks against single cells, and a planted puzzle."""

from __future__ import annotations

from hypothesis import given, settings

from tests.support.arcvalues import grid, grids
from weft.searches.arc.fitted.choose import segment
from weft.searches.arc.ops.objectparts import Cell, cells_of
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.learntables import learn_input_tables
from weft.searches.arc.tables.actions import applied
from weft.searches.arc.tables.scene import Body, Scene, places
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid, decode_grids


def shape_in(body: Body) -> set[Cell]:
    """An object's cells, relative to the corner of its box."""
    return {(r - body.piece.row, c - body.piece.col) for r, c in cells_of(body.piece)}


def moved(cells: set[Cell], by: Cell) -> set[Cell]:
    return {(r + by[0], c + by[1]) for r, c in cells}


def offsets(body: Body, height: int, width: int) -> list[Cell]:
    return [
        (down, along)
        for down in range(height - body.piece.height + 1)
        for along in range(width - body.piece.width + 1)
    ]


def added(scene: Scene, body: Body) -> set[Cell]:
    """The cells of the shared shape that an object lacks, found cell by cell."""
    pieces = [other.piece for other in scene.objects]
    height, width = max(p.height for p in pieces), max(p.width for p in pieces)
    ordered = sorted(
        scene.objects,
        key=lambda o: ((o.piece.height, o.piece.width) != (height, width), -len(shape_in(o))),
    )
    if (ordered[0].piece.height, ordered[0].piece.width) != (height, width):
        return set()
    shape: set[Cell] = set()
    for other in ordered:
        copies = [moved(shape_in(other), by) for by in offsets(other, height, width)]
        shape |= max(copies, key=lambda copy: len(copy & shape))
    own = set(cells_of(body.piece))
    for down, along in offsets(body, height, width):
        row, column = body.piece.row - down, body.piece.col - along
        copy = moved(shape, (row, column))
        fits = 0 <= row <= scene.height - height and 0 <= column <= scene.width - width
        if fits and own <= copy:
            return copy - own
    return set()


@given(value=grids())
@settings(max_examples=100, deadline=None)
def test_masks_share_a_shape_as_cells_do(value: Grid) -> None:
    for name in ("layers", "objects_8"):
        pieces = segment(name, value)
        scene = Scene(value, pieces)
        for body in scene.bodies:
            result = applied(scene, body, ("share",))
            assert result is not None
            assert result.body == body.layers
            cells = {divmod(p, scene.width) for _, mask in result.below for p in places(mask)}
            assert cells == (added(scene, body) if len(pieces) <= 20 else set())
            assert {colour for colour, _ in result.below} <= {body.colour}


def test_planted_sharing_is_found_and_predicts() -> None:
    shapes = ("111/101/111/010", "101/010/101", "110/011/110/100")
    pairs = [_planted(shape, n) for n, shape in enumerate(shapes)]
    task = ArcTask("planted", tuple(pairs[:2]), (pairs[2].input,), (pairs[2].output,))
    tables = [c for part in range(3) for c in learn_input_tables(EncodedTask(task), part)]
    best = min(tables, key=lambda candidate: (candidate.millibits, candidate.program.text()))
    assert best.program.text() == 'return objects(I, "layers: else share")\n'
    assert tuple(decode_grids(best.outputs)) == task.truth


def _planted(shape: str, n: int) -> Pair:
    """Three copies of a shape in different colours, each missing a different cell."""
    rows = [[int(cell) for cell in row] for row in shape.split("/")]
    cells = [(r, c) for r, row in enumerate(rows) for c, cell in enumerate(row) if cell]
    before, after = ([[0] * 14 for _ in range(7)] for _ in range(2))
    for copy, colour in enumerate((2, 3, 5)):
        for r, c in cells:
            after[r + copy][c + 1 + 4 * copy] = colour
            if (r, c) != cells[(2 * copy + n + 1) % len(cells)]:
                before[r + copy][c + 1 + 4 * copy] = colour
    return Pair(Grid.of(before), Grid.of(after))


def test_a_shape_that_leaves_the_grid_is_not_shared() -> None:
    value = grid("111000/101000/000000/000022")
    scene = Scene(value, segment("layers", value))
    results = [applied(scene, body, ("share",)) for body in scene.bodies]
    assert [result and result.below for result in results] == [(), ()]
