"""Rules in which one of several objects becomes the output, or determines it."""

from __future__ import annotations

from concepts.draws import Draws, Retry
from concepts.grids import (
    Grid,
    blob,
    bulky,
    count,
    crop,
    distinct,
    even_sided,
    field,
    flip,
    lopsided,
    place,
    recolour,
    rect,
    scene,
    some_frame,
    some_rect,
    specks,
    trim,
    turn,
)
from concepts.puzzle import Maker, Pair, concept


def _several(d: Draws, colours: list[int], low: int = 4, high: int = 8) -> list[Grid]:
    return [bulky(d, colour, low, high) for colour in colours]


@concept("extract")
def extract_largest(p: Draws) -> Maker:
    """The object with the most cells."""
    n = p.between(3, 4)

    def pair(d: Draws) -> Pair:
        shapes = [blob(d, size, c) for size, c in zip((9, 5, 3, 2), d.colours(4), strict=True)][:n]
        return scene(d, d.shuffled(shapes))[0], shapes[0]

    return pair


@concept("extract")
def extract_smallest(p: Draws) -> Maker:
    """The object with the fewest cells."""
    n = p.between(3, 4)

    def pair(d: Draws) -> Pair:
        shapes = [blob(d, size, c) for size, c in zip((4, 6, 7, 9), d.colours(4), strict=True)][:n]
        return scene(d, d.shuffled(shapes))[0], shapes[0]

    return pair


@concept("extract")
def extract_second_largest(p: Draws) -> Maker:
    """The second largest object."""
    n = p.between(3, 4)

    def pair(d: Draws) -> Pair:
        sizes = zip((6, 9, 4, 2), d.colours(4), strict=True)
        shapes = [blob(d, size, c) for size, c in sizes][:n]
        return scene(d, d.shuffled(shapes))[0], shapes[0]

    return pair


@concept("extract")
def extract_of_colour(p: Draws) -> Maker:
    """The object of the colour that is the same in all pairs."""
    key = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        shapes = _several(d, [key, *d.colours(d.between(2, 3), [key])])
        return scene(d, d.shuffled(shapes))[0], shapes[0]

    return pair


@concept("extract")
def extract_odd_colour(p: Draws) -> Maker:
    """The only object whose colour differs from that of the others."""
    del p

    def pair(d: Draws) -> Pair:
        usual, odd = d.colours(2)
        shapes = _several(d, [odd] + [usual] * d.between(2, 4))
        distinct(shapes)
        return scene(d, d.shuffled(shapes), 12, 16)[0], shapes[0]

    return pair


@concept("extract")
def extract_odd_shape(p: Draws) -> Maker:
    """The only object whose shape differs from that of the others."""
    del p

    def pair(d: Draws) -> Pair:
        usual, odd = bulky(d, 1), bulky(d, 1)
        if any(odd in (turn(each, n) for n in range(4)) for each in (usual, flip(usual))):
            raise Retry
        first, *colours = d.colours(4)
        shapes = [recolour(odd, first), *(recolour(usual, c) for c in colours)]
        return scene(d, d.shuffled(shapes), 12, 16)[0], shapes[0]

    return pair


@concept("extract")
def extract_topmost(p: Draws) -> Maker:
    """The object nearest to one side of the grid."""
    n = p.between(3, 4)

    def pair(d: Draws) -> Pair:
        shapes = _several(d, d.colours(n))
        grid, positions = scene(d, shapes, 12, 16)
        tops = [r for r, _ in positions]
        if tops.count(min(tops)) > 1:
            raise Retry
        return grid, shapes[tops.index(min(tops))]

    return pair


@concept("extract")
def extract_at_border(p: Draws) -> Maker:
    """The only object that touches the border."""
    n = p.between(2, 3)

    def pair(d: Draws) -> Pair:
        first, *others = _several(d, d.colours(n + 1))
        grid = field(d, 10, 15)
        place(d, grid, first)
        if not any(grid[0] + grid[-1] + [row[0] for row in grid] + [row[-1] for row in grid]):
            raise Retry
        for shape in others:
            place(d, grid, shape, inset=1)
        return grid, first

    return pair


