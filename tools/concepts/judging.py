"""Rules that fill, keep, clean up or outline objects and areas by their properties."""

from __future__ import annotations

from concepts.draws import Draws, Retry
from concepts.grids import (
    AROUND,
    Grid,
    blank,
    bulky,
    copy,
    distinct,
    field,
    frame,
    has_hole,
    is_in,
    paste,
    place,
    recolour,
    rect,
    scene,
    some_frame,
    some_rect,
    specks,
)
from concepts.painting import painted
from concepts.puzzle import Maker, Pair, concept


@concept("filled and not")
def keep_filled(p: Draws) -> Maker:
    """Outlines disappear, filled rectangles stay."""
    colours = p.colours(3)

    def pair(d: Draws) -> Pair:
        shapes = [some_frame(d, d.pick(colours)) for _ in range(2)]
        shapes += [some_rect(d, d.pick(colours), 3, 5) for _ in range(2)]
        return painted(d, shapes, lambda _, s, __: 0 if has_hole(s) else None, 14, 18)

    return pair


@concept("filled and not")
def fill_frames(p: Draws) -> Maker:
    """Outlines are filled with a colour."""
    new = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        shapes = [some_frame(d, c, 3, 6) for c in d.colours(d.between(2, 3), [new])]
        grid, positions = scene(d, shapes, 13, 18)
        after = copy(grid)
        for shape, (r, c) in zip(shapes, positions, strict=True):
            paste(after, rect(len(shape) - 2, len(shape[0]) - 2, new), r + 1, c + 1)
        return grid, after

    return pair


@concept("filled and not")
def fill_closed(p: Draws) -> Maker:
    """Outlines without a gap are filled with their colour; those with a gap stay."""
    colours = p.colours(3)

    def pair(d: Draws) -> Pair:
        grid = field(d, 14, 18)
        after = copy(grid)
        for gap in (False, True, d.chance(50)):
            shape = some_frame(d, d.pick(colours), 4, 6)
            if gap:
                shape[0][d.between(1, len(shape[0]) - 2)] = 0
            r, c = place(d, grid, shape)
            paste(after, shape, r, c)
            if not gap:
                paste(after, rect(len(shape), len(shape[0]), shape[0][0]), r, c)
        return grid, after

    return pair


@concept("filled and not")
def hollow_out(p: Draws) -> Maker:
    """Only the outlines of filled rectangles stay."""
    n = p.between(2, 3)

    def pair(d: Draws) -> Pair:
        shapes = [some_rect(d, c, 3, 6) for c in d.colours(n)]
        grid, positions = scene(d, shapes, 13, 18)
        after = blank(len(grid), len(grid[0]))
        for s, position in zip(shapes, positions, strict=True):
            paste(after, frame(len(s), len(s[0]), s[0][0]), *position)
        return grid, after

    return pair


@concept("filled and not")
def hollow_in_colour(p: Draws) -> Maker:
    """The inside of filled rectangles gets a colour."""
    body, new = p.colours(2)

    def pair(d: Draws) -> Pair:
        shapes = [some_rect(d, body, 3, 6) for _ in range(d.between(2, 3))]
        grid, positions = scene(d, shapes, 13, 18)
        after = copy(grid)
        for s, (r, c) in zip(shapes, positions, strict=True):
            paste(after, rect(len(s) - 2, len(s[0]) - 2, new), r + 1, c + 1)
        return grid, after

    return pair


@concept("horizontal and vertical", turns=False)
def recolour_by_axis(p: Draws) -> Maker:
    """Horizontal bars get one colour, vertical ones another."""
    body, lying, standing = p.colours(3)

    def pair(d: Draws) -> Pair:
        shapes = [rect(1, d.between(2, 6), body) for _ in range(d.between(1, 3))]
        shapes += [rect(d.between(2, 6), 1, body) for _ in range(d.between(1, 3))]
        return painted(d, shapes, lambda _, s, __: lying if len(s) == 1 else standing)

    return pair


