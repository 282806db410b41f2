"""Numbers of the kernels in `kernels/objectparts.py` and of their parameters."""

from __future__ import annotations

INDEX, TOP, BOTTOM, LEFT, RIGHT = 0, 1, 2, 3, 4
AREA, HEIGHT, BORDER = 5, 6, 7
CELLS, COLOURS, COLOUR, SOLID = 10, 11, 12, 13
HOLES, SYMMETRY, SHAPE = 16, 17, 18
ALIKE = 100
