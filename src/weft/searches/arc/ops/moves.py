"""Operators on grids that move or repeat what is there: facts and plain definitions.

Most of them pick lines: a list of rows and a list of columns, and the result is where these
cross. `picked` defines the lists.
"""

from __future__ import annotations

from collections.abc import Callable
from math import gcd

from weft.searches.arc.codes import moves as k
from weft.searches.arc.ops.operator import Operator, Palette, ShapeEffect, Twin, on_grids
from weft.searches.arc.values import MAX_SIDE, Grid, Value

Lines = list[list[int]]


def most_common(grid: Grid) -> int:
    """The colour most cells have; the lowest of equals."""
    return max(range(10), key=lambda colour: (grid.cells.count(colour), -colour))


def main_colour(grid: Grid) -> int:
    """The colour most cells have, black apart; the lowest of equals; black if there is no other."""
    return max(range(1, 10), key=grid.cells.count) if any(grid.cells) else 0


def rare_colour(grid: Grid) -> int:
    """The colour fewest cells have, black apart; the lowest of equals; black if there is none."""
    colours = sorted(set(grid.cells) - {0})
    return min(colours, key=grid.cells.count) if colours else 0


def turned(rows: Lines, p: int) -> Lines:
    """One of the eight symmetries: bit 0 mirrors columns, bit 1 rows, bit 2 then transposes."""
    rows = rows[::-1] if p & 2 else rows
    rows = [row[::-1] for row in rows] if p & 1 else rows
    return [list(column) for column in zip(*rows, strict=True)] if p & 4 else rows


def transform(value: Value, given: Grid, p: int, q: int) -> Value:
    """One of the eight symmetries of a grid."""
    assert isinstance(value, Grid)
    return Grid.of(turned(value.rows(), p))


