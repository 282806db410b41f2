"""Numbers of the kernels in `kernels/pieces.py` and of their parameters."""

from __future__ import annotations

PAINT = 500
AS_GRID = 501
CANVAS = 502
EACH = 503

AS_PIECE, FROM_INPUT, AS_MASK = 0, 1, 2
ONE_CELL, CANVAS_OF, ONLY, INK_TO = 0, 1, 2, 3
IN_ROW, DIAGONAL, SQUARE, SCALED = 10, 11, 12, 13
