"""The rule that draws a chart of a grid's objects: a line or a ring for each, or cells on a path.

    layers: all; down cells; columns_top cells; fit; own    a column for each colour, as long as
                                                            its cell count, the longest first
    objects_8: is count_1 4; place; along_rows 1; 1x5; own  a cell for each blue square, in a row of
                                                            five

The parts are the objects, their order, their layout and lengths, the size of the grid, and the
colour of the cells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isqrt

from weft.searches.arc.fitted.choose import (
    MEASURE,
    MEASURES,
    RELATION,
    SEGMENTATIONS,
    VALUE,
    measurements_of,
    segment,
)
from weft.searches.arc.fitted.depth import depths_of
from weft.searches.arc.fitted.rule import BASE, COLOUR, Composed, digit, number
from weft.searches.arc.ops.objectparts import colour_of
from weft.searches.arc.ops.operator import BIT, ShapeEffect
from weft.searches.arc.ops.registry import BY_NAME
from weft.searches.arc.values import MAX_SIDE, Grid, Piece

ALL, PLACE, FIT, OWN, ONE, ONCE = "all", "place", "fit", "own", "1", "once"
SLOTS, DEPTH = "slots", "depth"
RELATIONS = ("most", "least", "is")
DIRECTIONS = ("up", "down")
BARS = ("rows_left", "rows_right", "columns_top", "columns_bottom")
CORNERS = ("top_left", "top_right", "bottom_left", "bottom_right")
RUNS = (
    "along_rows", "along_columns", "snake_rows", "snake_columns",
    *(f"{run}_{lines}_{corner}" for corner in CORNERS[1:] for run in ("along", "snake")
      for lines in ("rows", "columns")),
)  # fmt: skip
"""Runs start at the top left, or at the corner in their name."""
PATH, RINGS, SQUARES = "path", "rings", "squares"
SEPARATOR = "; "
Measured = Mapping[str, Sequence[int]]
Bar = tuple[int, int]
"""A colour and its number of cells."""
Places = dict[tuple[int, int], int]
"""Colours by cell."""


@dataclass(frozen=True, slots=True)
class Chart:
    """The contents and the layout of a chart."""

    segmentation: str
    which: tuple[str, ...]
    """`all`, or a relation, a measure and possibly a value."""
    order: tuple[str, ...]
    """`place`, or a direction and a measure; `once` keeps only the first of each colour; or `slots`
    and the colour of each line, 0 if unknown.
    """
    layout: str
    length: str
    """A measure, or 1."""
    size: tuple[int, int] | None
    """None for the size of what is drawn."""
    colour: int | None
    """None for the object's own."""
    path: tuple[tuple[int, int], ...] = ()

    def text(self) -> str:
        """Return the notation used in programs."""
        size = FIT if self.size is None else f"{self.size[0]}x{self.size[1]}"
        colour = OWN if self.colour is None else str(self.colour)
        layout = [self.layout, *(f"{row}.{column}" for row, column in self.path), self.length]
        parts = (" ".join(self.which), " ".join(self.order), " ".join(layout), size, colour)
        return f"{self.segmentation}: {SEPARATOR.join(parts)}"

    @property
    def millibits(self) -> int:
        """The cost in thousandths of a bit."""
        which = BIT if self.which == (ALL,) else MEASURE + RELATION + VALUE * (len(self.which) - 2)
        order = BIT if self.order[0] == PLACE else MEASURE + 2 * BIT
        if self.slots:
            order = 2 * BIT + len(self.slots) * COLOUR
        once = 2 * BIT if ONCE in self.order else 0
        layout = 3 * BIT + (BIT if self.length == ONE else MEASURE + BIT)
        size = BIT if self.size is None else 4 * BIT
        colour = BIT if self.colour is None else COLOUR
        path = len(self.path) * COLOUR
        own = BY_NAME[self.segmentation].millibits
        return own + which + order + once + layout + size + colour + path

    @property
    def slots(self) -> tuple[int, ...]:
        """The colours of the lines, if every colour has a fixed line."""
        return tuple(map(int, self.order[1:-1])) if self.order[0] == SLOTS else ()

    def selected(self, measured: Measured) -> list[int]:
        """Return the indices of the objects that are shown, in order."""
        return ordered(selected(measured, self.which), measured, self.order)

    def bars(self, measured: Measured) -> list[Bar]:
        """Return the colour and the number of cells of each object that is shown."""
        own = self.selected(measured)
        lengths = [1 if self.length == ONE else measured[self.length][n] for n in own]
        colours = [measured["colour"][n] if self.colour is None else self.colour for n in own]
        bars = list(zip(colours, lengths, strict=True))
        return in_slots(bars, self.slots) if self.slots else bars

    def drawn(self, measured: Measured) -> Grid | None:
        """Draw the chart; None if it is empty or exceeds its grid."""
        bars = self.bars(measured)
        if not any(length for _, length in bars):
            return None
        size = self.size or _fitting(self.layout, bars)
        if max(size) > MAX_SIDE:
            return None
        places = self._places(size, bars)
        return None if places is None else _grid(size, places)

    def _places(self, size: tuple[int, int], bars: Sequence[Bar]) -> Places | None:
        if self.layout in BARS:
            return bar_places(self.layout, size, bars)
        if self.layout == RINGS:
            return ring_places(size, [colour for colour, _ in bars])
        if self.layout == SQUARES:
            return square_places(size, bars)
        run = [colour for colour, length in bars for _ in range(length)]
        path = self.path or path_of(self.layout, size)
        return dict(zip(path, run, strict=False)) if len(run) <= len(path) else None


