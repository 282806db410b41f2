"""Shared by the definitions of operators on objects: flood fill, objects from cells, measures."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from weft.searches.arc.codes import objectparts as m
from weft.searches.arc.values import EMPTY, Grid, Piece, Value

Cell = tuple[int, int]
BESIDE = ((-1, 0), (0, -1), (0, 1), (1, 0))
AROUND = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))


def neighbours(cell: Cell, eight: bool) -> list[Cell]:
    """Return the four cells beside a cell, or the eight around it."""
    r, c = cell
    return [(r + down, c + along) for down, along in (AROUND if eight else BESIDE)]


def groups(code: dict[Cell, int], eight: bool) -> list[list[Cell]]:
    """Return groups of connected cells with equal code, in scan order of their first cells."""
    visited: set[Cell] = set()
    parts = []
    for start in sorted(code):
        if start in visited:
            continue
        visited.add(start)
        group = [start]
        for cell in group:
            for other in neighbours(cell, eight):
                if other not in visited and code.get(other) == code[start]:
                    visited.add(other)
                    group.append(other)
        parts.append(group)
    return parts


def piece_of(cells: dict[Cell, int]) -> Piece | None:
    """Return the object of these cells in its smallest box; None if there are no cells."""
    if not cells:
        return None
    rows, columns = [r for r, _ in cells], [c for _, c in cells]
    top, left = min(rows), min(columns)
    height, width = max(rows) - top + 1, max(columns) - left + 1
    data = bytearray([EMPTY]) * (height * width)
    for (r, c), colour in cells.items():
        data[(r - top) * width + c - left] = colour
    return Piece(top, left, height, width, bytes(data))


def cells_of(piece: Piece) -> dict[Cell, int]:
    """Return the cells of an object by their position in the grid, in scan order."""
    top, left, width = piece.row, piece.col, piece.width
    return {
        (top + n // width, left + n % width): colour
        for n, colour in enumerate(piece.cells)
        if colour != EMPTY
    }


def grid_cells(grid: Grid) -> dict[Cell, int]:
    """Return the cells of a grid by position, in scan order."""
    return {(r, c): grid.at(r, c) for r in range(grid.height) for c in range(grid.width)}


def commonest(colours: Iterable[int]) -> int:
    """Return the most common colour (ties: the lowest), empty cells excluded; 0 if none."""
    listed = [colour for colour in colours if colour != EMPTY]
    return max(range(10), key=lambda colour: (listed.count(colour), -colour))


def holes_of(piece: Piece) -> list[list[Cell]]:
    """Return groups of enclosed empty cells (4-connected), counted from the piece's corner."""
    h, w = piece.height, piece.width
    empty = {(i // w, i % w): 1 for i, cell in enumerate(piece.cells) if cell == EMPTY}
    return [
        group
        for group in groups(empty, eight=False)
        if not any(r in (0, h - 1) or c in (0, w - 1) for r, c in group)
    ]


def rows_of(piece: Piece) -> list[list[int]]:
    """Return the rows of an object, empty cells included."""
    w = piece.width
    return [list(piece.cells[r * w : (r + 1) * w]) for r in range(piece.height)]


def mirrors(piece: Piece) -> int:
    """Count the mirrors (columns, rows, both diagonals) that leave a piece unchanged."""
    rows = rows_of(piece)
    transposed = [list(column) for column in zip(*rows, strict=True)]
    other = [row[::-1] for row in transposed[::-1]]
    images = ([row[::-1] for row in rows], rows[::-1], transposed, other)
    return sum(image == rows for image in images)


def at_border(piece: Piece, given: Grid) -> bool:
    """Whether the box of a piece reaches or crosses the border of the input grid."""
    bottom, right = piece.row + piece.height, piece.col + piece.width
    inside = piece.row > 0 and piece.col > 0 and bottom < given.height and right < given.width
    return not inside


def inked(piece: Piece) -> bytes:
    """Return the colours of a piece's cells."""
    return bytes(cell for cell in piece.cells if cell != EMPTY)


def colour_of(piece: Piece) -> int:
    """Return the most common colour of an object; ties go to the lowest."""
    return commonest(piece.cells)


def shape_of(piece: Piece) -> tuple[int, int, tuple[bool, ...]]:
    """Return an object's shape: the size of its box, and which of the box's cells are empty."""
    return piece.height, piece.width, tuple(cell == EMPTY for cell in piece.cells)


MEASURES: dict[int, Callable[[Piece, Grid], int]] = {
    m.TOP: lambda piece, given: piece.row,
    m.BOTTOM: lambda piece, given: piece.row + piece.height,
    m.LEFT: lambda piece, given: piece.col,
    m.RIGHT: lambda piece, given: piece.col + piece.width,
    m.AREA: lambda piece, given: piece.height * piece.width,
    m.HEIGHT: lambda piece, given: piece.height,
    m.BORDER: lambda piece, given: int(at_border(piece, given)),
    m.CELLS: lambda piece, given: len(inked(piece)),
    m.COLOURS: lambda piece, given: len(set(inked(piece))),
    m.COLOUR: lambda piece, given: colour_of(piece),
    m.SOLID: lambda piece, given: int(EMPTY not in piece.cells),
    m.HOLES: lambda piece, given: len(holes_of(piece)),
    m.SYMMETRY: lambda piece, given: mirrors(piece),
}
"""The definition of each measure of one object."""


def measures(objects: tuple[Piece, ...], what: int, given: Grid) -> list[int]:
    """Measure all objects of a set; with ALIKE, count the objects that share each one's measure."""
    kind = what % m.ALIKE
    if kind == m.INDEX:
        values = list(range(1, len(objects) + 1))
    elif kind == m.SHAPE:  # the first object of the same shape
        shapes = [shape_of(piece) for piece in objects]
        values = [shapes.index(shape) for shape in shapes]
    else:
        values = [MEASURES[kind](piece, given) for piece in objects]
    return [values.count(value) for value in values] if what >= m.ALIKE else values


def as_objects(value: Value) -> tuple[Piece, ...]:
    """Return the value, which must be a set of objects."""
    assert isinstance(value, tuple)
    return value


def as_piece(value: Value) -> Piece:
    """Return the value, which must be an object."""
    assert isinstance(value, Piece)
    return value
