"""The layout of a drawing, in pixels; SVG and PNG draw the same sheet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weft.inspect.report.text import visible
from weft.searches.arc.values import Grid
from weft.searches.arc.views.model import PictureBlock, TaskView, Tile, blocks

MARGIN = 16
GAP = 18
TEXT = 13
"""Font size of labels; a letter is about 0.62 times as wide."""
LINE_HEIGHT = 20
LARGEST = 240
"""Most pixels of the longest side of the largest grid, unless cells would be too small."""


@dataclass(frozen=True, slots=True)
class PlacedGrid:
    """A grid and its upper left corner."""

    x: int
    y: int
    cell: int
    grid: Grid
    label: str


@dataclass(frozen=True, slots=True)
class PlacedText:
    """A label and the left end of its baseline."""

    x: int
    y: int
    text: str
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Sheet:
    """A whole drawing; `title` describes it in words."""

    width: int
    height: int
    title: str
    grids: tuple[PlacedGrid, ...]
    texts: tuple[PlacedText, ...]


def task_sheet(view: TaskView) -> Sheet:
    """Lay out a whole task: a column for each pair and each test, inputs on top."""
    head = f"{view.name}   {view.words}".strip()
    title = f"ARC task {view.name}: {len(view.pairs)} training pairs, {len(view.tests)} tests"
    if view.outcome:
        title += f", {view.words}"
    return _columns(blocks(view), visible(title), visible(head))


def cell_size(grids: Sequence[Grid]) -> int:
    """Return the pixels of a cell, the same for all grids of a drawing."""
    longest = max((max(grid.height, grid.width) for grid in grids), default=1)
    return max(8, min(24, LARGEST // longest))


def _columns(columns: Sequence[PictureBlock], title: str, head: str) -> Sheet:
    cell = cell_size([tile.grid for block in columns for tile in block.tiles])
    top = MARGIN + (LINE_HEIGHT + GAP // 2 if head else 0)
    texts = [PlacedText(MARGIN, MARGIN + TEXT, head, True)] if head else []
    grids: list[PlacedGrid] = []
    x, bottom = MARGIN, top
    starts = _row_starts(columns, top, cell)
    for block in columns:
        width = 0
        for row, tile in enumerate(block.tiles):
            label = _label(block, row, tile)
            y = starts[row]
            texts.append(PlacedText(x, y + TEXT, label))
            grids.append(PlacedGrid(x, y + LINE_HEIGHT, cell, tile.grid, label))
            width = max(width, tile.grid.width * cell, _text_width(label))
            bottom = max(bottom, y + LINE_HEIGHT + tile.grid.height * cell)
        x += width + GAP
    right = max(x - GAP, MARGIN + _text_width(head)) + MARGIN
    return Sheet(right, bottom + MARGIN, title, tuple(grids), tuple(texts))


def _row_starts(columns: Sequence[PictureBlock], top: int, cell: int) -> list[int]:
    """Return the top of each row of tiles: rows are as high as their highest grid."""
    rows = max((len(block.tiles) for block in columns), default=0)
    starts = [top]
    for row in range(rows):
        heights = [b.tiles[row].grid.height for b in columns if row < len(b.tiles)]
        starts.append(starts[-1] + LINE_HEIGHT + max(heights) * cell + GAP)
    return starts


def _label(block: PictureBlock, row: int, tile: Tile) -> str:
    text = tile.label if row or not block.title else f"{block.title} {tile.label}"
    return visible(text)


def _text_width(text: str) -> int:
    return round(len(text) * TEXT * 0.62)