def measured_of(objects: Sequence[Piece], given: Grid) -> Measured | None:
    """Measure objects, including colours and depths; None if one lies outside the input."""
    measured = measurements_of(objects, given)
    if measured is None:
        return None
    return {**measured, "colour": [colour_of(p) for p in objects], DEPTH: depths_of(objects)}


def selected(measured: Measured, which: Sequence[str]) -> list[int]:
    """Return the objects with the most, the least or a given value of a measure, or all."""
    every = range(len(measured["colour"]))
    if which[0] == ALL or not every:
        return list(every)
    values = measured[which[1]]
    limits = {"most": max(values), "least": min(values)}
    limit = int(which[2]) if which[0] == "is" else limits[which[0]]
    return [n for n in every if values[n] == limit]


def ordered(own: Sequence[int], measured: Measured, order: Sequence[str]) -> list[int]:
    """Sort objects stably; with `once` keep only the first of each colour."""
    result = list(own)
    if order[0] == SLOTS:
        places = {colour: place for place, colour in enumerate(order[1:-1])}
        result.sort(key=lambda n: places.get(str(measured["colour"][n]), len(places)))
    elif order[0] != PLACE:
        sign = 1 if order[0] == "up" else -1
        result.sort(key=lambda n: sign * measured[order[1]][n])
    if ONCE in order:
        colours = measured["colour"]
        first = {colours[n]: n for n in reversed(result)}
        result = [n for n in result if first[colours[n]] == n]
    return result


def in_slots(bars: Sequence[Bar], slots: Sequence[int]) -> list[Bar]:
    """Return the bar of each slot, possibly of length 0; none at all if a bar has no slot."""
    lengths = dict(bars)
    if 0 in lengths or not lengths.keys() <= set(slots):
        return []
    return [(colour, lengths.get(colour, 0)) for colour in slots]


def path_of(layout: str, size: tuple[int, int]) -> list[tuple[int, int]]:
    """Return the cells of a grid in the order in which a run fills them."""
    height, width = size
    lines, places = (height, width) if has_rows(layout) else (width, height)
    turns = layout.startswith("snake")
    along = [
        (line, places - 1 - place if turns and line % 2 else place)
        for line in range(lines)
        for place in range(places)
    ]
    path = along if has_rows(layout) else [(place, line) for line, place in along]
    up, back = "bottom" in layout, "right" in layout
    return [(height - 1 - r if up else r, width - 1 - c if back else c) for r, c in path]


def has_rows(layout: str) -> bool:
    """Whether bars are rows, or a run goes along rows."""
    return "rows" in layout


def ring_places(size: tuple[int, int], colours: Sequence[int]) -> Places:
    """Return the cells of nested rings, the first one outermost."""
    last = size[0] - 1
    return {
        (r, c): colours[min(r, c, last - r, last - c)]
        for r in range(size[0])
        for c in range(size[1])
    }


