"""Numbers of the kernels in `kernels/labels.py` and of their parameters."""

from __future__ import annotations

# What links cells to a part: neighbours of four, of eight, or one colour anywhere.
FOUR, EIGHT, COLOUR = range(3)
# Which cells: all but black; the same, each part of one colour; black; all but the commonest.
FILLED, PLAIN, BLACK, FRONT = range(0, 16, 4)
ENCLOSED, KEEP, BOX = 16, 32, 64
"""Only parts that do not touch the edge; other cells keep their colours; paint the black cells
of a part's box instead of the part (other cells keep their colours)."""
SIZE, HEIGHT, WIDTH, ORDER, LEFT, HOLES, COLOURS, EDGE = range(0, 64, 8)
SOLID, SYMMETRY, COPIES, MAIN, RARE, AROUND = range(64, 112, 8)
AS_IS, RANK, MOST, LEAST, PARITY = range(5)
COUNT, TOP, LEFTMOST, BOTTOM, RIGHT = range(5)
