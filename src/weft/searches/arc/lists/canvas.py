"""Canvases: outputs of a hypothesised size with the input placed on them, for decision lists.

    h*3 w*3 tiled        height, width, and how the input is placed

The features of a canvas's cell are the input's cells at its position, the copy of the input that
it is in, and comparisons of its position with counts of the input.
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
"""Ways to place the input."""
PRICE = 3 * BIT
"""Cost of one of these ways."""


@dataclass(frozen=True, slots=True)
class Canvas:
    """An output size and a way to place the input."""

    height: Formula
    width: Formula
    laid: str

    def text(self) -> str:
        """Return the notation used in programs."""
        return f"{self.height.text()} {self.width.text()} {self.laid}"

    @property
    def millibits(self) -> int:
        """The cost in thousandths of a bit."""
        return self.height.millibits("h") + self.width.millibits("w") + PRICE

    def size(self, grid: Grid) -> tuple[int, int] | None:
        """Return the height and width for an input; None if no grid has that size."""
        measures = measures_of(grid)
        height, width = self.height.value(measures), self.width.value(measures)
        return (
            (height, width) if min(height, width) >= 1 and max(height, width) <= MAX_SIDE else None
        )

    def base(self, grid: Grid) -> Grid | None:
        """Return the canvas with the input placed on it; None if no grid has its size."""
        size = self.size(grid)
        return None if size is None else _laid(grid, *size, self.laid)

    def columns(self, grid: Grid) -> dict[str, U8] | None:
        """Return all features of the canvas's cells; None if no grid has its size."""
        base = self.base(grid)
        if base is None:
            return None
        own = [number.ravel().astype(np.uint8) for number in _own(grid, base.height, base.width)]
        plain = zip(NAMES, features_of(base), strict=True)
        return dict(plain) | dict(zip(CANVAS_NAMES, own, strict=True))


def parse(text: str) -> Canvas:
    """Invert `Canvas.text`; raises ValueError if the text is invalid."""
    height, width, laid = text.split(" ")
    if laid not in LAID:
        raise ValueError(text)
    return Canvas(parse_side(height), parse_side(width), laid)


def supposed(inputs: Sequence[Grid], expected: Sequence[Grid], most: int) -> list[Canvas]:
    """Return the `most` cheapest distinct canvases with the sizes of the first inputs' outputs."""
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
    """Whether each output's size is predicted by the cheapest formulas fitted to the others."""
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
    """Place a grid on a canvas; None if the canvas's sides are not multiples of the grid's."""
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
    """Yield the features that `CANVAS_NAMES` lists, in that order."""
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