def square_places(size: tuple[int, int], bars: Sequence[Bar]) -> Places | None:
    """Return the cells of squares at the bottom, one column apart; None if one is not a square."""
    places: Places = {}
    left = 0
    for colour, cells in bars:
        side = isqrt(cells)
        if side * side != cells:
            return None
        box = [(size[0] - 1 - n // side, left + n % side) for n in range(cells)]
        places |= dict.fromkeys(box, colour)
        left += side + 1
    return places


def bar_places(layout: str, size: tuple[int, int], bars: Sequence[Bar]) -> Places | None:
    """Return the cells of bars in a grid; None if they do not fit."""
    across, places = layout.startswith("rows"), {}
    lines, room = size if across else size[::-1]
    if len(bars) > lines or max(length for _, length in bars) > room:
        return None
    for line, (colour, length) in enumerate(bars):
        for n in range(length):
            place = n if layout.endswith(("left", "top")) else room - 1 - n
            places[(line, place) if across else (place, line)] = colour
    return places


def _fitting(layout: str, bars: Sequence[Bar]) -> tuple[int, int]:
    lengths = [length for _, length in bars]
    if layout == RINGS:
        return 2 * len(bars) - 1, 2 * len(bars) - 1
    if layout == SQUARES:
        sides = [isqrt(length) for length in lengths]
        return max(sides), sum(sides) + len(sides) - 1
    lines, room = (len(bars), max(lengths)) if layout in BARS else (1, sum(lengths))
    return (lines, room) if has_rows(layout) else (room, lines)


def _grid(size: tuple[int, int], places: Mapping[tuple[int, int], int]) -> Grid:
    height, width = size
    cells = bytes(places.get((r, c), 0) for r in range(height) for c in range(width))
    return Grid(height, width, cells)


class ObjectChart(Composed):
    """Parameters: the segmentation and the chart."""

    name = "chart"
    doc = (
        "A chart of the grid's objects: `layers: all; down cells; columns_top cells; fit; own`. "
        "First, which objects: `all`, those with the `most` or `least` of a measure, or with a "
        "value (`is count_1 4`). Second, their order: by position (`place`), by a measure, `up` "
        "or `down`, with `once` only the first of each colour, by how lines and frames lie on each "
        "other (`up depth`: the lowest first), or a fixed line for each colour (`slots 5 2 0 "
        "once`, where 0 is unknown). Third, the layout: each object is a bar "
        "(`rows_left`, `rows_right`, `columns_top`, `columns_bottom`), a ring inside the one "
        "before (`rings`), a square beside it (`squares`), or cells that follow those of the one "
        "before (`along_rows`, `along_columns`, `snake_rows`, `snake_columns` from the top left, "
        "`along_rows_top_right` and so on from another corner, or a `path` of cells as "
        "row.column), one cell long or as long as a measure. Then the size: a fixed one, "
        "or large enough (`fit`); and the colour: a number, or the object's `own`. Measures are "
        "those of `choose`."
    )
    shape = ShapeEffect.ANY

    def apply(self, params: bytes, value: Grid, given: Grid) -> Grid | None:
        chart = parse_chart(params.decode())
        objects = segment(chart.segmentation, value)
        measured = measured_of(objects, given) if objects else None
        return None if measured is None else chart.drawn(measured)

    def price(self, params: bytes) -> int:
        return BASE + parse_chart(params.decode()).millibits

    def read(self, text: str) -> bytes:
        return parse_chart(text).text().encode()


def parse_chart(text: str) -> Chart:
    """Invert `Chart.text`; raises ValueError or IndexError if the text is invalid."""
    segmentation, _, parts = text.partition(": ")
    which, order, layout, size, colour = (tuple(part.split(" ")) for part in parts.split(SEPARATOR))
    by = order[:-1] if order[-1] == ONCE else order
    has_slots = by[0] == SLOTS
    measures = [*which[1:2], *(() if has_slots or by[1:] == (DEPTH,) else by[1:])]
    if layout[-1] != ONE:
        measures.append(layout[-1])
    known = (
        segmentation in SEGMENTATIONS
        and which[0] in (ALL, *RELATIONS)
        and len(which) == {ALL: 1, "is": 3}.get(which[0], 2)
        and (_are_slots(order, layout[0]) if has_slots else _is_order(by))
        and layout[0] in (*BARS, *RUNS, PATH, RINGS, SQUARES)
        and (len(layout) > 2) == (layout[0] == PATH)
        and set(measures) <= set(MEASURES)
    )
    if not known:
        raise ValueError(text)
    if which[0] == "is":
        number(which[2])
    return Chart(
        segmentation, which, order, layout[0], layout[-1], _size(size[0]),
        None if colour[0] == OWN else digit(colour[0]), tuple(map(_place, layout[1:-1])),
    )  # fmt: skip


def _is_order(by: Sequence[str]) -> bool:
    return by[0] in (PLACE, *DIRECTIONS) and len(by) == (1 if by[0] == PLACE else 2)


def _are_slots(order: Sequence[str], layout: str) -> bool:
    colours = [colour for colour in map(digit, order[1:-1]) if colour]
    return order[-1] == ONCE and layout in BARS and len(colours) == len(set(colours)) > 0


def _size(text: str) -> tuple[int, int] | None:
    if text == FIT:
        return None
    height, width = (number(side, 1, MAX_SIDE) for side in text.split("x"))
    return height, width


def _place(text: str) -> tuple[int, int]:
    row, column = (number(part) for part in text.split("."))
    return row, column
