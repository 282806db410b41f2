"""Operators on grids that cut them into objects or measure them: facts and plain definitions."""

from __future__ import annotations

from itertools import pairwise

from weft.arc.kernels import cutting as k
from weft.arc.ops.objectparts import Cell, commonest, grid_cells, groups, piece_of
from weft.arc.ops.operator import BIT, Operator, Palette, Shape, Twin
from weft.arc.values import EMPTY, Grid, Piece, Size, Stage, Value


def _cut(name: str, kernel: int, p: int, q: int, bits: int, twin: Twin, doc: str) -> Operator:
    return _tell(name, Stage.OBJECTS, kernel, p, bits, twin, doc, q)


def _tell(
    name: str, gives: Stage, kernel: int, p: int, bits: int, twin: Twin, doc: str, q: int = 0
) -> Operator:
    return Operator(
        name, Stage.GRID, gives, kernel, p, q, bits * BIT, Shape.ANY, Palette.KEEP, twin, doc
    )


def background(grid: Grid, p: int) -> int:
    """The colour that is no object: black, with COMMON the most common, with NONE no colour."""
    if p & k.NONE:
        return EMPTY
    return commonest(grid.cells) if p & k.COMMON else 0


def components(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """Connected cells that are not background, in scan order of their first cells.

    Bits of p: EIGHT joins diagonal neighbours, MULTI joins cells of different colours, VOID
    takes the background's cells instead of the others. q: all as objects, those that do not
    reach the edge as objects, or how many there are. Fails when there would be no object.
    """
    assert isinstance(value, Grid)
    back = background(value, p)
    cells = grid_cells(value)
    wanted = {cell: c for cell, c in cells.items() if (c == back) == bool(p & k.VOID)}
    code = {cell: 1 if p & k.MULTI else colour for cell, colour in wanted.items()}
    found = groups(code, bool(p & k.EIGHT))
    if q == k.AS_COUNT:
        return len(found)
    if q == k.ENCLOSED:
        found = [group for group in found if not any(_on_edge(value, cell) for cell in group)]
    return _objects([{cell: cells[cell] for cell in group} for group in found])


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
    cuts = [-1, *(i for i, line in enumerate(lines) if line == {colour}), len(lines)]
    return [range(a + 1, b) for a, b in pairwise(cuts) if b > a + 1]


def split_equal(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """Parts of equal size, p down and q across, row by row; SINGLE_LINES cuts into single lines.

    With p = 0: into squares as large as the shorter side. Fails when it does not come out even
    and with less than two parts.
    """
    assert isinstance(value, Grid)
    h, w = value.height, value.width
    down, across = (h if p == k.SINGLE_LINES else p), (w if q == k.SINGLE_LINES else q)
    if p == 0:
        down, across = h // min(h, w), w // min(h, w)
        if (down * min(h, w), across * min(h, w)) != (h, w):
            return None
    if h % down or w % across:
        return None
    rows = [range(r, r + h // down) for r in range(0, h, h // down)]
    columns = [range(c, c + w // across) for c in range(0, w, w // across)]
    if not _two(rows, columns):
        return None
    return tuple(_part(value, r, c) for r in rows for c in columns)


def tally(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """Tell one thing about how many cells have which colour.

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
    _cut("objects_4", _ONE, 0, 0, 4, components, "Cells of one colour joined by sides, not black."),
    _cut("objects_8", _ONE, k.EIGHT, 0, 4, components,
         "Cells of one colour joined by sides or corners, not black."),
    _cut("blobs_4", _ONE, _BLOB, 0, 5, components,
         "Cells of any colours but black joined by sides."),
    _cut("blobs_8", _ONE, _BLOB | k.EIGHT, 0, 4, components,
         "Cells of any colours but black joined by sides or corners."),
    _cut("objects_4_common", _ONE, k.COMMON, 0, 6, components,
         "Cells of one colour joined by sides, without the most common colour."),
    _cut("objects_8_common", _ONE, k.COMMON | k.EIGHT, 0, 6, components,
         "Cells of one colour joined by sides or corners, without the most common colour."),
    _cut("regions_4", _ONE, k.NONE, 0, 6, components,
         "Cells of one colour joined by sides, black included."),
    _cut("gaps_4", _ONE, k.VOID, 0, 6, components, "Black cells joined by sides."),
    _cut("holes_4", _ONE, k.VOID, k.ENCLOSED, 5, components,
         "Black cells joined by sides that do not reach the edge."),
    _cut("layers", k.LAYERS, 0, 0, 5, layers, "All cells of a colour together, black apart."),
    _cut("split_lines", _LINES, 0, 0, 4, split_lines,
         "Parts between full rows and columns of one colour."),
    _cut("split_black_lines", _LINES, 1, 0, 6, split_lines,
         "Parts between full black rows and columns."),
    _cut("halves_across", _EQUAL, 1, 2, 5, split_equal, "Left and right half."),
    _cut("halves_down", _EQUAL, 2, 1, 5, split_equal, "Upper and lower half."),
    _cut("thirds_across", _EQUAL, 1, 3, 6, split_equal, "Three equal parts from left to right."),
    _cut("thirds_down", _EQUAL, 3, 1, 6, split_equal, "Three equal parts from top to bottom."),
    _cut("quarters", _EQUAL, 2, 2, 6, split_equal, "Two by two equal parts."),
    _cut("ninths", _EQUAL, 3, 3, 6, split_equal, "Three by three equal parts."),
    _cut("single_rows", _EQUAL, _EACH, 1, 6, split_equal, "Every row for itself."),
    _cut("single_columns", _EQUAL, 1, _EACH, 6, split_equal, "Every column for itself."),
    _tell("most_common_colour", Stage.COLOUR, k.TALLY, k.MOST, 5, tally,
          "The colour that most cells have."),
    _tell("most_common_ink", Stage.COLOUR, k.TALLY, k.MOST_INK, 5, tally,
          "The colour that most cells have, black apart."),
    _tell("least_common_colour", Stage.COLOUR, k.TALLY, k.LEAST, 5, tally,
          "The colour that the fewest cells have."),
    _tell("count_colours", Stage.COUNT, k.TALLY, k.INKS, 6, tally,
          "How many colours there are, black apart."),
    _tell("count_cells", Stage.COUNT, k.TALLY, k.INK_CELLS, 6, tally,
          "How many cells are not black."),
    _tell("count_objects_4", Stage.COUNT, _ONE, 0, 6, components,
          "How many objects of one colour there are, joined by sides.", k.AS_COUNT),
    _tell("count_objects_8", Stage.COUNT, _ONE, k.EIGHT, 6, components,
          "How many objects of one colour there are, joined by sides or corners.", k.AS_COUNT),
    _tell("size_of", Stage.SIZE, k.TALLY, k.EXTENT, 7, tally, "How high and wide the grid is."),
)  # fmt: skip
