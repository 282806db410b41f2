"""Features of a cell's block, if lines of one colour divide the grid into blocks.

The lines are the full rows and columns of the non-black colour that has the most of them (ties:
the lowest). The blocks form a coarse grid, in which each has its most common non-black colour, or
black if it has none.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from weft.searches.arc.lists.areas import rank
from weft.searches.arc.lists.neighbours import MOST, NONE, Ints, commonest, neighbour_colours

Bools = npt.NDArray[np.bool_]
NEIGHBOUR_COLOURS = 21
BLOCK_CELLS = 2
"""Number of features that read other blocks at the same position: the fullest and the next."""
NUMBERS = 9


def blocks(cells: Ints) -> Iterator[Ints]:
    """Yield the coarse grid's colours at each cell's block, and the cell's features within it."""
    colour = _line_colour(cells)
    rows = _blocks_along((cells == colour).all(axis=1))
    columns = _blocks_along((cells == colour).all(axis=0))
    if colour == NONE or max(rows.max(), columns.max()) < 1 or min(rows.max(), columns.max()) < 0:
        yield from (np.full(cells.shape, NONE) for _ in range(NEIGHBOUR_COLOURS + BLOCK_CELLS))
        yield from (np.zeros(cells.shape, np.int64) for _ in range(NUMBERS))
        return
    row, column = np.meshgrid(rows, columns, indexing="ij")
    inside = (row >= 0) & (column >= 0)
    counts = _counts(cells, row, column, inside)
    coarse = commonest(counts)
    coarse = np.where(coarse == NONE, 0, coarse)
    yield from (
        np.where(inside, colours[row, column], NONE) for colours in neighbour_colours(coarse)
    )
    y, x = np.meshgrid(_places_along(rows), _places_along(columns), indexing="ij")
    ink = counts.sum(axis=-1)
    yield np.where(inside, _fullest(cells, row, column, ink)[y, x], NONE)
    each = _at_place(cells, row, column, y, x)
    number = row * (column.max() + 1) + column
    follows = np.take_along_axis(each, ((number + 1) % len(each))[None], axis=0)[0]
    yield np.where(inside, follows, NONE)
    like = each == cells
    ranks = rank(ink.ravel(), ink.ravel() >= 0).reshape(ink.shape)[row, column]
    both = (np.minimum(ink, MOST)[row, column], ranks, like.sum(axis=0))
    yield from (np.where(inside, numbers, 0) for numbers in (row, column, y, x, *both))
    yield from (np.where(inside, like[block], 1) for block in (0, -1))


def _at_place(cells: Ints, row: Ints, column: Ints, y: Ints, x: Ints) -> Ints:
    """Return each block's cell at every cell's position in its own block; NONE outside it."""
    each = []
    for block_row in range(row.max() + 1):
        for block_column in range(column.max() + 1):
            rows, columns = np.nonzero((row == block_row) & (column == block_column))
            own = np.full(cells.shape, NONE)
            own[rows - rows.min(), columns - columns.min()] = cells[rows, columns]
            each.append(own[y, x])
    return np.stack(each)


def _line_colour(cells: Ints) -> int:
    lines = np.zeros(10, np.int64)
    for colour in range(1, 10):
        is_colour = cells == colour
        lines[colour] = is_colour.all(axis=1).sum() + is_colour.all(axis=0).sum()
    return int(commonest(lines))


def _blocks_along(is_line: Bools) -> Ints:
    """Return the block number of each row or column; -1 on lines."""
    starts = ~is_line & np.append(True, is_line[:-1])
    return np.where(is_line, -1, np.cumsum(starts) - 1)


def _places_along(blocks_along: Ints) -> Ints:
    """Return the offset of each row or column from the start of its block."""
    place = np.zeros(len(blocks_along), np.int64)
    for n in range(1, len(place)):
        place[n] = place[n - 1] + 1 if blocks_along[n] == blocks_along[n - 1] else 0
    return place


def _counts(cells: Ints, row: Ints, column: Ints, inside: Bools) -> Ints:
    """Count each non-black colour in each block."""
    counts = np.zeros((row.max() + 1, column.max() + 1, 10), np.int64)
    np.add.at(counts, (row[inside], column[inside], cells[inside]), 1)
    counts[..., 0] = 0
    return counts


def _fullest(cells: Ints, row: Ints, column: Ints, ink: Ints) -> Ints:
    """Return the block with the most non-black cells (ties: the first); NONE around it."""
    pattern = np.full(cells.shape, NONE)
    first, second = np.unravel_index(int(ink.argmax()), ink.shape)
    rows, columns = np.nonzero((row == first) & (column == second))
    pattern[rows - rows.min(), columns - columns.min()] = cells[rows, columns]
    return pattern
