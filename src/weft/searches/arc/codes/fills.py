"""Numbers of the kernels in `kernels/fills.py` and of their parameters."""

from __future__ import annotations

LABEL = 200
NEIGHBOURS = 201
BEAMS = 202
SYMMETRY = 203
TILES = 204
PLACES = 205
COLOURS = 206

# Modes of `neighbours`; it reads eight neighbours if q = 1, four if q = 0.
COUNT, INNER, OUTLINE, GROW, DENOISE = range(5)
# Modes of `beams`, as q; plus 4 if only the rarest colour emits rays.
RAYS, JOIN = range(2)
ONLY_RARE = 4
# Modes of `places`.
ROW, COLUMN, SUM, RING, PLAIN, DIAGONALS = range(6)
# Modes of `colours`.
KEEP_MAIN, KEEP_RARE, DROP_MAIN, DROP_RARE, ALL_MAIN, ALL_RARE = range(6)
BACK_TO_BLACK, INVERT = 6, 7
