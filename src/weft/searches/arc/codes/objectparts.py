"""Numbers of the kernels in `kernels/objectparts.py` and of their parameters."""

from __future__ import annotations

INDEX, TOP, BOTTOM, LEFT, RIGHT = 0, 1, 2, 3, 4
AREA, HEIGHT, WIDTH, SQUARE, BORDER = 5, 6, 7, 8, 9
CELLS, COLOURS, MINORITY, COLOUR, SOLID, ABUNDANCE = 10, 11, 12, 13, 14, 15
HOLES, SYMMETRY, SHAPE, PATTERN = 16, 17, 18, 19
ALIKE = 100
