"""Operators on grids that move or repeat what is there: facts and plain definitions."""

from __future__ import annotations

from weft.arc.kernels import moves
from weft.arc.ops.operator import BIT, Operator, Palette, Shape, Twin
from weft.arc.values import Grid, Stage, Value


def _move(
    name: str, kernel: int, p: int, bits: int, shape: Shape, twin: Twin, doc: str, q: int = 0
) -> Operator:
    return Operator(
        name, Stage.GRID, Stage.GRID, kernel, p, q, bits * BIT, shape, Palette.KEEP, twin, doc
    )


def turn(value: Value, given: Grid, p: int, q: int) -> Value:
    """One of the eight symmetries: bit 0 mirrors columns, bit 1 rows, bit 2 then transposes."""
    assert isinstance(value, Grid)
    rows = value.rows()
    if p & 2:
        rows = rows[::-1]
    if p & 1:
        rows = [row[::-1] for row in rows]
    if p & 4:
        rows = [list(column) for column in zip(*rows, strict=True)]
    return Grid.of(rows)


def trim(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """Crop to what is not background: black, or with p = 1 the most common colour."""
    assert isinstance(value, Grid)
    back = most_common(value) if p == 1 else 0
    rows = [r for r, row in enumerate(value.rows()) if any(cell != back for cell in row)]
    columns = [c for c in range(value.width) if any(row[c] != back for row in value.rows())]
    if not rows:
        return None
    cut = value.rows()[rows[0] : rows[-1] + 1]
    return Grid.of([row[columns[0] : columns[-1] + 1] for row in cut])


def most_common(grid: Grid) -> int:
    """The colour most cells have; the lowest of equals."""
    return max(range(10), key=lambda colour: (grid.cells.count(colour), -colour))


OPERATORS: tuple[Operator, ...] = (
    _move("mirror_columns", moves.TURN, 1, 5, Shape.KEEP, turn, "Left becomes right."),
    _move("mirror_rows", moves.TURN, 2, 5, Shape.KEEP, turn, "Top becomes bottom."),
    _move("rotate_180", moves.TURN, 3, 5, Shape.KEEP, turn, "Half a turn."),
    _move("transpose", moves.TURN, 4, 5, Shape.ANY, turn, "Rows become columns."),
    _move("rotate_90", moves.TURN, 6, 5, Shape.ANY, turn, "A quarter turn clockwise."),
    _move("rotate_270", moves.TURN, 5, 5, Shape.ANY, turn, "A quarter turn anticlockwise."),
    _move("mirror_diagonal", moves.TURN, 7, 6, Shape.ANY, turn, "Mirror on the other diagonal."),
    _move("trim", moves.TRIM, 0, 5, Shape.SHRINK, trim, "Crop to what is not black."),
    _move("trim_common", moves.TRIM, 1, 6, Shape.SHRINK, trim, "Crop to what is not background."),
)
