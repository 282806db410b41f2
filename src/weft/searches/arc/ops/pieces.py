"""Operators on one object, colour or count: facts and plain definitions."""

from __future__ import annotations

from collections.abc import Callable

from weft.searches.arc.codes import altering as a
from weft.searches.arc.codes import pieces as k
from weft.searches.arc.ops.altering import paint
from weft.searches.arc.ops.objectparts import as_piece
from weft.searches.arc.ops.operator import Operator, OperatorFamily, Palette, ShapeEffect
from weft.searches.arc.values import EMPTY, MAX_SIDE, Grid, Value, ValueStage


def as_grid(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """Return the contents of an object's box as a grid.

    AS_PIECE: the object, with empty cells black; FROM_INPUT: the input's cells, or None if the box
    is not inside the input; AS_MASK: 1 where the object has a cell.
    """
    piece = as_piece(value)
    r, c, h, w = piece.row, piece.col, piece.height, piece.width
    if p == k.FROM_INPUT:
        if r < 0 or c < 0 or r + h > given.height or c + w > given.width:
            return None
        return Grid.of([row[c : c + w] for row in given.rows()[r : r + h]])
    cells = (0 if x == EMPTY else 1 if p == k.AS_MASK else x for x in piece.cells)
    return Grid(h, w, bytes(cells))


def of_colour(value: Value, given: Grid, p: int, q: int) -> Value:
    """Return one cell of a colour, a canvas of it, or the input changed by it.

    ONLY blackens cells of all other colours; INK_TO recolours all non-black cells.
    """
    assert isinstance(value, int)
    if p == k.ONE_CELL:
        return Grid(1, 1, bytes([value]))
    new: dict[int, Callable[[int], int]] = {
        k.CANVAS_OF: lambda old: value,
        k.ONLY: lambda old: value if old == value else 0,
        k.INK_TO: lambda old: value if old else 0,
    }
    return Grid(given.height, given.width, bytes(new[p](old) for old in given.cells))


def of_count(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """Return ones in a row, on a diagonal or as a square; or the input scaled n × n."""
    assert isinstance(value, int)
    n, scaled = value, p == k.SCALED
    high, wide = (n * given.height, n * given.width) if scaled else (1 if p == k.IN_ROW else n, n)
    if not (1 <= high <= MAX_SIDE and 1 <= wide <= MAX_SIDE):
        return None
    places = [[(r, c) for c in range(wide)] for r in range(high)]
    if scaled:
        return Grid.of([[given.at(r // n, c // n) for r, c in row] for row in places])
    return Grid.of([[int(p != k.DIAGONAL or r == c) for r, c in row] for row in places])


_OBJECT = ValueStage.OBJECT
_object_grid = OperatorFamily(k.AS_GRID, as_grid, _OBJECT)
_draw = OperatorFamily(k.PAINT, paint, _OBJECT, shape=ShapeEffect.INPUT, palette=Palette.INPUT)
_colour = OperatorFamily(k.CANVAS, of_colour, ValueStage.COLOUR, shape=ShapeEffect.INPUT)
_count = OperatorFamily(k.CANVAS, of_count, ValueStage.COUNT, palette=Palette.ANY)

OPERATORS: tuple[Operator, ...] = (
    _object_grid("object_grid", k.AS_PIECE, 0, 4, "The object alone, on black.",
                 Palette.BLACK),
    _object_grid("object_crop", k.FROM_INPUT, 0, 4, "The input's cells in the object's box.",
                 Palette.INPUT),
    _object_grid("object_mask", k.AS_MASK, 0, 6, "1 where the object has a cell.", Palette.ANY),
    _draw("draw_object", a.ON_BLACK, 0, 5, "Draw the object on black.", Palette.BLACK),
    _draw("draw_object_over", a.ON_INPUT, 0, 5, "Draw the object over the input."),
    _draw("erase_object", a.ERASE, 0, 5, "Blacken the object in the input."),
    _draw("erase_object_common", a.ERASE_COMMON, 0, 6,
          "Paint the object in the input's most common colour."),
    _colour("colour_cell", k.ONE_CELL, 0, 4, "One cell of the colour.", shape=ShapeEffect.ANY),
    _colour("colour_canvas", k.CANVAS_OF, 0, 5, "A grid of the input's size, all in the colour."),
    _colour("only_colour", k.ONLY, 0, 5, "The input's cells of the colour, on black.",
            Palette.BLACK),
    _colour("ink_to_colour", k.INK_TO, 0, 6, "Recolour all non-black cells of the input.",
            Palette.BLACK),
    _count("ones_in_row", k.IN_ROW, 0, 5, "A row of n ones."),
    _count("ones_on_diagonal", k.DIAGONAL, 0, 6, "n × n with ones on the diagonal."),
    _count("ones_square", k.SQUARE, 0, 6, "n × n ones."),
    _count("input_scaled", k.SCALED, 0, 6, "The input, every cell n × n.", Palette.INPUT),
)  # fmt: skip