@concept("extract")
def extract_inland(p: Draws) -> Maker:
    """The only object that does not touch the border."""
    n = p.between(2, 3)

    def pair(d: Draws) -> Pair:
        first, *others = _several(d, d.colours(n + 1))
        grid = field(d, 10, 15)
        place(d, grid, first, inset=2)
        for shape in others:
            r, c = place(d, grid, shape)
            if 0 not in (r, c, r + len(shape) - len(grid), c + len(shape[0]) - len(grid[0])):
                raise Retry
        return grid, first

    return pair


@concept("extract")
def extract_marked(p: Draws) -> Maker:
    """The rectangle that contains a cell of another colour."""
    mark = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        shapes = [some_rect(d, c, 3, 5) for c in d.colours(3, [mark])]
        first = shapes[0]
        first[d.between(1, len(first) - 2)][d.between(1, len(first[0]) - 2)] = mark
        return scene(d, d.shuffled(shapes), 12, 16)[0], first

    return pair


@concept("extract")
def extract_most_marked(p: Draws) -> Maker:
    """The rectangle that contains the most cells of a mark's colour."""
    mark, body = p.colours(2)

    def pair(d: Draws) -> Pair:
        shapes = []
        for n in (4, 2, 1):
            shape = some_rect(d, body, 4, 5)
            for r, c in d.sample([(r, c) for r in range(4) for c in range(4)], n):
                shape[r][c] = mark
            shapes.append(shape)
        return scene(d, d.shuffled(shapes), 14, 18)[0], shapes[0]

    return pair


@concept("extract")
def extract_symmetric(p: Draws) -> Maker:
    """The only object that is symmetric."""
    n = p.between(2, 3)

    def pair(d: Draws) -> Pair:
        first, *others = d.colours(n + 1)
        shapes = [even_sided(d, first), *(lopsided(d, c) for c in others)]
        return scene(d, d.shuffled(shapes), 12, 16)[0], shapes[0]

    return pair


@concept("extract")
def extract_asymmetric(p: Draws) -> Maker:
    """The only object that is not symmetric."""
    n = p.between(2, 3)

    def pair(d: Draws) -> Pair:
        first, *others = d.colours(n + 1)
        shapes = [lopsided(d, first, 5, 7), *(even_sided(d, c) for c in others)]
        return scene(d, d.shuffled(shapes), 13, 17)[0], shapes[0]

    return pair


@concept("extract")
def extract_holed(p: Draws) -> Maker:
    """The only object with a hole."""
    n = p.between(2, 3)

    def pair(d: Draws) -> Pair:
        first, *others = d.colours(n + 1)
        shapes = [some_frame(d, first), *(some_rect(d, c, 3, 5) for c in others)]
        return scene(d, d.shuffled(shapes), 13, 17)[0], shapes[0]

    return pair


@concept("extract")
def extract_most_colours(p: Draws) -> Maker:
    """The rectangle with the most colours."""
    size = p.between(3, 4)

    def pair(d: Draws) -> Pair:
        colours = d.colours(5)
        shapes = []
        for n in (4, 2, 2):
            pool = d.sample(colours, n)
            shape = [[d.pick(pool) for _ in range(size)] for _ in range(size)]
            if len({cell for row in shape for cell in row}) < n:
                raise Retry
            shapes.append(shape)
        return scene(d, d.shuffled(shapes), 12, 16)[0], shapes[0]

    return pair


@concept("extract")
def extract_framed(p: Draws) -> Maker:
    """The content of the only frame; there are specks elsewhere."""
    edge = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        shape, dots = some_frame(d, edge, 5, 7), d.colours(2, [edge])
        inner = [[d.pick(dots) if d.chance(45) else 0 for _ in shape[0][2:]] for _ in shape[2:]]
        if not any(map(any, inner)):
            raise Retry
        for r, row in enumerate(inner):
            shape[r + 1][1:-1] = row
        grid, _ = scene(d, [shape], 11, 16)
        for colour in dots:
            specks(d, grid, 3, colour)
        return grid, inner

    return pair


