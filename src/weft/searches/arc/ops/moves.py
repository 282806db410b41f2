"""Operators that move or repeat the contents of a grid: facts and plain definitions.

Most of them pick a list of rows and a list of columns; the result is where these cross. `picked`
defines the lists.
"""

from __future__ import annotations

from collections.abc import Callable
from math import gcd

from weft.searches.arc.codes import moves as k
from weft.searches.arc.ops.operator import Operator, OperatorFamily, Palette, ShapeEffect
from weft.searches.arc.values import MAX_SIDE, Grid, Value

Lines = list[list[int]]


def most_common(grid: Grid) -> int:
    """Return the most common colour; ties go to the lowest."""
    return max(range(10), key=lambda colour: (grid.cells.count(colour), -colour))


def main_colour(grid: Grid) -> int:
    """Return the most common non-black colour (ties: the lowest); black if there is none."""
    return max(range(1, 10), key=grid.cells.count) if any(grid.cells) else 0


def rare_colour(grid: Grid) -> int:
    """Return the rarest non-black colour (ties: the lowest); black if there is none."""
    colours = sorted(set(grid.cells) - {0})
    return min(colours, key=grid.cells.count) if colours else 0


def turned(rows: Lines, p: int) -> Lines:
    """Apply one of eight symmetries: bit 0 mirrors columns, bit 1 rows, bit 2 then transposes."""
    rows = rows[::-1] if p & 2 else rows
    rows = [row[::-1] for row in rows] if p & 1 else rows
    return [list(column) for column in zip(*rows, strict=True)] if p & 4 else rows


def transform(value: Value, given: Grid, p: int, q: int) -> Value:
    """Apply one of the eight symmetries to a grid."""
    assert isinstance(value, Grid)
    return Grid.of(turned(value.rows(), p))


