"""Numbers of the kernels in `kernels/segmentation.py` and of their parameters."""

from __future__ import annotations

from weft.searches.arc.values import MAX_SIDE

COMPONENTS = 300
LAYERS = 301
SPLIT_LINES = 302
SPLIT_EQUAL = 303
TALLY = 304

EIGHT, MULTI, COMMON, NONE, VOID = 1, 2, 4, 8, 16
"""Bits of p: join diagonal neighbours; join colours; the background is the most common colour;
there is no background; segment only the background.
"""
ENCLOSED, AS_COUNT = 1, 2
SINGLE_LINES = MAX_SIDE + 1
MOST, MOST_INK, LEAST, INKS, INK_CELLS = 0, 1, 2, 3, 4
