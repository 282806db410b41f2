"""Features around a cell: neighbours, lines, mirror images, distances, counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
NONE = 10
"""No colour: beyond the edge, or no such cell."""
MOST = 60
"""Upper limit of counted sizes and distances."""
STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def commonest(counts: Ints) -> Ints:
    """Return each row's most frequent colour (ties: the lowest); NONE if all its counts are 0."""
    return np.where(counts.max(axis=-1) > 0, counts.argmax(axis=-1), NONE)


def rarest(counts: Ints) -> Ints:
    """Return each row's least frequent colour of those that occur (ties: the lowest)."""
    colours: Ints = np.where(counts > 0, counts, 10_000).argmin(axis=-1)
    return colours


def shifted(cells: Ints, step: tuple[int, int]) -> Ints:
    """Return the value one step from each cell; NONE beyond the edge."""
    return _moved(cells, step, NONE)


def _moved(cells: Ints, step: tuple[int, int], beyond: int) -> Ints:
    """Return the value one step from each cell; `beyond` outside the grid."""
    height, width = cells.shape
    padded = np.pad(cells, 1, constant_values=beyond)
    return padded[1 + step[0] : 1 + step[0] + height, 1 + step[1] : 1 + step[1] + width]


def axes(shape: tuple[int, ...]) -> tuple[Ints, Ints]:
    """Return the row and the column of each cell."""
    rows, columns = np.indices(shape)
    return rows.astype(np.int64), columns.astype(np.int64)


def neighbour_colours(cells: Ints) -> Iterator[Ints]:
    """Yield the cell, its neighbours, the first other colours in 8 directions and on both sides."""
    near = [shifted(cells, step) for step in STEPS]
    visible = [
        _first_other_colour(cells, beside, step) for beside, step in zip(near, STEPS, strict=True)
    ]
    yield cells
    yield from near
    yield from visible
    for side, other in ((2, 3), (0, 1), (4, 7), (5, 6)):
        yield np.where(visible[side] == visible[other], visible[side], NONE)


def _first_other_colour(cells: Ints, beside: Ints, step: tuple[int, int]) -> Ints:
    """Return the first other colour in a direction: the neighbour's, or the next one that way."""
    visible = beside.copy()
    for _ in range(max(cells.shape)):
        farther = np.where(beside == cells, shifted(visible, step), beside)
        if np.array_equal(farther, visible):
            break
        visible = farther
    return visible


def images(cells: Ints) -> Iterator[Ints]:
    """Yield the cell at the same position in four images of the grid."""
    yield cells[:, ::-1]
    yield cells[::-1]
    yield cells[::-1, ::-1]
    yield cells.T if cells.shape[0] == cells.shape[1] else np.full(cells.shape, NONE)


def tallies(cells: Ints) -> tuple[Ints, Ints]:
    """Count each colour in each row, and in each column."""
    is_colour = cells[..., None] == np.arange(10)
    return is_colour.sum(axis=1), is_colour.sum(axis=0)


def lines(cells: Ints) -> Iterator[Ints]:
    """Yield the ends and the most common non-black colour of each cell's row and column."""
    ends = (cells[:, :1], cells[:, -1:], cells[:1], cells[-1:])
    yield from (np.broadcast_to(line, cells.shape) for line in ends)
    rows, columns = (tally * (np.arange(10) > 0) for tally in tallies(cells))
    yield np.broadcast_to(commonest(rows)[:, None], cells.shape)
    yield np.broadcast_to(commonest(columns)[None], cells.shape)


def grid_colours(cells: Ints) -> Iterator[Ints]:
    """Yield the grid's most common, most common non-black, and rarest colour for every cell."""
    counts = np.bincount(cells.ravel(), minlength=10)
    inks = counts * (np.arange(10) > 0)
    for colour in (commonest(counts), commonest(inks), rarest(counts)):
        yield np.full(cells.shape, int(colour))


def places(height: int, width: int) -> Iterator[Ints]:
    """Yield the cell's position in the grid."""
    row, column = axes((height, width))
    up, back = height - 1 - row, width - 1 - column
    yield from (row, column, up, back, np.minimum.reduce([row, column, up, back]))
    yield from (row % 2, column % 2, (row + column) % 2, row % 3, column % 3)
    yield from ((row + column) % 3, (row - column) % 3, abs(row - column), abs(row - back))


