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
COUNT, INNER, OUTLINE, GROW, DENOISE = range(5)
# What `beams` does, as q; plus 4 where only the rarest colour shoots.
RAYS, JOIN = range(2)
ONLY_RARE = 4
# What `places` labels.
ROW, COLUMN, SUM, RING, PLAIN, DIAGONALS = range(6)
# What `colours` does.
KEEP_MAIN, KEEP_RARE, DROP_MAIN, DROP_RARE, ALL_MAIN, ALL_RARE = range(6)
BACK_TO_BLACK, INVERT = 6, 7
