"""What one object can be changed into, and how objects are drawn: plain definitions."""

from __future__ import annotations

from weft.searches.arc.codes import altering as k
from weft.searches.arc.ops.objectparts import (
    Cell,
    as_piece,
    cells_of,
    colour_of,
    commonest,
    grid_cells,
    holes_of,
    neighbours,
    piece_of,
    rows_of,
)
from weft.searches.arc.values import EMPTY, Grid, Piece, Value


def _rows_at(row: int, col: int, rows: list[list[int]]) -> Piece | None:
    """The object of these rows; None when they hold nothing."""
    if not rows or not rows[0]:
        return None
    return Piece(row, col, len(rows), len(rows[0]), bytes(cell for line in rows for cell in line))


def alter(value: Value, given: Grid, p: int, q: int) -> Piece | None:
    """One object changed; each change is described where it is made."""
    piece = as_piece(value)
    if p < k.FILL_BOX:
        return transformed(piece, p)
    if p <= k.RING:
        return recelled(piece, given, p)
    return resized(piece, p)


def transformed(piece: Piece, p: int) -> Piece | None:
    """One of the eight symmetries: bit 0 mirrors columns, bit 1 rows, bit 2 then transposes.

    The upper left corner of the box stays where it is.
    """
    rows = rows_of(piece)
    if p & 2:
        rows = rows[::-1]
    if p & 1:
        rows = [row[::-1] for row in rows]
    if p & 4:
        rows = [list(column) for column in zip(*rows, strict=True)]
    return _rows_at(piece.row, piece.col, rows)


def recelled(piece: Piece, given: Grid, p: int) -> Piece | None:
    """The object with other cells, in the smallest box; fails where no cell was or is left.

    FILL_BOX gives empty places of the box the object's colour and FILL_INPUT the input's cells
    there; OUTLINE keeps cells with a side where the object ends; FILL_HOLES fills the holes with
    the object's colour and HOLES_ALONE leaves nothing else; MAIN_COLOUR keeps the object's
    colour and OTHER_COLOURS the others; RING is the places beside the cells, corners included,
    in the object's colour. The object's colour is the one most of its cells have.
    """
    cells, colour = cells_of(piece), colour_of(piece)
    if not cells:
        return None
    holes = {(piece.row + r, piece.col + c) for hole in holes_of(piece) for r, c in hole}
    box = [
        (piece.row + i // piece.width, piece.col + i % piece.width)
        for i in range(len(piece.cells))
    ]  # fmt: skip
    below = grid_cells(given)
    match p:
        case k.FILL_BOX:
            cells = {cell: cells.get(cell, colour) for cell in box}
        case k.FILL_INPUT:
            cells = {cell: below[cell] for cell in box if cell in below} | cells
        case k.OUTLINE:
            cells = {
                cell: c for cell, c in cells.items() if set(neighbours(cell, False)) - set(cells)
            }
        case k.FILL_HOLES:
            cells |= dict.fromkeys(holes, colour)
        case k.HOLES_ALONE:
            cells = dict.fromkeys(holes, colour)
        case k.MAIN_COLOUR:
            cells = {cell: c for cell, c in cells.items() if c == colour}
        case k.OTHER_COLOURS:
            cells = {cell: c for cell, c in cells.items() if c != colour}
        case k.RING:
            beside = {other for cell in cells for other in neighbours(cell, True)}
            cells = dict.fromkeys(beside - set(cells), colour)
    return piece_of(cells)


def resized(piece: Piece, p: int) -> Piece | None:
    """Make the object smaller or larger; its upper left corner stays, but for PEEL.

    PEEL takes the outer rows and columns off; DOUBLE_… puts mirror images to the right, below
    or both; SCALE + n makes every cell n × n.
    """
    rows = rows_of(piece)
    if p == k.PEEL:
        inner = [row[1:-1] for row in rows[1:-1]]
        return _rows_at(piece.row + 1, piece.col + 1, inner)
    if p >= k.SCALE:
        n = p - k.SCALE
        rows = [[cell for cell in row for _ in range(n)] for row in rows for _ in range(n)]
    if p in (k.DOUBLE_ACROSS, k.DOUBLE_BOTH):
        rows = [row + row[::-1] for row in rows]
    if p in (k.DOUBLE_DOWN, k.DOUBLE_BOTH):
        rows = rows + rows[::-1]
    return _rows_at(piece.row, piece.col, rows)


def paint(value: Value, given: Grid, p: int, q: int) -> Value:
    """Draw an object, a patch (q = MASK) or a set on a canvas as large as the input.

    Later objects come over earlier ones; what lies outside is cut off. The canvas is black, the
    input, or for ON_COMMON of the input's most common colour. ERASE and ERASE_COMMON paint the
    cells black or in that colour, KEEP as the input has them, BOXES_ON_INPUT paints empty places
    of boxes black.
    """
    pieces = value if isinstance(value, tuple) else (as_piece(value),)
    back = commonest(given.cells) if p in (k.ERASE_COMMON, k.ON_COMMON) else 0
    below = grid_cells(given)
    on_input = p in (k.ON_INPUT, k.ERASE, k.ERASE_COMMON, k.BOXES_ON_INPUT)
    canvas: dict[Cell, int] = dict(below) if on_input else dict.fromkeys(below, back)
    for piece in pieces:
        for i, colour in enumerate(piece.cells):
            cell = piece.row + i // piece.width, piece.col + i % piece.width
            empty = colour == (0 if q == k.MASK else EMPTY)
            if cell not in canvas or (empty and p != k.BOXES_ON_INPUT):
                continue
            if p in (k.ERASE, k.ERASE_COMMON):
                canvas[cell] = back
            elif p == k.KEEP:
                canvas[cell] = below[cell]
            else:
                canvas[cell] = 0 if empty else colour
    return Grid(given.height, given.width, bytes(canvas.values()))
