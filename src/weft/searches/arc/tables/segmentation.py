"""Segmentations of a grid: those of operators, and black areas with or without objects.

objects_8            one-coloured, 8-connected
rooms                black areas; everything else stays
rectangles           black rectangles; everything else stays
objects_8 and rooms  both
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from weft.searches.arc.fitted.choose import SEGMENTATIONS, segment
from weft.searches.arc.ops.operator import BIT
from weft.searches.arc.ops.registry import BY_NAME
from weft.searches.arc.tables.areas import rectangles_of, rooms_of
from weft.searches.arc.tables.scene import Scene
from weft.searches.arc.values import Grid, Piece

ROOMS = "rooms"
AREAS = {ROOMS: rooms_of, "rectangles": rectangles_of}
FIXED = "objects_8"
"""The segmentation of the objects that stay around areas."""
AND_ROOMS = f" and {ROOMS}"
WITH_ROOMS = FIXED + AND_ROOMS


def scene_of(name: str, grid: Grid) -> Scene | None:
    """Segment a grid; return None if there is nothing to decide about."""
    if name in AREAS:
        areas = AREAS[name](grid)
        return Scene(grid, segment(FIXED, grid), areas, is_fixed=True) if areas else None
    pieces = segment(name.removesuffix(AND_ROOMS), grid)
    rooms = rooms_of(grid) if name.endswith(AND_ROOMS) else None
    return Scene(grid, pieces, rooms) if pieces else None


def scenes_of(
    names: Sequence[str], grids: Sequence[Grid], most: int, asked: Sequence[str] | None = None
) -> dict[str, list[Scene]]:
    """Segment grids in each named way that gives every grid 1 to `most` objects.

    Of equal segmentations only the first is kept. With `asked`, only those names are returned.
    """
    ways: dict[tuple[tuple[Piece, ...], ...], str] = {}
    for name in names:
        pieces = tuple(takewhile(lambda own: 1 <= len(own) <= most, _segmented(name, grids)))
        if len(pieces) == len(grids):
            ways.setdefault(pieces, name)
    return {
        name: [Scene(grid, own) for grid, own in zip(grids, pieces, strict=True)]
        for pieces, name in ways.items()
        if asked is None or name in asked
    }


def _segmented(name: str, grids: Sequence[Grid]) -> Iterator[tuple[Piece, ...]]:
    return (segment(name, grid) for grid in grids)


def price(name: str) -> int:
    """Return the price of naming a segmentation."""
    own = BY_NAME[FIXED if name in AREAS else name.removesuffix(AND_ROOMS)].millibits
    return own + (2 * BIT if name in AREAS or name.endswith(AND_ROOMS) else 0)


def check(name: str) -> None:
    """Raise ValueError if there is no such segmentation."""
    if name not in AREAS and name.removesuffix(AND_ROOMS) not in SEGMENTATIONS:
        raise ValueError(name)
