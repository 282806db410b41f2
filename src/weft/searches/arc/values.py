"""The values that programs compute with: grids, objects and small numbers, by stage.

A value has two forms. The plain form (`Grid`, `Piece`, tuples, ints) defines the meaning and is
used by the slow twins. The encoded form is bytes, is used by kernels and the search, and is
canonical: two values are equal exactly when their bytes are.

    GRID     h w cells…             colours 0–9
    OBJECT   r c h w cells…         colours 0–9, 10 where there is no cell
    OBJECTS  n object…              in the order that the operator defines
    COLOUR   c        COUNT  n

Rows and columns of objects are stored with `ORIGIN` added, so that they may be negative.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import chain

from weft.searches.arc.views.cells import cells_svg

MAX_SIDE = 30
EMPTY = 10
"""Colour of a cell that does not belong to an object."""
ORIGIN = 64
MAX_OBJECTS = 120
MAX_BYTES = 6144
"""Size of the longest encoded value; a kernel whose result would be longer fails."""


class ValueStage(IntEnum):
    """The type of a value."""

    GRID = 0
    OBJECTS = 1
    OBJECT = 2
    COLOUR = 3
    COUNT = 4


@dataclass(frozen=True, slots=True)
class Grid:
    """A rectangle of colours, row by row."""

    height: int
    width: int
    cells: bytes

    def __post_init__(self) -> None:
        assert 1 <= self.height <= MAX_SIDE
        assert 1 <= self.width <= MAX_SIDE
        assert len(self.cells) == self.height * self.width

    @staticmethod
    def of(rows: Sequence[Sequence[int]]) -> Grid:
        """Build a grid from its rows."""
        return Grid(len(rows), len(rows[0]), bytes(chain.from_iterable(rows)))

    def rows(self) -> list[list[int]]:
        """Return the rows as in ARC files."""
        w = self.width
        return [list(self.cells[r * w : (r + 1) * w]) for r in range(self.height)]

    def at(self, row: int, col: int) -> int:
        """Return the colour of a cell."""
        return self.cells[row * self.width + col]

    @property
    def size(self) -> tuple[int, int]:
        """Height and width."""
        return self.height, self.width

    def _repr_html_(self) -> str:
        return cells_svg(self.height, self.width, self.cells)


@dataclass(frozen=True, slots=True)
class Piece:
    """An object: coloured cells at a position."""

    row: int
    col: int
    height: int
    width: int
    cells: bytes

    def at(self, row: int, col: int) -> int:
        """Return the colour of a cell, counted from the piece's top left corner."""
        return self.cells[row * self.width + col]


@dataclass(frozen=True, slots=True)
class Box:
    """A bounding box: a rectangle of positions."""

    row: int
    col: int
    height: int
    width: int


Value = Grid | tuple[Piece, ...] | Piece | int


def encode(stage: ValueStage, value: Value) -> bytes:
    """Return the canonical bytes of a value."""
    match stage, value:
        case ValueStage.GRID, Grid(h, w, cells):
            return bytes((h, w)) + cells
        case ValueStage.OBJECTS, tuple():
            pieces = [encode(ValueStage.OBJECT, piece) for piece in value]
            return bytes((len(pieces),)) + b"".join(pieces)
        case ValueStage.OBJECT, Piece(r, c, h, w, cells):
            return bytes((r + ORIGIN, c + ORIGIN, h, w)) + cells
        case ((ValueStage.COLOUR | ValueStage.COUNT), int()):
            return bytes((value,))
    raise AssertionError(f"{value!r} is not of stage {stage.name}")


def decode(stage: ValueStage, data: bytes, start: int = 0) -> tuple[Value, int]:
    """Decode the value at `start`; return it and the offset of its end."""
    if stage is ValueStage.OBJECTS:
        pieces, at = [], start + 1
        for _ in range(data[start]):
            piece, at = decode(ValueStage.OBJECT, data, at)
            assert isinstance(piece, Piece)
            pieces.append(piece)
        return tuple(pieces), at
    if stage in (ValueStage.COLOUR, ValueStage.COUNT):
        return data[start], start + 1
    if stage is ValueStage.GRID:
        h, w = data[start], data[start + 1]
        end = start + 2 + h * w
        return Grid(h, w, data[start + 2 : end]), end
    r, c, h, w = data[start : start + 4]
    end = start + 4 + h * w
    return Piece(r - ORIGIN, c - ORIGIN, h, w, data[start + 4 : end]), end


def encode_grids(grids: Iterable[Grid]) -> bytes:
    """Encode grids, concatenated."""
    return b"".join(encode(ValueStage.GRID, grid) for grid in grids)


def decode_grids(data: bytes) -> tuple[Grid, ...]:
    """Undo `encode_grids`."""
    grids, at = [], 0
    while at < len(data):
        grid, at = decode(ValueStage.GRID, data, at)
        assert isinstance(grid, Grid)
        grids.append(grid)
    return tuple(grids)


def fits(stage: ValueStage, value: Value) -> bool:
    """Whether a value is within the limits: sides 1 to 30, numbers, positions, objects, bytes."""
    if stage is ValueStage.OBJECTS:
        assert isinstance(value, tuple)
        inside = all(fits(ValueStage.OBJECT, piece) for piece in value)
        return inside and len(value) <= MAX_OBJECTS and len(encode(stage, value)) <= MAX_BYTES
    if isinstance(value, int):
        return 0 <= value <= (9 if stage is ValueStage.COLOUR else 255)
    assert not isinstance(value, tuple)
    sides = 1 <= value.height <= MAX_SIDE and 1 <= value.width <= MAX_SIDE
    if isinstance(value, Piece):
        return sides and -ORIGIN <= min(value.row, value.col) <= max(value.row, value.col) <= 127
    return sides
