"""Numbers of the kernels in `kernels/completion.py` and of their parameters."""

from __future__ import annotations

# The colour that hides: black, the least common one, or that of the largest plain square.
BLACK, RARE, SQUARE = range(3)
# Mirror images, as bits of q: left-right, top-bottom, on the main diagonal.
COLUMNS, ROWS, DIAGONAL = 1, 2, 4
EIGHTFOLD = COLUMNS | ROWS | DIAGONAL
# Tiles, as q: along rows, along columns, both, or rows that are shifted copies of a stripe.
ALONG_ROWS, ALONG_COLUMNS, BOTH, SLANTED = range(4)
ONLY_HIDDEN = 8
PENALTY = 4
"""How many agreeing pairs of cells one that disagrees outweighs."""
