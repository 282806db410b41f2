"""What happens to an object depends on another one: its colour, its place or its shape."""

from __future__ import annotations

from concepts.draws import Draws, Retry
from concepts.grids import (
    Grid,
    blank,
    blob,
    bulky,
    copy,
    count,
    crop,
    distinct,
    erase,
    field,
    flip,
    frame,
    inked,
    is_free,
    lopsided,
    paste,
    place,
    recolour,
    rect,
    scene,
    some_frame,
    some_rect,
    specks,
    transpose,
    turn,
    zoom,
)
from concepts.puzzle import Maker, Pair, concept


def _colour(shape: Grid) -> int:
    return max(map(max, shape))


def _orientations(shape: Grid) -> list[Grid]:
    return [turn(each, n) for each in (shape, flip(shape)) for n in range(4)]


def _sizes(d: Draws, n: int, low: int = 2, high: int = 9) -> list[int]:
    return d.sample(range(low, high + 1), n)


@concept("order and rank")
def all_take_colour_of_largest(p: Draws) -> Maker:
    """All objects get the colour of the largest one."""
    del p

    def pair(d: Draws) -> Pair:
        n = d.between(3, 5)
        sizes = _sizes(d, n)
        shapes = [blob(d, m, c) for m, c in zip(sizes, d.colours(n), strict=True)]
        grid, _ = scene(d, shapes, 12, 16)
        return grid, recolour(grid, _colour(max(shapes, key=count)))

    return pair


@concept("order and rank")
def largest_and_smallest_swap(p: Draws) -> Maker:
    """The largest and the smallest object exchange their colours."""
    del p

    def pair(d: Draws) -> Pair:
        n = d.between(3, 4)
        sizes = sorted(_sizes(d, n))
        shapes = [blob(d, m, c) for m, c in zip(sizes, d.colours(n), strict=True)]
        grid, positions = scene(d, shapes, 12, 16)
        after = copy(grid)
        paste(after, recolour(shapes[0], _colour(shapes[-1])), *positions[0])
        paste(after, recolour(shapes[-1], _colour(shapes[0])), *positions[-1])
        return grid, after

    return pair


@concept("order and rank")
def keep_two_largest(p: Draws) -> Maker:
    """Only the two largest objects stay."""
    colours = p.colours(4)

    def pair(d: Draws) -> Pair:
        sizes = sorted(_sizes(d, d.between(4, 5)))
        shapes = [blob(d, m, d.pick(colours)) for m in sizes]
        grid, positions = scene(d, shapes, 13, 17)
        after = blank(len(grid), len(grid[0]))
        for number in (-1, -2):
            paste(after, shapes[number], *positions[number])
        return grid, after

    return pair


