"""What a cell can be told by: the features of one grid, each a small number per cell.

The first of them are colours, 10 (written x) where there is none; a list may copy them. The
others are numbers and are only asked. A feature looks at its grid alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from weft.arc.ops.objectparts import groups
from weft.arc.values import Grid

U8 = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
NONE = 10
"""No colour: beyond the edge, or nothing of the kind."""
MOST = 60
"""Sizes are counted up to this."""
STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))

COLOURS: dict[str, str] = {
    "own": "the cell's colour",
    "north": "its neighbour above",
    "south": "below",
    "west": "to the left",
    "east": "to the right",
    "northwest": "above to the left",
    "northeast": "above to the right",
    "southwest": "below to the left",
    "southeast": "below to the right",
    "sees_north": "the first other colour above it",
    "sees_south": "below",
    "sees_west": "to the left",
    "sees_east": "to the right",
    "sees_northwest": "above to the left",
    "sees_northeast": "above to the right",
    "sees_southwest": "below to the left",
    "sees_southeast": "below to the right",
    "across": "what it sees left and right, if that is the same",
    "down": "what it sees above and below, if that is the same",
    "falling": "what it sees along the falling diagonal, if both are the same",
    "rising": "what it sees along the rising diagonal, if both are the same",
    "mirrored_across": "the cell at its place in the left-right mirror image",
    "mirrored_down": "in the top-bottom mirror image",
    "turned_half": "in the grid turned by half",
    "transposed": "in the transposed grid, if that is square",
    "row_start": "the first cell of its row",
    "row_end": "the last cell of its row",
    "column_start": "the first cell of its column",
    "column_end": "the last cell of its column",
    "row_ink": "the commonest colour of its row, black apart",
    "column_ink": "the commonest colour of its column, black apart",
    "touching": "the colour that touches its area most, by sides",
    "blob_main": "the commonest colour of its blob",
    "blob_rare": "the rarest colour of its blob",
    "nearest": "of black cells: the nearest other colour, by sides, the lowest of equals",
    "commonest": "the commonest colour of the grid",
    "main_ink": "the commonest colour of the grid, black apart",
    "rarest": "the rarest colour of the grid",
}
NUMBERS: dict[str, str] = {
    "area_size": "cells of its area, 60 at most",
    "area_height": "height of its area",
    "area_width": "width of its area",
    "area_at_edge": "1 if its area reaches the edge",
    "area_solid": "1 if its area fills its box",
    "area_square": "1 if its area's box is a square",
    "area_rank": "1 if its area is among the largest not black, plus 2 if among the smallest",
    "area_row": "rows from its area's top",
    "area_column": "columns from its area's left",
    "area_row_up": "rows from its area's bottom",
    "area_column_back": "columns from its area's right",
    "area_depth": "steps from its area's box's edge",
    "area_row_parity": "rows from its area's top, even 0 or odd 1",
    "area_off_row": "how far it is from its area's middle row, doubled",
    "area_off_column": "how far it is from its area's middle column, doubled",
    "blob_size": "cells of its blob, 60 at most",
    "blob_height": "height of its blob",
    "blob_width": "width of its blob",
    "blob_colours": "colours of its blob",
    "blob_rank": "1 if its blob is among the largest, plus 2 if among the smallest",
    "row": "rows from the top",
    "column": "columns from the left",
    "row_up": "rows from the bottom",
    "column_back": "columns from the right",
    "depth": "steps from the edge",
    "row_parity": "rows from the top, even 0 or odd 1",
    "column_parity": "columns from the left, even 0 or odd 1",
    "chessboard": "0 and 1 like the fields of a chessboard",
    "row_third": "rows from the top modulo 3",
    "column_third": "columns from the left modulo 3",
    "rising_third": "row plus column modulo 3",
    "falling_third": "row minus column modulo 3",
    "off_falling": "steps from the falling diagonal of the top left corner",
    "off_rising": "steps from the rising diagonal of the top right corner",
    "near_ink": "how many of eight neighbours are not black",
    "beside_ink": "how many of four neighbours are not black",
    "near_like": "how many of eight neighbours are like it",
    "beside_like": "how many of four neighbours are like it",
    "row_inked": "cells of its row that are not black",
    "column_inked": "cells of its column that are not black",
    "row_plain": "1 if its row has one colour",
    "column_plain": "1 if its column has one colour",
    "row_like": "cells of its row that are like it",
    "column_like": "cells of its column that are like it",
    "colour_rank": "colours that more cells have than its own",
    "colour_rank_up": "colours that fewer cells have than its own",
    "colours": "how many colours the grid has",
    "gap_north": "steps to the first other colour above it, 0 if there is none",
    "gap_south": "below",
    "gap_west": "to the left",
    "gap_east": "to the right",
    "distance": "steps by sides to the nearest cell that is not black, 60 at most",
    "reach": "the same with steps by corners too",
    "reach_parity": "the same, even 0 or odd 1",
    "row_of_rarest": "1 if its row has the rarest colour",
    "column_of_rarest": "1 if its column has the rarest colour",
    "askew_of_rarest": "1 if one of its diagonals has the rarest colour",
}
FAMILIES: dict[str, str] = {
    "row_has": "1 if its row has the colour",
    "column_has": "1 if its column has the colour",
    "touches": "1 if the colour touches its area, by sides",
    "blob_has": "1 if its blob has the colour",
    "grid_has": "1 if the grid has the colour",
}
"""Features of which there is one for each colour but black."""
INKS = range(1, 10)
PLAIN: frozenset[str] = frozenset((*COLOURS, *NUMBERS))
"""Names of features that are not of a family."""
NUMBERS |= {f"{name}_{ink}": words for name, words in FAMILIES.items() for ink in INKS}
NAMES: tuple[str, ...] = (*COLOURS, *NUMBERS)


@dataclass(frozen=True, slots=True)
class Areas:
    """Parts of a grid: which one each cell is in (-1 none), and the colours and box of each."""

    part: Ints
    counts: Ints
    top: Ints
    left: Ints
    bottom: Ints
    right: Ints

    @property
    def size(self) -> Ints:
        """Cells of each."""
        size: Ints = self.counts.sum(axis=1)
        return size


def features_of(grid: Grid) -> U8:
    """Return one row per feature, in the order of `NAMES`, with one number per cell."""
    cells = np.frombuffer(grid.cells, np.uint8).reshape(grid.height, grid.width).astype(np.int64)
    areas = _areas(cells, {place: int(cell) for place, cell in np.ndenumerate(cells)}, False)
    blobs = _areas(cells, {place: 1 for place, cell in np.ndenumerate(cells) if cell}, True)
    rows = [
        *_looks(cells), *_images(cells), *_lines(cells), _touching(cells, areas),
        *_blob_colours(blobs), _nearest(cells), *_grid_colours(cells),
        *_area_numbers(cells, areas), *_blob_numbers(blobs), *_places(*cells.shape),
        *_counts(cells), *_distances(cells), *_meets_rarest(cells), *_has(cells, areas, blobs),
    ]  # fmt: skip
    assert len(rows) == len(NAMES)
    return np.stack(rows).reshape(len(NAMES), -1).astype(np.uint8)


def _areas(cells: Ints, code: dict[tuple[int, ...], int], eight: bool) -> Areas:
    parts = groups(code, eight)  # type: ignore[arg-type]
    part = np.full(cells.shape, -1, np.int64)
    counts, boxes = np.zeros((len(parts), 10), np.int64), np.zeros((4, len(parts)), np.int64)
    for n, places in enumerate(parts):
        rows, columns = np.array(places).T
        part[rows, columns] = n
        counts[n] = np.bincount(cells[rows, columns], minlength=10)
        boxes[:, n] = rows.min(), columns.min(), rows.max(), columns.max()
    return Areas(part, counts, *boxes)


def _commonest(counts: Ints) -> Ints:
    """The colour counted most in each row, the lowest of equals; NONE where all are 0."""
    return np.where(counts.max(axis=-1) > 0, counts.argmax(axis=-1), NONE)


def _rarest(counts: Ints) -> Ints:
    """The colour counted least but at all, the lowest of equals."""
    found: Ints = np.where(counts > 0, counts, 10_000).argmin(axis=-1)
    return found


def _shifted(cells: Ints, step: tuple[int, int]) -> Ints:
    """What lies one step from each cell; NONE beyond the edge."""
    return _moved(cells, step, NONE)


def _moved(cells: Ints, step: tuple[int, int], beyond: int) -> Ints:
    """What lies one step from each cell, or `beyond` the edge."""
    height, width = cells.shape
    padded = np.pad(cells, 1, constant_values=beyond)
    return padded[1 + step[0] : 1 + step[0] + height, 1 + step[1] : 1 + step[1] + width]


def _looks(cells: Ints) -> Iterator[Ints]:
    """The colour, the neighbours, what is seen in eight directions and on both sides."""
    near = [_shifted(cells, step) for step in STEPS]
    seen = [_sight(cells, beside, step) for beside, step in zip(near, STEPS, strict=True)]
    yield cells
    yield from near
    yield from seen
    for one, other in ((2, 3), (0, 1), (4, 7), (5, 6)):
        yield np.where(seen[one] == seen[other], seen[one], NONE)


def _sight(cells: Ints, beside: Ints, step: tuple[int, int]) -> Ints:
    """The first other colour in a direction: the neighbour's, or what the neighbour sees."""
    seen = beside.copy()
    for _ in range(max(cells.shape)):
        farther = np.where(beside == cells, _shifted(seen, step), beside)
        if np.array_equal(farther, seen):
            break
        seen = farther
    return seen


