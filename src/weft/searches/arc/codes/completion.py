"""Numbers of the kernels in `kernels/completion.py` and of their parameters."""

from __future__ import annotations

# The hiding colour: black, the least common one, or that of the largest one-coloured square.
BLACK, RARE, SQUARE = range(3)
# Mirror images, as bits of q: left-right, top-bottom, about the main diagonal.
COLUMNS, ROWS, DIAGONAL = 1, 2, 4
EIGHTFOLD = COLUMNS | ROWS | DIAGONAL
# Tilings, as q: along rows, along columns, both, or rows that are shifted copies of a stripe.
ALONG_ROWS, ALONG_COLUMNS, BOTH, SLANTED = range(4)
ONLY_HIDDEN = 8
PENALTY = 4
"""Number of agreeing pairs of cells that one disagreeing pair cancels."""
