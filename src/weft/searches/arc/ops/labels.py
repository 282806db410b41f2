"""Operators that paint whole components by their properties: facts and plain definitions.

Each operator finds the parts of a grid, measures them, grades the measures and paints the parts.
"""

from __future__ import annotations

from collections.abc import Callable

from weft.searches.arc.codes import labels as k
from weft.searches.arc.codes.fills import LABEL
from weft.searches.arc.ops import objectparts as o
from weft.searches.arc.ops.operator import Operator, OperatorFamily, Palette, ShapeEffect
from weft.searches.arc.values import EMPTY, Grid, Piece, Value


def parts_of(grid: Grid, q: int) -> list[Piece]:
    """Return the parts that `q` selects, in scan order of their first cells."""
    cells, which, links = o.grid_cells(grid), q & 12, q & 3
    chosen = {cell: c for cell, c in cells.items() if (c == 0) == (which == k.BLACK)}
    if links == k.COLOUR:
        parts = [[cell for cell in chosen if chosen[cell] == c] for c in _distinct(chosen)]
    else:
        code = dict.fromkeys(chosen, 1) if which == k.FILLED else chosen
        parts = o.groups(code, links == k.EIGHT)
    pieces = [o.piece_of({cell: cells[cell] for cell in part}) for part in parts]
    return [p for p in pieces if p is not None and not (q & k.ENCLOSED and o.at_border(p, grid))]


def _distinct(cells: dict[o.Cell, int]) -> list[int]:
    """Return the distinct colours of cells, in order of first occurrence."""
    return list(dict.fromkeys(cells.values()))


def _symmetry(part: Piece) -> int:
    """Return 1, plus 1 if a part is left-right symmetric, plus 2 if top-bottom; colours count."""
    rows = o.rows_of(part)
    return 1 + (rows == [row[::-1] for row in rows]) + 2 * (rows == rows[::-1])


def _around(part: Piece, grid: Grid) -> int:
    """Return the most common non-black colour beside a part (ties: the lowest); black if none."""
    own, every = o.cells_of(part), o.grid_cells(grid)
    beside = [near for cell in own for near in o.neighbours(cell, False) if near not in own]
    colours = [every.get(near, 0) for near in beside]
    return o.commonest(colour for colour in colours if colour)


MEASURES: dict[int, Callable[[Piece, list[Piece], Grid], int]] = {
    k.SIZE: lambda part, every, grid: len(o.cells_of(part)),
    k.ORDER: lambda part, every, grid: every.index(part) + 1,
    k.HOLES: lambda part, every, grid: len(o.holes_of(part)) + 1,
    k.EDGE: lambda part, every, grid: 1 + o.at_border(part, grid),
    k.SOLID: lambda part, every, grid: (
        1 if EMPTY in part.cells else 3 if part.height == part.width else 2
    ),
    k.SYMMETRY: lambda part, every, grid: _symmetry(part),
    k.COPIES: lambda part, every, grid: sum(
        o.shape_of(other) == o.shape_of(part) for other in every
    ),
    k.MAIN: lambda part, every, grid: o.colour_of(part),
    k.AROUND: lambda part, every, grid: _around(part, grid),
}


def _graded(values: list[int], how: int) -> list[int]:
    """Grade measures: as they are, by rank (1 is largest), 1 for extremes else 2, or by parity."""
    distinct = sorted(set(values), reverse=True)
    grades: dict[int, Callable[[int], int]] = {
        k.AS_IS: lambda v: v,
        k.RANK: lambda v: distinct.index(v) + 1,
        k.MOST: lambda v: 1 if v == distinct[0] else 2,
        k.LEAST: lambda v: 1 if v == distinct[-1] else 2,
        k.PARITY: lambda v: 1 + v % 2,
    }
    return [min(grades[how](v), 9) for v in values]


def label(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """Paint each part with its graded measure; boxes of later parts cover those of earlier ones.

    Returns None if there are no parts.
    """
    assert isinstance(value, Grid)
    parts = parts_of(value, q)
    if not parts:
        return None
    painted = _graded([MEASURES[p & ~7](part, parts, value) for part in parts], p & 7)
    canvas = o.grid_cells(value) if q & (k.KEEP | k.BOX) else dict.fromkeys(o.grid_cells(value), 0)
    for part, colour in zip(parts, painted, strict=True):
        places = o.cells_of(part)
        if q & k.BOX:
            box = [
                (part.row + r, part.col + c) for r in range(part.height) for c in range(part.width)
            ]
            places = {cell: 0 for cell in box if value.at(*cell) == 0}
        canvas |= dict.fromkeys(places, colour)
    return Grid(value.height, value.width, bytes(canvas.values()))


_label = OperatorFamily(LABEL, label, shape=ShapeEffect.KEEP, palette=Palette.ANY)
WHOLE = k.EIGHT + k.FILLED
PLAIN = k.FOUR + k.PLAIN
PLAIN_8 = k.EIGHT + k.PLAIN
GAPS = k.FOUR + k.BLACK
KEPT = Palette.KEEP
OPERATORS: tuple[Operator, ...] = (
    _label("label_objects", k.ORDER, WHOLE, 6, "Number the objects from the top."),
    _label("label_size_rank", k.SIZE + k.RANK, WHOLE, 6, "Number objects by size, the largest 1."),
    _label("label_plain_size_rank", k.SIZE + k.RANK, PLAIN, 6,
           "Number one-coloured objects by size, the largest 1."),
    _label("label_plain_size", k.SIZE, PLAIN, 6,
           "The size of each one-coloured object, 9 at most."),
    _label("label_plain_largest", k.SIZE + k.MOST, PLAIN, 6,
           "1 for the largest one-coloured objects, 2 for others."),
    _label("label_plain_smallest", k.SIZE + k.LEAST, PLAIN, 7,
           "1 for the smallest one-coloured objects, 2 for others."),
    _label("label_holes", k.HOLES, PLAIN_8, 6,
           "The number of holes of each one-coloured object, plus 1."),
    _label("label_on_edge", k.EDGE, PLAIN, 6,
           "2 for one-coloured objects at the edge, 1 for others."),
    _label("label_solid", k.SOLID, PLAIN, 6,
           "3 for squares, 2 for other filled rectangles, 1 for other objects."),
    _label("label_symmetry", k.SYMMETRY, WHOLE, 7,
           "1, plus 1 if left-right symmetric, plus 2 if top-bottom symmetric."),
    _label("label_copies", k.COPIES, WHOLE, 7, "How many objects have the object's shape."),
    _label("label_enclosed", k.EDGE, GAPS, 5,
           "1 for enclosed black cells, 2 for other black cells."),
    _label("label_gap_parity", k.SIZE + k.PARITY, GAPS + k.ENCLOSED, 8,
           "1 for enclosed black areas of even size, 2 for odd ones."),
    _label("fill_enclosed", k.AROUND, GAPS + k.ENCLOSED + k.KEEP, 5,
           "Fill enclosed black areas with the colour around them.", KEPT),
    _label("label_around", k.AROUND, PLAIN + k.KEEP, 7,
           "One-coloured objects get the colour that touches them.", Palette.BLACK),
    _label("fill_boxes", k.MAIN, WHOLE + k.BOX, 6,
           "Fill black in an object's box with its most common colour.", KEPT),
    _label("fill_colour_boxes", k.MAIN, k.COLOUR + k.BOX, 6,
           "Fill black in the bounding box of each colour with it.", KEPT),
)  # fmt: skip
