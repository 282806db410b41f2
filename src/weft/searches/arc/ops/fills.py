"""Operators that colour cells of a grid in place: facts and plain definitions.

Many of them are labels: they only number cells, because a fitted rule that follows can map the
numbers to colours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from weft.searches.arc.codes import fills as k
from weft.searches.arc.ops import completion, labels
from weft.searches.arc.ops.moves import main_colour, most_common, rare_colour
from weft.searches.arc.ops.operator import Operator, OperatorFamily, Palette, ShapeEffect
from weft.searches.arc.values import Grid, Value

Place = tuple[int, int]


def _painted(grid: Grid, cell: Callable[[int, int], int]) -> Grid:
    return Grid.of([[cell(r, c) for c in range(grid.width)] for r in range(grid.height)])


def _around(grid: Grid, r: int, c: int, eight: bool) -> Iterator[int]:
    """Yield the colours of the neighbours inside the grid."""
    for y in range(max(r - 1, 0), min(r + 2, grid.height)):
        for x in range(max(c - 1, 0), min(c + 2, grid.width)):
            if (y, x) != (r, c) and (eight or y == r or x == c):
                yield grid.at(y, x)


def neighbours(value: Value, given: Grid, p: int, q: int) -> Value:
    """Recolour each cell by its four (q = 0) or eight (q = 1) neighbours; see `_by_neighbours`."""
    assert isinstance(value, Grid)

    def cell(r: int, c: int) -> int:
        near = list(_around(value, r, c, q == 1))
        return _by_neighbours(p, value.at(r, c), near, near.count(value.at(r, c)) == 4 + 4 * q)

    return _painted(value, cell)


def _by_neighbours(p: int, own: int, near: list[int], inside: bool) -> int:
    """Return a cell's new colour; `inside` means that no neighbour differs or is missing."""
    filled = [colour for colour in near if colour]
    match p:
        case k.COUNT:  # non-black neighbours
            return len(filled)
        case k.INNER:
            return 0 if own == 0 else 1 if inside else 2
        case k.OUTLINE:
            return 2 if own else 1 if filled else 0
        case k.GROW:
            return own or (max(range(1, 10), key=filled.count) if filled else 0)
    return own if own in near else 0  # DENOISE


DIRECTIONS = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1), (1, -1), (-1, 1))


