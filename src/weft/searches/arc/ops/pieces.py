"""Operators on one object, box, patch, colour, count or size: facts and plain definitions."""

from __future__ import annotations

from collections.abc import Callable

from weft.searches.arc.codes import altering as a
from weft.searches.arc.codes import pieces as k
from weft.searches.arc.ops.altering import alter, paint
from weft.searches.arc.ops.objectparts import as_piece, colour_of, inked
from weft.searches.arc.ops.operator import Operator, OperatorFamily, Palette, ShapeEffect
from weft.searches.arc.values import EMPTY, MAX_SIDE, Box, Grid, Piece, Size, Value, ValueStage


def as_grid(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """What lies in the box of a piece or a box, as a grid.

    AS_PIECE: the piece, empty places black; FROM_INPUT: the input's cells, failing when the box
    is not inside; AS_MASK: 1 where the object has a cell.
    """
    assert isinstance(value, Piece | Box)
    r, c, h, w = value.row, value.col, value.height, value.width
    if p == k.FROM_INPUT:
        if r < 0 or c < 0 or r + h > given.height or c + w > given.width:
            return None
        return Grid.of([row[c : c + w] for row in given.rows()[r : r + h]])
    cells = as_piece(value).cells
    return Grid(h, w, bytes(0 if x == EMPTY else 1 if p == k.AS_MASK else x for x in cells))


def part(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """Tell a piece's box, patch, colour, cell count or size; move the sides of a box by one.

    The colour is the one most cells have, the lowest of equals; without cells it fails.
    """
    assert isinstance(value, Piece | Box)
    r, c, h, w = value.row, value.col, value.height, value.width
    match p:
        case k.BOX:
            return Box(r, c, h, w)
        case k.SIZE:
            return Size(h, w)
        case k.INNER:
            return Box(r + 1, c + 1, h - 2, w - 2)
        case k.OUTER:
            return Box(r - 1, c - 1, h + 2, w + 2)
    piece = as_piece(value)
    if p == k.PATCH:
        return Piece(r, c, h, w, bytes(cell != EMPTY for cell in piece.cells))
    if p == k.COUNT:
        return len(inked(piece))
    return colour_of(piece) if inked(piece) else None


def of_colour(value: Value, given: Grid, p: int, q: int) -> Value:
    """One cell of a colour, a canvas of it, or the input changed by it.

    ONLY leaves cells of the colour, else black; INK_TO paints all cells that are not black in it.
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
    """Ones in a row, on a diagonal or as a square; or the input scaled n × n."""
    assert isinstance(value, int)
    n, scaled = value, p == k.SCALED
    high, wide = (n * given.height, n * given.width) if scaled else (1 if p == k.IN_ROW else n, n)
    if not (1 <= high <= MAX_SIDE and 1 <= wide <= MAX_SIDE):
        return None
    places = [[(r, c) for c in range(wide)] for r in range(high)]
    if scaled:
        return Grid.of([[given.at(r // n, c // n) for r, c in row] for row in places])
    return Grid.of([[int(p != k.DIAGONAL or r == c) for r, c in row] for row in places])


def of_size(value: Value, given: Grid, p: int, q: int) -> Value:
    """A black grid of that size."""
    assert isinstance(value, Size)
    return Grid(value.height, value.width, bytes(value.height * value.width))


_OBJECT, _BOX, _PATCH = ValueStage.OBJECT, ValueStage.BOX, ValueStage.PATCH
_object_grid, _patch_grid = (
    OperatorFamily(k.AS_GRID, as_grid, _OBJECT),
    OperatorFamily(k.AS_GRID, as_grid, _PATCH),
)
_box_grid = OperatorFamily(k.AS_GRID, as_grid, _BOX)
_draw = OperatorFamily(k.PAINT, paint, _OBJECT, shape=ShapeEffect.INPUT, palette=Palette.INPUT)
_draw_patch = OperatorFamily(k.PAINT, paint, _PATCH, shape=ShapeEffect.INPUT, palette=Palette.ANY)
_change = OperatorFamily(k.ALTER, alter, _OBJECT, _OBJECT)
_box, _patch = (
    OperatorFamily(k.PART, part, _OBJECT, _BOX),
    OperatorFamily(k.PART, part, _OBJECT, _PATCH),
)
_colour_of = OperatorFamily(k.PART, part, _OBJECT, ValueStage.COLOUR)
_cells_of = OperatorFamily(k.PART, part, _OBJECT, ValueStage.COUNT)
_size_of = OperatorFamily(k.PART, part, _OBJECT, ValueStage.SIZE)
_box_of_box = OperatorFamily(k.PART, part, _BOX, _BOX)
_colour = OperatorFamily(k.CANVAS, of_colour, ValueStage.COLOUR, shape=ShapeEffect.INPUT)
_count = OperatorFamily(k.CANVAS, of_count, ValueStage.COUNT, palette=Palette.ANY)
_size = OperatorFamily(k.CANVAS, of_size, ValueStage.SIZE, palette=Palette.BLACK)

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
    _change("object_mirror_columns", 1, 0, 5, "Mirror left to right, in place."),
    _change("object_mirror_rows", 2, 0, 5, "Mirror top to bottom, in place."),
    _change("object_rotate_90", 6, 0, 6, "Rotate by 90° clockwise, keeping its top left corner."),
    _change("object_fill_box", a.FILL_BOX, 0, 6, "Fill its box with its colour."),
    _change("object_outline", a.OUTLINE, 0, 6, "Its outer cells."),
    _change("object_other_colours", a.OTHER_COLOURS, 0, 6, "Its cells not of its main colour."),
    _change("object_scale_2", a.SCALE + 2, 0, 6, "Every cell becomes two by two."),
    _box("box_of", k.BOX, 0, 5, "The bounding box of the object."),
    _patch("patch_of", k.PATCH, 0, 6, "The positions of its cells."),
    _colour_of("colour_of", k.COLOUR, 0, 5, "Its most common colour."),
    _cells_of("cells_of", k.COUNT, 0, 6, "How many cells it has."),
    _size_of("size_of_box", k.SIZE, 0, 7, "The height and width of its box."),
    _box_of_box("box_inner", k.INNER, 0, 5, "The box without its outermost rows and columns."),
    _box_of_box("box_outer", k.OUTER, 0, 6, "The box, one cell larger on each side."),
    _box_grid("crop_input", k.FROM_INPUT, 0, 4, "The input's cells in the box.", Palette.INPUT),
    _patch_grid("patch_grid", k.AS_PIECE, 0, 5, "1 where the patch has a cell, cropped.",
                Palette.ANY),
    _draw_patch("draw_patch", a.ON_BLACK, a.MASK, 5, "1 where the patch has a cell."),
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
    _size("blank_of_size", k.BLANK, 0, 6, "A black grid of that size."),
)  # fmt: skip
