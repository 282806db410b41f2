"""Operators that paint whole components by what they are: facts and plain definitions.

Each finds the parts of a grid, measures them, grades the measures, and paints the parts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from weft.searches.arc.codes import labels as k
from weft.searches.arc.codes.fills import LABEL
from weft.searches.arc.ops.operator import Operator, Palette, ShapeEffect, on_grids
from weft.searches.arc.values import Grid, Value

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class LabelledPart:
    """One component: its cells in scan order, its number, and the grid it is in."""

    grid: Grid
    number: int
    eight: bool
    cells: tuple[Place, ...]

    @property
    def box(self) -> tuple[int, int, int, int]:
        """First row, first column, last row, last column."""
        rows, columns = [r for r, _ in self.cells], [c for _, c in self.cells]
        return min(rows), min(columns), max(rows), max(columns)

    @property
    def height(self) -> int:
        """How many rows it reaches over."""
        return self.box[2] - self.box[0] + 1

    @property
    def width(self) -> int:
        """How many columns it reaches over."""
        return self.box[3] - self.box[1] + 1

    @property
    def shape(self) -> tuple[Place, ...]:
        """Its cells, counted from its own corner."""
        top, left, _, _ = self.box
        return tuple((r - top, c - left) for r, c in self.cells)

    @property
    def on_edge(self) -> bool:
        """Whether it touches the edge of the grid."""
        top, left, bottom, right = self.box
        last = (self.grid.height - 1, self.grid.width - 1)
        return min(top, left) == 0 or bottom == last[0] or right == last[1]

    @property
    def colours(self) -> list[int]:
        """The colours of its cells."""
        return [self.grid.at(r, c) for r, c in self.cells]


def neighbours(place: Place, eight: bool) -> list[Place]:
    """The four or eight places beside one."""
    r, c = place
    near = [(r + y, c + x) for y in (-1, 0, 1) for x in (-1, 0, 1) if (y, x) != (0, 0)]
    return [(y, x) for y, x in near if eight or y == r or x == c]


def parts_of(grid: Grid, q: int) -> list[LabelledPart]:
    """Return the parts that `q` asks for, in scan order of their first cells."""
    which, links = q & 12, q & 3
    every = [(r, c) for r in range(grid.height) for c in range(grid.width)]
    left = {place for place in every if (grid.at(*place) == 0) == (which == k.BLACK)}
    numbered: list[LabelledPart] = []
    for place in every:
        if place not in left:
            continue
        own = grid.at(*place)
        alike = {p for p in left if which == k.FILLED or grid.at(*p) == own}
        if links == k.COLOUR:
            cells = {p for p in left if grid.at(*p) == own}
        else:
            cells = _flood(place, alike, links == k.EIGHT)
        left -= cells
        part = LabelledPart(grid, 0, links == k.EIGHT, tuple(sorted(cells)))
        if not (q & k.ENCLOSED and part.on_edge):
            numbered.append(LabelledPart(grid, len(numbered), part.eight, part.cells))
    return numbered


def _flood(start: Place, alike: set[Place], eight: bool) -> set[Place]:
    cells, waiting = {start}, [start]
    while waiting:
        new = [p for p in neighbours(waiting.pop(), eight) if p in alike and p not in cells]
        cells.update(new)
        waiting.extend(new)
    return cells


def _holes(part: LabelledPart) -> int:
    """Regions of other cells that the part closes in; they link by four where it does by eight."""
    top, left, bottom, right = part.box
    frame = [(r, c) for r in range(top - 1, bottom + 2) for c in range(left - 1, right + 2)]
    outside, regions = set(frame) - set(part.cells), 0
    while outside:
        outside -= _flood(min(outside), outside, not part.eight)
        regions += 1
    return regions - 1


def _symmetry(part: LabelledPart) -> int:
    """1, plus 1 if it is its left-right mirror image, colours and all, plus 2 for top-bottom."""
    top, left, bottom, right = part.box
    painted = {(r, c, part.grid.at(r, c)) for r, c in part.cells}
    columns = painted == {(r, left + right - c, colour) for r, c, colour in painted}
    rows = painted == {(top + bottom - r, c, colour) for r, c, colour in painted}
    return 1 + columns + 2 * rows


def _around(part: LabelledPart) -> int:
    """The commonest colour beside its cells but black, the lowest of equals; black if none."""
    grid, inside = part.grid, set(part.cells)
    beside = [near for place in part.cells for near in neighbours(place, False)]
    colours = [
        grid.at(r, c) for r, c in beside
        if 0 <= r < grid.height and 0 <= c < grid.width and (r, c) not in inside
    ]  # fmt: skip
    return max(range(1, 10), key=colours.count) if any(colours) else 0


MEASURES: dict[int, Callable[[LabelledPart, list[LabelledPart]], int]] = {
    k.SIZE: lambda part, every: len(part.cells),
    k.ORDER: lambda part, every: part.number + 1,
    k.HOLES: lambda part, every: _holes(part) + 1,
    k.EDGE: lambda part, every: 2 if part.on_edge else 1,
    k.SOLID: lambda part, every: (
        1 if len(part.cells) < part.height * part.width else 3 if part.height == part.width else 2
    ),
    k.SYMMETRY: lambda part, every: _symmetry(part),
    k.COPIES: lambda part, every: sum(other.shape == part.shape for other in every),
    k.MAIN: lambda part, every: max(range(10), key=part.colours.count),
    k.AROUND: lambda part, every: _around(part),
}


def _graded(values: list[int], how: int) -> list[int]:
    """Labels for measures: as they are; ranks, the largest 1, equals alike; 1 for extremes."""
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
    """Paint each part with its graded measure; later parts' boxes paint over earlier ones.

    Fails where there are no parts.
    """
    assert isinstance(value, Grid)
    parts = parts_of(value, q)
    if not parts:
        return None
    painted = _graded([MEASURES[p & ~7](part, parts) for part in parts], p & 7)
    rows = value.rows() if q & (k.KEEP | k.BOX) else [[0] * value.width] * value.height
    rows = [list(row) for row in rows]
    for part, colour in zip(parts, painted, strict=True):
        top, left, bottom, right = part.box
        boxed = [(r, c) for r in range(top, bottom + 1) for c in range(left, right + 1)]
        places = [p for p in boxed if value.at(*p) == 0] if q & k.BOX else part.cells
        for r, c in places:
            rows[r][c] = colour
    return Grid.of(rows)


def _label(
    name: str, p: int, q: int, bits: int, doc: str, palette: Palette = Palette.ANY
) -> Operator:
    return on_grids(name, LABEL, p, q, bits, ShapeEffect.KEEP, palette, label, doc)


WHOLE = k.EIGHT + k.FILLED
PLAIN = k.FOUR + k.PLAIN
PLAIN_8 = k.EIGHT + k.PLAIN
GAPS = k.FOUR + k.BLACK
KEPT = Palette.KEEP
OPERATORS: tuple[Operator, ...] = (
    _label("label_objects", k.ORDER, WHOLE, 6, "Number objects from the top."),
    _label("label_size_rank", k.SIZE + k.RANK, WHOLE, 6, "Number objects, the largest 1."),
    _label("label_plain_size_rank", k.SIZE + k.RANK, PLAIN, 6,
           "Number one-coloured objects, the largest 1."),
    _label("label_plain_size", k.SIZE, PLAIN, 6,
           "The size of each one-coloured object, 9 at most."),
    _label("label_plain_largest", k.SIZE + k.MOST, PLAIN, 6,
           "1 for the largest one-coloured objects, 2 for others."),
    _label("label_plain_smallest", k.SIZE + k.LEAST, PLAIN, 7,
           "1 for the smallest one-coloured objects, 2 for others."),
    _label("label_holes", k.HOLES, PLAIN_8, 6,
           "One more than the holes of each one-coloured object."),
    _label("label_on_edge", k.EDGE, PLAIN, 6,
           "2 for one-coloured objects at the edge, 1 for others."),
    _label("label_solid", k.SOLID, PLAIN, 6,
           "1 for objects, 2 for full rectangles, 3 for squares."),
    _label("label_symmetry", k.SYMMETRY, WHOLE, 7,
           "1 for objects, plus 1 or 2 if symmetric across or down."),
    _label("label_copies", k.COPIES, WHOLE, 7, "How many objects have each object's shape."),
    _label("label_enclosed", k.EDGE, GAPS, 5,
           "1 for black that is closed in, 2 for black at the edge."),
    _label("label_gap_parity", k.SIZE + k.PARITY, GAPS + k.ENCLOSED, 8,
           "1 for enclosed regions of even size, 2 for odd."),
    _label("fill_enclosed", k.AROUND, GAPS + k.ENCLOSED + k.KEEP, 5,
           "Enclosed black gets the colour around it.", KEPT),
    _label("label_around", k.AROUND, PLAIN + k.KEEP, 7,
           "One-coloured objects get the colour that touches them.", Palette.BLACK),
    _label("fill_boxes", k.MAIN, WHOLE + k.BOX, 6,
           "Black in an object's box gets its commonest colour.", KEPT),
    _label("fill_colour_boxes", k.MAIN, k.COLOUR + k.BOX, 6,
           "Black in the box of a colour gets it.", KEPT),
)  # fmt: skip
