"""Rules in which the change to an object depends on another one: its colour, place or shape."""

from __future__ import annotations

from concepts.draws import Draws, Retry
from concepts.grids import (
    Grid,
    blank,
    blob,
    bulky,
    colour_of,
    copy,
    count,
    distinct,
    field,
    flip,
    frame,
    lopsided,
    paste,
    place,
    recolour,
    rect,
    scene,
    some_rect,
    turn,
)
from concepts.puzzle import Maker, Pair, concept


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
        return grid, recolour(grid, colour_of(max(shapes, key=count)))

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
        paste(after, recolour(shapes[0], colour_of(shapes[-1])), *positions[0])
        paste(after, recolour(shapes[-1], colour_of(shapes[0])), *positions[-1])
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
    """Of three or five objects, the one of median size."""
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
    """Each object gets as many specks below it as its position in the row, from one side."""
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
    """Objects of one colour get the colour of the speck next to them."""
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
    """Each object of two colours is painted in its more common one."""
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
    """Frames get a colour by the number of specks in them: one, two or three."""
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
        source = [[*row, 0] for row in (key, *rows)]
        return source, [[*row, mark if row == key else 0] for row in (key, *rows)]

    return pair
