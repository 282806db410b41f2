"""The rule that places the input's objects on the black cells of a grid, where they fit best.

    a = trim_to_rare(I)
    return inlay(a, "blobs_4")

Objects that the grid already has are left out. The others may be scaled up, rotated and mirrored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from weft.searches.arc.fitted.choose import segment
from weft.searches.arc.fitted.rule import BASE, Composed
from weft.searches.arc.ops.objectparts import Cell, cells_of, grid_cells
from weft.searches.arc.ops.operator import BIT, ShapeEffect
from weft.searches.arc.ops.registry import BY_NAME
from weft.searches.arc.values import Grid, Piece

SEGMENTATIONS = ("blobs_8", "blobs_4", "objects_8")
MOST_PIECES = 8
MOST_CELLS = 200
"""Maximum number of cells of the grid; larger ones have too many places to try."""
MOST_SCALE = 4
ORIENTATIONS = range(8)
"""Bits: mirrored left to right, top to bottom, transposed."""
BESIDE = ((0, 1), (0, -1), (1, 0), (-1, 0))
PRICE = 4 * BIT
"""Cost besides the segmentation."""
Cells = Mapping[Cell, int]


@dataclass(frozen=True, slots=True)
class InlaidShape:
    """An object at a place, and how well it fits there: higher is better."""

    fit: tuple[bool, int, int]
    """Whether it avoids the edge, its agreement with the grid, and minus its orientation."""
    cells: Cells


def inlaid(grid: Grid, given: Grid, name: str) -> Grid | None:
    """Place all objects of the input that a grid lacks; None if one has no unique best place."""
    pieces, own = segment(name, given), grid_cells(grid)
    if len(pieces) > MOST_PIECES or len(grid.cells) > MOST_CELLS:
        return None
    missing = [cells for cells in map(_shape, pieces) if not _has(grid, cells)]
    placed = [best_place(grid, cells) for cells in missing]
    known = [cells for cells in placed if cells is not None]
    if not missing or len(known) < len(missing):
        return None
    cells = dict(own)
    for laid in known:
        cells |= laid
    return Grid(grid.height, grid.width, bytes(cells[cell] for cell in own))


def best_place(grid: Grid, shape: Cells) -> Cells | None:
    """Return the cells of an object at its best place, as large as possible; None if tied."""
    for scale in range(MOST_SCALE, 0, -1):
        placements = list(_placements(grid, _scaled(shape, scale)))
        if placements:
            most = max(placement.fit for placement in placements)
            best = [placement.cells for placement in placements if placement.fit == most]
            return best[0] if len(best) == 1 else None
    return None


def _placements(grid: Grid, shape: Cells) -> Iterator[InlaidShape]:
    """Yield an object at all places where it covers black or its own colours, and some black."""
    own = grid_cells(grid)
    for orientation in ORIENTATIONS:
        turned = _turned(shape, orientation)
        for cells in _everywhere(grid, turned):
            under = [own[cell] for cell in cells]
            if 0 in under and all(a in (0, b) for a, b in zip(under, cells.values(), strict=True)):
                is_inner = all(0 < r < grid.height - 1 and 0 < c < grid.width - 1 for r, c in cells)
                fit = (is_inner, _agreement(own, cells), -orientation)
                yield InlaidShape(fit, cells)


def _agreement(own: Cells, cells: Cells) -> int:
    """Return twice the cells that already have their colour, plus the sides shared with it."""
    equal = sum(own[cell] == colour for cell, colour in cells.items())
    sides = sum(
        own.get((r + down, c + right)) == colour
        for (r, c), colour in cells.items()
        for down, right in BESIDE
        if (r + down, c + right) not in cells
    )
    return 2 * equal + sides


def _everywhere(grid: Grid, shape: Cells) -> Iterator[Cells]:
    """Yield an object at every place inside a grid, in scan order."""
    height, width = _extent(shape)
    for down in range(grid.height - height + 1):
        for right in range(grid.width - width + 1):
            yield {(r + down, c + right): colour for (r, c), colour in shape.items()}


def _has(grid: Grid, shape: Cells) -> bool:
    own = grid_cells(grid)
    return any(
        all(own[cell] == colour for cell, colour in cells.items())
        for cells in _everywhere(grid, shape)
    )


def _shape(piece: Piece) -> Cells:
    """Return the cells of an object by position in its box."""
    return {(r - piece.row, c - piece.col): colour for (r, c), colour in cells_of(piece).items()}


def _extent(shape: Cells) -> tuple[int, int]:
    return max(r for r, _ in shape) + 1, max(c for _, c in shape) + 1


def _scaled(shape: Cells, scale: int) -> Cells:
    inner = [(down, right) for down in range(scale) for right in range(scale)]
    return {
        (r * scale + down, c * scale + right): colour
        for (r, c), colour in shape.items()
        for down, right in inner
    }


def _turned(shape: Cells, orientation: int) -> Cells:
    height, width = _extent(shape)
    turned = {}
    for (r, c), colour in shape.items():
        row = height - 1 - r if orientation & 2 else r
        column = width - 1 - c if orientation & 1 else c
        turned[(column, row) if orientation & 4 else (row, column)] = colour
    return turned


class Inlay(Composed):
    """Parameters: the segmentation."""

    name = "inlay"
    doc = (
        "Places those objects of the input (`blobs_8`, `blobs_4` or `objects_8`) that the grid "
        "lacks on its black cells: each as large as possible (up to 4 times), rotated or "
        "mirrored, away from the edge if possible, where it covers or touches the most cells of "
        "its own colours, and otherwise in its original orientation. It fails if two placements "
        "are equally good. At most 8 objects and 200 cells of the grid."
    )
    shape = ShapeEffect.KEEP

    def apply(self, params: bytes, value: Grid, given: Grid) -> Grid | None:
        return inlaid(value, given, _read(params.decode()))

    def price(self, params: bytes) -> int:
        return BASE + PRICE + BY_NAME[_read(params.decode())].millibits

    def read(self, text: str) -> bytes:
        return _read(text).encode()


def _read(text: str) -> str:
    if text not in SEGMENTATIONS:
        raise ValueError(text)
    return text
