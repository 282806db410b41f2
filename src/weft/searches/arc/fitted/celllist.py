"""Rules that decide every cell by a decision list, learned at the end of a phase."""

from __future__ import annotations

import numpy as np

from weft.searches.arc.fitted.rule import BASE, Composed
from weft.searches.arc.lists import canvas
from weft.searches.arc.lists.cells import UNDECIDED, CellList, chain_of, is_acted, parse, way_of
from weft.searches.arc.lists.features import U8, features_of
from weft.searches.arc.lists.scan import BEFORE, CORNERS, Layer
from weft.searches.arc.lists.words import CANVAS_NAMES, MADE, NAMES, WORDS
from weft.searches.arc.ops.operator import ShapeEffect
from weft.searches.arc.ops.registry import apply_chain
from weft.searches.arc.tables.everywhere import parse as parse_acted
from weft.searches.arc.values import Grid

THEN = " then "
"""Separator of two layers."""


class Cells(Composed):
    """Parameters: the list's text."""

    name = "cells"
    doc = (
        "A decision list: each cell gets the value of the first clause whose tests it passes: "
        "`own=0 & across!=x -> across; label_enclosed=1 -> 4; else own`. A test compares, with =, "
        "!=, >= or <, a feature of the cell, the cell at its position in another grid, or a "
        "colour; x is no colour. Other grids are chains of operators on the input "
        "(`objects_8|keep_largest|draw_all`, `input`), the result of an action of `objects` on "
        "all its objects (`objects_8.cover.ring.own`), or smaller grids, tiled or stretched "
        "(`tiled.trim`, `spread.trim`). A value is a colour, a copy, or with `lay` a copy of "
        "non-black cells only."
    )
    shape = ShapeEffect.KEEP

    def apply(self, params: bytes, value: Grid, given: Grid) -> Grid | None:
        columns = dict(zip(NAMES, features_of(value), strict=True))
        return _decided(parse(params.decode()), columns, value, given)

    def price(self, params: bytes) -> int:
        return BASE + parse(params.decode()).millibits

    def read(self, text: str) -> bytes:
        return _parse(text).text().encode()


class Scanned(Composed):
    """Parameters: the corner where the scan begins, and the list."""

    name = "scanned"
    doc = (
        "Like `cells`, but cells are filled one by one, in raster order from a corner, and can "
        "read those already filled (features that begin with `made`): `bottom_left: made_back=8 & "
        "own=0 -> 8; else own`."
    )
    shape = ShapeEffect.KEEP

    def apply(self, params: bytes, value: Grid, given: Grid) -> Grid | None:
        return _made(_read_scan(params.decode()), value, given)

    def price(self, params: bytes) -> int:
        return BASE + _read_scan(params.decode()).millibits

    def read(self, text: str) -> bytes:
        return _read_scan(text).text().encode()


class Layered(Composed):
    """Parameters: two lists, each of which may scan."""

    name = "layered"
    doc = (
        "Two lists in sequence, each written as in `cells` or `scanned`; the second reads the "
        "features of the first one's output: `own=0 & across=2 -> 2; else own then beside_ink=4 "
        "-> 1; else own`. Chains of operators start from the input in both."
    )
    shape = ShapeEffect.KEEP

    def apply(self, params: bytes, value: Grid, given: Grid) -> Grid | None:
        first, second = _read_layers(params.decode())
        first_grid = _made(first, value, given)
        return None if first_grid is None else _made(second, first_grid, given)

    def price(self, params: bytes) -> int:
        return BASE + sum(layer.millibits for layer in _read_layers(params.decode()))

    def read(self, text: str) -> bytes:
        return THEN.join(layer.text() for layer in _read_layers(text)).encode()


