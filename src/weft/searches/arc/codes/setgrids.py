"""Numbers of the kernels in `kernels/setgrids.py` and of their parameters."""

from __future__ import annotations

ALL, FIRST_SEEN, LAST_SEEN, NO, CODE, MAJORITY = range(6)
ROW, COLUMN, COLUMN_OF_CELLS, CELL_EACH, ROW_OF_CELLS = range(5)
