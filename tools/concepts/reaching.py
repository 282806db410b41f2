"""Rules that extend lines from objects, count or clean up objects, or distinguish their axes."""

from __future__ import annotations

from concepts.draws import Draws, Retry
from concepts.grids import (
    blank,
    bulky,
    copy,
    distinct,
    field,
    paste,
    place,
    rect,
    scene,
    some_frame,
    some_rect,
    specks,
    transpose,
)
from concepts.puzzle import Maker, Pair, concept


@concept("extend")
def extend_pointed(p: Draws) -> Maker:
    """Each bar has a tip of another colour, from which a line runs to the edge."""
    body, tip = p.colours(2)

    def pair(d: Draws) -> Pair:
        grid = field(d, 11, 15)
        after = copy(grid)
        for r in d.sample(range(1, len(grid), 3), d.between(2, 3)):
            n = d.between(2, 3)
            c, left = d.between(3, len(grid[0]) - n - 4), d.chance(50)
            bar = [tip] + [body] * n if left else [body] * n + [tip]
            grid[r][c : c + n + 1] = after[r][c : c + n + 1] = bar
            span = range(c) if left else range(c + n + 1, len(grid[0]))
            for x in span:
                after[r][x] = tip
        return grid, after

    return pair


@concept("extend")
def extend_corners(p: Draws) -> Maker:
    """Squares send diagonal lines from their corners to the edges."""
    body, new = p.colours(2)

    def pair(d: Draws) -> Pair:
        grid, n = field(d, 10, 14), d.between(1, 3)
        r, c = place(d, grid, rect(n, n, body), 1, 2)
        after = copy(grid)
        for k in range(1, 15):
            for y, x in ((r - k, c - k), (r - k, c + n - 1 + k)):
                if y >= 0 and 0 <= x < len(grid[0]):
                    after[y][x] = new
            for y, x in ((r + n - 1 + k, c - k), (r + n - 1 + k, c + n - 1 + k)):
                if y < len(grid) and 0 <= x < len(grid[0]):
                    after[y][x] = new
        return grid, after

    return pair


@concept("extend")
def extend_between_objects(p: Draws) -> Maker:
    """Lines in a colour connect the facing sides of objects in the same rows."""
    body, new = p.colours(2)

    def pair(d: Draws) -> Pair:
        grid = field(d, 11, 15)
        height = d.between(2, 4)
        r = d.between(0, len(grid) - height)
        a, b = d.between(2, 3), d.between(2, 3)
        paste(grid, rect(height, a, body), r, 0)
        paste(grid, rect(height, b, body), r, len(grid[0]) - b)
        after = copy(grid)
        middle = len(grid[0]) - a - b
        paste(after, rect(height, middle, new), r, a)
        other = d.between(0, len(grid) - 1)
        if r - 1 <= other <= r + height:
            raise Retry
        grid[other][2] = after[other][2] = body
        return grid, after

    return pair


@concept("count")
def count_holes_to_row(p: Draws) -> Maker:
    """As many cells in a row as there are frames, among filled rectangles."""
    new = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        n, m = d.between(1, 4), d.between(1, 3)
        body = d.colours(1, [new])[0]
        shapes = [some_frame(d, body, 3, 4) for _ in range(n)]
        shapes += [some_rect(d, body, 2, 3) for _ in range(m)]
        return scene(d, shapes, 14, 18)[0], [[new] * n]

    return pair


@concept("count")
def count_colours_to_column(p: Draws) -> Maker:
    """As many cells in a column as there are colours."""
    new = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        n = d.between(2, 5)
        colours = d.colours(n, [new])
        shapes = [some_rect(d, c, 1, 3) for c in (*colours, d.pick(colours))]
        return scene(d, shapes, 12, 16)[0], [[new]] * n

    return pair


@concept("count")
def fuller_side(p: Draws) -> Maker:
    """The side of the middle line with more specks is filled with their colour."""
    line, dot = p.colours(2)

    def pair(d: Draws) -> Pair:
        height, width = d.between(5, 8), d.between(4, 6)
        m, n = d.sample(range(1, 6), 2)
        sides = [blank(height, width), blank(height, width)]
        for side, k in zip(sides, (m, n), strict=True):
            specks(d, side, k, dot, 0)
        full, empty = blank(height, width, dot), blank(height, width)
        after = (full, empty) if m > n else (empty, full)
        source = [[*a, line, *b] for a, b in zip(*sides, strict=True)]
        return source, [[*a, line, *b] for a, b in zip(*after, strict=True)]

    return pair


@concept("count")
def most_frequent_shape(p: Draws) -> Maker:
    """The shape that occurs most often, cropped."""
    body = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        a, b, c = (bulky(d, body) for _ in range(3))
        distinct([a, b, c])
        return scene(d, d.shuffled([a, a, a, b, b, c]), 15, 18)[0], a

    return pair


@concept("clean up")
def clean_two_colours(p: Draws) -> Maker:
    """Single cells of any colour, on objects too, take the colour around them."""
    n = p.between(2, 3)

    def pair(d: Draws) -> Pair:
        shapes = [some_rect(d, c, 5, 6) for c in d.colours(n)]
        after, positions = scene(d, shapes, 15, 18)
        grid = copy(after)
        dirt = d.colours(9)
        for s, (r, c) in zip(shapes, positions, strict=True):
            y, x = r + d.between(1, len(s) - 2), c + d.between(1, len(s[0]) - 2)
            grid[y][x] = d.pick([q for q in dirt if q != after[y][x]])
        for _ in range(4):
            place(d, grid, [[d.pick(dirt)]])
        return grid, after

    return pair


@concept("clean up")
def straighten_edges(p: Draws) -> Maker:
    """Single cells that stick out of rectangles disappear."""
    colours = p.colours(3)

    def pair(d: Draws) -> Pair:
        grid = field(d, 13, 17)
        after = copy(grid)
        for _ in range(2):
            height, width, colour = d.between(3, 5), d.between(3, 5), d.pick(colours)
            shape = blank(height + 2, width + 2)
            paste(shape, rect(height, width, colour), 1, 1)
            clean = copy(shape)
            shape[0][d.between(1, width)] = colour
            shape[d.between(1, height)][d.pick([0, width + 1])] = colour
            paste(after, clean, *place(d, grid, shape))
        return grid, after

    return pair


@concept("horizontal and vertical")
def longer_axis(p: Draws) -> Maker:
    """Rectangles become lines along the middle of their longer axis."""
    new = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        grid = field(d, 13, 17)
        after = copy(grid)
        for colour in d.colours(2, [new]):
            shape = rect(3, d.between(4, 7), colour)
            marked = [shape[0], [new] * len(shape[0]), shape[2]]
            if d.chance(50):
                shape, marked = transpose(shape), transpose(marked)
            paste(after, marked, *place(d, grid, shape))
        return grid, after

    return pair


@concept("horizontal and vertical", turns=False)
def stripes_by_axis(p: Draws) -> Maker:
    """The grid has stripes: a row of their colours, or a column, in their order."""
    n = p.between(3, 4)

    def pair(d: Draws) -> Pair:
        colours = d.colours(n)
        rows = [c for c in colours for _ in range(d.between(1, 3))]
        width = d.between(4, 7)
        source, target = [[c] * width for c in rows], [[c] for c in colours]
        if d.chance(50):
            return transpose(source), transpose(target)
        return source, target

    return pair
