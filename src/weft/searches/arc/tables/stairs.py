"""The action that draws stairs from a single cell towards a corner of the grid."""

from __future__ import annotations

from collections.abc import Sequence

from weft.searches.arc.tables.colours import colour_of
from weft.searches.arc.tables.scene import STEPS, Body, Drawn, Scene

FIRST = ("row", "column")
TREADS = ("1", "2")
"""Numbers of cells after which a line turns."""


def stairs(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Add a line with a turn after every one or two cells, first along its row or its column.

    It ends where something is in its way.
    """
    corner, first, tread, ink = words
    colour = colour_of(scene, body, ink)
    if colour is None or body.mask.bit_count() > 1:
        return None
    where = f"{corner} {first} {tread}"
    cells = scene.once(body, "stairs", where, lambda: _climbed(scene, body, corner, first, tread))
    return Drawn(body.layers, ((colour, cells),))


def _climbed(scene: Scene, body: Body, corner: str, first: str, tread: str) -> int:
    (down, along), cells, front, length = STEPS[corner], 0, body.mask, int(tread)
    free, count, is_row = ~scene.others(body), 0, first == "row"
    while front:
        front = scene.moved(front, (0, along) if is_row else (down, 0)) & free
        cells, count = cells | front, count + 1
        is_row = is_row != (count % length == 0)
    return cells
