"""Numbers of the kernels in `kernels/sets.py` and of their parameters."""

from __future__ import annotations

PICK = 400
FILTER = 401
SORT = 402
LABEL = 403
SUM = 404
SHIFT = 405
OVERLAY = 406
LAY_OUT = 407
ATTRACT = 408

MOST, LEAST, FIRST_MOST, FIRST_LEAST = 0, 1, 2, 3
IS_MOST, IS_LEAST, NOT_MOST, NOT_LEAST, IS_ZERO, IS_SOME = 0, 1, 2, 3, 4, 5
UP, DOWN = 0, 1
BY_VALUE, BY_RANK_DOWN, BY_RANK_UP = 0, 1, 2
HOW_MANY, USUAL = 0, 1