def pick(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """Take the cells where the rows that `p` names cross the columns that `q` names."""
    assert isinstance(value, Grid)
    lines = value.rows()
    rows = picked(lines, value, p)
    columns = picked([list(line) for line in zip(*lines, strict=True)], value, q)
    if not rows or not columns or max(len(rows), len(columns)) > MAX_SIDE:
        return None
    return Grid.of([[lines[r][c] for c in columns] for r in rows])


def picked(lines: Lines, grid: Grid, what: int) -> list[int] | None:
    """Numbers of the lines of one axis that `what` (a mode plus an amount) names, in order."""
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
    k.MIRROR: lambda i, a: (i + i[::-1]) * (a // 2) + i * (a % 2),  # every second one backwards
    k.STRETCH: lambda i, a: [line for line in i for _ in range(a)],
    k.STRIDE: lambda i, a: i[::a],
    k.ROLL: lambda i, a: i[-1:] + i[:-1],  # one onwards
}


def _emptiest_first(lines: Lines) -> list[int]:
    """Lines by how many of their cells are not black; equals stay in order."""
    return sorted(range(len(lines)), key=lambda i: sum(cell != 0 for cell in lines[i]))


def _period(lines: Lines) -> int:
    """How many first lines, the fewest possible, make the rest when repeated."""
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
    if a == k.BLOCK:  # the largest side of equal squares of one colour that make up the grid
        rows = grid.rows()
        columns = [list(line) for line in zip(*rows, strict=True)]
        return gcd(*(i for axis in (rows, columns) for i in _starts(axis)))
    return a


def _starts(lines: Lines) -> list[int]:
    return [i for i in range(1, len(lines)) if lines[i] != lines[i - 1]] + [len(lines)]


def outer(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """A copy of the grid for each cell that is not black (p = 0) or of the commonest colour (2)."""
    assert isinstance(value, Grid)
    h, w = value.height, value.width
    if max(h * h, w * w) > MAX_SIDE:
        return None
    colour = most_common(value) if p == 2 else 0

    def cell(r: int, c: int) -> int:
        there = value.at(r // h, c // w) == colour
        return value.at(r % h, c % w) if there == (p > 0) else 0

    return Grid.of([[cell(r, c) for c in range(w * w)] for r in range(h * h)])


def fall(value: Value, given: Grid, p: int, q: int) -> Value:
    """All but black falls to one side, in its order: p = 0 down, 1 up, 2 right, 3 left."""
    assert isinstance(value, Grid)
    lines = value.rows() if p >= 2 else [list(c) for c in zip(*value.rows(), strict=True)]
    fallen = [sorted(line, key=lambda cell: (cell != 0) == (p % 2 == 0)) for line in lines]
    return Grid.of(fallen if p >= 2 else list(zip(*fallen, strict=True)))


def overlay(value: Value, given: Grid, p: int, q: int) -> Value:
    """The first cell that is not black among the turns whose bits are set in `p`, in order."""
    assert isinstance(value, Grid)
    layers = [Grid.of(turned(value.rows(), t)).cells for t in range(4) if p >> t & 1]
    cells = bytes(next((cell for cell in stack if cell), 0) for stack in zip(*layers, strict=True))
    return Grid(value.height, value.width, cells)


def _symmetry(name: str, p: int, bits: int, shape: ShapeEffect, doc: str) -> Operator:
    return on_grids(name, k.TURN, p, 0, bits, shape, Palette.KEEP, transform, doc)


def _pick(name: str, p: int, q: int, bits: int, shape: ShapeEffect, doc: str) -> Operator:
    return on_grids(name, k.PICK, p, q, bits, shape, Palette.KEEP, pick, doc)


def _both(name: str, what: int, bits: int, shape: ShapeEffect, doc: str) -> Operator:
    return _pick(name, what, what, bits, shape, doc)


def _outer(name: str, p: int, bits: int, doc: str) -> Operator:
    return on_grids(name, k.OUTER, p, 0, bits, ShapeEffect.GROW, Palette.BLACK, outer, doc)


def _kept(name: str, kernel: int, p: int, bits: int, twin: Twin, doc: str) -> Operator:
    return on_grids(name, kernel, p, 0, bits, ShapeEffect.KEEP, Palette.KEEP, twin, doc)


KEEP, SHRINK, GROW, ANY = ShapeEffect.KEEP, ShapeEffect.SHRINK, ShapeEffect.GROW, ShapeEffect.ANY
FIRST, LAST = k.HALF, k.HALF + 1
AUGMENTATIONS: tuple[Operator, ...] = (
    _symmetry("mirror_columns", 1, 5, KEEP, "Left becomes right."),
    _symmetry("mirror_rows", 2, 5, KEEP, "Top becomes bottom."),
    _symmetry("rotate_180", 3, 5, KEEP, "Half a turn."),
    _symmetry("transpose", 4, 5, ANY, "Rows become columns."),
    _symmetry("rotate_90", 6, 5, ANY, "A quarter turn clockwise."),
    _symmetry("rotate_270", 5, 5, ANY, "A quarter turn anticlockwise."),
    _symmetry("mirror_diagonal", 7, 6, ANY, "Mirror on the other diagonal."),
)
CROPS: tuple[Operator, ...] = (
    _both("trim", k.TRIM, 5, SHRINK, "Crop to what is not black."),
    _both("trim_common", k.TRIM + k.NOT_COMMON, 6, SHRINK, "Crop to what is not background."),
    _both("trim_to_main", k.TRIM + k.MAIN, 6, SHRINK, "Crop to the most common colour but black."),
    _both("trim_to_rare", k.TRIM + k.RARE, 6, SHRINK, "Crop to the least common colour."),
    _both("remove_border", k.CUT + 1, 6, SHRINK, "Take the outermost rows and columns away."),
    _pick("top_half", FIRST, k.ALL, 6, SHRINK, "The upper half, without a middle row."),
    _pick("bottom_half", LAST, k.ALL, 6, SHRINK, "The lower half, without a middle row."),
    _pick("left_half", k.ALL, FIRST, 6, SHRINK, "The left half, without a middle column."),
    _pick("right_half", k.ALL, LAST, 6, SHRINK, "The right half, without a middle column."),
    _pick("top_left_quarter", FIRST, FIRST, 7, SHRINK, "The upper left quarter."),
    _pick("top_right_quarter", FIRST, LAST, 7, SHRINK, "The upper right quarter."),
    _pick("bottom_left_quarter", LAST, FIRST, 7, SHRINK, "The lower left quarter."),
    _pick("bottom_right_quarter", LAST, LAST, 7, SHRINK, "The lower right quarter."),
    _both("scale_down", k.STRIDE + k.BLOCK, 6, SHRINK, "One cell for each square of one colour."),
    _both("collapse", k.COLLAPSE, 6, SHRINK, "Keep one of neighbouring equal rows and columns."),
    _both("drop_empty_lines", k.OCCUPIED, 6, SHRINK, "Take black rows and columns away."),
    _both("smallest_tile", k.PERIOD, 6, SHRINK, "The smallest tile that, repeated, is the grid."),
)
REPEATS: tuple[Operator, ...] = (
    _pick("repeat_down", k.REPEAT + 2, k.ALL, 6, GROW, "The grid twice, one below the other."),
    _pick("repeat_right", k.ALL, k.REPEAT + 2, 6, GROW, "The grid twice, side by side."),
    _both("repeat_2x2", k.REPEAT + 2, 6, GROW, "Two by two copies."),
    _both("repeat_3x3", k.REPEAT + 3, 6, GROW, "Three by three copies."),
    _pick("mirror_down", k.MIRROR + 2, k.ALL, 5, GROW, "The grid and its mirror image below."),
    _pick("mirror_right", k.ALL, k.MIRROR + 2, 5, GROW, "The grid and its mirror image beside."),
    _both("mirror_fourfold", k.MIRROR + 2, 5, GROW, "The grid, mirrored to the right and below."),
    _both("mirror_3x3", k.MIRROR + 3, 8, GROW, "Three by three copies, neighbours mirrored."),
    _both("scale_2", k.STRETCH + 2, 5, GROW, "Each cell becomes two by two."),
    _both("scale_3", k.STRETCH + 3, 5, GROW, "Each cell becomes three by three."),
    _both("scale_by_colours", k.STRETCH + k.COLOURS, 7, GROW, "Larger by the number of colours."),
    _pick("stretch_columns", k.ALL, k.STRETCH + 2, 7, GROW, "Each column twice."),
    _outer("outer_filled", 0, 7, "A copy of the grid for each cell that is not black."),
    _outer("outer_common", 2, 8, "A copy of the grid for each cell of the commonest colour."),
)
ORDERS: tuple[Operator, ...] = (
    _kept("fall_down", k.FALL, 0, 6, fall, "Cells fall down over black."),
    _kept("fall_up", k.FALL, 1, 6, fall, "Cells rise over black."),
    _kept("fall_right", k.FALL, 2, 6, fall, "Cells go right over black."),
    _kept("fall_left", k.FALL, 3, 6, fall, "Cells go left over black."),
    _pick("roll_down", k.ROLL + 1, k.ALL, 6, KEEP, "Shift down by one; the last row comes first."),
    _pick("sort_rows", k.SORT, k.ALL, 7, KEEP, "Rows from the emptiest to the fullest."),
    _pick("sort_columns", k.ALL, k.SORT, 7, KEEP, "Columns from the emptiest to the fullest."),
    _kept("overlay_columns", k.OVERLAY, 0b11, 6, overlay, "Add the left-right mirror image."),
    _kept("overlay_rows", k.OVERLAY, 0b101, 6, overlay, "Add the top-bottom mirror image."),
    _kept("overlay_180", k.OVERLAY, 0b1001, 7, overlay, "Add the grid turned by half."),
)
OPERATORS: tuple[Operator, ...] = (*AUGMENTATIONS, *CROPS, *REPEATS, *ORDERS)
