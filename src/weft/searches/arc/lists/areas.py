"""Features of the part of the grid that a cell is in: an area of one colour, a blob, a box.

The box of a cell is the smallest bounding box of a blob that contains the cell (ties: the first).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from weft.searches.arc.lists import neighbours as near
from weft.searches.arc.lists.neighbours import NONE, Ints
from weft.searches.arc.lists.words import INKS
from weft.searches.arc.ops.objectparts import groups


@dataclass(frozen=True, slots=True)
class Areas:
    """Parts of a grid: the part of each cell (-1: none), the colour counts and box of each part."""

    part: Ints
    counts: Ints
    top: Ints
    left: Ints
    bottom: Ints
    right: Ints

    @property
    def size(self) -> Ints:
        """The number of cells in each part."""
        size: Ints = self.counts.sum(axis=1)
        return size


def areas_of(cells: Ints, code: dict[tuple[int, ...], int], eight: bool) -> Areas:
    """Find the connected components of cells with equal code."""
    parts = groups(code, eight)  # type: ignore[arg-type]
    part = np.full(cells.shape, -1, np.int64)
    counts, boxes = np.zeros((len(parts), 10), np.int64), np.zeros((4, len(parts)), np.int64)
    for n, places in enumerate(parts):
        rows, columns = np.array(places).T
        part[rows, columns] = n
        counts[n] = np.bincount(cells[rows, columns], minlength=10)
        boxes[:, n] = rows.min(), columns.min(), rows.max(), columns.max()
    return Areas(part, counts, *boxes)


def of_part(values: Ints, areas: Areas, else_: int) -> Ints:
    """Return the value of each cell's part, or `else_` for cells in no part."""
    return np.where(areas.part < 0, else_, np.append(values, else_)[areas.part])


def _touched(cells: Ints, areas: Areas) -> Ints:
    """Count how often each colour touches each area."""
    touched = np.zeros(areas.counts.shape, np.int64)
    for step in near.STEPS[:4]:
        beside = near.shifted(cells, step)
        other = (beside != cells) & (beside != NONE)
        np.add.at(touched, (areas.part[other], beside[other]), 1)
    return touched


def touching(cells: Ints, areas: Areas) -> Ints:
    """Return the colour that touches each cell's area most."""
    return near.commonest(_touched(cells, areas))[areas.part]


def blob_colours(blobs: Areas) -> Iterator[Ints]:
    """Yield the most common and the rarest colour of each cell's blob."""
    yield of_part(near.commonest(blobs.counts), blobs, NONE)
    yield of_part(near.rarest(blobs.counts), blobs, NONE)


def rank(size: Ints, counted: npt.NDArray[np.bool_]) -> Ints:
    """Return 1 for the largest of those counted, plus 2 for the smallest; 0 for others."""
    if not counted.any():
        return np.zeros(len(size), np.int64)
    extremes = (size == size[counted].max()) + 2 * (size == size[counted].min())
    return np.where(counted, extremes, 0)


def area_numbers(cells: Ints, areas: Areas) -> Iterator[Ints]:
    """Yield the size and shape of each cell's area, and the cell's position in it."""
    part, size = areas.part, areas.size
    height, width = areas.bottom - areas.top + 1, areas.right - areas.left + 1
    edge = (areas.top == 0) | (areas.left == 0)
    edge |= (areas.bottom == cells.shape[0] - 1) | (areas.right == cells.shape[1] - 1)
    ranks = rank(size, areas.counts[:, 0] == 0)
    numbers = (np.minimum(size, near.MOST), height, width, edge, size == height * width)
    yield from (number[part] for number in (*numbers, height == width, ranks))
    rows, columns = near.axes(cells.shape)
    down, right = rows - areas.top[part], columns - areas.left[part]
    up, back = areas.bottom[part] - rows, areas.right[part] - columns
    depth: Ints = np.minimum.reduce([down, right, up, back])
    yield from (down, right, up, back, depth)
    yield from (down % 2, np.abs(down - up), np.abs(right - back))


def blob_numbers(blobs: Areas) -> Iterator[Ints]:
    """Yield the size and shape of each cell's blob."""
    size = blobs.size
    numbers = (
        np.minimum(size, near.MOST),
        blobs.bottom - blobs.top + 1,
        blobs.right - blobs.left + 1,
        (blobs.counts > 0).sum(axis=1),
        rank(size, size > 0),
    )
    yield from (of_part(number, blobs, 0) for number in numbers)


def has(cells: Ints, areas: Areas, blobs: Areas) -> Iterator[Ints]:
    """Yield whether row, column, area's neighbours, blob and grid have each non-black colour."""
    rows, columns = near.tallies(cells)
    touched = _touched(cells, areas)
    counts = np.bincount(cells.ravel(), minlength=10)
    tallies_by_family = (
        [np.broadcast_to(rows[:, c][:, None], cells.shape) for c in INKS],
        [np.broadcast_to(columns[:, c][None], cells.shape) for c in INKS],
        [touched[:, c][areas.part] for c in INKS],
        [of_part(blobs.counts[:, c], blobs, 0) for c in INKS],
        [np.full(cells.shape, counts[c]) for c in INKS],
    )
    for family in tallies_by_family:
        yield from ((tally > 0).astype(np.int64) for tally in family)


def boxes(cells: Ints, blobs: Areas) -> Iterator[Ints]:
    """Yield features of each cell's box: mirrored cells, the blob's colours, sizes, positions."""
    box = _smallest_boxes(cells, blobs)
    inside = box >= 0
    rows, columns = near.axes(cells.shape)
    sides = (blobs.top, blobs.left, blobs.bottom, blobs.right)
    top, left, bottom, right = (of_part(side, Areas(box, *_rest(blobs)), 0) for side in sides)
    down, along, up, back = rows - top, columns - left, bottom - rows, right - columns
    square = inside & (bottom - top == right - left)
    for known, y, x in (
        (inside, rows, left + back),
        (inside, top + up, columns),
        (inside, top + up, left + back),
        (square, top + along, left + down),
    ):
        yield np.where(known, cells[np.where(known, y, 0), np.where(known, x, 0)], NONE)
    own = Areas(box, *_rest(blobs))
    yield from blob_colours(own)
    yield inside.astype(np.int64)
    depth = np.minimum.reduce([down, along, up, back])
    yield from (np.where(inside, number, 0) for number in (down, along, up, back, depth))
    yield from blob_numbers(own)


def _rest(areas: Areas) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    return areas.counts, areas.top, areas.left, areas.bottom, areas.right


def _smallest_boxes(cells: Ints, blobs: Areas) -> Ints:
    box = np.full(cells.shape, -1, np.int64)
    room = (blobs.bottom - blobs.top + 1) * (blobs.right - blobs.left + 1)
    for n in sorted(range(len(room)), key=lambda n: (-int(room[n]), -n)):
        box[blobs.top[n] : blobs.bottom[n] + 1, blobs.left[n] : blobs.right[n] + 1] = n
    return box
