"""Numbers of the kernels in `kernels/fills.py` and of their parameters."""

from __future__ import annotations

LABEL = 200
NEIGHBOURS = 201
BEAMS = 202
SYMMETRY = 203
TILES = 204
PLACES = 205
COLOURS = 206

# What `neighbours` does; q = 1 reads eight neighbours, 0 four.
COUNT, INNER, OUTLINE, GROW, ERODE, DENOISE, SMOOTH, MAJORITY = range(8)
# What `beams` does, as q; plus 4 where only the rarest colour shoots, 8 for the most common one.
RAYS, JOIN, BETWEEN = range(3)
ONLY_RARE, ONLY_MAIN = 4, 8
# What `places` labels.
ROW, COLUMN, SUM, DIFFERENCE, RING, DEPTH, DISTANCE, OCCUPIED, PLAIN, DIAGONALS = range(10)
# What `colours` does.
KEEP_MAIN, KEEP_RARE, DROP_MAIN, DROP_RARE, ALL_MAIN, ALL_RARE = range(6)
BACK_TO_BLACK, INVERT, RANK, FLOOD_COMMON = range(6, 10)
