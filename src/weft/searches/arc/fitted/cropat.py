"""The rule that crops a grid between lines at its edges, its middle, or a mark.

    colour 3: edge first edge edge          everything above the first row with green
    -: middle-3 middle+3 middle-3 middle+3  three by three cells in the middle
    rarest: first-1 last+1 first-1 last+1   the rarest colour's box, and the cells around it

The positions of the sides (top, bottom, left, right) are learned from the training pairs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from weft.searches.arc.fitted.rule import BASE, COLOUR, Examples, Proposed
from weft.searches.arc.ops.operator import BIT, ShapeEffect
from weft.searches.arc.values import Grid

NO_MARK, RAREST, MAIN, OF_COLOUR = "-", "rarest", "main", "colour"
MARKS: tuple[str, ...] = (
    NO_MARK, RAREST, MAIN, *(f"{OF_COLOUR} {colour}" for colour in range(1, 10)),
)  # fmt: skip
EDGE, MIDDLE, FIRST, LAST, CENTRE = "edge", "middle", "first", "last", "centre"
HALVES = (MIDDLE, CENTRE)
"""Anchors whose offsets are counted in half cells."""
ANCHORS = (EDGE, MIDDLE, FIRST, LAST, CENTRE)
OF_MARK = (FIRST, LAST, CENTRE)
ANCHOR = 2 * BIT
MOST_OFFSET = 30
MOST_WINDOWS, MOST_SETTINGS = 12, 40
"""Maximum number of places of a target in a grid, and of settings tried with one mark."""
_SIDE = re.compile(r"(?P<anchor>[a-z]+)(?P<offset>[+-][1-9][0-9]?)?")
Span = tuple[int, int]
"""Start and end of a range of lines."""


@dataclass(frozen=True, slots=True)
class Side:
    """The position of one side of a crop: an anchor and an offset."""

    anchor: str
    offset: int = 0

    def text(self) -> str:
        """Return the notation used in programs."""
        return f"{self.anchor}{self.offset:+d}" if self.offset else self.anchor

    @property
    def millibits(self) -> int:
        """The cost in thousandths of a bit."""
        far = BIT * (1 + abs(self.offset).bit_length()) if self.offset else 0
        return (BIT if self.anchor == EDGE else ANCHOR + BIT) + far

    def place(self, length: int, mark: Span | None, is_end: bool) -> int | None:
        """Return the line before which the side lies; None if there is no such line, or no mark."""
        anchor = anchor_of(self.anchor, length, mark, is_end)
        if anchor is None:
            return None
        if self.anchor not in HALVES:
            return anchor + self.offset
        twice = anchor + self.offset
        return None if twice % 2 else twice // 2


def anchor_of(name: str, length: int, mark: Span | None, is_end: bool) -> int | None:
    """Return the line from which a side's offset counts, twice it for halves; None if no mark."""
    if name in (EDGE, MIDDLE):
        return length if name == MIDDLE or is_end else 0
    if mark is None:
        return None
    return {FIRST: mark[0], LAST: mark[1], CENTRE: mark[0] + mark[1]}[name]


Sides = tuple[Side, Side, Side, Side]


