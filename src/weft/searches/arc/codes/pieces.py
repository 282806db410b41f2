"""Numbers of the kernels in `kernels/pieces.py` and of their parameters."""

from __future__ import annotations

ALTER = 500
PAINT = 501
AS_GRID = 502
PART = 503
CANVAS = 504
EACH = 505

AS_PIECE, FROM_INPUT, AS_MASK = 0, 1, 2
BOX, PATCH, COLOUR, COUNT, SIZE, INNER, OUTER = 0, 1, 2, 3, 4, 5, 6
ONE_CELL, CANVAS_OF, ONLY, INK_TO = 0, 1, 2, 3
IN_ROW, DIAGONAL, SQUARE, SCALED, BLANK = 10, 11, 12, 13, 20