def counts_of(cells: Ints) -> Iterator[Ints]:
    """Yield counts of non-black and like-coloured cells around and in line, and of colours."""
    near = np.stack([shifted(cells, step) for step in STEPS])
    inked, like = (near != 0) & (near != NONE), near == cells
    yield from (inked.sum(axis=0), inked[:4].sum(axis=0), like.sum(axis=0), like[:4].sum(axis=0))
    rows, columns = tallies(cells)
    height, width = cells.shape
    yield np.broadcast_to((width - rows[:, 0])[:, None], cells.shape)
    yield np.broadcast_to((height - columns[:, 0])[None], cells.shape)
    row_like = np.take_along_axis(rows, cells, axis=1)
    column_like = np.take_along_axis(columns.T, cells, axis=0)
    yield from (row_like == width, column_like == height, row_like, column_like)
    counts = np.bincount(cells.ravel(), minlength=10)
    yield (counts[None] > counts[:, None]).sum(axis=1)[cells]
    yield ((counts[None] < counts[:, None]) & (counts[None] > 0)).sum(axis=1)[cells]
    yield np.full(cells.shape, (counts > 0).sum())


def equals(cells: Ints) -> Iterator[Ints]:
    """Yield whether another row or column, the first, or the last equals the cell's."""
    rows = (cells[:, None] == cells[None]).all(axis=-1)
    columns = (cells.T[:, None] == cells.T[None]).all(axis=-1)
    yield np.broadcast_to((rows.sum(axis=0) > 1)[:, None], cells.shape)
    yield np.broadcast_to((columns.sum(axis=0) > 1)[None], cells.shape)
    yield from (np.broadcast_to(rows[n][:, None], cells.shape) for n in (0, -1))
    yield from (np.broadcast_to(columns[n][None], cells.shape) for n in (0, -1))


def nearest(cells: Ints) -> Ints:
    """Return the nearest non-black colour of each black cell, by sides (ties: the lowest)."""
    colours = np.where(cells == 0, NONE, cells)
    for _ in range(sum(cells.shape)):
        around = np.minimum.reduce([shifted(colours, step) for step in STEPS[:4]])
        spread = np.where(colours == NONE, around, colours)
        if np.array_equal(spread, colours):
            break
        colours = spread
    return np.where(cells == 0, colours, NONE)


def distances(cells: Ints) -> Iterator[Ints]:
    """Yield the distances to the first other colours, and to the nearest non-black cell."""
    for step in STEPS[:4]:
        gap = np.zeros(cells.shape, np.int64)
        beside = shifted(cells, step)
        for _ in range(max(cells.shape)):
            farther = _moved(gap, step, 0)
            gap = np.where(beside == cells, np.where(farther > 0, farther + 1, 0), beside != NONE)
        yield gap
    yield _steps_to_ink(cells, STEPS[:4])
    reach = _steps_to_ink(cells, STEPS)
    yield from (reach, reach % 2)


def _steps_to_ink(cells: Ints, steps: Sequence[tuple[int, int]]) -> Ints:
    steps_to = np.where(cells == 0, MOST, 0)
    for _ in range(sum(cells.shape)):
        around = np.minimum.reduce([_moved(steps_to, step, MOST) for step in steps]) + 1
        if (around >= steps_to).all():
            break
        steps_to = np.minimum(steps_to, around)
    return steps_to


def meets_rarest(cells: Ints) -> Iterator[Ints]:
    """Yield whether the cell's row, column or a diagonal has the rarest colour."""
    is_rarest = cells == rarest(np.bincount(cells.ravel(), minlength=10))
    yield np.broadcast_to(is_rarest.any(axis=1)[:, None], cells.shape).astype(np.int64)
    yield np.broadcast_to(is_rarest.any(axis=0)[None], cells.shape).astype(np.int64)
    rows, columns = axes(cells.shape)
    rising, falling = rows + columns, rows - columns
    on = np.isin(rising, rising[is_rarest]) | np.isin(falling, falling[is_rarest])
    yield on.astype(np.int64)
