"""Rules that recolour or remove objects in place, by their properties or positions."""

from __future__ import annotations

from concepts.draws import Draws, Retry
from concepts.grids import (
    blank,
    blob,
    bulky,
    copy,
    count,
    even_sided,
    field,
    has_hole,
    lopsided,
    paste,
    place,
    recolour,
    rect,
    scene,
    some_frame,
    some_rect,
    specks,
)
from concepts.painting import painted, ranked
from concepts.puzzle import Maker, Pair, concept


@concept("recolour by property")
def recolour_by_size(p: Draws) -> Maker:
    """Small objects get one colour, large ones another."""
    body, small, large = p.colours(3)

    def pair(d: Draws) -> Pair:
        shapes = [blob(d, n, body) for n in (2, 3, d.between(6, 7), 8, 6)]
        return painted(d, shapes, lambda _, s, __: small if count(s) < 5 else large)

    return pair


@concept("recolour by property")
def recolour_by_cells(p: Draws) -> Maker:
    """The number of cells decides the colour: 2, 3 or 4."""
    body, *names = p.colours(4)

    def pair(d: Draws) -> Pair:
        shapes = [blob(d, n, body) for n in (2, 3, 4, d.between(2, 4), d.between(2, 4))]
        return painted(d, shapes, lambda _, s, __: names[count(s) - 2], 9, 14)

    return pair


@concept("recolour by property")
def recolour_holed(p: Draws) -> Maker:
    """Objects with a hole get a colour."""
    body, new = p.colours(2)

    def pair(d: Draws) -> Pair:
        shapes = [
            some_frame(d, body),
            some_frame(d, body, 3, 4),
            some_rect(d, body),
            bulky(d, body),
        ]
        return painted(d, shapes, lambda _, s, __: new if has_hole(s) else None)

    return pair


@concept("recolour by property")
def recolour_at_border(p: Draws) -> Maker:
    """Objects at the border get a colour."""
    body, new = p.colours(2)

    def pair(d: Draws) -> Pair:
        shapes = [bulky(d, body) for _ in range(4)]
        grid, positions = scene(d, shapes, 11, 15)
        after = copy(grid)
        edges = 0
        for shape, (r, c) in zip(shapes, positions, strict=True):
            corners = (r, c, r + len(shape) - len(grid), c + len(shape[0]) - len(grid[0]))
            if 0 in corners:
                paste(after, recolour(shape, new), r, c)
                edges += 1
        if edges in (0, 4):
            raise Retry
        return grid, after

    return pair


@concept("recolour by property")
def recolour_symmetric(p: Draws) -> Maker:
    """Symmetric objects get a colour."""
    body, new = p.colours(2)

    def pair(d: Draws) -> Pair:
        shapes = [even_sided(d, body), even_sided(d, body), lopsided(d, body), lopsided(d, body)]
        return painted(d, shapes, lambda _, s, __: new if s == [r[::-1] for r in s] else None)

    return pair


@concept("recolour by property")
def recolour_by_height(p: Draws) -> Maker:
    """Bars of one width get a colour by their length."""
    body, *names = p.colours(4)

    def pair(d: Draws) -> Pair:
        shapes = [rect(n, 1, body) for n in (2, 3, 4, d.between(2, 4))]
        return painted(d, shapes, lambda _, s, __: names[len(s) - 2], 10, 14)

    return pair


@concept("recolour by property")
def recolour_even(p: Draws) -> Maker:
    """Bars with an even number of cells get one colour, others another."""
    body, even, odd = p.colours(3)

    def pair(d: Draws) -> Pair:
        shapes = [rect(1, n, body) for n in (d.pick([2, 4, 6]), d.pick([3, 5]), d.between(2, 6))]
        return painted(d, shapes, lambda _, s, __: odd if len(s[0]) % 2 else even, 10, 14)

    return pair


@concept("recolour by property")
def recolour_touching(p: Draws) -> Maker:
    """Objects next to a cell of a mark's colour get another colour."""
    body, mark, new = p.colours(3)

    def pair(d: Draws) -> Pair:
        grid = field(d, 12, 16)
        shapes = [some_rect(d, body, 2, 3) for _ in range(4)]
        after = copy(grid)
        for number, shape in enumerate(shapes):
            marked = [[0] * (len(shape[0])), *copy(shape)]
            if number < 2:
                marked[0][d.below(len(shape[0]))] = mark
            r, c = place(d, grid, marked)
            paste(after, recolour(shape, new) if number < 2 else shape, r + 1, c)
            paste(after, [[cell if cell == mark else 0 for cell in marked[0]]], r, c)
        return grid, after

    return pair


@concept("order and rank")
def recolour_by_rank(p: Draws) -> Maker:
    """Three objects get colours in the order of their sizes."""
    body, *names = p.colours(4)

    def pair(d: Draws) -> Pair:
        sizes = d.sample(range(2, 9), 3)
        shapes = [blob(d, n, body) for n in sizes]
        return painted(d, shapes, lambda _, s, __: names[sorted(sizes).index(count(s))])

    return pair


