"""Numbers of the kernels in `kernels/templates.py` and of their parameters."""

from __future__ import annotations

COPIES = 600
STAMP = 601

INSIDE, ALONE = 1, 2
LARGEST = 4
"""Maximum scale of a copy."""
MAIN, KINDS, CELLS, TOP, LEFT, BOTTOM, RIGHT = 10, 11, 12, 13, 14, 15, 16
FIELDS = 17
"""Number of fields per blob: the number of cells of each colour, then the fields above."""
