"""Operators that segment a grid into objects or measure it: facts and plain definitions."""

from __future__ import annotations

from itertools import pairwise

from weft.searches.arc.codes import segmentation as k
from weft.searches.arc.ops.objectparts import Cell, commonest, grid_cells, groups, piece_of
from weft.searches.arc.ops.operator import BIT, Operator, Palette, ShapeEffect, Twin
from weft.searches.arc.values import EMPTY, Grid, Piece, Size, Value, ValueStage


def _segment(name: str, kernel: int, p: int, q: int, bits: int, twin: Twin, doc: str) -> Operator:
    return _measure(name, ValueStage.OBJECTS, kernel, p, bits, twin, doc, q)


def _measure(
    name: str, gives: ValueStage, kernel: int, p: int, bits: int, twin: Twin, doc: str, q: int = 0
) -> Operator:
    palette = Palette.KEEP
    return Operator(
        name, ValueStage.GRID, gives, kernel, p, q, bits * BIT, ShapeEffect.ANY, palette, twin, doc
    )


def background(grid: Grid, p: int) -> int:
    """The colour that is no object: black, with COMMON the most common, with NONE no colour."""
    if p & k.NONE:
        return EMPTY
    return commonest(grid.cells) if p & k.COMMON else 0


def components(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """Connected components that are not background, in scan order of their first cells.

    Bits of p: EIGHT joins diagonal neighbours, MULTI joins cells of different colours, VOID
    takes the background's cells instead of the others. q: all as objects, those that do not
    reach the edge as objects, or how many there are. Fails when there would be no object.
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
    """One object per colour but the background's, in scan order of their first cells."""
    assert isinstance(value, Grid)
    cells = grid_cells(value)
    colours = [c for c in dict.fromkeys(value.cells) if c != background(value, p)]
    return _objects([{cell: c for cell, c in cells.items() if c == colour} for colour in colours])


def _part(grid: Grid, rows: range, columns: range) -> Piece:
    """A rectangle of the grid; its black cells are empty, so that shapes and holes show."""
    cells = bytes(grid.at(r, c) or EMPTY for r in rows for c in columns)
    return Piece(rows[0], columns[0], len(rows), len(columns), cells)


def split_lines(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """Parts between full rows and columns of one colour, row by row.

    The colour is black with p = 1, else the one that most lines have, the lowest of equals and
    never black. Fails without such lines and with less than two parts.
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
    """Runs of lines that are not separators."""
    bounds = [-1, *(i for i, line in enumerate(lines) if line == {colour}), len(lines)]
    return [range(a + 1, b) for a, b in pairwise(bounds) if b > a + 1]


def split_equal(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """Parts of equal size, p down and q across, row by row; SINGLE_LINES bounds into single lines.

    Fails when it does not come out even and with less than two parts.
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
    """Return one figure about how many cells have which colour.

    MOST, MOST_INK (black does not count) and LEAST fail when two colours are equally common.
    """
    assert isinstance(value, Grid)
    cells = value.cells
    if p == k.EXTENT:
        return Size(value.height, value.width)
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


_ONE, _BLOB = k.COMPONENTS, k.MULTI
_LINES, _EQUAL, _EACH = k.SPLIT_LINES, k.SPLIT_EQUAL, k.SINGLE_LINES

OPERATORS: tuple[Operator, ...] = (
    _segment("objects_4", _ONE, 0, 0, 4, components,
             "Cells of one colour joined by sides, not black."),
    _segment("objects_8", _ONE, k.EIGHT, 0, 4, components,
             "Cells of one colour joined by sides or corners, not black."),
    _segment("blobs_4", _ONE, _BLOB, 0, 5, components,
             "Cells of any colours but black joined by sides."),
    _segment("blobs_8", _ONE, _BLOB | k.EIGHT, 0, 4, components,
             "Cells of any colours but black joined by sides or corners."),
    _segment("objects_4_common", _ONE, k.COMMON, 0, 6, components,
             "Cells of one colour joined by sides, without the most common colour."),
    _segment("objects_8_common", _ONE, k.COMMON | k.EIGHT, 0, 6, components,
             "Cells of one colour joined by sides or corners, without the most common colour."),
    _segment("regions_4", _ONE, k.NONE, 0, 6, components,
             "Cells of one colour joined by sides, black included."),
    _segment("gaps_4", _ONE, k.VOID, 0, 6, components, "Black cells joined by sides."),
    _segment("holes_4", _ONE, k.VOID, k.ENCLOSED, 5, components,
             "Black cells joined by sides that do not reach the edge."),
    _segment("layers", k.LAYERS, 0, 0, 5, layers, "All cells of a colour together, black apart."),
    _segment("split_lines", _LINES, 0, 0, 4, split_lines,
             "Parts between full rows and columns of one colour."),
    _segment("split_black_lines", _LINES, 1, 0, 6, split_lines,
             "Parts between full black rows and columns."),
    _segment("halves_across", _EQUAL, 1, 2, 5, split_equal, "Left and right half."),
    _segment("halves_down", _EQUAL, 2, 1, 5, split_equal, "Upper and lower half."),
    _segment("thirds_across", _EQUAL, 1, 3, 6, split_equal,
             "Three equal parts from left to right."),
    _segment("thirds_down", _EQUAL, 3, 1, 6, split_equal, "Three equal parts from top to bottom."),
    _segment("quarters", _EQUAL, 2, 2, 6, split_equal, "Two by two equal parts."),
    _segment("ninths", _EQUAL, 3, 3, 6, split_equal, "Three by three equal parts."),
    _segment("single_rows", _EQUAL, _EACH, 1, 6, split_equal, "Every row for itself."),
    _segment("single_columns", _EQUAL, 1, _EACH, 6, split_equal, "Every column for itself."),
    _measure("most_common_colour", ValueStage.COLOUR, k.TALLY, k.MOST, 5, tally,
             "The colour that most cells have."),
    _measure("most_common_ink", ValueStage.COLOUR, k.TALLY, k.MOST_INK, 5, tally,
             "The colour that most cells have, black apart."),
    _measure("least_common_colour", ValueStage.COLOUR, k.TALLY, k.LEAST, 5, tally,
             "The colour that the fewest cells have."),
    _measure("count_colours", ValueStage.COUNT, k.TALLY, k.INKS, 6, tally,
             "How many colours there are, black apart."),
    _measure("count_cells", ValueStage.COUNT, k.TALLY, k.INK_CELLS, 6, tally,
             "How many cells are not black."),
    _measure("count_objects_4", ValueStage.COUNT, _ONE, 0, 6, components,
             "How many objects of one colour there are, joined by sides.", k.AS_COUNT),
    _measure("count_objects_8", ValueStage.COUNT, _ONE, k.EIGHT, 6, components,
             "How many objects of one colour there are, joined by sides or corners.", k.AS_COUNT),
    _measure("size_of", ValueStage.SIZE, k.TALLY, k.EXTENT, 7, tally,
             "How high and wide the grid is."),
)  # fmt: skip
