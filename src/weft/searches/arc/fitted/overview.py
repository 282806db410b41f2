"""The rule that shows each object as one cell, in rows and columns arranged like the objects.

split_lines: least colours; only    a cell for each block of one colour, in that colour
holes_4: all; rare                  a cell for each room, in the colour of what is in it
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from operator import le

from weft.searches.arc.fitted.chart import (
    ALL,
    RELATIONS,
    SEPARATOR,
    Measured,
    measured_of,
    selected,
)
from weft.searches.arc.fitted.choose import (
    MEASURE,
    MEASURES,
    RELATION,
    SEGMENTATIONS,
    VALUE,
    segment,
)
from weft.searches.arc.fitted.rule import BASE, Composed, number
from weft.searches.arc.ops.operator import BIT, ShapeEffect
from weft.searches.arc.ops.registry import BY_NAME
from weft.searches.arc.values import MAX_SIDE, Grid, Piece

OUTER = "outer"
Span = tuple[int, int]
"""The start and the end of an object along a side of the grid."""


def only_colour(cells: bytes) -> int | None:
    """Return the colour of all cells; None if there are several."""
    return cells[0] if len(set(cells)) == 1 else None


def main_colour(cells: bytes) -> int:
    """Return the most common colour; ties go to the lowest."""
    counts = Counter(cells)
    return min(counts, key=lambda colour: (-counts[colour], colour))


def rare_colour(cells: bytes) -> int:
    """Return the rarest colour; ties go to the highest."""
    counts = Counter(cells)
    return min(counts, key=lambda colour: (counts[colour], -colour))


COLOURS: Mapping[str, Callable[[bytes], int | None]] = {
    "only": only_colour,
    "main": main_colour,
    "rare": rare_colour,
}
"""Functions that map the cells in an object's box to the colour of its cell."""


@dataclass(frozen=True, slots=True)
class OverviewSettings:
    """The settings of an overview."""

    segmentation: str
    which: tuple[str, ...]
    """`all`, `outer`, or a relation, a measure and possibly a value."""
    colour: str

    def text(self) -> str:
        """Return the notation used in programs."""
        return f"{self.segmentation}: {' '.join(self.which)}{SEPARATOR}{self.colour}"

    @property
    def millibits(self) -> int:
        """The cost in thousandths of a bit."""
        which = {ALL: BIT, OUTER: 3 * BIT}.get(
            self.which[0], MEASURE + RELATION + VALUE * (len(self.which) - 2)
        )
        colour = BIT if self.colour == "only" else 3 * BIT
        return BY_NAME[self.segmentation].millibits + which + colour


def shown(objects: Sequence[Piece], measured: Measured, which: tuple[str, ...]) -> list[int]:
    """Return the objects to show: all, those in no other's box, or those that a chart would select.

    Only the last case requires measures.
    """
    if which == (ALL,):
        return list(range(len(objects)))
    if which != (OUTER,):
        return selected(measured, which)
    boxes = [(p.row, p.col, -p.row - p.height, -p.col - p.width) for p in objects]
    return [
        n
        for n, box in enumerate(boxes)
        if not any(other != box and all(map(le, other, box)) for other in boxes)
    ]


def bands_of(spans: Sequence[Span]) -> list[int]:
    """Return the band of each span, numbered from 0; spans that overlap are in the same band."""
    bands, last, end = [0] * len(spans), -1, 0
    for n in sorted(range(len(spans)), key=lambda n: spans[n]):
        if last < 0 or spans[n][0] >= end:
            last += 1
        bands[n], end = last, max(end, spans[n][1])
    return bands


def overview_grid(objects: Sequence[Piece], colours: Sequence[int]) -> Grid | None:
    """Draw each object as one cell, or else as all that it covers; None if two share a cell."""
    sides = [
        [(piece.row, piece.row + piece.height) for piece in objects],
        [(piece.col, piece.col + piece.width) for piece in objects],
    ]
    bands = [[range(band, band + 1) for band in bands_of(spans)] for spans in sides]
    grid = _painted(bands, colours)
    return _painted([cuts_of(spans) for spans in sides], colours) if grid is None else grid


