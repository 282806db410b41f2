"""The rule that arranges a grid's objects on a new canvas by how they fit together.

    layers: stack centre       all colours stacked, aligned at their centres
    blobs_8: meet 5            objects that share their one gray cell
    objects_8: jigsaw square   objects that fill a square without overlap

The objects alone determine the size of the canvas. A jigsaw fails if it has two solutions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import isqrt

from weft.searches.arc.fitted.choose import segment
from weft.searches.arc.fitted.rule import BASE, Composed
from weft.searches.arc.ops.objectparts import Cell, commonest
from weft.searches.arc.ops.operator import BIT, ShapeEffect
from weft.searches.arc.ops.registry import BY_NAME
from weft.searches.arc.values import EMPTY, MAX_SIDE, Grid, Piece

SEGMENTATIONS = ("objects_4", "objects_8", "blobs_4", "blobs_8", "layers")
LAYOUT = 4 * BIT
"""Cost of one of nearly twenty layouts."""
MOST_PIECES = 12
MOST_STEPS = 2000
"""Maximum number of placements that a jigsaw tries."""
SEPARATOR = ": "
Cells = Mapping[Cell, int]
"""The colours of an object's cells by position in its box, in scan order."""
Layout = Callable[[Sequence[Piece]], Grid | None]


# -- stacked --------------------------------------------------------------------------------------