def _images(cells: Ints) -> Iterator[Ints]:
    yield cells[:, ::-1]
    yield cells[::-1]
    yield cells[::-1, ::-1]
    yield cells.T if cells.shape[0] == cells.shape[1] else np.full(cells.shape, NONE)


def _tallies(cells: Ints) -> tuple[Ints, Ints]:
    """How often each colour occurs in each row, and in each column."""
    is_colour = cells[..., None] == np.arange(10)
    return is_colour.sum(axis=1), is_colour.sum(axis=0)


def _lines(cells: Ints) -> Iterator[Ints]:
    ends = (cells[:, :1], cells[:, -1:], cells[:1], cells[-1:])
    yield from (np.broadcast_to(line, cells.shape) for line in ends)
    rows, columns = (tally * (np.arange(10) > 0) for tally in _tallies(cells))
    yield np.broadcast_to(_commonest(rows)[:, None], cells.shape)
    yield np.broadcast_to(_commonest(columns)[None], cells.shape)


def _touched(cells: Ints, areas: Areas) -> Ints:
    """How often each colour touches each area."""
    touched = np.zeros(areas.counts.shape, np.int64)
    for step in STEPS[:4]:
        beside = _shifted(cells, step)
        other = (beside != cells) & (beside != NONE)
        np.add.at(touched, (areas.part[other], beside[other]), 1)
    return touched