@concept("order and rank")
def recolour_largest(p: Draws) -> Maker:
    """The largest object gets a colour."""
    new = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        sizes = d.sample(range(2, 10), d.between(3, 4))
        shapes = [blob(d, n, c) for n, c in zip(sizes, d.colours(len(sizes), [new]), strict=True)]
        return painted(d, shapes, lambda _, s, __: new if count(s) == max(sizes) else None)

    return pair


@concept("order and rank")
def recolour_smallest_removed(p: Draws) -> Maker:
    """The smallest object disappears."""
    colours = p.colours(3)

    def pair(d: Draws) -> Pair:
        sizes = d.sample(range(2, 10), d.between(3, 4))
        shapes = [blob(d, n, d.pick(colours)) for n in sizes]
        return painted(d, shapes, lambda _, s, __: 0 if count(s) == min(sizes) else None)

    return pair


@concept("order and rank")
def recolour_by_order(p: Draws) -> Maker:
    """Three objects get colours in their order along an axis."""
    body, *names = p.colours(4)

    def pair(d: Draws) -> Pair:
        shapes = [bulky(d, body, 4, 6) for _ in range(3)]
        grid, positions = scene(d, shapes, 11, 16)
        lefts = [c for _, c in positions]
        after = copy(grid)
        for number, (shape, position) in enumerate(zip(shapes, positions, strict=True)):
            paste(after, recolour(shape, names[ranked(lefts, number)]), *position)
        return grid, after

    return pair


@concept("order and rank")
def recolour_leftmost(p: Draws) -> Maker:
    """The object nearest to one side gets a colour."""
    new = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        shapes = [bulky(d, c) for c in d.colours(d.between(3, 4), [new])]
        grid, positions = scene(d, shapes, 12, 16)
        lefts = [c for _, c in positions]
        first = [ranked(lefts, n) for n in range(len(shapes))].index(0)
        after = copy(grid)
        paste(after, recolour(shapes[first], new), *positions[first])
        return grid, after

    return pair


@concept("above and below")
def recolour_below_line(p: Draws) -> Maker:
    """Objects on one side of a line get a colour."""
    line, body, new = p.colours(3)

    def pair(d: Draws) -> Pair:
        grid, shapes = field(d, 12, 16), [bulky(d, body, 3, 5) for _ in range(d.between(3, 5))]
        cut = d.between(4, len(grid) - 5)
        grid[cut] = [line] * len(grid[0])
        positions = [place(d, grid, shape) for shape in shapes]
        after, sides = copy(grid), {r > cut for r, _ in positions}
        for shape, (r, c) in zip(shapes, positions, strict=True):
            if r > cut:
                paste(after, recolour(shape, new), r, c)
        if len(sides) < 2:
            raise Retry
        return grid, after

    return pair


@concept("above and below")
def remove_above_line(p: Draws) -> Maker:
    """Everything on one side of a line disappears."""
    line = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        grid = field(d, 10, 15)
        cut = d.between(3, len(grid) - 4)
        grid[cut] = [line] * len(grid[0])
        for colour in d.colours(2, [line]):
            specks(d, grid, d.between(3, 5), colour)
        return grid, [*blank(cut, len(grid[0])), *copy(grid[cut:])]

    return pair


@concept("above and below")
def recolour_upper_of_two(p: Draws) -> Maker:
    """Of two equal objects, the upper one gets a colour."""
    body, new = p.colours(2)

    def pair(d: Draws) -> Pair:
        shape = bulky(d, body)
        grid, positions = scene(d, [shape, shape], 9, 14)
        ranked([r for r, _ in positions], 0)
        after = copy(grid)
        paste(after, recolour(shape, new), *min(positions))
        return grid, after

    return pair


@concept("above and below")
def recolour_column_tops(p: Draws) -> Maker:
    """The end of each bar gets a colour."""
    body, new = p.colours(2)

    def pair(d: Draws) -> Pair:
        grid = field(d, 8, 13)
        for c in range(1, len(grid[0]), 2):
            for r in range(d.between(1, len(grid)), len(grid)):
                grid[r][c] = body
        after = copy(grid)
        for r, row in enumerate(grid):
            for c, cell in enumerate(row):
                if cell and (r == 0 or grid[r - 1][c] == 0):
                    after[r][c] = new
        return grid, after

    return pair


@concept("centre")
def recolour_middle_object(p: Draws) -> Maker:
    """Of three objects, the middle one along an axis gets a colour."""
    body, new = p.colours(2)

    def pair(d: Draws) -> Pair:
        shapes = [bulky(d, body, 3, 6) for _ in range(3)]
        grid, positions = scene(d, shapes, 11, 16)
        lefts = [c for _, c in positions]
        after = copy(grid)
        for number, (shape, position) in enumerate(zip(shapes, positions, strict=True)):
            if ranked(lefts, number) == 1:
                paste(after, recolour(shape, new), *position)
        return grid, after

    return pair


@concept("centre")
def mark_centres(p: Draws) -> Maker:
    """The middle cell of each rectangle gets a colour."""
    new = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        colours = d.colours(3, [new])
        shapes = [rect(d.pick([3, 5]), d.pick([3, 5, 7]), c) for c in colours]
        grid, positions = scene(d, shapes, 13, 18)
        after = copy(grid)
        for shape, (r, c) in zip(shapes, positions, strict=True):
            after[r + len(shape) // 2][c + len(shape[0]) // 2] = new
        return grid, after

    return pair
