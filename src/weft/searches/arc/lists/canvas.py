"""Canvases: an empty output of a hypothesised size, with the input laid on it, for lists of cells.

    h*3 w*3 tiled        height, width, and how the input is laid

The features of its cells are what the input has for it, which copy of the input it is in, and how
that compares with counts of the input.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from weft.searches.arc.lists.features import U8, features_of
from weft.searches.arc.lists.neighbours import MOST, Ints, axes
from weft.searches.arc.lists.sizes import Formula, formulas, measures_of
from weft.searches.arc.lists.sizes import parse as parse_side
from weft.searches.arc.lists.words import CANVAS_NAMES, CORNERS, COUNTS, NAMES
from weft.searches.arc.ops.operator import BIT
from weft.searches.arc.values import MAX_SIDE, Grid

LAID: dict[str, str] = {
    "tiled": "copies side by side, beginning at the top left",
    "spread": "every cell stretched, to fill the canvas",
    "top_left": "once, in that corner; the rest is black",
    "bottom_left": "the same there",
    "top_right": "the same there",
    "bottom_right": "the same there",
}
"""How the input is laid."""
PRICE = 3 * BIT
"""One way of those."""


@dataclass(frozen=True, slots=True)
class Canvas:
    """A size and a way to lay the input."""

    height: Formula
    width: Formula
    laid: str

    def text(self) -> str:
        """As programs write it."""
        return f"{self.height.text()} {self.width.text()} {self.laid}"

    @property
    def millibits(self) -> int:
        """What it costs."""
        return self.height.millibits("h") + self.width.millibits("w") + PRICE

    def size(self, grid: Grid) -> tuple[int, int] | None:
        """Return height and width for an input; None where there is no such grid."""
        measures = measures_of(grid)
        height, width = self.height.value(measures), self.width.value(measures)
        return (
            (height, width) if min(height, width) >= 1 and max(height, width) <= MAX_SIDE else None
        )

    def base(self, grid: Grid) -> Grid | None:
        """Return the canvas with the input laid on it."""
        size = self.size(grid)
        return None if size is None else _laid(grid, *size, self.laid)

    def columns(self, grid: Grid) -> dict[str, U8] | None:
        """Return every feature of the canvas's cells."""
        base = self.base(grid)
        if base is None:
            return None
        own = [number.ravel().astype(np.uint8) for number in _own(grid, base.height, base.width)]
        plain = zip(NAMES, features_of(base), strict=True)
        return dict(plain) | dict(zip(CANVAS_NAMES, own, strict=True))


def parse(text: str) -> Canvas:
    """Undo `Canvas.text`; ValueError where it is none."""
    height, width, laid = text.split(" ")
    if laid not in LAID:
        raise ValueError(text)
    return Canvas(parse_side(height), parse_side(width), laid)


def supposed(inputs: Sequence[Grid], expected: Sequence[Grid], most: int) -> list[Canvas]:
    """Return canvases as large as the first inputs' outputs, the cheapest; no two alike."""
    heights = formulas("h", inputs, [grid.height for grid in expected])
    widths = formulas("w", inputs, [grid.width for grid in expected])
    every = [Canvas(h, w, laid) for h in heights for w in widths for laid in LAID]
    places = {laid: n for n, laid in enumerate(LAID)}
    canvases: dict[tuple[Grid | None, ...], Canvas] = {}
    for canvas in sorted(
        every, key=lambda canvas: (canvas.millibits, places[canvas.laid], canvas.text())
    ):
        if len(canvases) == most:
            break
        canvases.setdefault(tuple(canvas.base(grid) for grid in inputs), canvas)
    return list(canvases.values())


def size_loo_passes(inputs: Sequence[Grid], expected: Sequence[Grid]) -> bool:
    """Whether the cheapest formulas fitted without a pair predict its size, for each pair."""
    return all(_loo_passes(inputs, expected, left) for left in range(len(expected)))


def _loo_passes(inputs: Sequence[Grid], expected: Sequence[Grid], left: int) -> bool:
    others = [n for n in range(len(expected)) if n != left]
    ordered = [*(inputs[n] for n in others), inputs[left]]
    return all(
        fitting and fitting[0].value(measures_of(inputs[left])) == side
        for fitting, side in (
            (formulas("h", ordered, [expected[n].height for n in others]), expected[left].height),
            (formulas("w", ordered, [expected[n].width for n in others]), expected[left].width),
        )
    )


def laid(grid: Grid, canvas: Grid, way: str) -> U8 | None:
    """Return the cells of a canvas on which a grid is laid; None where it does not fit in it."""
    if canvas.height % grid.height or canvas.width % grid.width:
        return None
    return np.frombuffer(_laid(grid, canvas.height, canvas.width, way).cells, np.uint8)


def _laid(grid: Grid, height: int, width: int, laid: str) -> Grid:
    cells = np.frombuffer(grid.cells, np.uint8).reshape(grid.height, grid.width)
    rows, columns = axes((height, width))
    if laid == "tiled":
        canvas_cells = cells[rows % grid.height, columns % grid.width]
    elif laid == "spread":
        canvas_cells = cells[rows * grid.height // height, columns * grid.width // width]
    else:
        down, right = laid.startswith("bottom"), laid.endswith("right")
        y = rows - (height - grid.height if down else 0)
        x = columns - (width - grid.width if right else 0)
        inside = (y >= 0) & (y < grid.height) & (x >= 0) & (x < grid.width)
        canvas_cells = np.where(inside, cells[np.where(inside, y, 0), np.where(inside, x, 0)], 0)
    return Grid(height, width, canvas_cells.astype(np.uint8).tobytes())


def _own(grid: Grid, height: int, width: int) -> Iterator[Ints]:
    """What `CANVAS_NAMES` names, in that order."""
    cells = np.frombuffer(grid.cells, np.uint8).reshape(grid.height, grid.width).astype(np.int64)
    rows, columns = axes((height, width))
    y, x = rows % grid.height, columns % grid.width
    tile_row, tile_column = rows // grid.height, columns // grid.width
    yield cells[y, x]
    yield cells[rows * grid.height // height, columns * grid.width // width]
    yield cells[
        np.where(tile_row % 2, grid.height - 1 - y, y),
        np.where(tile_column % 2, grid.width - 1 - x, x),
    ]
    down, across = -(-height // grid.height), -(-width // grid.width)
    tile, *others = _tile_numbers(tile_row, tile_column, down, across)
    yield from (tile_row, tile_column, tile)
    measures = measures_of(grid)
    for name in COUNTS:
        count = measures[name]
        yield np.full((height, width), min(count, MOST))
        for number in (tile, *others, rows * width + columns, rows, columns):
            yield (number < count).astype(np.int64)


def _tile_numbers(rows: Ints, columns: Ints, down: int, across: int) -> Iterator[Ints]:
    """Number copies row by row, then column by column, from each of `CORNERS`."""
    both = ((down - 1 - rows, rows), (across - 1 - columns, columns))
    corners = [
        tuple(own[at in corner] for own, at in zip(both, ("top", "left"), strict=True))
        for corner in CORNERS
    ]
    yield from (row * across + column for row, column in corners)
    yield from (column * down + row for row, column in corners)
