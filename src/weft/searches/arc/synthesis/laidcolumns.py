"""Columns for decision lists from vectors that are not grids of the targets' size.

    colours    of the input, an object, …: one for all cells of a grid
    tiles      smaller grids, side by side or stretched: `tiled.trim`, `spread.top_half`

So a list can colour the output of one program by the result of another: `own!=0 ->
spread.split_lines|pick_smallest_box|object_grid; else own`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from weft.searches.arc.lists.canvas import laid
from weft.searches.arc.lists.cells import LAID, laid_source, source_of
from weft.searches.arc.lists.features import U8
from weft.searches.arc.synthesis.listcontext import Columns, ListContext
from weft.searches.arc.synthesis.sample import VectorSample
from weft.searches.arc.values import Grid, decode_grids


def laid_columns(context: ListContext, sample: VectorSample) -> Columns:
    """Return the columns for a base, training cells first; of equal columns, the cheapest."""
    columns: Columns = {}
    known: set[bytes] = set()
    for source, cells in _columns(context.base.grids, sample):
        content = cells[: context.trained].tobytes()
        if content not in known and source not in context.columns:
            known.add(content)
            columns[source] = cells
    return columns


def _columns(grids: Sequence[Grid], sample: VectorSample) -> Iterator[tuple[str, U8]]:
    sizes = [len(grid.cells) for grid in grids]
    for vector in sample.colours:
        yield source_of(vector.chain), np.repeat(np.frombuffer(vector.content, np.uint8), sizes)
    for vector in sample.tiles:
        smaller = decode_grids(vector.content)
        for way in LAID:
            parts = [laid(*pair, way) for pair in zip(smaller, grids, strict=True)]
            cells = [part for part in parts if part is not None]
            if len(cells) == len(parts):
                yield laid_source(way, vector.chain), np.concatenate(cells)
