"""Numbers of the kernels in `kernels/moves.py` and of their parameters."""

from __future__ import annotations

TURN = 100
PICK = 101
OUTER = 102
FALL = 103
OVERLAY = 104

# Modes of `pick` for one axis; an amount below 16 is added.
ALL, TRIM, CUT, HALF, REPEAT, MIRROR, STRETCH, STRIDE = range(0, 128, 16)
COLLAPSE, OCCUPIED, ROLL, SORT, PERIOD = range(128, 208, 16)
# Amounts that are computed from the grid.
COLOURS, BLOCK = 11, 13
# Which lines count, as the amount of TRIM and OCCUPIED.
NOT_BLACK, NOT_COMMON, MAIN, RARE = range(4)
HOLDS = 16
