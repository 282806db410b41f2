"""Rules on objects that are extracted by a relation, contain each other, or hide each other."""

from __future__ import annotations

from concepts.draws import Draws, Retry
from concepts.grids import (
    Grid,
    blank,
    blob,
    bulky,
    copy,
    count,
    distinct,
    field,
    flip,
    frame,
    paste,
    place,
    recolour,
    rect,
    scene,
    some_rect,
)
from concepts.puzzle import Maker, Pair, concept


@concept("extract")
def extract_and_mirror(p: Draws) -> Maker:
    """The largest object is cropped and mirrored."""
    n = p.between(2, 3)

    def pair(d: Draws) -> Pair:
        sizes = (7, 4, 3)[: n + 1]
        shapes = [blob(d, m, c, 3) for m, c in zip(sizes, d.colours(len(sizes)), strict=True)]
        return scene(d, d.shuffled(shapes), 10, 14)[0], flip(shapes[0])

    return pair


@concept("extract")
def extract_and_recolour(p: Draws) -> Maker:
    """The larger object is cropped, in the colour of the smaller one."""
    del p

    def pair(d: Draws) -> Pair:
        a, b = d.colours(2)
        large, small = blob(d, d.between(6, 8), a), blob(d, d.between(2, 4), b)
        return scene(d, d.shuffled([large, small]), 9, 13)[0], recolour(large, b)

    return pair


@concept("extract")
def extract_touching_mark(p: Draws) -> Maker:
    """The object next to the only cell of a mark's colour, without the mark."""
    mark = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        first, *others = (bulky(d, c) for c in d.colours(3, [mark]))
        marked = [[0] * len(first[0]), *first]
        marked[0][d.pick([c for c, cell in enumerate(first[0]) if cell])] = mark
        return scene(d, d.shuffled([marked, *others]), 12, 16)[0], first

    return pair


@concept("extract")
def extract_inner_object(p: Draws) -> Maker:
    """Of several objects of similar size, the one in a frame."""
    edge, body = p.colours(2)

    def pair(d: Draws) -> Pair:
        shapes = [bulky(d, body, 5, 6) for _ in range(3)]
        distinct(shapes)
        first = shapes[0]
        holder = frame(len(first) + 4, len(first[0]) + 4, edge)
        paste(holder, first, 2, 2)
        return scene(d, [holder, *shapes[1:]], 13, 17)[0], first

    return pair


@concept("extract")
def extract_cropped_from_noise(p: Draws) -> Maker:
    """The only rectangle without noise, of two colours, from a noisy background."""
    dirt = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        grid = [[dirt if d.chance(25) else 0 for _ in row] for row in field(d, 12, 16)]
        a, b = d.colours(2, [dirt])
        window = [[d.pick([a, b]) for _ in range(d.between(4, 4))] for _ in range(d.between(3, 5))]
        r, c = d.below(len(grid) - len(window)), d.below(len(grid[0]) - 4)
        for y, row in enumerate(window):
            grid[r + y][c : c + 4] = row
        return grid, window

    return pair


@concept("extract")
def extract_by_key_colour(p: Draws) -> Maker:
    """The cell in a corner has the colour of the object to extract."""
    n = p.between(3, 4)

    def pair(d: Draws) -> Pair:
        colours = d.colours(n)
        shapes = [bulky(d, c) for c in colours]
        grid = field(d, 13, 16)
        grid[0][0] = colours[0]
        for shape in d.shuffled(shapes):
            place(d, grid, shape, 1, 1)
        return grid, shapes[0]

    return pair


@concept("mirror and rotate")
def turn_by_mark(p: Draws) -> Maker:
    """Two-coloured objects are mirrored so that their marked end is on the other side."""
    mark, body = p.colours(2)

    def pair(d: Draws) -> Pair:
        grid = field(d, 12, 16)
        after = copy(grid)
        for _ in range(d.between(2, 3)):
            shape = rect(d.between(2, 3), d.between(3, 4), body)
            for row in shape:
                row[0] = mark
            shape = d.pick([shape, flip(shape)])
            paste(after, flip(shape), *place(d, grid, shape))
        return grid, after

    return pair


@concept("inside and outside")
def recolour_rooms_by_seed_count(p: Draws) -> Maker:
    """Only the frame that contains the most specks stays."""
    edge, dot = p.colours(2)

    def pair(d: Draws) -> Pair:
        grid = field(d, 14, 18)
        after = copy(grid)
        counts = d.sample([0, 1, 2, 3, 4], 3)
        for n in counts:
            shape = frame(d.between(4, 6), d.between(4, 6), edge)
            inner = [(r, c) for r in range(1, len(shape) - 1) for c in range(1, len(shape[0]) - 1)]
            for r, c in d.sample(inner, n):
                shape[r][c] = dot
            position = place(d, grid, shape)
            if n == max(counts):
                paste(after, shape, *position)
        return grid, after

    return pair


@concept("inside and outside")
def inside_colour_out(p: Draws) -> Maker:
    """Frame and content exchange their colours."""
    n = p.between(1, 2)

    def pair(d: Draws) -> Pair:
        grid = field(d, 12, 16)
        after = copy(grid)
        for _ in range(n):
            a, b = d.colours(2)
            height, width = d.between(4, 6), d.between(4, 6)
            position = place(d, grid, frame(height, width, a, b))
            paste(after, frame(height, width, b, a), *position)
        return grid, after

    return pair