def _touching(cells: Ints, areas: Areas) -> Ints:
    return _commonest(_touched(cells, areas))[areas.part]


def _of_part(values: Ints, areas: Areas, else_: int) -> Ints:
    """A value of each cell's part; something else for cells in none."""
    return np.where(areas.part < 0, else_, np.append(values, else_)[areas.part])


def _blob_colours(blobs: Areas) -> Iterator[Ints]:
    yield _of_part(_commonest(blobs.counts), blobs, NONE)
    yield _of_part(_rarest(blobs.counts), blobs, NONE)


def _grid_colours(cells: Ints) -> Iterator[Ints]:
    counts = np.bincount(cells.ravel(), minlength=10)
    inks = counts * (np.arange(10) > 0)
    for colour in (_commonest(counts), _commonest(inks), _rarest(counts)):
        yield np.full(cells.shape, int(colour))


def _rank(size: Ints, counted: npt.NDArray[np.bool_]) -> Ints:
    """1 for the largest of those counted, plus 2 for the smallest; 0 for others."""
    if not counted.any():
        return np.zeros(len(size), np.int64)
    extremes = (size == size[counted].max()) + 2 * (size == size[counted].min())
    return np.where(counted, extremes, 0)


def _area_numbers(cells: Ints, areas: Areas) -> Iterator[Ints]:
    part, size = areas.part, areas.size
    height, width = areas.bottom - areas.top + 1, areas.right - areas.left + 1
    edge = (areas.top == 0) | (areas.left == 0)
    edge |= (areas.bottom == cells.shape[0] - 1) | (areas.right == cells.shape[1] - 1)
    rank = _rank(size, areas.counts[:, 0] == 0)
    numbers = (np.minimum(size, MOST), height, width, edge, size == height * width)
    yield from (number[part] for number in (*numbers, height == width, rank))
    rows, columns = np.indices(cells.shape)
    down, right = rows - areas.top[part], columns - areas.left[part]
    up, back = areas.bottom[part] - rows, areas.right[part] - columns
    yield from (down, right, up, back, np.minimum.reduce([down, right, up, back]))
    yield from (down % 2, abs(down - up), abs(right - back))