def pick(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """Return the cells where the rows that `p` selects cross the columns that `q` selects."""
    assert isinstance(value, Grid)
    lines = value.rows()
    rows = picked(lines, value, p)
    columns = picked([list(line) for line in zip(*lines, strict=True)], value, q)
    if not rows or not columns or max(len(rows), len(columns)) > MAX_SIDE:
        return None
    return Grid.of([[lines[r][c] for c in columns] for r in rows])


def picked(lines: Lines, grid: Grid, what: int) -> list[int] | None:
    """Return the indices of the lines of one axis that `what` (a mode plus an amount) selects."""
    mode, places = what & ~15, list(range(len(lines)))
    if mode in (k.TRIM, k.OCCUPIED):
        matching = [i for i in places if _counts(lines[i], grid, what & 15)]
        return (
            list(range(matching[0], matching[-1] + 1)) if mode == k.TRIM and matching else matching
        )
    if mode in LISTS_BY_CELLS:
        return LISTS_BY_CELLS[mode](lines)
    a = _amount(what & 15, grid)
    return None if a is None else LISTS_BY_PLACE[mode](places, a)


LISTS_BY_PLACE: dict[int, Callable[[list[int], int], list[int]]] = {
    k.ALL: lambda i, a: i,
    k.CUT: lambda i, a: i[a:-a],  # without `a` lines at both ends
    k.HALF: lambda i, a: i[len(i) - len(i) // 2 :] if a else i[: len(i) // 2],
    k.REPEAT: lambda i, a: i * a,
    k.MIRROR: lambda i, a: (i + i[::-1]) * (a // 2) + i * (a % 2),  # every second copy reversed
    k.STRETCH: lambda i, a: [line for line in i for _ in range(a)],
    k.STRIDE: lambda i, a: i[::a],
    k.ROLL: lambda i, a: i[-1:] + i[:-1],  # shifted by one
}


def _emptiest_first(lines: Lines) -> list[int]:
    """Sort lines by their number of non-black cells; the sort is stable."""
    return sorted(range(len(lines)), key=lambda i: sum(cell != 0 for cell in lines[i]))


def _period(lines: Lines) -> int:
    """Return the smallest number of first lines that give all lines when repeated."""
    n = len(lines)
    return next(p for p in range(1, n + 1) if lines[p:] == lines[: n - p])


LISTS_BY_CELLS: dict[int, Callable[[Lines], list[int]]] = {
    k.COLLAPSE: lambda lines: [0, *_starts(lines)[:-1]],  # the first of equal neighbours
    k.SORT: _emptiest_first,
    k.PERIOD: lambda lines: list(range(_period(lines))),
}


def _counts(line: list[int], grid: Grid, kind: int) -> bool:
    if kind in (k.MAIN, k.RARE):
        colour = main_colour(grid) if kind == k.MAIN else rare_colour(grid)
        return colour != 0 and colour in line
    back = most_common(grid) if kind == k.NOT_COMMON else 0
    return any(cell != back for cell in line)


def _amount(a: int, grid: Grid) -> int | None:
    if a == k.COLOURS:
        return len(set(grid.cells) - {0}) or None
    if a == k.BLOCK:  # the side of the largest one-coloured squares that make up the grid
        rows = grid.rows()
        columns = [list(line) for line in zip(*rows, strict=True)]
        return gcd(*(i for axis in (rows, columns) for i in _starts(axis)))
    return a


def _starts(lines: Lines) -> list[int]:
    return [i for i in range(1, len(lines)) if lines[i] != lines[i - 1]] + [len(lines)]


def outer(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """Copy the grid for each cell that is not black (p = 0), or of the most common colour (2)."""
    assert isinstance(value, Grid)
    h, w = value.height, value.width
    if max(h * h, w * w) > MAX_SIDE:
        return None
    colour = most_common(value) if p == 2 else 0

    def cell(r: int, c: int) -> int:
        is_filled = value.at(r // h, c // w) == colour
        return value.at(r % h, c % w) if is_filled == (p > 0) else 0

    return Grid.of([[cell(r, c) for c in range(w * w)] for r in range(h * h)])


def fall(value: Value, given: Grid, p: int, q: int) -> Value:
    """Move non-black cells to one side, in order: p = 0 down, 1 up, 2 right, 3 left."""
    assert isinstance(value, Grid)
    lines = value.rows() if p >= 2 else [list(c) for c in zip(*value.rows(), strict=True)]
    fallen = [sorted(line, key=lambda cell: (cell != 0) == (p % 2 == 0)) for line in lines]
    return Grid.of(fallen if p >= 2 else list(zip(*fallen, strict=True)))


def overlay(value: Value, given: Grid, p: int, q: int) -> Value:
    """Return the first non-black cell among the symmetries whose bits are set in `p`, in order."""
    assert isinstance(value, Grid)
    layers = [Grid.of(turned(value.rows(), t)).cells for t in range(4) if p >> t & 1]
    cells = bytes(next((cell for cell in stack if cell), 0) for stack in zip(*layers, strict=True))
    return Grid(value.height, value.width, cells)


_mirror, _turn = (
    OperatorFamily(k.TURN, transform, shape=ShapeEffect.KEEP),
    OperatorFamily(k.TURN, transform),
)
_crop = OperatorFamily(k.PICK, pick, shape=ShapeEffect.SHRINK)
_repeat = OperatorFamily(k.PICK, pick, shape=ShapeEffect.GROW)
_order = OperatorFamily(k.PICK, pick, shape=ShapeEffect.KEEP)
_outer = OperatorFamily(k.OUTER, outer, shape=ShapeEffect.GROW, palette=Palette.BLACK)
_fall = OperatorFamily(k.FALL, fall, shape=ShapeEffect.KEEP)
_add = OperatorFamily(k.OVERLAY, overlay, shape=ShapeEffect.KEEP)
FIRST, LAST = k.HALF, k.HALF + 1


def _both(family: OperatorFamily, name: str, what: int, bits: int, doc: str) -> Operator:
    return family(name, what, what, bits, doc)


AUGMENTATIONS: tuple[Operator, ...] = (
    _mirror("mirror_columns", 1, 0, 5, "Mirror left to right."),
    _mirror("mirror_rows", 2, 0, 5, "Mirror top to bottom."),
    _mirror("rotate_180", 3, 0, 5, "Rotate by 180°."),
    _turn("transpose", 4, 0, 5, "Transpose: rows become columns."),
    _turn("rotate_90", 6, 0, 5, "Rotate by 90° clockwise."),
    _turn("rotate_270", 5, 0, 5, "Rotate by 90° anticlockwise."),
    _turn("mirror_diagonal", 7, 0, 5, "Transpose about the other diagonal."),
)
CROPS: tuple[Operator, ...] = (
    _both(_crop, "trim", k.TRIM, 5, "Crop to the non-black cells."),
    _both(_crop, "trim_common", k.TRIM + k.NOT_COMMON, 6, "Crop away the most common colour."),
    _both(_crop, "trim_to_main", k.TRIM + k.MAIN, 6, "Crop to the main colour."),
    _both(_crop, "trim_to_rare", k.TRIM + k.RARE, 6, "Crop to the rarest colour."),
    _both(_crop, "remove_border", k.CUT + 1, 6, "Remove the outermost rows and columns."),
    _crop("top_half", FIRST, k.ALL, 6, "The upper half, without a middle row."),
    _crop("bottom_half", LAST, k.ALL, 6, "The lower half, without a middle row."),
    _crop("left_half", k.ALL, FIRST, 6, "The left half, without a middle column."),
    _crop("right_half", k.ALL, LAST, 6, "The right half, without a middle column."),
    _crop("top_left_quarter", FIRST, FIRST, 7, "The upper left quarter."),
    _crop("top_right_quarter", FIRST, LAST, 7, "The upper right quarter."),
    _crop("bottom_left_quarter", LAST, FIRST, 7, "The lower left quarter."),
    _crop("bottom_right_quarter", LAST, LAST, 7, "The lower right quarter."),
    _both(_crop, "scale_down", k.STRIDE + k.BLOCK, 6, "One cell for each one-coloured block."),
    _both(_crop, "collapse", k.COLLAPSE, 6, "Merge equal adjacent rows and columns."),
    _both(_crop, "drop_empty_lines", k.OCCUPIED, 6, "Remove black rows and columns."),
    _both(_crop, "smallest_tile", k.PERIOD, 6, "The smallest tile of which the grid consists."),
)
REPEATS: tuple[Operator, ...] = (
    _repeat("repeat_down", k.REPEAT + 2, k.ALL, 6, "The grid twice, one below the other."),
    _repeat("repeat_right", k.ALL, k.REPEAT + 2, 6, "The grid twice, side by side."),
    _both(_repeat, "repeat_2x2", k.REPEAT + 2, 6, "Two by two copies."),
    _both(_repeat, "repeat_3x3", k.REPEAT + 3, 6, "Three by three copies."),
    _repeat("mirror_down", k.MIRROR + 2, k.ALL, 5, "The grid and its mirror image below."),
    _repeat("mirror_right", k.ALL, k.MIRROR + 2, 5, "The grid and its mirror image to the right."),
    _both(_repeat, "mirror_fourfold", k.MIRROR + 2, 5, "The grid, mirrored to the right and down."),
    _both(_repeat, "mirror_3x3", k.MIRROR + 3, 8, "Three by three copies, every other mirrored."),
    _both(_repeat, "scale_2", k.STRETCH + 2, 5, "Each cell becomes two by two."),
    _both(_repeat, "scale_3", k.STRETCH + 3, 5, "Each cell becomes three by three."),
    _both(_repeat, "scale_by_colours", k.STRETCH + k.COLOURS, 7, "Scale by the number of colours."),
    _repeat("stretch_columns", k.ALL, k.STRETCH + 2, 7, "Each column twice."),
    _outer("outer_filled", 0, 0, 7, "A copy of the grid for each non-black cell."),
    _outer("outer_common", 2, 0, 8, "A copy of the grid for each cell of the most common colour."),
)
ORDERS: tuple[Operator, ...] = (
    _fall("fall_down", 0, 0, 6, "Cells fall down through black."),
    _fall("fall_up", 1, 0, 6, "Cells rise through black."),
    _fall("fall_right", 2, 0, 6, "Cells move right through black."),
    _fall("fall_left", 3, 0, 6, "Cells move left through black."),
    _order("roll_down", k.ROLL + 1, k.ALL, 6, "Shift down by one; the last row becomes the first."),
    _order("sort_rows", k.SORT, k.ALL, 7, "Rows from the emptiest to the fullest."),
    _order("sort_columns", k.ALL, k.SORT, 7, "Columns from the emptiest to the fullest."),
    _add("overlay_columns", 0b11, 0, 6, "Add the left-right mirror image."),
    _add("overlay_rows", 0b101, 0, 6, "Add the top-bottom mirror image."),
    _add("overlay_180", 0b1001, 0, 7, "Add the grid rotated by 180°."),
)
OPERATORS: tuple[Operator, ...] = (*AUGMENTATIONS, *CROPS, *REPEATS, *ORDERS)