@concept("horizontal and vertical")
def remove_one_axis(p: Draws) -> Maker:
    """Bars along one axis disappear."""
    colours = p.colours(3)

    def pair(d: Draws) -> Pair:
        shapes = [rect(1, d.between(2, 6), d.pick(colours)) for _ in range(d.between(2, 3))]
        shapes += [rect(d.between(2, 6), 1, d.pick(colours)) for _ in range(d.between(1, 3))]
        return painted(d, shapes, lambda _, s, __: 0 if len(s) > 1 else None)

    return pair


@concept("same and different")
def remove_odd_shape(p: Draws) -> Maker:
    """The only object of another shape disappears."""
    body = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        usual, odd = bulky(d, body), bulky(d, body)
        distinct([usual, odd])
        return painted(d, [odd, usual, usual, usual], lambda _, s, __: 0 if s == odd else None)

    return pair


@concept("same and different")
def recolour_twins(p: Draws) -> Maker:
    """Objects that share their shape with another object get a colour."""
    body, new = p.colours(2)

    def pair(d: Draws) -> Pair:
        twin, *others = [bulky(d, body) for _ in range(3)]
        distinct([twin, *others])
        return painted(d, [twin, twin, *others], lambda _, s, __: new if s == twin else None)

    return pair


@concept("same and different")
def recolour_like_key(p: Draws) -> Maker:
    """Objects with the shape of the only object in a key colour get that colour."""
    body, key = p.colours(2)

    def pair(d: Draws) -> Pair:
        twin, *others = [bulky(d, body) for _ in range(3)]
        distinct([twin, *others])
        shapes = [recolour(twin, key), twin, twin, *others]
        return painted(d, shapes, lambda _, s, __: key if recolour(s, body) == twin else None)

    return pair


@concept("inside and outside")
def keep_inside(p: Draws) -> Maker:
    """Specks outside a frame disappear, those inside stay."""
    edge, dot = p.colours(2)

    def pair(d: Draws) -> Pair:
        shape = some_frame(d, edge, 6, 8)
        grid, [(r, c)] = scene(d, [shape], 12, 16)
        after = copy(grid)
        for _ in range(d.between(2, 3)):
            y, x = r + d.between(1, len(shape) - 2), c + d.between(1, len(shape[0]) - 2)
            grid[y][x] = after[y][x] = dot
        specks(d, grid, d.between(3, 5), dot)
        return grid, after

    return pair


@concept("inside and outside")
def recolour_inside(p: Draws) -> Maker:
    """Specks inside a frame get a colour."""
    edge, dot, new = p.colours(3)

    def pair(d: Draws) -> Pair:
        shape = some_frame(d, edge, 6, 8)
        grid, [(r, c)] = scene(d, [shape], 12, 16)
        specks(d, grid, d.between(3, 5), dot)
        after = copy(grid)
        for _ in range(d.between(2, 3)):
            y, x = r + d.between(1, len(shape) - 2), c + d.between(1, len(shape[0]) - 2)
            grid[y][x], after[y][x] = dot, new
        return grid, after

    return pair


@concept("inside and outside")
def frame_takes_content(p: Draws) -> Maker:
    """Each frame gets the colour of the speck in it."""
    edge = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        grid = field(d, 13, 17)
        after = copy(grid)
        for colour in d.colours(3, [edge]):
            shape = some_frame(d, edge, 3, 5)
            shape[d.between(1, len(shape) - 2)][d.between(1, len(shape[0]) - 2)] = colour
            position = place(d, grid, shape)
            paste(after, recolour(shape, colour), *position)
        return grid, after

    return pair


@concept("inside and outside")
def fill_with_content(p: Draws) -> Maker:
    """The inside of each frame gets the colour of the speck in it."""
    edge = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        grid = field(d, 13, 17)
        after = copy(grid)
        for colour in d.colours(3, [edge]):
            height, width = d.between(4, 6), d.between(4, 6)
            shape = frame(height, width, edge)
            shape[d.between(1, height - 2)][d.between(1, width - 2)] = colour
            position = place(d, grid, shape)
            paste(after, frame(height, width, edge, colour), *position)
        return grid, after

    return pair


