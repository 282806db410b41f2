"""Rules on the grid as a whole: it is mirrored, scaled, tiled, framed, or read as a legend."""

from __future__ import annotations

from collections import Counter

from concepts.draws import Draws, Retry
from concepts.grids import (
    Grid,
    blank,
    blob,
    bulky,
    copy,
    dense,
    distinct,
    field,
    flip,
    inked,
    noise,
    paste,
    place,
    recolour,
    rect,
    scene,
    some_rect,
    specks,
    tiled,
    transpose,
    turn,
    zoom,
)
from concepts.puzzle import Maker, Pair, concept


def _patch(d: Draws, low: int = 2, high: int = 4) -> Grid:
    """Return a small grid of a few colours, some cells black, without symmetry."""
    height = d.between(low, high)
    return _uneven(noise(d, height, d.between(low, high), d.colours(3), 70))


def _uneven(grid: Grid) -> Grid:
    if len({str(turn(each, n)) for each in (grid, flip(grid)) for n in range(4)}) < 8:
        raise Retry
    if len({cell for row in grid for cell in row}) < 2:
        raise Retry
    return grid


@concept("mirror and rotate", turns=False)
def mirror_grid(p: Draws) -> Maker:
    """The grid is mirrored."""
    change = p.pick([flip, lambda g: g[::-1], transpose, lambda g: flip(turn(g, 1))])

    def pair(d: Draws) -> Pair:
        grid = _patch(d, 3, 7)
        return grid, change(grid)

    return pair


@concept("mirror and rotate", turns=False)
def turn_grid(p: Draws) -> Maker:
    """The grid is rotated."""
    quarters = p.between(1, 3)

    def pair(d: Draws) -> Pair:
        grid = _patch(d, 3, 7)
        return grid, turn(grid, quarters)

    return pair


@concept("mirror and rotate")
def append_mirror(p: Draws) -> Maker:
    """The mirror image of the grid is appended beside it."""
    del p

    def pair(d: Draws) -> Pair:
        grid = _patch(d, 3, 6)
        return grid, [row + row[::-1] for row in grid]

    return pair


@concept("mirror and rotate")
def append_mirrors(p: Draws) -> Maker:
    """The grid and its mirror images form a symmetric square of four."""
    del p

    def pair(d: Draws) -> Pair:
        grid = _patch(d, 2, 6)
        half = [row + row[::-1] for row in grid]
        return grid, half + half[::-1]

    return pair


@concept("mirror and rotate")
def append_rotated(p: Draws) -> Maker:
    """The grid and its three rotations form a square of four."""
    del p

    def pair(d: Draws) -> Pair:
        n = d.between(2, 5)
        grid = _uneven(noise(d, n, n, d.colours(3), 70))
        upper = zip(grid, turn(grid, 1), strict=True)
        lower = zip(turn(grid, 3), turn(grid, 2), strict=True)
        return grid, [a + b for a, b in (*upper, *lower)]

    return pair


@concept("scale")
def scale_grid(p: Draws) -> Maker:
    """Each cell becomes a square."""
    n = p.between(2, 4)

    def pair(d: Draws) -> Pair:
        grid = _patch(d, 2, 5)
        return grid, zoom(grid, n, n)

    return pair


@concept("scale")
def scale_one_axis(p: Draws) -> Maker:
    """Each cell is stretched along one axis."""
    n = p.between(2, 3)

    def pair(d: Draws) -> Pair:
        grid = _patch(d, 2, 5)
        return grid, zoom(grid, n, 1)

    return pair


@concept("scale")
def shrink_grid(p: Draws) -> Maker:
    """Each block becomes one cell."""
    n = p.between(2, 3)

    def pair(d: Draws) -> Pair:
        grid = _patch(d, 2, 5)
        return zoom(grid, n, n), grid

    return pair


@concept("scale")
def scale_object(p: Draws) -> Maker:
    """The object is cropped, and each of its cells becomes a square."""
    n = p.between(2, 3)

    def pair(d: Draws) -> Pair:
        shape = _uneven(noise(d, 3, 3, d.colours(2), 70))
        if not all(map(any, shape)) or not all(map(any, transpose(shape))):
            raise Retry
        return scene(d, [shape], 7, 12)[0], zoom(shape, n, n)

    return pair


@concept("scale")
def scale_by_colours(p: Draws) -> Maker:
    """The grid is scaled by the number of its colours."""
    del p

    def pair(d: Draws) -> Pair:
        n = d.between(2, 4)
        grid = _uneven(noise(d, 3, 3, d.colours(n), 80))
        if len({colour for _, _, colour in inked(grid)}) != n:
            raise Retry
        return grid, zoom(grid, n, n)

    return pair