def stacked(pieces: Sequence[Piece], down: int, right: int) -> Grid | None:
    """Stack objects, aligned at their starts (0), centres (1) or ends (2) on each axis."""
    height, width = max(p.height for p in pieces), max(p.width for p in pieces)
    places = []
    for piece in pieces:
        row, column = down * (height - piece.height), right * (width - piece.width)
        if row % 2 or column % 2:
            return None
        places.append((row // 2, column // 2))
    return _drawn((height, width), zip(map(_cells, pieces), places, strict=True))


def meeting(pieces: Sequence[Piece], colour: int) -> Grid | None:
    """Align objects at the one cell of a colour that each of them has."""
    shapes = [_cells(piece) for piece in pieces]
    shared = [[cell for cell, own in cells.items() if own == colour] for cells in shapes]
    if any(len(cells) != 1 for cells in shared):
        return None
    centres = [cells[0] for cells in shared]
    down, right = max(r for r, _ in centres), max(c for _, c in centres)
    places = [(down - r, right - c) for r, c in centres]
    corners = zip(pieces, places, strict=True)
    ends = [(r + piece.height, c + piece.width) for piece, (r, c) in corners]
    size = max(r for r, _ in ends), max(c for _, c in ends)
    return _drawn(size, zip(shapes, places, strict=True)) if max(size) <= MAX_SIDE else None


def _drawn(size: tuple[int, int], placed: Iterable[tuple[Cells, Cell]]) -> Grid:
    """Draw objects at places, smaller ones on top, the most common colour below all."""
    moved = [{(r + a, c + b): x for (r, c), x in own.items()} for own, (a, b) in placed]
    ground = commonest(colour for cells in moved for colour in cells.values())
    layers = sorted(moved, key=len, reverse=True)
    cells = {at: ground for own in layers for at, colour in own.items() if colour == ground}
    for own in layers:
        cells |= {at: colour for at, colour in own.items() if colour != ground}
    return _grid(size, cells)


# -- jigsaws --------------------------------------------------------------------------------------


def square(pieces: Sequence[Piece]) -> Grid | None:
    """Fill a square with all objects."""
    side = isqrt(_area(pieces))
    if side * side != _area(pieces) or side > MAX_SIDE:
        return None
    return _only((side, side), solutions(_all_cells(side), _shapes(pieces)))


def ring(pieces: Sequence[Piece]) -> Grid | None:
    """Fill the outermost cells of a square with all objects."""
    side = _area(pieces) // 4 + 1
    if _area(pieces) % 4 or not 3 <= side <= MAX_SIDE:
        return None
    border = [(r, c) for r, c in _all_cells(side) if {r, c} & {0, side - 1}]
    return _only((side, side), solutions(border, _shapes(pieces)))


def box(pieces: Sequence[Piece]) -> Grid | None:
    """Fill the empty cells in one object's box with others, if only one result is possible."""
    grids = {
        filled: None
        for place, piece in enumerate(pieces)
        for filled in _filled(piece, [*pieces[:place], *pieces[place + 1 :]])
    }
    return next(iter(grids)) if len(grids) == 1 else None


def _filled(piece: Piece, others: Sequence[Piece]) -> Iterator[Grid]:
    """Yield the box of an object, filled in at most two ways."""
    size = piece.height, piece.width
    own_cells = _cells(piece)
    gaps = [divmod(n, piece.width) for n, colour in enumerate(piece.cells) if colour == EMPTY]
    small = [cells for cells in _shapes(others) if len(cells) <= len(gaps)]
    if gaps and sum(map(len, small)) >= len(gaps):
        ways = solutions(gaps, small)
        yield from (_grid(size, {**own_cells, **own}) for own in ways)


def solutions(cells: Iterable[Cell], shapes: Sequence[Cells]) -> list[dict[Cell, int]]:
    """Return at most two ways to fill cells with shapes, each shape used at most once.

    The first empty cell is filled next, so no way is tried twice. Empty if it takes too long.
    """
    steps = iter(range(MOST_STEPS))

    def fill(
        empty: frozenset[Cell], left: Sequence[Cells], own: dict[Cell, int]
    ) -> Iterator[dict[Cell, int]]:
        if not empty:
            yield own
            return
        row, column = min(empty)
        for place, shape in enumerate(left):
            if next(steps, None) is None:
                return
            top, start = next(iter(shape))
            laid = {(r - top + row, c - start + column): x for (r, c), x in shape.items()}
            if laid.keys() <= empty:
                rest = [*left[:place], *left[place + 1 :]]
                yield from fill(empty - laid.keys(), rest, {**own, **laid})

    different: dict[tuple[tuple[Cell, int], ...], dict[Cell, int]] = {}
    for own in fill(frozenset(cells), shapes, {}):
        different.setdefault(tuple(sorted(own.items())), own)
        if len(different) > 1:
            break
    return list(different.values()) if next(steps, None) is not None else []


def _only(size: tuple[int, int], ways: Sequence[Cells]) -> Grid | None:
    return _grid(size, ways[0]) if len(ways) == 1 else None


# -- objects and grids ----------------------------------------------------------------------------


def _cells(piece: Piece) -> dict[Cell, int]:
    at = (divmod(n, piece.width) for n in range(len(piece.cells)))
    return {cell: colour for cell, colour in zip(at, piece.cells, strict=True) if colour != EMPTY}


def _shapes(pieces: Iterable[Piece]) -> list[dict[Cell, int]]:
    return [_cells(piece) for piece in pieces]


def _area(pieces: Iterable[Piece]) -> int:
    return sum(len(piece.cells) - piece.cells.count(EMPTY) for piece in pieces)


def _all_cells(side: int) -> list[Cell]:
    return [(r, c) for r in range(side) for c in range(side)]


def _grid(size: tuple[int, int], cells: Cells) -> Grid:
    height, width = size
    return Grid(height, width, bytes(cells.get(divmod(n, width), 0) for n in range(height * width)))


# -- the rule -------------------------------------------------------------------------------------

ENDS = {"top": 0, "left": 0, "centre": 1, "bottom": 2, "right": 2}
LAYOUTS: dict[str, Layout] = {
    "stack centre": partial(stacked, down=1, right=1),
    **{
        f"stack {down}_{right}": partial(stacked, down=ENDS[down], right=ENDS[right])
        for down in ("top", "bottom")
        for right in ("left", "right")
    },
    **{f"meet {colour}": partial(meeting, colour=colour) for colour in range(1, 10)},
    "jigsaw square": square,
    "jigsaw ring": ring,
    "jigsaw box": box,
}


def laid(layout: str, pieces: Sequence[Piece]) -> Grid | None:
    """Arrange objects; None if that is impossible, or if there are too few or too many."""
    return LAYOUTS[layout](pieces) if 2 <= len(pieces) <= MOST_PIECES else None


class Arrange(Composed):
    """Parameters: the segmentation and the layout."""

    name = "arrange"
    doc = (
        "Places the grid's objects on a new canvas: `blobs_8: meet 5`. `stack` puts them on top "
        "of each other, aligned at their `centre` or a corner (`top_left`), on a canvas as large "
        "as the largest; `meet` aligns them at the one cell of a colour that each has. Smaller "
        "objects are above, the most common colour is below all. `jigsaw` fits them into a "
        "`square`, the `ring` of a square's outermost cells, or the empty cells in the `box` of "
        "one of them, without overlap, if there is exactly one way. At most 12 objects."
    )
    shape = ShapeEffect.ANY

    def apply(self, params: bytes, value: Grid, given: Grid) -> Grid | None:
        name, layout = _read(params.decode())
        return laid(layout, segment(name, value))

    def price(self, params: bytes) -> int:
        name, _ = _read(params.decode())
        return BASE + BY_NAME[name].millibits + LAYOUT

    def read(self, text: str) -> bytes:
        return parameters(*_read(text)).encode()


def parameters(name: str, layout: str) -> str:
    """Return the rule's parameters as text."""
    return f"{name}{SEPARATOR}{layout}"


def _read(text: str) -> tuple[str, str]:
    name, layout = text.split(SEPARATOR)
    if name not in SEGMENTATIONS or layout not in LAYOUTS:
        raise ValueError(text)
    return name, layout