def _blob_numbers(blobs: Areas) -> Iterator[Ints]:
    size = blobs.size
    numbers = (
        np.minimum(size, MOST),
        blobs.bottom - blobs.top + 1,
        blobs.right - blobs.left + 1,
        (blobs.counts > 0).sum(axis=1),
        _rank(size, size > 0),
    )
    yield from (_of_part(number, blobs, 0) for number in numbers)


def _places(height: int, width: int) -> Iterator[Ints]:
    row, column = (axis.astype(np.int64) for axis in np.indices((height, width)))
    up, back = height - 1 - row, width - 1 - column
    yield from (row, column, up, back, np.minimum.reduce([row, column, up, back]))
    yield from (row % 2, column % 2, (row + column) % 2, row % 3, column % 3)
    yield from ((row + column) % 3, (row - column) % 3, abs(row - column), abs(row - back))


def _counts(cells: Ints) -> Iterator[Ints]:
    near = np.stack([_shifted(cells, step) for step in STEPS])
    inked, like = (near != 0) & (near != NONE), near == cells
    yield from (inked.sum(axis=0), inked[:4].sum(axis=0), like.sum(axis=0), like[:4].sum(axis=0))
    rows, columns = _tallies(cells)
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


def _nearest(cells: Ints) -> Ints:
    """Colours spread by sides from cells that are not black to others, the lowest first."""
    found = np.where(cells == 0, NONE, cells)
    for _ in range(sum(cells.shape)):
        around = np.minimum.reduce([_shifted(found, step) for step in STEPS[:4]])
        spread = np.where(found == NONE, around, found)
        if np.array_equal(spread, found):
            break
        found = spread
    return np.where(cells == 0, found, NONE)


def _distances(cells: Ints) -> Iterator[Ints]:
    for step in STEPS[:4]:
        gap = np.zeros(cells.shape, np.int64)
        beside = _shifted(cells, step)
        for _ in range(max(cells.shape)):
            farther = _moved(gap, step, 0)
            gap = np.where(beside == cells, np.where(farther > 0, farther + 1, 0), beside != NONE)
        yield gap
    yield _steps_to_ink(cells, STEPS[:4])
    reach = _steps_to_ink(cells, STEPS)
    yield from (reach, reach % 2)


def _steps_to_ink(cells: Ints, steps: Sequence[tuple[int, int]]) -> Ints:
    found = np.where(cells == 0, MOST, 0)
    for _ in range(sum(cells.shape)):
        around = np.minimum.reduce([_moved(found, step, MOST) for step in steps]) + 1
        if (around >= found).all():
            break
        found = np.minimum(found, around)
    return found


def _meets_rarest(cells: Ints) -> Iterator[Ints]:
    is_rarest = cells == _rarest(np.bincount(cells.ravel(), minlength=10))
    yield np.broadcast_to(is_rarest.any(axis=1)[:, None], cells.shape).astype(np.int64)
    yield np.broadcast_to(is_rarest.any(axis=0)[None], cells.shape).astype(np.int64)
    rows, columns = np.indices(cells.shape)
    rising, falling = rows + columns, rows - columns
    on = np.isin(rising, rising[is_rarest]) | np.isin(falling, falling[is_rarest])
    yield on.astype(np.int64)


def _has(cells: Ints, areas: Areas, blobs: Areas) -> Iterator[Ints]:
    rows, columns = _tallies(cells)
    touched = _touched(cells, areas)
    counts = np.bincount(cells.ravel(), minlength=10)
    found = (
        [np.broadcast_to(rows[:, c][:, None], cells.shape) for c in INKS],
        [np.broadcast_to(columns[:, c][None], cells.shape) for c in INKS],
        [touched[:, c][areas.part] for c in INKS],
        [_of_part(blobs.counts[:, c], blobs, 0) for c in INKS],
        [np.full(cells.shape, counts[c]) for c in INKS],
    )
    for family in found:
        yield from ((tally > 0).astype(np.int64) for tally in family)
