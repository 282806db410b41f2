"""Grids as few, short SVG paths: one per colour, its cells merged into rectangles."""

from __future__ import annotations

from collections.abc import Iterator

from weft.searches.arc.values import EMPTY, Grid


def paths(grid: Grid) -> list[tuple[int, str]]:
    """Return each colour with its path, in the order of colours; empty cells have none."""
    return [(colour, _path(grid, colour)) for colour in sorted(set(grid.cells) - {EMPTY})]


def rectangles(grid: Grid, colour: int) -> Iterator[tuple[int, int, int, int]]:
    """Cover a colour with disjoint rectangles (row, column, height, width), in reading order.

    Each starts at the first cell not yet covered, as wide as possible, then as high as possible.
    """
    free = bytearray(cell == colour for cell in grid.cells)
    w = grid.width
    at = free.find(1)
    while at >= 0:
        row, col = divmod(at, w)
        width = 1
        while col + width < w and free[at + width]:
            width += 1
        height = 1
        while row + height < grid.height and all(
            free[(row + height) * w + col : (row + height) * w + col + width]
        ):
            height += 1
        for r in range(row, row + height):
            free[r * w + col : r * w + col + width] = bytes(width)
        yield row, col, height, width
        at = free.find(1, at)


def _path(grid: Grid, colour: int) -> str:
    return "".join(f"M{c} {r}h{w}v{h}h-{w}z" for r, c, h, w in rectangles(grid, colour))
