"""The features of a grid's cells: small numbers that depend on the grid alone."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from weft.searches.arc.kernels.cellfeatures import fill_features
from weft.searches.arc.lists import areas, neighbours
from weft.searches.arc.lists.lattice import BLOCK_CELLS, blocks
from weft.searches.arc.lists.words import BLOCKS, COLOURS, NAMES
from weft.searches.arc.values import Grid

U8 = npt.NDArray[np.uint8]


def features_of(grid: Grid) -> U8:
    """Return one row per feature, in the order of `NAMES`, with one number per cell."""
    cells = np.frombuffer(bytearray(grid.cells), np.uint8)
    features = np.empty((len(NAMES), len(cells)), np.uint8)
    fill_features(cells, grid.height, grid.width, features)
    return features


def plain_features_of(grid: Grid) -> U8:
    """Slow twin of `features_of`, and its definition."""
    cells = np.frombuffer(grid.cells, np.uint8).reshape(grid.height, grid.width).astype(np.int64)
    every = {place: int(cell) for place, cell in np.ndenumerate(cells)}
    plain = areas.areas_of(cells, every, False)
    blobs = areas.areas_of(cells, {place: 1 for place, cell in every.items() if cell}, True)
    box = list(areas.boxes(cells, blobs))
    block = list(blocks(cells))
    colours = [
        *neighbours.neighbour_colours(cells), *neighbours.images(cells), *neighbours.lines(cells),
        areas.touching(cells, plain), *areas.blob_colours(blobs), neighbours.nearest(cells),
        *box[:6], *neighbours.grid_colours(cells), *block[: len(BLOCKS) + BLOCK_CELLS],
    ]  # fmt: skip
    numbers = [
        *areas.area_numbers(cells, plain), *areas.blob_numbers(blobs),
        *neighbours.places(*cells.shape), *neighbours.counts_of(cells), *box[6:],
        *neighbours.distances(cells), *neighbours.meets_rarest(cells), *neighbours.equals(cells),
        *areas.has(cells, plain, blobs), *block[len(BLOCKS) + BLOCK_CELLS :],
    ]  # fmt: skip
    assert len(colours) == len(COLOURS)
    assert len(colours) + len(numbers) == len(NAMES)
    return np.stack([*colours, *numbers]).reshape(len(NAMES), -1).astype(np.uint8)