@concept("extract")
def extract_tallest(p: Draws) -> Maker:
    """The bar that is longest along one axis, whatever its width."""
    n = p.between(3, 4)

    def pair(d: Draws) -> Pair:
        heights = d.sample(range(2, 8), n)
        shapes = [rect(h, d.between(1, 4), c) for h, c in zip(heights, d.colours(n), strict=True)]
        first = max(shapes, key=len)
        if count(first) == max(map(count, shapes)) and d.chance(70):
            raise Retry
        return scene(d, shapes, 13, 17)[0], first

    return pair


@concept("extract")
def extract_repeated_shape(p: Draws) -> Maker:
    """The shape that two objects share."""
    colour = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        twice, *others = [bulky(d, colour) for _ in range(d.between(3, 4))]
        distinct([twice, *others])
        return scene(d, d.shuffled([twice, twice, *others]), 13, 17)[0], twice

    return pair


@concept("extract")
def extract_colour_of_largest(p: Draws) -> Maker:
    """One cell in the colour of the largest object."""
    n = p.between(3, 4)

    def pair(d: Draws) -> Pair:
        colours = d.colours(4)
        shapes = [blob(d, size, c) for size, c in zip((9, 5, 4, 2), colours, strict=True)][:n]
        return scene(d, d.shuffled(shapes))[0], [[colours[0]]]

    return pair


@concept("crop")
def crop_to_content(p: Draws) -> Maker:
    """The rectangle that contains everything."""
    n = p.between(2, 4)

    def pair(d: Draws) -> Pair:
        grid = scene(d, _several(d, d.colours(n)), 11, 16, 1, 1)[0]
        return grid, trim(grid)

    return pair


@concept("crop")
def crop_between_marks(p: Draws) -> Maker:
    """The content of the rectangle whose corners are four marks."""
    mark = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        grid = field(d, 11, 16)
        height, width = d.between(4, 7), d.between(4, 7)
        for colour in d.colours(3, [mark]):
            specks(d, grid, d.between(5, 8), colour, 0)
        r, c = d.between(0, len(grid) - height), d.between(0, len(grid[0]) - width)
        for y, x in (
            (r, c),
            (r + height - 1, c),
            (r, c + width - 1),
            (r + height - 1, c + width - 1),
        ):
            grid[y][x] = mark
        return grid, crop(grid, r + 1, c + 1, height - 2, width - 2)

    return pair


@concept("crop")
def crop_to_colour(p: Draws) -> Maker:
    """The bounding box of one colour, including other cells in it."""
    key = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        grid = field(d, 10, 14)
        shape = blob(d, d.between(5, 7), key, 4)
        r, c = place(d, grid, shape)
        for colour in d.colours(2, [key]):
            specks(d, grid, 8, colour, 0)
        return grid, crop(grid, r, c, len(shape), len(shape[0]))

    return pair


@concept("crop")
def crop_half(p: Draws) -> Maker:
    """One half of the grid."""
    del p

    def pair(d: Draws) -> Pair:
        grid = field(d, 6, 12)
        if len(grid) % 2:
            raise Retry
        for colour in d.colours(3):
            specks(d, grid, 6, colour, 0)
        return grid, grid[: len(grid) // 2]

    return pair


@concept("crop")
def crop_plain_window(p: Draws) -> Maker:
    """The rectangle of a single colour in the noise."""
    del p

    def pair(d: Draws) -> Pair:
        a, b, c = d.colours(3)
        base = field(d, 11, 15)
        noisy = [[d.pick([a, b, 0]) for _ in row] for row in base]
        window = some_rect(d, c, 3, 5)
        r, x = d.below(len(noisy) - len(window) + 1), d.below(len(noisy[0]) - len(window[0]) + 1)
        for y in range(len(window)):
            noisy[r + y][x : x + len(window[0])] = window[y]
        return noisy, window

    return pair