@concept("inside and outside")
def fill_outside(p: Draws) -> Maker:
    """All empty cells outside the frames get a colour."""
    edge, new = p.colours(2)

    def pair(d: Draws) -> Pair:
        shapes = [some_frame(d, edge, 3, 6) for _ in range(d.between(2, 3))]
        grid, positions = scene(d, shapes, 12, 16)
        after = blank(len(grid), len(grid[0]), new)
        for s, (r, c) in zip(shapes, positions, strict=True):
            for y in range(len(s)):
                after[r + y][c : c + len(s[0])] = s[y]
        return grid, after

    return pair


@concept("clean up")
def remove_specks(p: Draws) -> Maker:
    """Single cells disappear, objects stay."""
    colours = p.colours(3)

    def pair(d: Draws) -> Pair:
        shapes = [some_rect(d, d.pick(colours)) for _ in range(d.between(2, 3))]
        grid, _ = scene(d, shapes, 12, 16)
        after = copy(grid)
        specks(d, grid, d.between(4, 7), d.pick(colours))
        return grid, after

    return pair


@concept("clean up")
def repair_rectangles(p: Draws) -> Maker:
    """Noise of one colour disappears, both on rectangles and beside them."""
    dirt, body = p.colours(2)

    def pair(d: Draws) -> Pair:
        grid, _ = scene(d, [some_rect(d, body, 4, 6) for _ in range(2)], 13, 17)
        after = copy(grid)
        for r, row in enumerate(grid):
            for c in range(len(row)):
                if d.chance(8):
                    grid[r][c] = dirt
        if not any(dirt in row for row in grid):
            raise Retry
        return grid, after

    return pair


@concept("clean up")
def remove_rare_colour(p: Draws) -> Maker:
    """The colour with the fewest cells disappears."""
    n = p.between(3, 4)

    def pair(d: Draws) -> Pair:
        grid = field(d, 8, 13)
        for number, colour in enumerate(d.colours(n)):
            specks(d, grid, 4 * (n - number), colour, 0)
        least = min({cell for row in grid for cell in row if cell}, key=lambda x: _total(grid, x))
        return grid, [[0 if cell == least else cell for cell in row] for row in grid]

    return pair


def _total(grid: Grid, colour: int) -> int:
    return sum(row.count(colour) for row in grid)


@concept("clean up")
def keep_lines(p: Draws) -> Maker:
    """Full lines stay, specks disappear."""
    colour = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        grid = field(d, 9, 15)
        grid[d.between(1, len(grid) - 2)] = [colour] * len(grid[0])
        if d.chance(50):
            c = d.between(1, len(grid[0]) - 2)
            for row in grid:
                row[c] = colour
        after = copy(grid)
        specks(d, grid, d.between(4, 8), colour)
        return grid, after

    return pair


@concept("boxes and lines")
def ring_around_specks(p: Draws) -> Maker:
    """Each speck gets a ring in a colour."""
    dot, ring = p.colours(2)

    def pair(d: Draws) -> Pair:
        grid = field(d, 8, 14)
        cells = specks(d, grid, d.between(2, 4), dot, 2, 1)
        after = copy(grid)
        for r, c in cells:
            paste(after, frame(3, 3, ring), r - 1, c - 1)
        return grid, after

    return pair


@concept("boxes and lines")
def outline_objects(p: Draws) -> Maker:
    """Each object gets an outline in a colour, corners included."""
    body, new = p.colours(2)

    def pair(d: Draws) -> Pair:
        shapes = [bulky(d, body) for _ in range(d.between(2, 3))]
        grid, _ = scene(d, shapes, 11, 16, 2)
        after = copy(grid)
        for r, row in enumerate(grid):
            for c, cell in enumerate(row):
                near = [(r + v, c + u) for v, u in AROUND if is_in(grid, r + v, c + u)]
                if not cell and any(grid[y][x] for y, x in near):
                    after[r][c] = new
        return grid, after

    return pair
