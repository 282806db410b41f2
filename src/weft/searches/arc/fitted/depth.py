"""The stacking order of objects: lines and frames lie below the objects that cover their cells.

..2..
11211    2 covers a cell of the row that 1 is a part of, so 2 lies above 1
..2..
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from weft.searches.arc.ops.objectparts import Cell, cells_of
from weft.searches.arc.values import Piece

MOST_OBJECTS = 12


def depths_of(objects: Sequence[Piece]) -> list[int]:
    """Return how many objects lie below each one, in the longest pile; 0 if that is unknown.

    An object lies above another if it covers more of the other's whole cells than the other covers
    of its own. All are 0 if some objects lie above each other in a cycle.
    """
    if len(objects) > MOST_OBJECTS:
        return [0] * len(objects)
    owner = {cell: n for n, piece in enumerate(objects) for cell in cells_of(piece)}
    hidden = Counter(
        (n, owner[cell])
        for n, piece in enumerate(objects)
        for cell in whole_cells(piece)
        if owner.get(cell, n) != n
    )
    pairs = [pair for pair, cells in sorted(hidden.items()) if cells > hidden[pair[::-1]]]
    depths = [0] * len(objects)
    for _ in objects:
        for below, above in pairs:
            depths[above] = max(depths[above], depths[below] + 1)
    return depths if max(depths, default=0) < len(objects) else [0] * len(objects)


def whole_cells(piece: Piece) -> set[Cell]:
    """Return the cells of the line or frame that an object is a part of, or else its own."""
    own = set(cells_of(piece))
    rows = range(piece.row, piece.row + piece.height)
    columns = range(piece.col, piece.col + piece.width)
    falling, rising = (
        set(zip(rows, columns, strict=False)),
        set(zip(rows, columns[::-1], strict=False)),
    )
    frame = {
        (r, c)
        for r in rows
        for c in columns
        if r in (rows[0], rows[-1]) or c in (columns[0], columns[-1])
    }
    return next((whole for whole in (falling, rising, frame) if own <= whole), own)
