"""Alterations of one object, and the drawing of objects: plain definitions."""

from __future__ import annotations

from weft.searches.arc.codes import altering as k
from weft.searches.arc.ops import objectparts as objects
from weft.searches.arc.ops.moves import turned
from weft.searches.arc.ops.objectparts import Cell
from weft.searches.arc.values import EMPTY, Grid, Piece, Value


def alter(value: Value, given: Grid, p: int, q: int) -> Piece | None:
    """Alter an object: by a symmetry that keeps the corner of its box, or by changing its cells."""
    piece = objects.as_piece(value)
    if p >= k.FILL_BOX:
        return recelled(piece, p)
    rows = turned(objects.rows_of(piece), p)
    cells = bytes(cell for row in rows for cell in row)
    return Piece(piece.row, piece.col, len(rows), len(rows[0]), cells)


def recelled(piece: Piece, p: int) -> Piece | None:
    """Change which cells an object has, and fit its box; None if it had or has no cells.

    FILL_BOX fills the empty cells of the box with the object's colour; OUTLINE keeps cells with a
    side on the object's boundary; FILL_HOLES fills the holes with the object's colour, HOLES_ALONE
    returns only the filled holes; RING returns the cells around the object, corners included, in
    the object's colour. The object's colour is its most common one.
    """
    cells, colour = objects.cells_of(piece), objects.colour_of(piece)
    if not cells:
        return None
    holes = {(piece.row + r, piece.col + c) for hole in objects.holes_of(piece) for r, c in hole}
    box = [
        (piece.row + i // piece.width, piece.col + i % piece.width)
        for i in range(len(piece.cells))
    ]  # fmt: skip
    match p:
        case k.FILL_BOX:
            cells = {cell: cells.get(cell, colour) for cell in box}
        case k.OUTLINE:
            cells = {
                cell: c
                for cell, c in cells.items()
                if set(objects.neighbours(cell, False)) - set(cells)
            }
        case k.FILL_HOLES:
            cells |= dict.fromkeys(holes, colour)
        case k.HOLES_ALONE:
            cells = dict.fromkeys(holes, colour)
        case k.RING:
            beside = {other for cell in cells for other in objects.neighbours(cell, True)}
            cells = dict.fromkeys(beside - set(cells), colour)
    return objects.piece_of(cells)


def paint(value: Value, given: Grid, p: int, q: int) -> Value:
    """Draw an object or a set on a canvas as large as the input.

    Later objects cover earlier ones; cells outside the canvas are clipped. The canvas is black or
    the input. ERASE paints the cells black, ERASE_COMMON in the input's most common colour, KEEP as
    in the input; BOXES_ON_INPUT also paints the empty cells of boxes black.
    """
    pieces = value if isinstance(value, tuple) else (objects.as_piece(value),)
    back = objects.commonest(given.cells) if p == k.ERASE_COMMON else 0
    below = objects.grid_cells(given)
    on_input = p in (k.ON_INPUT, k.ERASE, k.ERASE_COMMON, k.BOXES_ON_INPUT)
    canvas: dict[Cell, int] = dict(below) if on_input else dict.fromkeys(below, 0)
    for piece in pieces:
        for i, colour in enumerate(piece.cells):
            cell = piece.row + i // piece.width, piece.col + i % piece.width
            empty = colour == EMPTY
            if cell not in canvas or (empty and p != k.BOXES_ON_INPUT):
                continue
            if p in (k.ERASE, k.ERASE_COMMON):
                canvas[cell] = back
            elif p == k.KEEP:
                canvas[cell] = below[cell]
            else:
                canvas[cell] = 0 if empty else colour
    return Grid(given.height, given.width, bytes(canvas.values()))