@concept("order and rank")
def extract_middle_size(p: Draws) -> Maker:
    """Of three or five objects, the one of middle size."""
    colours = p.colours(4)

    def pair(d: Draws) -> Pair:
        sizes = sorted(_sizes(d, d.pick([3, 5])))
        shapes = [blob(d, m, d.pick(colours)) for m in sizes]
        return scene(d, d.shuffled(shapes), 13, 17)[0], shapes[len(shapes) // 2]

    return pair


@concept("order and rank")
def line_up_by_size(p: Draws) -> Maker:
    """The bars side by side on one line, sorted by length, in a new grid."""
    n = p.between(3, 4)

    def pair(d: Draws) -> Pair:
        heights = sorted(d.sample(range(1, 7), n))
        bars = [rect(h, 1, c) for h, c in zip(heights, d.colours(n), strict=True)]
        grid, _ = scene(d, d.shuffled(bars), 9, 13)
        after = blank(heights[-1], n)
        for number, bar in enumerate(bars):
            paste(after, bar, heights[-1] - len(bar), number)
        return grid, after

    return pair


@concept("order and rank")
def number_from_left(p: Draws) -> Maker:
    """Each object becomes as many specks below it as its place in the row, from one side."""
    new = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        n = d.between(2, 4)
        grid = blank(d.between(7, 9), 4 * n)
        after = copy(grid)
        for number, colour in enumerate(d.colours(n, [new])):
            shape = rect(2, 3, colour)
            paste(grid, shape, 0, 4 * number)
            paste(after, shape, 0, 4 * number)
            for r in range(number + 1):
                after[3 + r][4 * number + 1] = new
        return grid, after

    return pair


@concept("recolour by property")
def recolour_as_nearest(p: Draws) -> Maker:
    """Gray objects get the colour of the speck next to them."""
    body = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        grid = field(d, 13, 17)
        after = copy(grid)
        for colour in d.colours(3, [body]):
            shape = bulky(d, body)
            tall = [[0] * len(shape[0]), *shape]
            tall[0][d.pick([c for c, cell in enumerate(shape[0]) if cell])] = colour
            r, c = place(d, grid, tall, 1)
            paste(after, recolour(tall, colour), r, c)
        return grid, after

    return pair


@concept("recolour by property")
def recolour_multi_to_main(p: Draws) -> Maker:
    """Each object of two colours becomes plain in its more common one."""
    n = p.between(2, 3)

    def pair(d: Draws) -> Pair:
        grid = field(d, 12, 16)
        after = copy(grid)
        for _ in range(n):
            a, b = d.colours(2)
            shape = some_rect(d, a, 3, 5)
            for r, c in d.sample([(r, c) for r in range(3) for c in range(3)], d.between(1, 3)):
                shape[r][c] = b
            position = place(d, grid, shape)
            paste(after, recolour(shape, a), *position)
        return grid, after

    return pair


@concept("recolour by property")
def recolour_squares(p: Draws) -> Maker:
    """Squares get a colour, other rectangles stay."""
    new = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        grid = field(d, 13, 17)
        after = copy(grid)
        for square, colour in zip(
            (True, False, d.chance(50), False), d.colours(4, [new]), strict=True
        ):
            height = d.between(2, 4)
            width = height if square else d.pick([w for w in (2, 3, 4, 5) if w != height])
            shape = rect(height, width, colour)
            position = place(d, grid, shape)
            paste(after, recolour(shape, new) if square else shape, *position)
        return grid, after

    return pair


@concept("recolour by property")
def recolour_by_content_count(p: Draws) -> Maker:
    """Frames get a colour by how many specks are in them: one, two or three."""
    edge, dot, *names = p.colours(5)

    def pair(d: Draws) -> Pair:
        grid = field(d, 13, 17)
        after = copy(grid)
        for n in d.shuffled([1, 2, 3]):
            shape = frame(d.between(4, 6), d.between(4, 6), edge)
            inner = [(r, c) for r in range(1, len(shape) - 1) for c in range(1, len(shape[0]) - 1)]
            for r, c in d.sample(inner, n):
                shape[r][c] = dot
            position = place(d, grid, shape)
            painted = [[names[n - 1] if cell == edge else cell for cell in row] for row in shape]
            paste(after, painted, *position)
        return grid, after

    return pair


@concept("same and different")
def recolour_same_any_way(p: Draws) -> Maker:
    """Objects with the shape of the coloured one, however rotated, get its colour."""
    body = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        key = d.colours(1, [body])[0]
        twin, *others = lopsided(d, body), lopsided(d, body), lopsided(d, body)
        if any(other in _orientations(twin) for other in others):
            raise Retry
        same = [d.pick(_orientations(twin)) for _ in range(2)]
        shapes = [recolour(twin, key), *same, *others]
        grid, positions = scene(d, shapes, 13, 17)
        after = copy(grid)
        for shape, position in list(zip(shapes, positions, strict=True))[1:3]:
            paste(after, recolour(shape, key), *position)
        return grid, after

    return pair


@concept("same and different")
def shapes_by_sample(p: Draws) -> Maker:
    """Two coloured samples: every other object gets the colour of the sample of its shape."""
    body = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        kinds = [bulky(d, body), bulky(d, body)]
        distinct(kinds)
        names = d.colours(2, [body])
        samples = [recolour(s, c) for s, c in zip(kinds, names, strict=True)]
        picks = [0, 1, *(d.below(2) for _ in range(d.between(1, 2)))]
        grid, positions = scene(d, [*samples, *(kinds[k] for k in picks)], 14, 18)
        after = copy(grid)
        for k, position in zip(picks, positions[2:], strict=True):
            paste(after, recolour(kinds[k], names[k]), *position)
        return grid, after

    return pair


@concept("same and different")
def keep_repeated(p: Draws) -> Maker:
    """Only objects whose shape occurs more than once stay, whatever their colours."""
    colours = p.colours(4)

    def pair(d: Draws) -> Pair:
        twin, *others = [bulky(d, 1) for _ in range(d.between(3, 4))]
        distinct([twin, *others])
        shapes = [recolour(s, d.pick(colours)) for s in (twin, twin, *others)]
        grid, positions = scene(d, shapes, 13, 17)
        after = blank(len(grid), len(grid[0]))
        for shape, position in list(zip(shapes, positions, strict=True))[:2]:
            paste(after, shape, *position)
        return grid, after

    return pair


@concept("same and different")
def rows_that_equal_the_first(p: Draws) -> Maker:
    """Rows that are equal to the first row get a mark's colour at their end."""
    a, b, mark = p.colours(3)

    def pair(d: Draws) -> Pair:
        width = d.between(4, 6)
        key = [d.pick([a, b]) for _ in range(width)]
        rows = [key if d.chance(40) else [d.pick([a, b]) for _ in key] for _ in range(6)]
        given = [[*row, 0] for row in (key, *rows)]
        return given, [[*row, mark if row == key else 0] for row in (key, *rows)]

    return pair


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
    """Two objects in one row move towards each other until they touch at a middle line."""
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
    """Bars of equal width, one above the other, fall to a heap in their order."""
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
    """The object is cropped and set side by side as often as there are specks."""
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
    """The object that lies in a frame, of several equal in size."""
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
    """The only rectangle of several plain colours, from a noisy background."""
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
    """Only the frame with the most specks in it stays."""
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
    """Nested frames: one cell of the innermost colour."""
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
    """Nested frames exchange their order of colours: the innermost becomes the outermost."""
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
    """Three rectangles overlap in a chain: one cell in the colour of the one on top of all."""
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
    """A rectangle hides part of others: it is removed, and they are completed."""
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


@concept("extend")
def extend_pointed(p: Draws) -> Maker:
    """Each bar has a tip of another colour, from which a line runs on to the edge."""
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
        given = [[*a, line, *b] for a, b in zip(*sides, strict=True)]
        return given, [[*a, line, *b] for a, b in zip(*after, strict=True)]

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
        given, wanted = [[c] * width for c in rows], [[c] for c in colours]
        if d.chance(50):
            return transpose(given), transpose(wanted)
        return given, wanted

    return pair


@concept("centre")
def centre_of_frame(p: Draws) -> Maker:
    """A speck is put into the centre of each frame, in the colour of the frame."""
    n = p.between(2, 3)

    def pair(d: Draws) -> Pair:
        grid = field(d, 14, 18)
        after = copy(grid)
        for colour in d.colours(n):
            shape = frame(d.pick([5, 7]), d.pick([5, 7]), colour)
            full = copy(shape)
            full[len(shape) // 2][len(shape[0]) // 2] = colour
            paste(after, full, *place(d, grid, shape))
        return grid, after

    return pair


@concept("centre")
def middle_of_bars(p: Draws) -> Maker:
    """The middle cell of each bar gets a colour."""
    new = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        grid = field(d, 11, 15)
        after = copy(grid)
        for colour in d.colours(3, [new]):
            n = d.pick([3, 5, 7])
            shape = rect(1, n, colour)
            full = copy(shape)
            full[0][n // 2] = new
            if d.chance(50):
                shape, full = transpose(shape), transpose(full)
            paste(after, full, *place(d, grid, shape))
        return grid, after

    return pair


@concept("centre")
def lines_from_centre(p: Draws) -> Maker:
    """A plus of lines runs from the object's centre to the edges, below the object."""
    body, new = p.colours(2)

    def pair(d: Draws) -> Pair:
        n = d.pick([1, 3, 5])
        grid, [(r, c)] = scene(d, [rect(n, n, body)], 9, 14, 1, 1)
        after = copy(grid)
        for y in range(len(grid)):
            for x in range(len(grid[0])):
                if (y == r + n // 2 or x == c + n // 2) and not grid[y][x]:
                    after[y][x] = new
        return grid, after

    return pair


@concept("above and below")
def shadow_below(p: Draws) -> Maker:
    """All cells below an object, in its columns, get a colour."""
    new = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        grid = field(d, 10, 14)
        after = copy(grid)
        used: list[int] = []
        for colour in d.colours(2, [new]):
            shape = some_rect(d, colour, 1, 3)
            r, c = place(d, grid, shape)
            columns = list(range(c, c + len(shape[0])))
            if set(columns) & set(used):
                raise Retry
            used += columns
            paste(after, rect(len(grid) - r, len(shape[0]), new), r, c)
            paste(after, shape, r, c)
        return grid, after

    return pair


@concept("above and below")
def order_swapped(p: Draws) -> Maker:
    """Two objects, one above the other in the same columns, exchange their places."""
    del p

    def pair(d: Draws) -> Pair:
        a, b = d.colours(2)
        width = d.between(2, 4)
        shapes = [blob(d, width + 2, c, 4) for c in (a, b)]
        if any(len(s[0]) != width or len(s) != len(shapes[0]) for s in shapes):
            raise Retry
        distinct([recolour(s, 1) for s in shapes])
        height = len(shapes[0])
        grid = blank(2 * height + d.between(3, 6), d.between(7, 10))
        c, r = d.between(0, len(grid[0]) - width), d.between(0, 1)
        y = d.between(r + height + 1, len(grid) - height)
        after = copy(grid)
        for target, order in ((grid, shapes), (after, shapes[::-1])):
            paste(target, order[0], r, c)
            paste(target, order[1], y, c)
        return grid, after

    return pair


@concept("above and below")
def keep_part_above_mark(p: Draws) -> Maker:
    """The output is the part of the grid above the row with the mark."""
    mark = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        grid = field(d, 8, 12)
        for colour in d.colours(3, [mark]):
            specks(d, grid, 5, colour, 0)
        cut = d.between(2, len(grid) - 3)
        grid[cut] = [0] * len(grid[0])
        grid[cut][d.below(len(grid[0]))] = mark
        return grid, crop(grid, 0, 0, cut, len(grid[0]))

    return pair


@concept("filled and not")
def exchange_filled(p: Draws) -> Maker:
    """Outlines become filled, filled rectangles become outlines."""
    colours = p.colours(3)

    def pair(d: Draws) -> Pair:
        grid = field(d, 14, 18)
        after = copy(grid)
        for filled in (True, False, d.chance(50)):
            height, width, colour = d.between(3, 5), d.between(3, 5), d.pick(colours)
            shapes = [rect(height, width, colour), frame(height, width, colour)]
            given, wanted = shapes if filled else shapes[::-1]
            paste(after, wanted, *place(d, grid, given))
        return grid, after

    return pair


@concept("filled and not")
def fill_by_size(p: Draws) -> Maker:
    """Small frames are filled with one colour, large ones with another."""
    edge, small, large = p.colours(3)

    def pair(d: Draws) -> Pair:
        grid = field(d, 14, 18)
        after = copy(grid)
        for n in (3, 5, d.pick([3, 5, 6])):
            shape, inner = frame(n, n, edge), small if n == 3 else large
            paste(after, frame(n, n, edge, inner), *place(d, grid, shape))
        return grid, after

    return pair


@concept("filled and not")
def fill_checkered(p: Draws) -> Maker:
    """Frames are filled so that every second cell has their colour, from the top left."""
    del p

    def pair(d: Draws) -> Pair:
        grid = field(d, 12, 16)
        after = copy(grid)
        for colour in d.colours(d.between(1, 2)):
            shape = some_frame(d, colour, 5, 7)
            full = copy(shape)
            for r in range(2, len(shape) - 1):
                for c in range(2, len(shape[0]) - 1):
                    if (r + c) % 2 == 0:
                        full[r][c] = colour
            paste(after, full, *place(d, grid, shape))
        return grid, after

    return pair


@concept("gravity")
def fall_by_colour(p: Draws) -> Maker:
    """Cells of one colour fall, cells of another stay and hold nothing up."""
    falling, still = p.colours(2)

    def pair(d: Draws) -> Pair:
        grid = field(d, 8, 12)
        fixed = specks(d, grid, d.between(3, 5), still, 0)
        moving = specks(d, grid, d.between(4, 6), falling, 0)
        after = blank(len(grid), len(grid[0]))
        for r, c in fixed:
            after[r][c] = still
        for c in {c for _, c in moving}:
            n = sum(1 for _, x in moving if x == c)
            free = [r for r in range(len(grid)) if after[r][c] == 0][-n:]
            for r in free:
                after[r][c] = falling
            if any(r in [y for y, x in fixed if x == c] for r in range(len(grid) - n, len(grid))):
                raise Retry
        return grid, after

    return pair


@concept("connect")
def connect_to_hub(p: Draws) -> Maker:
    """Specks that share a row or column with the hub are connected to it in their colours."""
    hub = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        grid = field(d, 11, 15)
        r, c = d.between(4, len(grid) - 5), d.between(4, len(grid[0]) - 5)
        grid[r][c] = hub
        after = copy(grid)
        ends = [(r, 0), (r, len(grid[0]) - 1), (0, c), (len(grid) - 1, c)]
        colours = d.colours(4, [hub])
        for (y, x), colour in zip(d.sample(ends, d.between(2, 4)), colours, strict=False):
            grid[y][x] = colour
            for v in range(min(y, r), max(y, r) + 1):
                for u in range(min(x, c), max(x, c) + 1):
                    after[v][u] = colour
        after[r][c] = hub
        place(d, grid, [[colours[0]]])
        lost = [(y, x) for y, x, _ in inked(grid) if y != r and x != c]
        for y, x in lost:
            after[y][x] = grid[y][x]
        return grid, after

    return pair


@concept("split and combine")
def quarter_that_differs(p: Draws) -> Maker:
    """Four quarters, one of which differs from the three equal ones: it is the output."""
    ink = p.colours(2)

    def pair(d: Draws) -> Pair:
        n = d.between(2, 4)
        usual = [[d.pick([0, *ink]) for _ in range(n)] for _ in range(n)]
        odd = copy(usual)
        r, c = d.below(n), d.below(n)
        odd[r][c] = d.pick([x for x in (0, *ink) if x != usual[r][c]])
        a, b, e, f = d.shuffled([usual, usual, usual, odd])
        upper = [x + y for x, y in zip(a, b, strict=True)]
        return upper + [x + y for x, y in zip(e, f, strict=True)], odd

    return pair


@concept("split and combine")
def part_under_mark(p: Draws) -> Maker:
    """Three parts side by side: the one below the mark is the output, without it."""
    mark = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        n, ink = d.between(3, 4), d.colours(2, [mark])
        parts = [[[d.pick([0, *ink]) for _ in range(n)] for _ in range(n)] for _ in range(3)]
        distinct(parts)
        chosen = d.below(3)
        top = [0] * (3 * n + 2)
        top[chosen * (n + 1) + d.below(n)] = mark
        rows = [[*a, 0, *b, 0, *e] for a, b, e in zip(*parts, strict=True)]
        return [top, [0] * len(top), *rows], parts[chosen]

    return pair


@concept("tile")
def tile_between_lines(p: Draws) -> Maker:
    """The object is repeated in every cell of a lattice that has a mark."""
    line, mark = p.colours(2)

    def pair(d: Draws) -> Pair:
        shape, n = rect(3, 3, 0), d.between(2, 3)
        body = d.colours(1, [line, mark])[0]
        for r, c in d.sample([(r, c) for r in range(3) for c in range(3)], 5):
            shape[r][c] = body
        grid = blank(4 * n - 1, 4 * n - 1)
        for k in range(3, 4 * n - 1, 4):
            grid[k] = [line] * len(grid[0])
            for row in grid:
                row[k] = line
        cells = d.sample([(r, c) for r in range(n) for c in range(n)], d.between(2, 4))
        after = copy(grid)
        for number, (r, c) in enumerate(cells):
            if number:
                grid[4 * r + 1][4 * c + 1] = mark
            else:
                paste(grid, shape, 4 * r, 4 * c)
            paste(after, shape, 4 * r, 4 * c)
        return grid, after

    return pair


@concept("legend and key")
def key_row_orders_colours(p: Draws) -> Maker:
    """The first row is a key: below it, each bar gets the next colour of the key."""
    body = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        n = d.between(2, 4)
        key = d.colours(n, [body])
        grid = blank(2 * n + 2, d.between(6, 9))
        grid[0][:n] = key
        after = copy(grid)
        for number, colour in enumerate(key):
            width = d.between(2, len(grid[0]))
            grid[2 * number + 2][:width] = [body] * width
            after[2 * number + 2][:width] = [colour] * width
        return grid, after

    return pair


@concept("move")
def erase_and_move_marks(p: Draws) -> Maker:
    """Each object moves onto the only mark of its colour, which it replaces at its corner."""
    colours = p.colours(4)

    def pair(d: Draws) -> Pair:
        names = d.sample(colours, 2)
        shapes = [rect(2, 2, c) for c in names]
        grid, positions = scene(d, shapes, 12, 15)
        cells = [place(d, grid, [[c]], 2, 2) for c in names]
        after = copy(grid)
        for shape, position in zip(shapes, positions, strict=True):
            erase(after, shape, *position)
        for shape, (r, c) in zip(shapes, cells, strict=True):
            paste(after, shape, r, c)
        return grid, after

    return pair
