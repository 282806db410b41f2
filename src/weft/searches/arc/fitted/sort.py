"""The rule that sorts the lines, parts or objects of a grid by a measure, along one axis.

    single_columns: cells right    columns with cells change places: the fullest at the right
    objects_8: height down         objects move up or down, the tallest at the bottom

Black lines and the gaps between objects stay where they are; nothing moves across the axis.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from weft.searches.arc.fitted.choose import MEASURE, MEASURES, measurements_of, segment
from weft.searches.arc.fitted.rule import BASE, Examples, Proposed
from weft.searches.arc.ops.objectparts import cells_of, colour_of
from weft.searches.arc.ops.operator import BIT, ShapeEffect
from weft.searches.arc.ops.registry import BY_NAME
from weft.searches.arc.values import Grid, Piece

SEGMENTATIONS = (
    "single_rows", "single_columns", "objects_8", "objects_4", "blobs_8", "split_lines",
    "split_black_lines",
)  # fmt: skip
DIRECTIONS = ("right", "down", "left", "up")
COLOUR = "colour"
POSITIONS = ("top", "left", "bottom", "right", "border")
SORTED_BY: tuple[str, ...] = (*(m for m in MEASURES if m not in POSITIONS), COLOUR)
FEWEST, MOST = 2, 30
"""Minimum and maximum number of pieces to sort."""
DIRECTION = 2 * BIT


def sorted_grid(grid: Grid, segmentation: str, measure: str, direction: str) -> Grid | None:
    """Sort the pieces of a grid; None if there are too few or too many, or they do not fit."""
    pieces = pieces_of(grid, segmentation)
    values = None if pieces is None else measured(pieces, grid)
    if pieces is None or values is None:
        return None
    return _moved(grid, pieces, values[measure], direction)


def pieces_of(grid: Grid, segmentation: str) -> list[Piece] | None:
    """Return the pieces that are not black; None if there are too few or too many."""
    pieces = [piece for piece in segment(segmentation, grid) if has_ink(piece)]
    return pieces if FEWEST <= len(pieces) <= MOST else None


def has_ink(piece: Piece) -> bool:
    """Whether a piece has a non-black cell."""
    return any(cells_of(piece).values())


def measured(pieces: Sequence[Piece], grid: Grid) -> Mapping[str, Sequence[int]] | None:
    """Return the measures by which pieces can be sorted; None if one lies outside the grid."""
    measurements = measurements_of(pieces, grid)
    if measurements is None:
        return None
    return {**measurements, COLOUR: [colour_of(piece) for piece in pieces]}


def _moved(
    grid: Grid, pieces: Sequence[Piece], values: Sequence[int], direction: str
) -> Grid | None:
    """Sort pieces stably, with the largest value last in a direction; None if they do not fit."""
    is_across, sign = direction in ("left", "right"), -1 if direction in ("left", "up") else 1
    starts = [piece.col if is_across else piece.row for piece in pieces]
    lengths = [piece.width if is_across else piece.height for piece in pieces]
    ends = [start + length for start, length in zip(starts, lengths, strict=True)]
    places = sorted(range(len(pieces)), key=lambda n: starts[n])
    order = sorted(places[::sign], key=lambda n: values[n])[::sign]
    at, cells = starts[places[0]], bytearray(grid.cells)
    for piece in pieces:
        for row, column in cells_of(piece):
            cells[row * grid.width + column] = 0
    for slot, n in enumerate(order):
        down, along = (0, at - starts[n]) if is_across else (at - starts[n], 0)
        if not 0 <= at <= (grid.width if is_across else grid.height) - lengths[n]:
            return None
        for (row, column), colour in cells_of(pieces[n]).items():
            place = (row + down) * grid.width + column + along
            if cells[place] and colour:
                return None
            cells[place] = colour or cells[place]
        following = places[slot + 1 : slot + 2]
        at += lengths[n] + sum(starts[m] - ends[places[slot]] for m in following)
    return Grid(grid.height, grid.width, bytes(cells))


class Sort(Proposed):
    """Parameters: the segmentation, the measure, and the direction in which it increases."""

    name = "sort"
    doc = (
        "Sorts pieces of the grid by a measure of `choose`, or by `colour`, the greatest last in a "
        "direction: `single_columns: cells right`. Pieces are rows, columns, parts between lines "
        "or objects (`single_rows`, `single_columns`, `split_lines`, `split_black_lines`, "
        "`objects_8`, `objects_4`, `blobs_8`) that are not black. They move `right`, `left`, "
        "`down` or `up` along that axis only, and the gaps between their places stay; pieces with "
        "equal values keep their order. It fails if two would overlap, or one would leave the grid."
    )
    shape = ShapeEffect.KEEP

    def settings(self, examples: Examples) -> Iterator[str]:
        pairs = examples.pairs()
        if any(v.size != t.size or sorted(v.cells) != sorted(t.cells) for v, t in pairs):
            return
        for segmentation in SEGMENTATIONS:
            if all(pieces_of(value, segmentation) is not None for value, _ in pairs):
                for direction in DIRECTIONS:
                    yield from (parameters(segmentation, m, direction) for m in SORTED_BY)

    def apply(self, params: bytes, value: Grid, given: Grid) -> Grid | None:
        return sorted_grid(value, *read_sort(params.decode()))

    def price(self, params: bytes) -> int:
        segmentation, _, _ = read_sort(params.decode())
        return BASE + BY_NAME[segmentation].millibits + MEASURE + DIRECTION

    def read(self, text: str) -> bytes:
        return parameters(*read_sort(text)).encode()


def parameters(segmentation: str, measure: str, direction: str) -> str:
    """Return the rule's parameters as text."""
    return f"{segmentation}: {measure} {direction}"


def read_sort(text: str) -> tuple[str, str, str]:
    """Invert `parameters`; raises ValueError if the text is invalid."""
    segmentation, words = text.split(": ")
    measure, direction = words.split(" ")
    if segmentation not in SEGMENTATIONS or measure not in SORTED_BY or direction not in DIRECTIONS:
        raise ValueError(text)
    return segmentation, measure, direction