def beams(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """Colour black cells by the cells that they see.

    RAYS: each non-black cell emits its colour in the directions of `p`, up to the next non-black
    cell; later directions override earlier ones. JOIN: black cells between two cells of one colour,
    in opposite directions, get that colour. ONLY_RARE: only the rarest colour counts.
    """
    assert isinstance(value, Grid)
    only = rare_colour(value) if q & k.ONLY_RARE else 0
    if q >= k.ONLY_RARE and only == 0:
        return None
    chosen = [step for bit, step in enumerate(DIRECTIONS) if p >> bit & 1]

    def cell(r: int, c: int) -> int:
        own = value.at(r, c)
        hits = [0 if own else _seen(value, r, c, step, only) for step in chosen]
        if q & k.JOIN:
            pairs = zip(hits[::2], hits[1::2], strict=True)
            hits = [first for first, second in pairs if first == second]
        return next((colour for colour in reversed(hits) if colour), own)

    return _painted(value, cell)


def _seen(grid: Grid, r: int, c: int, step: Place, only: int) -> int:
    """Return the colour that arrives along a direction; black if none, or if it is not `only`."""
    while True:
        r, c = r - step[0], c - step[1]
        if not (0 <= r < grid.height and 0 <= c < grid.width):
            return 0
        if grid.at(r, c):
            return grid.at(r, c) if only in (0, grid.at(r, c)) else 0


def places(value: Value, given: Grid, p: int, q: int) -> Value:
    """Number cells by their position, modulo q."""
    assert isinstance(value, Grid)
    h, w, rows = value.height, value.width, value.rows()
    columns = [list(line) for line in zip(*rows, strict=True)]
    numbers: dict[int, Callable[[int, int], int]] = {
        k.ROW: lambda r, c: r,
        k.COLUMN: lambda r, c: c,
        k.SUM: lambda r, c: r + c,
        k.RING: lambda r, c: min(r, c, h - 1 - r, w - 1 - c),
        k.PLAIN: lambda r, c: (len(set(rows[r])) == 1) + 2 * (len(set(columns[c])) == 1),
        k.DIAGONALS: lambda r, c: (r == c) + 2 * (r + c == w - 1),
    }
    return _painted(value, lambda r, c: numbers[p](r, c) % q)


def colours(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """Change colours by their frequency; black is counted only for BACK_TO_BLACK and INVERT."""
    assert isinstance(value, Grid)
    chosen = rare_colour(value) if p in RARE_MODES else main_colour(value)
    common, present = most_common(value), sorted(set(value.cells))
    if (p < k.BACK_TO_BLACK and chosen == 0) or (p == k.INVERT and len(present) != 2):
        return None
    new: dict[int, Callable[[int], int]] = {
        k.KEEP_MAIN: lambda cell: cell if cell == chosen else 0,
        k.KEEP_RARE: lambda cell: cell if cell == chosen else 0,
        k.DROP_MAIN: lambda cell: 0 if cell == chosen else cell,
        k.DROP_RARE: lambda cell: 0 if cell == chosen else cell,
        k.ALL_MAIN: lambda cell: chosen if cell else 0,
        k.ALL_RARE: lambda cell: chosen if cell else 0,
        k.BACK_TO_BLACK: lambda cell: {common: 0, 0: common}.get(cell, cell),
        k.INVERT: lambda cell: present[0] if cell == present[1] else present[1],
    }
    return Grid(value.height, value.width, bytes(map(new[p], value.cells)))


RARE_MODES = (k.KEEP_RARE, k.DROP_RARE, k.ALL_RARE)
KEEP, BLACK, ANY = Palette.KEEP, Palette.BLACK, Palette.ANY


_near = OperatorFamily(k.NEIGHBOURS, neighbours, shape=ShapeEffect.KEEP)
_beam = OperatorFamily(k.BEAMS, beams, shape=ShapeEffect.KEEP)
_place = OperatorFamily(k.PLACES, places, shape=ShapeEffect.KEEP, palette=ANY)
_colour = OperatorFamily(k.COLOURS, colours, shape=ShapeEffect.KEEP)
DOWN, UP, RIGHT, LEFT = 1, 2, 4, 8
UPRIGHT, LEVEL, CROSS, DIAGONALS = 3, 12, 15, 240
NEAR: tuple[Operator, ...] = (
    _near("label_neighbours", k.COUNT, 1, 6, "How many of 8 neighbours are not black.", ANY),
    _near("label_neighbours_4", k.COUNT, 0, 7, "How many of 4 neighbours are not black.", ANY),
    _near(
        "label_inner", k.INNER, 0, 6, "1 for cells like their 4 neighbours, else 2; black 0.", ANY
    ),
    _near(
        "label_inner_8", k.INNER, 1, 6, "1 for cells like their 8 neighbours, else 2; black 0.", ANY
    ),
    _near(
        "label_outline", k.OUTLINE, 0, 6, "1 for black cells beside others, 2 for the others.", ANY
    ),
    _near("label_outline_8", k.OUTLINE, 1, 6, "The same, corners included.", ANY),
    _near("grow", k.GROW, 0, 6, "Black cells get the main colour of 4 neighbours.", KEEP),
    _near("grow_8", k.GROW, 1, 6, "Black cells get the main colour of 8 neighbours.", KEEP),
    _near("denoise", k.DENOISE, 1, 6, "Blacken cells without a neighbour of their colour.", BLACK),
)
BEAMS: tuple[Operator, ...] = (
    _beam("rays_down", DOWN, 0, 6, "Every cell draws a line down through black."),
    _beam("rays_up", UP, 0, 6, "Every cell draws a line up through black."),
    _beam("rays_right", RIGHT, 0, 6, "Every cell draws a line to the right through black."),
    _beam("rays_left", LEFT, 0, 6, "Every cell draws a line to the left through black."),
    _beam("rays_vertical", UPRIGHT, 0, 6, "Every cell draws lines up and down through black."),
    _beam("rays_horizontal", LEVEL, 0, 6, "Every cell draws lines left and right through black."),
    _beam("rays_cross", CROSS, 0, 6, "Every cell draws lines in 4 directions through black."),
    _beam("rays_diagonal", DIAGONALS, 0, 6, "Every cell draws diagonal lines through black."),
    _beam("rare_rays_vertical", UPRIGHT, 4, 8, "The rarest colour draws lines up and down."),
    _beam("rare_rays_horizontal", LEVEL, 4, 8, "The rarest colour draws lines left and right."),
    _beam("rare_rays_cross", CROSS, 4, 8, "The rarest colour draws lines in 4 directions."),
    _beam("join_rows", LEVEL, k.JOIN, 6, "Fill black between equal colours in a row."),
    _beam("join_columns", UPRIGHT, k.JOIN, 6, "Fill black between equal colours in a column."),
    _beam("join_lines", CROSS, k.JOIN, 5, "Fill black between equal colours in a row or column."),
    _beam("join_diagonals", DIAGONALS, k.JOIN, 7, "Fill black between equal colours diagonally."),
)
PLACES: tuple[Operator, ...] = (
    _place("label_rows_2", k.ROW, 2, 6, "Number rows 0, 1, 0, 1 and so on."),
    _place("label_columns_2", k.COLUMN, 2, 6, "Number columns 0, 1, 0, 1 and so on."),
    _place("label_columns_3", k.COLUMN, 3, 7, "Number columns 0, 1, 2, 0 and so on."),
    _place("label_chessboard", k.SUM, 2, 6, "0 and 1 in a chessboard pattern."),
    _place("label_rings_2", k.RING, 2, 7, "Number rings from the edge 0, 1, 0, 1 and so on."),
    _place("label_diagonals", k.DIAGONALS, 4, 7, "1 on the falling diagonal, 2 on the rising one."),
    _place("label_plain_lines", k.PLAIN, 4, 6, "1 for one-coloured rows, plus 2 for such columns."),
)
COLOURS: tuple[Operator, ...] = (
    _colour("keep_main", k.KEEP_MAIN, 0, 6, "Blacken all but the main colour.", BLACK),
    _colour("keep_rare", k.KEEP_RARE, 0, 6, "Blacken all but the rarest colour.", BLACK),
    _colour("drop_main", k.DROP_MAIN, 0, 6, "Blacken the main colour.", BLACK),
    _colour("drop_rare", k.DROP_RARE, 0, 6, "Blacken the rarest colour.", BLACK),
    _colour("all_main", k.ALL_MAIN, 0, 7, "All non-black cells get the main colour.", KEEP),
    _colour("all_rare", k.ALL_RARE, 0, 6, "All non-black cells get the rarest colour.", KEEP),
    _colour(
        "back_to_black", k.BACK_TO_BLACK, 0, 6, "Swap black and the most common colour.", BLACK
    ),
    _colour("invert", k.INVERT, 0, 6, "Swap the two colours of the grid.", KEEP),
)
OPERATORS: tuple[Operator, ...] = (
    *NEAR, *BEAMS, *PLACES, *COLOURS, *labels.OPERATORS, *completion.OPERATORS,
)  # fmt: skip
