"""Numbers of the kernels in `kernels/labels.py` and of their parameters."""

from __future__ import annotations

# What links cells to a part: neighbours of four, of eight, or one colour anywhere.
FOUR, EIGHT, COLOUR = range(3)
# Which cells: all but black; the same, each part of one colour; black.
FILLED, PLAIN, BLACK = range(0, 12, 4)
ENCLOSED, KEEP, BOX = 16, 32, 64
"""Only parts that do not touch the edge; other cells keep their colours; paint the black cells
of a part's box instead of the part (other cells keep their colours)."""
SIZE, ORDER, HOLES, EDGE, SOLID, SYMMETRY, COPIES, MAIN, AROUND = range(0, 72, 8)
AS_IS, RANK, MOST, LEAST, PARITY = range(5)
COUNT, TOP, LEFTMOST, BOTTOM, RIGHT = range(5)
