"""Numbers of the kernels in `kernels/setgrids.py` and of their parameters."""

from __future__ import annotations

ALL, FIRST_SEEN, LAST_SEEN, ONE, NO, VOTES, CODE, MAJORITY, FIRST_ALONE = 0, 1, 2, 3, 4, 5, 6, 7, 8
ROW, COLUMN, COLUMN_OF_CELLS, CELL_EACH, CLOSED_UP, ROW_OF_CELLS, BAR = 0, 1, 2, 3, 4, 5, 6