def cuts_of(spans: Sequence[Span]) -> list[range]:
    """Return the bands that each span covers, if bands are cut wherever a span begins."""
    starts = sorted({start for start, _ in spans})
    return [range(bisect_left(starts, start), bisect_left(starts, end)) for start, end in spans]


def _painted(bands: Sequence[Sequence[range]], colours: Sequence[int]) -> Grid | None:
    """Draw objects in the cells of their bands of rows and columns; None if two share a cell."""
    boxes = [list(product(*own)) for own in zip(*bands, strict=True)]
    cells = {cell: colour for box, colour in zip(boxes, colours, strict=True) for cell in box}
    if not cells or len(cells) < sum(map(len, boxes)):
        return None
    height, width = (max(own.stop for own in side) for side in bands)
    if max(height, width) > MAX_SIDE:
        return None
    return Grid(
        height, width, bytes(cells.get((r, c), 0) for r in range(height) for c in range(width))
    )


def crops_of(objects: Sequence[Piece], grid: Grid) -> list[bytes]:
    """Return the cells of a grid in the box of each of its objects."""
    return [
        b"".join(
            grid.cells[row * grid.width + piece.col : row * grid.width + piece.col + piece.width]
            for row in range(piece.row, piece.row + piece.height)
        )
        for piece in objects
    ]


def drawn(
    overview: OverviewSettings, objects: Sequence[Piece], measured: Measured, crops: Sequence[bytes]
) -> Grid | None:
    """Draw an overview of measured objects; None if one has no colour, or drawing fails."""
    own = shown(objects, measured, overview.which)
    colours = [COLOURS[overview.colour](crops[n]) for n in own]
    known = [colour for colour in colours if colour is not None]
    return overview_grid([objects[n] for n in own], known) if len(known) == len(own) else None


class ObjectOverview(Composed):
    """Parameters: the segmentation, the objects to show, and their colours."""

    name = "overview"
    doc = (
        "One cell for each object of the grid, arranged like the objects: `split_lines: least "
        "colours; only`. First, which objects: `all`, those in no other object's box (`outer`), "
        "those with the `most` or `least` of a measure of `choose`, or with a value. Then the "
        "colour: the `only` one, the most common (`main`) or the rarest (`rare`) in the object's "
        "box. Objects whose rows overlap are in one row, and likewise for columns; cells without "
        "an object are black. If two objects would get the same cell, rows and columns start "
        "wherever an object starts instead, and an object gets all cells that it covers. It fails "
        "if two still share a cell, or if a box has several colours instead of `only` one."
    )
    shape = ShapeEffect.SHRINK

    def apply(self, params: bytes, value: Grid, given: Grid) -> Grid | None:
        overview = parse_overview(params.decode())
        objects = segment(overview.segmentation, value)
        measured = measured_of(objects, value) if objects else None
        crops = crops_of(objects, value)
        return None if measured is None else drawn(overview, objects, measured, crops)

    def price(self, params: bytes) -> int:
        return BASE + parse_overview(params.decode()).millibits

    def read(self, text: str) -> bytes:
        return parse_overview(text).text().encode()


def parse_overview(text: str) -> OverviewSettings:
    """Invert `OverviewSettings.text`; raises ValueError or IndexError if the text is invalid."""
    segmentation, _, parts = text.partition(": ")
    words, colour = parts.split(SEPARATOR)
    which = tuple(words.split(" "))
    known = (
        segmentation in SEGMENTATIONS
        and which[0] in (ALL, OUTER, *RELATIONS)
        and len(which) == {ALL: 1, OUTER: 1, "is": 3}.get(which[0], 2)
        and set(which[1:2]) <= set(MEASURES)
        and colour in COLOURS
    )
    if not known:
        raise ValueError(text)
    if which[0] == "is":
        number(which[2])
    return OverviewSettings(segmentation, which, colour)
