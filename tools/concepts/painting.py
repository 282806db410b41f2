"""Pairs in which shapes stay in place and change colour."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from concepts.draws import Draws, Retry
from concepts.grids import Cell, Grid, blank, paste, recolour, scene
from concepts.puzzle import Pair

Paint = Callable[[int, Grid, Cell], int | None]


def painted(d: Draws, shapes: Sequence[Grid], paint: Paint, low: int = 12, high: int = 16) -> Pair:
    """Return a pair: shapes, then in the colours that `paint` gives; None keeps, 0 removes."""
    shapes = d.shuffled(shapes)
    grid, positions = scene(d, shapes, low, high)
    after = blank(len(grid), len(grid[0]))
    for number, (shape, position) in enumerate(zip(shapes, positions, strict=True)):
        colour = paint(number, shape, position)
        paste(after, shape if colour is None else recolour(shape, colour), *position)
    return grid, after


def ranked(values: Sequence[int], number: int) -> int:
    """Return the rank of one of several values; raises Retry if two are equal."""
    if len(set(values)) < len(values):
        raise Retry
    return sorted(values).index(values[number])
