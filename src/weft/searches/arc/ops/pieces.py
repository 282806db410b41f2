"""Operators on one object, box, patch, colour, count or size: facts and plain definitions."""

from __future__ import annotations

from collections.abc import Callable

from weft.searches.arc.codes import altering as a
from weft.searches.arc.codes import pieces as k
from weft.searches.arc.ops.altering import alter, paint
from weft.searches.arc.ops.objectparts import as_piece, colour_of, inked
from weft.searches.arc.ops.operator import BIT, Operator, Palette, ShapeEffect, Twin
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


def _op(
    name: str, takes: ValueStage, gives: ValueStage, kernel: int, p: int, bits: int,
    palette: Palette, twin: Twin, doc: str, shape: ShapeEffect = ShapeEffect.ANY, q: int = 0,
) -> Operator:  # fmt: skip
    return Operator(name, takes, gives, kernel, p, q, bits * BIT, shape, palette, twin, doc)


def _change(name: str, p: int, bits: int, doc: str, palette: Palette = Palette.KEEP) -> Operator:
    return _op(name, ValueStage.OBJECT, ValueStage.OBJECT, k.ALTER, p, bits, palette, alter, doc)


def _draw(
    name: str, p: int, bits: int, doc: str, palette: Palette = Palette.INPUT,
    takes: ValueStage = ValueStage.OBJECT,
) -> Operator:  # fmt: skip
    mask = a.MASK if takes is ValueStage.PATCH else 0
    return _op(
        name, takes, ValueStage.GRID, k.PAINT, p, bits, palette, paint, doc, ShapeEffect.INPUT, mask
    )  # fmt: skip


def _grid(
    name: str, takes: ValueStage, p: int, bits: int, palette: Palette, doc: str
) -> Operator:  # fmt: skip
    return _op(name, takes, ValueStage.GRID, k.AS_GRID, p, bits, palette, as_grid, doc)


def _part(name: str, takes: ValueStage, gives: ValueStage, p: int, bits: int, doc: str) -> Operator:
    return _op(name, takes, gives, k.PART, p, bits, Palette.KEEP, part, doc)


def _colour(name: str, p: int, bits: int, doc: str) -> Operator:
    shape = ShapeEffect.ANY if p == k.ONE_CELL else ShapeEffect.INPUT
    palette = Palette.KEEP if p in (k.ONE_CELL, k.CANVAS_OF) else Palette.BLACK
    return _op(
        name, ValueStage.COLOUR, ValueStage.GRID, k.CANVAS, p, bits, palette, of_colour, doc, shape
    )  # fmt: skip


def _count(name: str, p: int, bits: int, doc: str) -> Operator:
    palette = Palette.INPUT if p == k.SCALED else Palette.ANY
    return _op(name, ValueStage.COUNT, ValueStage.GRID, k.CANVAS, p, bits, palette, of_count, doc)


OPERATORS: tuple[Operator, ...] = (
    _grid("object_grid", ValueStage.OBJECT, k.AS_PIECE, 4, Palette.BLACK,
          "The object alone, empty places black."),
    _grid("object_crop", ValueStage.OBJECT, k.FROM_INPUT, 4, Palette.INPUT,
          "The input's cells in the object's box."),
    _grid("object_mask", ValueStage.OBJECT, k.AS_MASK, 6, Palette.ANY,
          "1 where the object has a cell."),
    _draw("draw_object", a.ON_BLACK, 5, "The object on black.", Palette.BLACK),
    _draw("draw_object_over", a.ON_INPUT, 5, "The object over the input."),
    _draw("erase_object", a.ERASE, 5, "The input with the object black."),
    _draw("erase_object_common", a.ERASE_COMMON, 6,
          "The input with the object in its most common colour."),
    _change("object_mirror_columns", 1, 5, "Mirrored left to right in place."),
    _change("object_mirror_rows", 2, 5, "Mirrored top to bottom in place."),
    _change("object_rotate_90", 6, 6, "Turned clockwise, its corner in place."),
    _change("object_fill_box", a.FILL_BOX, 6, "Filling its box in its colour."),
    _change("object_outline", a.OUTLINE, 6, "Its outer cells."),
    _change("object_other_colours", a.OTHER_COLOURS, 6, "Its cells not in its main colour."),
    _change("object_scale_2", a.SCALE + 2, 6, "Every cell becomes two by two."),
    _part("box_of", ValueStage.OBJECT, ValueStage.BOX, k.BOX, 5, "The box around the object."),
    _part("patch_of", ValueStage.OBJECT, ValueStage.PATCH, k.PATCH, 6, "The places of its cells."),
    _part("colour_of", ValueStage.OBJECT, ValueStage.COLOUR, k.COLOUR, 5,
          "The colour most cells have."),
    _part("cells_of", ValueStage.OBJECT, ValueStage.COUNT, k.COUNT, 6, "How many cells it has."),
    _part("size_of_box", ValueStage.OBJECT, ValueStage.SIZE, k.SIZE, 7,
          "How high and wide its box is."),
    _part("box_inner", ValueStage.BOX, ValueStage.BOX, k.INNER, 5,
          "The box without its outer places."),
    _part("box_outer", ValueStage.BOX, ValueStage.BOX, k.OUTER, 6,
          "The box and the places around it."),
    _grid("crop_input", ValueStage.BOX, k.FROM_INPUT, 4, Palette.INPUT,
          "The input's cells in the box."),
    _grid("patch_grid", ValueStage.PATCH, k.AS_PIECE, 5, Palette.ANY,
          "1 where the patch has a cell, cropped."),
    _draw("draw_patch", a.ON_BLACK, 5,
          "1 where the patch has a cell.", Palette.ANY, ValueStage.PATCH),
    _colour("colour_cell", k.ONE_CELL, 4, "One cell of the colour."),
    _colour("colour_canvas", k.CANVAS_OF, 5, "As large as the input, all in the colour."),
    _colour("only_colour", k.ONLY, 5, "The input's cells of the colour, else black."),
    _colour("ink_to_colour", k.INK_TO, 6, "The input with all but black in the colour."),
    _count("ones_in_row", k.IN_ROW, 5, "A row of n ones."),
    _count("ones_on_diagonal", k.DIAGONAL, 6, "n × n with ones on the diagonal."),
    _count("ones_square", k.SQUARE, 6, "n × n ones."),
    _count("input_scaled", k.SCALED, 6, "The input, every cell n × n."),
    _op("blank_of_size", ValueStage.SIZE, ValueStage.GRID, k.CANVAS, k.BLANK, 6, Palette.BLACK,
        of_size, "Black, of that size."),
)  # fmt: skip
