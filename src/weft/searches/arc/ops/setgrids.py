"""Grids built from a set's objects by overlaying or juxtaposing them: plain definitions."""

from __future__ import annotations

from weft.searches.arc.codes import setgrids as g
from weft.searches.arc.ops.objectparts import as_objects, commonest
from weft.searches.arc.values import EMPTY, MAX_SIDE, Grid, Piece, Value


def _black(cells: bytes) -> bytes:
    """Replace empty cells by black ones."""
    return bytes(0 if cell == EMPTY else cell for cell in cells)


def overlay(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """Overlay two or more pieces of equal size; black cells count as empty.

    ALL returns the first piece's colour where all have cells, FIRST_SEEN and LAST_SEEN the first or
    last colour present; NO returns 1 where no piece has a cell; CODE adds 1, 2, 4 for the first,
    second, third piece (and fails for more); MAJORITY returns the most common colour, black
    included (ties: the lowest).
    """
    objects = as_objects(value)
    sizes = {(piece.height, piece.width) for piece in objects}
    if len(objects) < 2 or len(sizes) != 1 or (p == g.CODE and len(objects) > 3):
        return None
    ((height, width),) = sizes
    stacks = zip(*(_black(piece.cells) for piece in objects), strict=True)
    return Grid(height, width, bytes(_blend(stack, p) for stack in stacks))


def _blend(stack: tuple[int, ...], p: int) -> int:
    """Return the colour of one cell, given the pieces' colours there."""
    inks = [colour for colour in stack if colour]
    match p:
        case g.ALL:
            return stack[0] if all(stack) else 0
        case g.FIRST_SEEN:
            return inks[0] if inks else 0
        case g.LAST_SEEN:
            return inks[-1] if inks else 0
        case g.NO:
            return int(not inks)
        case g.CODE:
            return sum(1 << i for i, colour in enumerate(stack) if colour)
    return commonest(stack)


def lay_out(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """Juxtapose pieces of equal size, or one cell for each object.

    ROW and COLUMN place pieces in order; ROW_OF_CELLS and COLUMN_OF_CELLS one cell each. CELL_EACH
    arranges cells like the corners of their objects: distinct rows and columns of corners become
    rows and columns, and two objects with the same corner fail. A cell has its object's most common
    colour; with q = 1 empty cells count as black.
    """
    objects = as_objects(value)
    if not objects:
        return None
    if p not in (g.ROW, g.COLUMN):
        objects = tuple(_one_cell(piece, q) for piece in objects)
    corners = [(piece.row, piece.col) for piece in objects]
    if p in (g.ROW, g.ROW_OF_CELLS):
        corners = [(0, i) for i in range(len(objects))]
    elif p in (g.COLUMN, g.COLUMN_OF_CELLS):
        corners = [(i, 0) for i in range(len(objects))]
    if len({(piece.height, piece.width) for piece in objects}) > 1:
        return None
    return _tiled(dict(zip(corners, objects, strict=True)), len(objects))


def _one_cell(piece: Piece, q: int) -> Piece:
    colour = commonest(_black(piece.cells) if q else piece.cells)
    return Piece(piece.row, piece.col, 1, 1, bytes([colour]))


def _tiled(places: dict[tuple[int, int], Piece], n: int) -> Grid | None:
    """Place pieces by the order of their rows and columns; None if two share a place."""
    rows, columns = sorted({r for r, _ in places}), sorted({c for _, c in places})
    piece = next(iter(places.values()))
    h, w = piece.height, piece.width
    if len(places) < n or len(rows) * h > MAX_SIDE or len(columns) * w > MAX_SIDE:
        return None
    grid = [[0] * (len(columns) * w) for _ in range(len(rows) * h)]
    for (r, c), piece in places.items():
        for i, cell in enumerate(_black(piece.cells)):
            grid[rows.index(r) * h + i // w][columns.index(c) * w + i % w] = cell
    return Grid.of(grid)