@concept("inside and outside")
def innermost_colour(p: Draws) -> Maker:
    """Nested frames: one cell in the innermost colour."""
    n = p.between(2, 3)

    def pair(d: Draws) -> Pair:
        size, colours = d.between(0, 2), d.colours(n)
        shape = rect(size + 1, d.between(1, 3), colours[0])
        for colour in colours[1:]:
            wide = frame(len(shape) + 2, len(shape[0]) + 2, colour)
            paste(wide, shape, 1, 1)
            shape = wide
        return scene(d, [shape], 9, 13)[0], [[colours[0]]]

    return pair


@concept("inside and outside")
def nested_order(p: Draws) -> Maker:
    """Nested frames reverse their order of colours: the innermost becomes the outermost."""
    n = p.between(2, 3)

    def pair(d: Draws) -> Pair:
        colours, core = d.colours(n), (d.between(1, 2), d.between(1, 3))

        def nested(order: list[int]) -> Grid:
            shape = rect(*core, order[0])
            for colour in order[1:]:
                wide = frame(len(shape) + 2, len(shape[0]) + 2, colour)
                paste(wide, shape, 1, 1)
                shape = wide
            return shape

        grid, [position] = scene(d, [nested(colours)], 9, 13)
        after = blank(len(grid), len(grid[0]))
        paste(after, nested(colours[::-1]), *position)
        return grid, after

    return pair


@concept("top and bottom layer")
def topmost_of_three(p: Draws) -> Maker:
    """Three rectangles overlap in a chain: one cell in the colour of the topmost one."""
    del p

    def pair(d: Draws) -> Pair:
        grid, colours = blank(d.between(10, 13), d.between(12, 15)), d.colours(3)
        places = d.shuffled([(1, 1), (3, 4), (5, 7)])
        for (r, c), colour in zip(places, colours, strict=True):
            paste(grid, rect(4, 5, colour), r, c)
        if any(count([[int(x == c) for x in row] for row in grid]) < 5 for c in colours):
            raise Retry
        if places[-1] != (3, 4):
            raise Retry
        return grid, [[colours[-1]]]

    return pair


@concept("top and bottom layer")
def complete_hidden(p: Draws) -> Maker:
    """A rectangle hides part of another: it is removed, and the other is completed."""
    top = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        shape = some_rect(d, d.colours(1, [top])[0], 4, 6)
        after, [(r, c)] = scene(d, [shape], 10, 14)
        grid = copy(after)
        y, x = r + d.between(-1, 2), c + len(shape[0]) - 2
        cover = rect(3, 4, top)
        if y < 0 or y + 3 > len(grid) or x + 4 > len(grid[0]):
            raise Retry
        if not (y > r and y + 3 < r + len(shape)):
            raise Retry
        paste(grid, cover, y, x)
        return grid, after

    return pair


@concept("top and bottom layer")
def crossing_marked(p: Draws) -> Maker:
    """Where lines of two colours cross, the cell gets a third."""
    a, b, new = p.colours(3)

    def pair(d: Draws) -> Pair:
        grid = field(d, 9, 14)
        rows = d.sample(range(1, len(grid) - 1, 2), d.between(1, 2))
        columns = d.sample(range(1, len(grid[0]) - 1, 2), d.between(1, 2))
        for r in rows:
            grid[r] = [a] * len(grid[0])
        for row in grid:
            for c in columns:
                row[c] = b
        after = copy(grid)
        for r in rows:
            for c in columns:
                after[r][c] = new
        return grid, after

    return pair


@concept("complete a shape")
def complete_like_sample(p: Draws) -> Maker:
    """Damaged copies of a whole object are completed."""
    body = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        a, b = d.colours(2, [body])
        whole = [[a, body, a], [body, b, body], [a, body, b]]
        grid = field(d, 13, 17)
        after = copy(grid)
        for damaged in (False, True, d.chance(60)):
            shape = copy(whole)
            if damaged:
                for r, c in d.sample([(0, 0), (0, 1), (1, 2), (2, 0), (2, 2), (2, 1)], 3):
                    shape[r][c] = 0
            paste(after, whole, *place(d, grid, shape, 2))
        return grid, after

    return pair


@concept("complete a shape")
def complete_fourfold(p: Draws) -> Maker:
    """A quarter of a symmetric figure beside a centre square: the other quarters are added."""
    core, body = p.colours(2)

    def pair(d: Draws) -> Pair:
        quarter = blob(d, d.between(3, 5), body, 3)
        if not quarter[-1][-1]:
            raise Retry
        n = 2 * max(len(quarter), len(quarter[0])) + 2
        whole = blank(n, n)
        middle = n // 2 - 1
        paste(whole, quarter, middle - len(quarter), middle - len(quarter[0]))
        part = copy(whole)
        whole = [[max(whole[r][c], whole[r][n - 1 - c]) for c in range(n)] for r in range(n)]
        whole = [[max(whole[r][c], whole[n - 1 - r][c]) for c in range(n)] for r in range(n)]
        for shape in (part, whole):
            paste(shape, rect(2, 2, core), middle, middle)
        grid = field(d, 11, 15)
        r, c = d.between(0, len(grid) - n), d.between(0, len(grid[0]) - n)
        after = copy(grid)
        paste(grid, part, r, c)
        paste(after, whole, r, c)
        return grid, after

    return pair