class CropAt(Proposed):
    """Parameters: the mark, then the four sides."""

    name = "crop_at"
    doc = (
        "Crops the grid between four lines, those above, below, left and right of the result: "
        "`colour 3: edge first edge edge` is what lies above the first row with colour 3. The mark "
        "is a colour, the `rarest` or the `main` one, or `-`. A line lies at the `edge` of the "
        "grid, at the `first` or behind the `last` row or column of the mark, with an offset "
        "(`first-1`), or so many half cells from the `middle` of the grid or the `centre` of the "
        "mark (`-: middle-3 middle+3 middle-3 middle+3` is three by three cells)."
    )
    shape = ShapeEffect.SHRINK

    def settings(self, examples: Examples) -> Iterator[str]:
        windows = [_windows(value, target) for value, target in examples.pairs()]
        if not all(windows):
            return
        grids = examples.values[: len(examples.expected)]
        settings = [
            (price_of(mark, sides), parameters(mark, sides))
            for mark in MARKS
            for sides in _fitting(mark, grids, windows)
        ]
        yield from (text for _, text in sorted(settings))

    def apply(self, params: bytes, value: Grid, given: Grid) -> Grid | None:
        mark, sides = read_crop(params.decode())
        spans = spans_of(value, mark)
        if spans is None:
            return None
        places = [
            side.place(value.size[n // 2], spans[n // 2], n % 2 == 1)
            for n, side in enumerate(sides)
        ]
        known = [place for place in places if place is not None]
        if len(known) < len(places):
            return None
        top, bottom, left, right = known
        if not (0 <= top < bottom <= value.height and 0 <= left < right <= value.width):
            return None
        return Grid.of([row[left:right] for row in value.rows()[top:bottom]])

    def price(self, params: bytes) -> int:
        return BASE + price_of(*read_crop(params.decode()))

    def read(self, text: str) -> bytes:
        return parameters(*read_crop(text)).encode()


def price_of(mark: str, sides: Sides) -> int:
    """Return the cost of a mark and four sides."""
    own = 2 * BIT + (COLOUR if mark.startswith(OF_COLOUR) else 0)
    return own + sum(side.millibits for side in sides)


def spans_of(grid: Grid, mark: str) -> tuple[Span | None, Span | None] | None:
    """Return the rows and the columns that a mark spans; None if the grid has no such mark."""
    if mark == NO_MARK:
        return None, None
    colour = _colour_of(grid, mark)
    if colour is None:
        return None
    places = [divmod(n, grid.width) for n, cell in enumerate(grid.cells) if cell == colour]
    if not places:
        return None
    rows, columns = [row for row, _ in places], [column for _, column in places]
    return (min(rows), max(rows) + 1), (min(columns), max(columns) + 1)


def _colour_of(grid: Grid, mark: str) -> int | None:
    """Return the colour of a mark; None if there is none, or a tie."""
    if mark.startswith(OF_COLOUR):
        return int(mark[-1])
    sign = 1 if mark == RAREST else -1
    ranks = sorted((sign * grid.cells.count(c), c) for c in range(1, 10) if c in grid.cells)
    is_tied = len(ranks) > 1 and ranks[0][0] == ranks[1][0]
    return ranks[0][1] if ranks and not is_tied else None


def _windows(grid: Grid, target: Grid) -> list[tuple[Span, Span]]:
    """Return the rows and columns where a grid contains a smaller target; none if too many."""
    (height, width), rows, lines = target.size, grid.rows(), target.rows()
    down, along = grid.height - height, grid.width - width
    if min(down, along) < 0 or down + along == 0:
        return []
    places = [
        ((top, top + height), (left, left + width))
        for top in range(down + 1)
        for left in range(along + 1)
        if all(rows[top + n][left : left + width] == line for n, line in enumerate(lines))
    ]
    return places if len(places) <= MOST_WINDOWS else []


def _fitting(
    mark: str, grids: Sequence[Grid], windows: Sequence[Sequence[tuple[Span, Span]]]
) -> Iterator[Sides]:
    """Yield the cheapest sides that crop every grid to one of its windows."""
    known = [spans for grid in grids if (spans := spans_of(grid, mark)) is not None]
    if len(known) < len(grids):
        return
    both: list[list[tuple[Side, Side]]] = []
    for axis in (0, 1):
        shared: set[tuple[Side, Side]] | None = None
        for grid, spans, own in zip(grids, known, windows, strict=True):
            sides = {
                pair
                for span in {window[axis] for window in own}
                for pair in _sides(span, grid.size[axis], spans[axis])
            }
            shared = sides if shared is None else shared & sides
        both.append(sorted(shared or (), key=_price))
    for rows, columns in sorted(product(*both), key=lambda sides: _price(sides[0] + sides[1]))[
        :MOST_SETTINGS
    ]:
        if _uses(mark, (*rows, *columns)):
            yield (*rows, *columns)


def _uses(mark: str, sides: Sequence[Side]) -> bool:
    """Whether a side is anchored at the mark, or in the middle if there is no mark."""
    anchors = (MIDDLE,) if mark == NO_MARK else OF_MARK
    return any(side.anchor in anchors for side in sides)


def _price(sides: Sequence[Side]) -> tuple[int, str]:
    return sum(side.millibits for side in sides), " ".join(side.text() for side in sides)


def _sides(span: Span, length: int, mark: Span | None) -> Iterator[tuple[Side, Side]]:
    """Yield all ways to describe the start and the end of a span."""
    ways: list[list[Side]] = []
    for is_end, line in enumerate(span):
        own = []
        for name in ANCHORS:
            anchor = anchor_of(name, length, mark, bool(is_end))
            if anchor is not None:
                offset = (2 * line if name in HALVES else line) - anchor
                own.append(Side(name, offset))
        ways.append([side for side in own if abs(side.offset) <= MOST_OFFSET])
    begins, ends = ways
    return product(begins, ends)


def parameters(mark: str, sides: Sides) -> str:
    """Return the rule's parameters as text."""
    return f"{mark}: {' '.join(side.text() for side in sides)}"


def read_crop(text: str) -> tuple[str, Sides]:
    """Invert `parameters`; raises ValueError if the text is invalid."""
    mark, words = text.split(": ")
    top, bottom, left, right = (_read_side(word) for word in words.split(" "))
    if mark not in MARKS:
        raise ValueError(text)
    return mark, (top, bottom, left, right)


def _read_side(word: str) -> Side:
    match = _SIDE.fullmatch(word)
    if match is None or match["anchor"] not in ANCHORS:
        raise ValueError(word)
    return Side(match["anchor"], int(match["offset"] or 0))