class OnCanvas(Composed):
    """Parameters: the canvas and the list of its cells."""

    name = "canvas"
    doc = (
        "A grid of a different size, whose cells a list decides as in `cells`: `h*3 w*3 tiled: "
        "tile=4 -> spread; else 0`. First its height and width: a number, or a count of the grid "
        "(`h`, `w`, `cells`: non-black cells, `gaps`: black cells, `marks`: non-black colours, "
        "`blobs`), times, divided by, plus or minus a number, or h or w times a count. Then how "
        "the grid is placed: `tiled`, `spread` (stretched), or in a corner (`top_left`). Lists "
        "also read the features of a canvas."
    )
    shape = ShapeEffect.ANY

    def apply(self, params: bytes, value: Grid, given: Grid) -> Grid | None:
        own, cell_list = _read_canvas(params.decode())
        base, columns = own.base(value), own.columns(value)
        if base is None or columns is None:
            return None
        return _decided(cell_list, columns, base, given)

    def price(self, params: bytes) -> int:
        own, cell_list = _read_canvas(params.decode())
        return BASE + own.millibits + cell_list.millibits

    def read(self, text: str) -> bytes:
        own, cell_list = _read_canvas(text)
        return f"{own.text()}{BEFORE}{cell_list.text()}".encode()


def _parse(text: str, *more: str) -> CellList:
    """Parse a list that names no features besides the plain ones and `more`."""
    cell_list = parse(text)
    beside = {*CANVAS_NAMES, *MADE}.difference(more)
    if any(source in beside for source in cell_list.sources()):
        raise ValueError(text)
    return cell_list


def _read_layers(text: str) -> tuple[Layer, Layer]:
    first, second = (_read_scan(part) if BEFORE in part else Layer("", _parse(part))
                     for part in text.split(THEN))  # fmt: skip
    return first, second


def _read_canvas(text: str) -> tuple[canvas.Canvas, CellList]:
    own, list_text = text.split(BEFORE)
    return canvas.parse(own), _parse(list_text, *CANVAS_NAMES)


def _read_scan(text: str) -> Layer:
    corner, list_text = text.split(BEFORE)
    if corner not in CORNERS:
        raise ValueError(text)
    return Layer(corner, _parse(list_text, *MADE))


def _made(layer: Layer, value: Grid, given: Grid) -> Grid | None:
    """Return a layer's output on a grid."""
    features = dict(zip(NAMES, features_of(value), strict=True))
    columns = _columns(layer.cells, features, value, given)
    if columns is None:
        return None
    return _grid(layer.decide(columns, [value.size]), value)


def _decided(cell_list: CellList, columns: dict[str, U8], base: Grid, given: Grid) -> Grid | None:
    """Return the grid whose cells a list decides on a base."""
    known = _columns(cell_list, columns, base, given)
    if known is None:
        return None
    return _grid(cell_list.decide(known.__getitem__, len(base.cells)), base)


def _columns(
    cell_list: CellList, columns: dict[str, U8], base: Grid, given: Grid
) -> dict[str, U8] | None:
    """Add the list's other sources, computed from the input; None if one of them fails."""
    for source in cell_list.sources():
        if source not in columns and source not in WORDS:
            cells = _source_cells(source, base, given)
            if cells is None:
                return None
            columns[source] = cells
    return columns


def _source_cells(source: str, base: Grid, given: Grid) -> U8 | None:
    """Return the cells of a source that is no feature; None if it fails or has another size."""
    value = (
        parse_acted(source).grid(given)
        if is_acted(source)
        else apply_chain(chain_of(source), given, given)
    )
    if isinstance(value, int):
        return np.full(len(base.cells), value, np.uint8)
    if not isinstance(value, Grid):
        return None
    way = way_of(source)
    if way:
        return canvas.laid(value, base, way)
    return np.frombuffer(value.cells, np.uint8) if value.size == base.size else None


def _grid(decided: U8, base: Grid) -> Grid | None:
    """Return decided cells as a grid of the base's size; None if a cell is undecided."""
    cells = decided.tobytes()
    return None if UNDECIDED in cells else Grid(base.height, base.width, cells)
