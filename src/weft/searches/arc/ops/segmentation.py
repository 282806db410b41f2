"""Operators that segment a grid into objects or measure it: facts and plain definitions."""

from __future__ import annotations

from itertools import pairwise

from weft.searches.arc.codes import segmentation as k
from weft.searches.arc.ops.objectparts import Cell, commonest, grid_cells, groups, piece_of
from weft.searches.arc.ops.operator import Operator, OperatorFamily
from weft.searches.arc.values import EMPTY, Grid, Piece, Value, ValueStage


def background(grid: Grid, p: int) -> int:
    """Return the background colour: black, with COMMON the most common, with NONE no colour."""
    if p & k.NONE:
        return EMPTY
    return commonest(grid.cells) if p & k.COMMON else 0


def components(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """Return the connected components that are not background, in scan order of their first cells.

    Bits of p: EIGHT joins diagonal neighbours, MULTI joins cells of different colours, VOID selects
    the background's cells instead of the others. q selects the result: all components as objects,
    those that do not reach the edge, or their number. Returns None if there would be no object.
    """
    assert isinstance(value, Grid)
    back = background(value, p)
    cells = grid_cells(value)
    expected = {cell: c for cell, c in cells.items() if (c == back) == bool(p & k.VOID)}
    code = {cell: 1 if p & k.MULTI else colour for cell, colour in expected.items()}
    parts = groups(code, bool(p & k.EIGHT))
    if q == k.AS_COUNT:
        return len(parts)
    if q == k.ENCLOSED:
        parts = [group for group in parts if not any(_on_edge(value, cell) for cell in group)]
    return _objects([{cell: cells[cell] for cell in group} for group in parts])


def _on_edge(grid: Grid, cell: Cell) -> bool:
    return cell[0] in (0, grid.height - 1) or cell[1] in (0, grid.width - 1)


def _objects(parts: list[dict[Cell, int]]) -> Value | None:
    pieces = tuple(piece for part in parts if (piece := piece_of(part)) is not None)
    return pieces or None


def layers(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """Return one object per non-background colour, in scan order of their first cells."""
    assert isinstance(value, Grid)
    cells = grid_cells(value)
    colours = [c for c in dict.fromkeys(value.cells) if c != background(value, p)]
    return _objects([{cell: c for cell, c in cells.items() if c == colour} for colour in colours])


def _part(grid: Grid, rows: range, columns: range) -> Piece:
    """Return a rectangle of the grid; black cells become empty, so that shapes and holes show."""
    cells = bytes(grid.at(r, c) or EMPTY for r in rows for c in columns)
    return Piece(rows[0], columns[0], len(rows), len(columns), cells)


def split_lines(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """Return the parts between full rows and columns of one colour, row by row.

    The colour is black with p = 1, else the non-black colour of most lines (ties: the lowest).
    Returns None if there are no such lines, or fewer than two parts.
    """
    assert isinstance(value, Grid)
    rows = [set(row) for row in value.rows()]
    columns = [set(column) for column in zip(*value.rows(), strict=True)]
    lines = [min(line) for line in rows + columns if len(line) == 1]
    line = 0 if p == 1 else commonest(colour for colour in lines if colour != 0)
    if line not in lines or (p == 0 and line == 0):
        return None
    down, across = _runs(rows, line), _runs(columns, line)
    return tuple(_part(value, r, c) for r in down for c in across) if _two(down, across) else None


def _two(down: list[range], across: list[range]) -> bool:
    return len(down) * len(across) >= 2


def _runs(lines: list[set[int]], colour: int) -> list[range]:
    """Return the runs of lines that are not separators."""
    bounds = [-1, *(i for i, line in enumerate(lines) if line == {colour}), len(lines)]
    return [range(a + 1, b) for a, b in pairwise(bounds) if b > a + 1]


def split_equal(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """Split into parts of equal size, p down and q across, row by row; SINGLE_LINES: single lines.

    Returns None if the grid does not divide evenly, or into fewer than two parts.
    """
    assert isinstance(value, Grid)
    h, w = value.height, value.width
    down, across = (h if p == k.SINGLE_LINES else p), (w if q == k.SINGLE_LINES else q)
    if h % down or w % across:
        return None
    rows = [range(r, r + h // down) for r in range(0, h, h // down)]
    columns = [range(c, c + w // across) for c in range(0, w, w // across)]
    if not _two(rows, columns):
        return None
    return tuple(_part(value, r, c) for r in rows for c in columns)


def tally(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """Return one statistic of the colour counts.

    MOST, MOST_INK (black excluded) and LEAST return None if two colours are equally common.
    """
    assert isinstance(value, Grid)
    cells = value.cells
    if p == k.INKS:
        return len(set(cells) - {0})
    if p == k.INK_CELLS:
        return len(cells) - cells.count(0)
    counts = {c: cells.count(c) for c in sorted(set(cells)) if c != 0 or p != k.MOST_INK}
    if not counts:
        return None
    extreme = min(counts.values()) if p == k.LEAST else max(counts.values())
    best = [colour for colour, count in counts.items() if count == extreme]
    return best[0] if len(best) == 1 else None


_components = OperatorFamily(k.COMPONENTS, components, gives=ValueStage.OBJECTS)
_count = OperatorFamily(k.COMPONENTS, components, gives=ValueStage.COUNT)
_layers = OperatorFamily(k.LAYERS, layers, gives=ValueStage.OBJECTS)
_lines = OperatorFamily(k.SPLIT_LINES, split_lines, gives=ValueStage.OBJECTS)
_equal = OperatorFamily(k.SPLIT_EQUAL, split_equal, gives=ValueStage.OBJECTS)
_colour = OperatorFamily(k.TALLY, tally, gives=ValueStage.COLOUR)
_number = OperatorFamily(k.TALLY, tally, gives=ValueStage.COUNT)
_EACH = k.SINGLE_LINES

OPERATORS: tuple[Operator, ...] = (
    _components("objects_4", 0, 0, 4,
             "4-connected components of one non-black colour."),
    _components("objects_8", k.EIGHT, 0, 4,
             "8-connected components of one non-black colour."),
    _components("blobs_4", k.MULTI, 0, 5,
             "4-connected components of non-black cells."),
    _components("blobs_8", k.MULTI | k.EIGHT, 0, 4,
             "8-connected components of non-black cells."),
    _components("objects_4_common", k.COMMON, 0, 6,
             "4-connected components of one colour, except the most common one."),
    _components("objects_8_common", k.COMMON | k.EIGHT, 0, 6,
             "8-connected components of one colour, except the most common one."),
    _components("regions_4", k.NONE, 0, 6,
             "4-connected components of one colour, including black."),
    _components("gaps_4", k.VOID, 0, 6, "4-connected components of black cells."),
    _components("holes_4", k.VOID, k.ENCLOSED, 5,
             "4-connected black components that do not reach the edge."),
    _layers("layers", 0, 0, 5, "All cells of each non-black colour, as one object."),
    _lines("split_lines", 0, 0, 4,
             "Parts between full rows and columns of one colour."),
    _lines("split_black_lines", 1, 0, 6,
             "Parts between full black rows and columns."),
    _equal("halves_across", 1, 2, 5, "Left and right half."),
    _equal("halves_down", 2, 1, 5, "Upper and lower half."),
    _equal("thirds_across", 1, 3, 6,
             "Three equal parts from left to right."),
    _equal("thirds_down", 3, 1, 6, "Three equal parts from top to bottom."),
    _equal("quarters", 2, 2, 6, "Two by two equal parts."),
    _equal("ninths", 3, 3, 6, "Three by three equal parts."),
    _equal("single_rows", _EACH, 1, 6, "Each row."),
    _equal("single_columns", 1, _EACH, 6, "Each column."),
    _colour("most_common_colour", k.MOST, 0, 5,
             "The most common colour."),
    _colour("most_common_ink", k.MOST_INK, 0, 5,
             "The most common non-black colour."),
    _colour("least_common_colour", k.LEAST, 0, 5,
             "The rarest colour."),
    _number("count_colours", k.INKS, 0, 6,
             "How many non-black colours there are."),
    _number("count_cells", k.INK_CELLS, 0, 6,
             "How many cells are not black."),
    _count("count_objects_4", 0, k.AS_COUNT, 6,
             "How many objects `objects_4` finds."),
    _count("count_objects_8", k.EIGHT, k.AS_COUNT, 6,
             "How many objects `objects_8` finds."),
)  # fmt: skip
