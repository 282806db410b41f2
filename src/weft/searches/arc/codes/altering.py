"""Numbers of the kernels in `kernels/altering.py` and of their parameters."""

from __future__ import annotations

FILL_BOX, FILL_INPUT, OUTLINE, MAIN_COLOUR, OTHER_COLOURS = 8, 9, 10, 11, 12
FILL_HOLES, HOLES_ALONE, RING = 13, 14, 15
SCALE = 30
"""Alterations: 0 to 7 are symmetries (bits: mirror columns, rows, transpose), 30 + n scale by n."""
ON_BLACK, KEEP, ON_INPUT, BOXES_ON_INPUT, ERASE, ERASE_COMMON = range(6)
MASK, MANY = 1, 2
"""What is drawn, q: an object (0), a patch, where 0 is no cell, or a set of objects."""
