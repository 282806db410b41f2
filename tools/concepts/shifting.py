"""Rules that move objects, or copy and scale them by marks."""

from __future__ import annotations

from concepts.draws import Draws, Retry
from concepts.grids import (
    blank,
    bulky,
    copy,
    field,
    frame,
    inked,
    is_free,
    paste,
    place,
    recolour,
    rect,
    scene,
    some_rect,
    specks,
    zoom,
)
from concepts.puzzle import Maker, Pair, concept


@concept("move")
def move_to_nearest_border(p: Draws) -> Maker:
    """Each object moves to the edge nearest to it."""
    del p

    def pair(d: Draws) -> Pair:
        shapes = [some_rect(d, c, 2, 3) for c in d.colours(d.between(2, 3))]
        grid, positions = scene(d, shapes, 13, 17, 1, 1)
        after = blank(len(grid), len(grid[0]))
        for s, (r, c) in zip(shapes, positions, strict=True):
            low, right = len(grid) - r - len(s), len(grid[0]) - c - len(s[0])
            gaps = sorted((r, low, c, right))
            if gaps[0] == gaps[1]:
                raise Retry
            y = 0 if r == gaps[0] else len(grid) - len(s) if low == gaps[0] else r
            x = 0 if c == gaps[0] else len(grid[0]) - len(s[0]) if right == gaps[0] else c
            if not is_free(after, y, x, len(s), len(s[0])):
                raise Retry
            paste(after, s, y, x)
        return grid, after

    return pair


@concept("move")
def move_to_own_wall(p: Draws) -> Maker:
    """Specks move to the wall of their colour on one of two opposite sides."""
    a, b = p.colours(2)

    def pair(d: Draws) -> Pair:
        grid = field(d, 9, 14)
        for row in grid:
            row[0], row[-1] = a, b
        after = copy(grid)
        for r in d.sample(range(0, len(grid), 2), d.between(3, 4)):
            colour, c = d.pick([a, b]), d.between(3, len(grid[0]) - 4)
            grid[r][c] = colour
            after[r][1 if colour == a else -2] = colour
        return grid, after

    return pair


@concept("move")
def move_by_count(p: Draws) -> Maker:
    """Each bar moves along its own axis by as many steps as it has cells."""
    colours = p.colours(3)

    def pair(d: Draws) -> Pair:
        grid = field(d, 10, 14)
        after = copy(grid)
        for r in d.sample(range(0, len(grid), 2), d.between(2, 3)):
            n, colour = d.between(1, 4), d.pick(colours)
            c = d.between(0, len(grid[0]) - 2 * n)
            grid[r][c : c + n] = [colour] * n
            after[r][c + n : c + 2 * n] = [colour] * n
        return grid, after

    return pair


@concept("move")
def move_through_gap(p: Draws) -> Maker:
    """The object at one side of a wall moves straight through its gap to the other edge."""
    wall, body = p.colours(2)

    def pair(d: Draws) -> Pair:
        grid = field(d, 9, 13)
        cut, n = d.between(4, len(grid) - 4), d.between(2, 3)
        c = d.between(1, len(grid[0]) - n - 1)
        grid[cut] = [0 if c <= x < c + n else wall for x in range(len(grid[0]))]
        after = copy(grid)
        paste(grid, rect(2, n, body), d.between(0, cut - 3), c)
        paste(after, rect(2, n, body), len(grid) - 2, c)
        return grid, after

    return pair


@concept("move")
def come_together(p: Draws) -> Maker:
    """Two objects on opposite sides of a middle line move until they touch it."""
    line = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        half = d.between(5, 7)
        grid = blank(d.between(8, 12), 2 * half + 1)
        for row in grid:
            row[half] = line
        after = copy(grid)
        a, b = (bulky(d, c) for c in d.colours(2, [line]))
        r, y = d.between(0, len(grid) - len(a)), d.between(0, len(grid) - len(b))
        paste(grid, a, r, d.between(0, half - len(a[0]) - 1))
        paste(grid, b, y, d.between(half + 2, 2 * half + 1 - len(b[0])))
        paste(after, a, r, half - len(a[0]))
        paste(after, b, y, half + 1)
        return grid, after

    return pair


@concept("move")
def stack_on_each_other(p: Draws) -> Maker:
    """Bars of equal width, one above the other, fall into a stack in their order."""
    n = p.between(2, 3)

    def pair(d: Draws) -> Pair:
        width = d.between(2, 4)
        grid = blank(d.between(11, 14), d.between(6, 9))
        c = d.between(0, len(grid[0]) - width)
        after, r, tops = copy(grid), 0, []
        bars = [rect(d.between(1, 2), width, colour) for colour in d.colours(n)]
        for bar in bars:
            r += d.between(1, 2)
            tops.append(r)
            r += len(bar)
        low = len(grid)
        if r >= low:
            raise Retry
        for bar, top in reversed(list(zip(bars, tops, strict=True))):
            low -= len(bar)
            paste(grid, bar, top, c)
            paste(after, bar, low, c)
        return grid, after

    return pair


@concept("copy")
def copy_in_mark_colour(p: Draws) -> Maker:
    """The pattern is drawn around each speck in the colour of the speck."""
    body = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        shape = recolour(d.pick([frame(3, 3, 1), [[0, 1, 0], [1, 1, 1], [0, 1, 0]]]), body)
        shape[d.pick([0, 2])][d.pick([0, 2])] = 0
        grid, _ = scene(d, [shape], 13, 17)
        dots = d.colours(d.between(2, 3), [body])
        cells = [place(d, grid, [[dot]], 2, 1) for dot in dots]
        after = copy(grid)
        for (r, c), dot in zip(cells, dots, strict=True):
            after[r][c] = 0
            paste(after, recolour(shape, dot), r - 1, c - 1)
        return grid, after

    return pair


@concept("copy")
def copy_to_same_anchor(p: Draws) -> Maker:
    """An object has one cell of an anchor's colour; it is copied to all other anchors."""
    anchor = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        shape = bulky(d, d.colours(1, [anchor])[0])
        y, x = d.pick([(r, c) for r, c, _ in inked(shape)])
        shape[y][x] = anchor
        grid, _ = scene(d, [shape], 13, 17)
        cells = specks(d, grid, 2, anchor, 3, 2)
        after = copy(grid)
        for r, c in cells:
            paste(after, shape, r - y, c - x)
        return grid, after

    return pair


@concept("copy")
def copy_as_often_as_marks(p: Draws) -> Maker:
    """The object is cropped and repeated side by side, once for each speck."""
    mark = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        shape, n = bulky(d, d.colours(1, [mark])[0]), d.between(1, 4)
        grid, _ = scene(d, [shape], 10, 13)
        specks(d, grid, n, mark)
        return grid, [row * n for row in shape]

    return pair


@concept("scale")
def scale_by_marks(p: Draws) -> Maker:
    """The object is cropped and scaled by the number of specks."""
    mark = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        shape, n = bulky(d, d.colours(1, [mark])[0]), d.between(1, 4)
        grid, _ = scene(d, [shape], 10, 13)
        specks(d, grid, n, mark)
        return grid, zoom(shape, n, n)

    return pair