@concept("tile")
def tile_grid(p: Draws) -> Maker:
    """Copies of the grid, side by side and below each other."""
    rows, columns = p.between(1, 3), p.between(2, 3)

    def pair(d: Draws) -> Pair:
        grid = _patch(d, 2, 5)
        return grid, tiled(grid, rows, columns)

    return pair


@concept("tile")
def tile_mirrored(p: Draws) -> Maker:
    """Three rows of copies, the middle row mirrored."""
    n = p.between(2, 3)

    def pair(d: Draws) -> Pair:
        grid = _patch(d, 2, 4)
        row = [line * n for line in grid]
        return grid, row + [line[::-1] for line in row] + row

    return pair


@concept("tile")
def tile_where_filled(p: Draws) -> Maker:
    """A copy of the grid for each of its non-empty cells."""
    del p

    def pair(d: Draws) -> Pair:
        colour = d.colours(1)[0]
        grid = _uneven(noise(d, 3, 3, [colour], 55))
        after = blank(9, 9)
        for r, c, _ in inked(grid):
            paste(after, grid, 3 * r, 3 * c)
        return grid, after

    return pair


@concept("tile")
def tile_object(p: Draws) -> Maker:
    """The only object fills a grid of the input's size by repetition."""
    del p

    def pair(d: Draws) -> Pair:
        tile = dense(d, 2, d.between(2, 3), d.colours(3))
        if tile[0] == tile[1]:
            raise Retry
        rows, columns = d.between(3, 6), d.between(3, 5)
        grid = blank(rows * len(tile), columns * len(tile[0]))
        paste(grid, tile, 0, 0)
        return grid, tiled(tile, rows, columns)

    return pair


@concept("tile")
def tile_twice_apart(p: Draws) -> Maker:
    """Two copies of the grid with a line of a colour between them."""
    line = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        grid = _patch(d, 3, 6)
        return grid, [[*row, line, *row] for row in grid]

    return pair


@concept("borders")
def add_border(p: Draws) -> Maker:
    """A frame of a colour is added around the grid."""
    edge = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        grid = _patch(d, 3, 7)
        width = len(grid[0]) + 2
        return grid, [[edge] * width, *([edge, *row, edge] for row in grid), [edge] * width]

    return pair


@concept("borders")
def paint_border(p: Draws) -> Maker:
    """The outermost cells get a colour."""
    edge = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        grid = field(d, 5, 12)
        for colour in d.colours(2, [edge]):
            specks(d, grid, 4, colour, 0)
        after = [[edge] * len(grid[0]), *([edge, *row[1:-1], edge] for row in grid[1:-1])]
        return grid, [*after, [edge] * len(grid[0])]

    return pair


@concept("borders")
def border_of_object_colour(p: Draws) -> Maker:
    """The outermost cells get the colour of the object."""
    del p

    def pair(d: Draws) -> Pair:
        shape = bulky(d, d.colours(1)[0])
        grid, _ = scene(d, [shape], 7, 12, 1, 2)
        edge = max(map(max, shape))
        after = [[edge] * len(grid[0]), *([edge, *row[1:-1], edge] for row in grid[1:-1])]
        return grid, [*after, [edge] * len(grid[0])]

    return pair


@concept("borders")
def remove_border(p: Draws) -> Maker:
    """The frame around the grid is removed."""
    thick = p.between(1, 2)

    def pair(d: Draws) -> Pair:
        grid, edge = _patch(d, 3, 7), 0
        edge = d.colours(1, [colour for _, _, colour in inked(grid)])[0]
        width = len(grid[0]) + 2 * thick
        rows = [[edge] * thick + row + [edge] * thick for row in grid]
        return [*rect(thick, width, edge), *rows, *rect(thick, width, edge)], grid

    return pair


@concept("borders")
def nested_rings(p: Draws) -> Maker:
    """The empty grid is filled with rings of two colours, from the edge inwards."""
    a, b = p.colours(2)

    def pair(d: Draws) -> Pair:
        grid = field(d, 4, 13)
        high, wide = len(grid) - 1, len(grid[0]) - 1
        after = [
            [(a, b)[min(r, c, high - r, wide - c) % 2] for c in range(wide + 1)]
            for r in range(high + 1)
        ]
        return grid, after

    return pair


@concept("legend and key")
def map_colours(p: Draws) -> Maker:
    """Colours are replaced, the same way in all pairs."""
    a, b, c, d_, e, f = p.colours(6)
    names = {a: d_, b: e, c: f}

    def pair(d: Draws) -> Pair:
        grid = noise(d, d.between(3, 8), d.between(3, 8), [a, b, c], 80)
        return grid, [[names.get(cell, cell) for cell in row] for row in grid]

    return pair


