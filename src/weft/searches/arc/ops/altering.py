"""What one object can be changed into, and how objects are drawn: plain definitions."""

from __future__ import annotations

from weft.searches.arc.codes import altering as k
from weft.searches.arc.ops import objectparts as objects
from weft.searches.arc.ops.moves import turned
from weft.searches.arc.ops.objectparts import Cell
from weft.searches.arc.values import EMPTY, Grid, Piece, Value


def alter(value: Value, given: Grid, p: int, q: int) -> Piece | None:
    """One object changed: by a symmetry, where the corner of its box stays, or its cells."""
    piece = objects.as_piece(value)
    if p >= k.FILL_BOX:
        return recelled(piece, p)
    rows = turned(objects.rows_of(piece), p)
    cells = bytes(cell for row in rows for cell in row)
    return Piece(piece.row, piece.col, len(rows), len(rows[0]), cells)


def recelled(piece: Piece, p: int) -> Piece | None:
    """The object with other cells, in the smallest box; fails where no cell was or is left.

    FILL_BOX gives empty places of the box the object's colour; OUTLINE keeps cells with a side
    where the object ends; FILL_HOLES fills the holes with the object's colour and HOLES_ALONE
    leaves nothing else; RING is the places beside the cells, corners included, in the object's
    colour. The object's colour is the one most of its cells have.
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

    Later objects come over earlier ones; what lies outside is cut off. The canvas is black or the
    input. ERASE and ERASE_COMMON paint the cells black or in the input's most common colour, KEEP
    as the input has them, BOXES_ON_INPUT paints empty places of boxes black.
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
