"""Black areas as objects: rooms (4-connected) and rectangles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weft.searches.arc.ops.objectparts import grid_cells, groups, piece_of
from weft.searches.arc.values import Grid, Piece

MOST_RECTANGLES = 40


def rooms_of(grid: Grid) -> tuple[Piece, ...]:
    """Return the black 4-connected areas of a grid."""
    black = {place: 1 for place, colour in grid_cells(grid).items() if not colour}
    pieces = (piece_of(dict.fromkeys(group, 0)) for group in groups(black, eight=False))
    return tuple(piece for piece in pieces if piece is not None)


def rectangles_of(grid: Grid) -> tuple[Piece, ...]:
    """Return the black rectangles of a grid that lie in no larger one, the largest ones first."""
    boxes = [box for top in range(grid.height) for box in _boxes(grid, top) if min(box[2:]) > 1]
    ordered = sorted(boxes, key=lambda box: (-box[2] * box[3], box))
    return tuple(
        Piece(top, left, height, width, bytes(height * width))
        for top, left, height, width in ordered[:MOST_RECTANGLES]
    )


def _boxes(grid: Grid, top: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield the maximal black boxes that start in row `top`, as row, column, height, width."""
    above = _runs([c for c in range(grid.width) if top and not grid.at(top - 1, c)])
    free = list(range(grid.width))
    for bottom in range(top, grid.height):
        free = [c for c in free if not grid.at(bottom, c)]
        below = [c for c in free if bottom + 1 < grid.height and not grid.at(bottom + 1, c)]
        for left, right in _runs(free):
            has_above = any(a <= left and right <= b for a, b in above)
            has_below = any(a <= left and right <= b for a, b in _runs(below))
            if not (has_above or has_below):
                yield top, left, bottom + 1 - top, right - left


def _runs(columns: Sequence[int]) -> list[tuple[int, int]]:
    """Return each run of consecutive numbers as its first number and the one after its last."""
    runs: list[tuple[int, int]] = []
    for column in columns:
        if runs and runs[-1][1] == column:
            runs[-1] = (runs[-1][0], column + 1)
        else:
            runs.append((column, column + 1))
    return runs
