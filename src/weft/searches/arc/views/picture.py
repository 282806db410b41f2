"""Pictures of the values of a program: a grid, or words for numbers.

Objects are placed at their positions on an empty canvas of the input's size, so that they can be
compared with it. Cells outside the canvas are cut off; if none remain, the last object is drawn
alone.
"""

from __future__ import annotations

from collections.abc import Iterable

from weft.searches.arc.values import EMPTY, Grid, Piece, Value, ValueStage
from weft.searches.arc.views.model import Shown


def shown(stage: ValueStage, value: Value, given: Grid) -> Shown:
    """Return a picture of a value, or words; `given` is the program's input."""
    match value:
        case Grid():
            return value
        case tuple():
            return _laid(value, given) if value else "no objects"
        case Piece():
            return _laid([value], given)
    assert isinstance(value, int)
    return Grid(1, 1, bytes([value])) if stage is ValueStage.COLOUR else str(value)


def _laid(pieces: Iterable[Piece], given: Grid) -> Grid:
    """Draw pieces on a canvas, later ones on top."""
    canvas = bytearray([EMPTY]) * (given.height * given.width)
    last = None
    for last in pieces:
        for at, colour in enumerate(last.cells):
            row, col = last.row + at // last.width, last.col + at % last.width
            if colour != EMPTY and 0 <= row < given.height and 0 <= col < given.width:
                canvas[row * given.width + col] = colour
    if last is not None and set(canvas) == {EMPTY}:
        return Grid(last.height, last.width, last.cells)
    return Grid(given.height, given.width, bytes(canvas))