@concept("legend and key", turns=False)
def legend_of_pairs(p: Draws) -> Maker:
    """Pairs of cells in a corner show which colour becomes which."""
    n = p.between(2, 3)

    def pair(d: Draws) -> Pair:
        colours = d.colours(2 * n)
        names = dict(zip(colours[:n], colours[n:], strict=True))
        grid = field(d, 11, 15)
        legend = [[a, b] for a, b in names.items()]
        paste(grid, legend, 0, 0)
        after = copy(grid)
        for _ in range(d.between(3, 4)):
            shape = some_rect(d, d.pick(colours[:n]), 2, 4)
            r, c = place(d, grid, shape)
            paste(after, recolour(shape, names[shape[0][0]]), r, c)
        return grid, after

    return pair


@concept("legend and key")
def swap_two_colours(p: Draws) -> Maker:
    """The two colours of each grid are exchanged."""
    percent = p.between(40, 60)

    def pair(d: Draws) -> Pair:
        a, b = d.colours(2)
        grid = [[a if d.chance(percent) else b for _ in range(d.between(5, 5))] for _ in range(5)]
        return grid, [[b if cell == a else a for cell in row] for row in grid]

    return pair


@concept("legend and key")
def recolour_to_key(p: Draws) -> Maker:
    """The object gets the colour of the cell in the corner, which disappears."""
    body = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        key = d.colours(1, [body])[0]
        shape = blob(d, d.between(6, 9), body)
        grid, [position] = scene(d, [shape], 8, 12, 1, 2)
        after = blank(len(grid), len(grid[0]))
        paste(after, recolour(shape, key), *position)
        grid[0][0] = key
        return grid, after

    return pair


@concept("legend and key")
def recolour_by_header(p: Draws) -> Maker:
    """Objects get the colour at the end of their column on one edge."""
    body = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        n = d.between(3, 4)
        grid = blank(d.between(8, 12), 4 * n - 1)
        after = copy(grid)
        for number, colour in enumerate(d.colours(n, [body])):
            for c in range(4 * number, 4 * number + 3):
                grid[0][c] = after[0][c] = colour
            shape = blob(d, d.between(3, 5), body, 3)
            r, c = (
                d.between(2, len(grid) - len(shape)),
                4 * number + d.between(0, 3 - len(shape[0])),
            )
            paste(grid, shape, r, c)
            paste(after, recolour(shape, colour), r, c)
        return grid, after

    return pair


@concept("centre")
def cross_through_centre(p: Draws) -> Maker:
    """The middle row and the middle column get a colour."""
    new = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        grid = blank(2 * d.between(2, 6) + 1, 2 * d.between(2, 6) + 1)
        for colour in d.colours(2, [new]):
            specks(d, grid, 3, colour, 0)
        after = copy(grid)
        after[len(grid) // 2] = [new] * len(grid[0])
        for row in after:
            row[len(row) // 2] = new
        return grid, after

    return pair


@concept("centre")
def crop_centre(p: Draws) -> Maker:
    """The middle of the grid, three by three."""
    colours = p.colours(4)

    def pair(d: Draws) -> Pair:
        grid = noise(d, 2 * d.between(2, 6) + 1, 2 * d.between(2, 6) + 1, colours, 80)
        r, c = len(grid) // 2 - 1, len(grid[0]) // 2 - 1
        return grid, [row[c : c + 3] for row in grid[r : r + 3]]

    return pair


@concept("count")
def fill_with_most_common(p: Draws) -> Maker:
    """The whole grid gets its most common colour."""
    n = p.between(3, 4)

    def pair(d: Draws) -> Pair:
        grid = dense(d, d.between(3, 6), d.between(3, 6), d.colours(n))
        ranks = Counter(cell for row in grid for cell in row).most_common(2)
        if ranks[0][1] == ranks[-1][1]:
            raise Retry
        return grid, blank(len(grid), len(grid[0]), ranks[0][0])

    return pair


@concept("order and rank")
def sort_rows_by_length(p: Draws) -> Maker:
    """Rows that start at an edge are sorted by their length."""
    n = p.between(4, 6)

    def pair(d: Draws) -> Pair:
        lengths = d.sample(range(1, 9), n)
        distinct(lengths)
        colours = [d.pick(d.colours(3)) for _ in lengths]
        rows = [[c] * m + [0] * (9 - m) for m, c in zip(lengths, colours, strict=True)]
        return rows, sorted(rows, key=lambda row: row.count(0))

    return pair
