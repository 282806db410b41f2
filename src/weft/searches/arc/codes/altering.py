"""Numbers of the kernels in `kernels/altering.py` and of their parameters."""

from __future__ import annotations

FILL_BOX, OUTLINE, FILL_HOLES, HOLES_ALONE, RING = 8, 9, 10, 11, 12
"""Alterations: 0 to 7 are symmetries (bits: mirror columns, rows, transpose)."""
ON_BLACK, KEEP, ON_INPUT, BOXES_ON_INPUT, ERASE, ERASE_COMMON = range(6)
MANY = 1
"""Value of `q` when a set of objects is drawn; 0 draws one object."""
