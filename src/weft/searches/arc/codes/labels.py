"""Numbers of the kernels in `kernels/labels.py` and of their parameters."""

from __future__ import annotations

# How cells are linked into parts: 4-connected, 8-connected, or by equal colour anywhere.
FOUR, EIGHT, COLOUR = range(3)
# Which cells form parts: non-black; non-black, one colour per part; black.
FILLED, PLAIN, BLACK = range(0, 12, 4)
ENCLOSED, KEEP, BOX = 16, 32, 64
"""Flags: only parts that do not touch the edge; other cells keep their colours; paint the black
cells of a part's box instead of the part (other cells keep their colours).
"""
SIZE, ORDER, HOLES, EDGE, SOLID, SYMMETRY, COPIES, MAIN, AROUND = range(0, 72, 8)
AS_IS, RANK, MOST, LEAST, PARITY = range(5)
COUNT, TOP, LEFTMOST, BOTTOM, RIGHT = range(5)
