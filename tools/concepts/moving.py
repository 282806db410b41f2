"""Rules that move objects, or mirror and rotate them in place."""

from __future__ import annotations

import itertools

from concepts.draws import Draws, Retry
from concepts.grids import (
    Grid,
    blank,
    blob,
    bulky,
    copy,
    distinct,
    erase,
    field,
    flip,
    is_free,
    lopsided,
    paste,
    place,
    rect,
    scene,
    some_rect,
    specks,
    transpose,
    turn,
)
from concepts.puzzle import Maker, Pair, concept


def _apart(spans: list[tuple[int, int]]) -> None:
    """Raise Retry if two ranges overlap."""
    ordered = sorted(spans)
    if any(a[1] > b[0] for a, b in itertools.pairwise(ordered)):
        raise Retry


@concept("move")
def move_to_border(p: Draws) -> Maker:
    """Each object moves to one edge."""
    n = p.between(2, 3)

    def pair(d: Draws) -> Pair:
        shapes = [bulky(d, c) for c in d.colours(n)]
        grid, positions = scene(d, shapes, 11, 15)
        _apart([(c, c + len(s[0])) for s, (_, c) in zip(shapes, positions, strict=True)])
        after = blank(len(grid), len(grid[0]))
        for s, (_, c) in zip(shapes, positions, strict=True):
            paste(after, s, len(grid) - len(s), c)
        return grid, after

    return pair


@concept("move")
def move_to_wall(p: Draws) -> Maker:
    """Each object moves along its column until it touches a wall."""
    wall, body = p.colours(2)

    def pair(d: Draws) -> Pair:
        grid = field(d, 11, 15)
        cut = d.between(len(grid) - 4, len(grid) - 1)
        grid[cut] = [wall] * len(grid[0])
        above = blank(cut, len(grid[0]))
        shapes = [bulky(d, body) for _ in range(d.between(1, 3))]
        positions = [place(d, above, shape) for shape in shapes]
        _apart([(c, c + len(s[0])) for s, (_, c) in zip(shapes, positions, strict=True)])
        after = copy(grid)
        for s, (r, c) in zip(shapes, positions, strict=True):
            paste(grid, s, r, c)
            paste(after, s, cut - len(s), c)
        return grid, after

    return pair


@concept("move")
def move_fixed(p: Draws) -> Maker:
    """Each object moves by a fixed number of rows and columns."""
    down, right = p.between(1, 3), p.between(0, 2)

    def pair(d: Draws) -> Pair:
        shapes = [bulky(d, c) for c in d.colours(d.between(1, 2))]
        grid, positions = scene(d, shapes, 9, 14, 1, 0)
        after = blank(len(grid), len(grid[0]))
        for s, (r, c) in zip(shapes, positions, strict=True):
            if not is_free(after, r + down, c + right, len(s), len(s[0]), 0):
                raise Retry
            paste(after, s, r + down, c + right)
        return grid, after

    return pair


@concept("move")
def move_own_size(p: Draws) -> Maker:
    """Each object moves by its own height."""
    n = p.between(1, 2)

    def pair(d: Draws) -> Pair:
        heights = d.sample([1, 2, 3, 4], n)
        shapes = [rect(h, d.between(2, 3), c) for h, c in zip(heights, d.colours(n), strict=True)]
        grid, positions = scene(d, shapes, 11, 15)
        after = blank(len(grid), len(grid[0]))
        for s, (r, c) in zip(shapes, positions, strict=True):
            if not is_free(after, r + len(s), c, len(s), len(s[0]), 0):
                raise Retry
            paste(after, s, r + len(s), c)
        return grid, after

    return pair


@concept("move")
def move_to_object(p: Draws) -> Maker:
    """One object moves along its row until it touches the other."""
    moving, still = p.colours(2)

    def pair(d: Draws) -> Pair:
        shape, target = bulky(d, moving), some_rect(d, still, 3, 5)
        grid, [(r, c), (y, x)] = scene(d, [shape, target], 11, 16)
        if not y <= r <= r + len(shape) <= y + len(target):
            raise Retry
        after = blank(len(grid), len(grid[0]))
        paste(after, target, y, x)
        paste(after, shape, r, x - len(shape[0]) if c < x else x + len(target[0]))
        return grid, after

    return pair


@concept("move")
def move_by_colour(p: Draws) -> Maker:
    """Objects of one colour move to one edge, those of another to the opposite one."""
    up, down = p.colours(2)

    def pair(d: Draws) -> Pair:
        shapes = [some_rect(d, c, 1, 3) for c in (up, down, d.pick([up, down]))]
        grid, positions = scene(d, shapes, 11, 15)
        _apart([(c, c + len(s[0])) for s, (_, c) in zip(shapes, positions, strict=True)])
        after = blank(len(grid), len(grid[0]))
        for s, (_, c) in zip(shapes, positions, strict=True):
            paste(after, s, 0 if s[0][0] == up else len(grid) - len(s), c)
        return grid, after

    return pair


@concept("move")
def move_into_frame(p: Draws) -> Maker:
    """The object moves to the middle of the frame."""
    edge = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        shape = blob(d, d.between(4, 6), d.colours(1, [edge])[0], 3)
        margin = d.between(1, 2)
        height, width = (2 * margin + n for n in (len(shape), len(shape[0])))
        holder = [[edge] * width, *([edge] + [0] * (width - 2) + [edge] for _ in range(height - 2))]
        holder.append([edge] * width)
        grid, [position, (y, x)] = scene(d, [shape, holder], 12, 16)
        after = copy(grid)
        erase(after, shape, *position)
        paste(after, shape, y + margin, x + margin)
        return grid, after

    return pair


@concept("move", turns=False)
def shift_around(p: Draws) -> Maker:
    """All rows or columns move by one; what leaves the grid enters on the other side."""
    standing = p.chance(50)

    def pair(d: Draws) -> Pair:
        grid = field(d, 5, 9)
        for colour in d.colours(3):
            specks(d, grid, 4, colour, 0)
        after = [grid[-1], *grid[:-1]] if standing else [[row[-1], *row[:-1]] for row in grid]
        return grid, after

    return pair


@concept("centre")
def move_to_centre(p: Draws) -> Maker:
    """The object moves to the centre of the grid."""
    del p

    def pair(d: Draws) -> Pair:
        shape = bulky(d, d.colours(1)[0])
        grid, [position] = scene(d, [shape], 8, 13)
        top, left = len(grid) - len(shape), len(grid[0]) - len(shape[0])
        if top % 2 or left % 2 or position == (top // 2, left // 2):
            raise Retry
        after = blank(len(grid), len(grid[0]))
        paste(after, shape, top // 2, left // 2)
        return grid, after

    return pair


@concept("gravity")
def cells_fall(p: Draws) -> Maker:
    """All cells fall to one edge, each in its column."""
    colours = p.colours(3)

    def pair(d: Draws) -> Pair:
        grid = field(d, 6, 11)
        for colour in colours:
            specks(d, grid, d.between(3, 6), colour, 0)
        columns = []
        for column in transpose(grid):
            ink = [cell for cell in column if cell]
            columns.append([0] * (len(column) - len(ink)) + ink)
        return grid, transpose(columns)

    return pair


@concept("gravity")
def objects_fall(p: Draws) -> Maker:
    """Objects fall without changing shape, onto the edge or onto each other."""
    n = p.between(3, 4)

    def pair(d: Draws) -> Pair:
        shapes = [bulky(d, c) for c in d.colours(n)]
        grid, positions = scene(d, shapes, 11, 15)
        return grid, _fallen(grid, shapes, positions)

    return pair


def _fallen(grid: Grid, shapes: list[Grid], positions: list[tuple[int, int]]) -> Grid:
    after = blank(len(grid), len(grid[0]))
    order = sorted(range(len(shapes)), key=lambda n: -positions[n][0] - len(shapes[n]))
    for n in order:
        r, c = positions[n]
        while _fits(after, shapes[n], r + 1, c):
            r += 1
        paste(after, shapes[n], r, c)
    return after


def _fits(grid: Grid, shape: Grid, r: int, c: int) -> bool:
    cells = [(r + y, c + x) for y, row in enumerate(shape) for x, v in enumerate(row) if v]
    return all(y < len(grid) and grid[y][x] == 0 for y, x in cells)


@concept("gravity")
def fall_on_floor(p: Draws) -> Maker:
    """Specks of one colour fall; shelves of another stay, and hold them."""
    dot, shelf = p.colours(2)

    def pair(d: Draws) -> Pair:
        grid = field(d, 9, 13)
        for _ in range(2):
            place(d, grid, rect(1, d.between(3, 5), shelf), 1, 2)
        after = copy(grid)
        columns = d.sample(range(len(grid[0])), d.between(4, 6))
        for c in columns:
            grid[0][c] = dot
            r = 0
            while r + 1 < len(grid) and not after[r + 1][c]:
                r += 1
            after[r][c] = dot
        return grid, after

    return pair


@concept("mirror and rotate")
def mirror_each(p: Draws) -> Maker:
    """Each object is mirrored in place."""
    n = p.between(2, 3)

    def pair(d: Draws) -> Pair:
        shapes = [lopsided(d, c) for c in d.colours(n)]
        grid, positions = scene(d, shapes, 11, 15)
        after = blank(len(grid), len(grid[0]))
        for s, position in zip(shapes, positions, strict=True):
            paste(after, flip(s), *position)
        return grid, after

    return pair


@concept("mirror and rotate")
def turn_each(p: Draws) -> Maker:
    """Each object is rotated by half a turn in place."""
    n = p.between(2, 3)

    def pair(d: Draws) -> Pair:
        shapes = [lopsided(d, c) for c in d.colours(n)]
        grid, positions = scene(d, shapes, 11, 15)
        after = blank(len(grid), len(grid[0]))
        for s, position in zip(shapes, positions, strict=True):
            paste(after, turn(s, 2), *position)
        return grid, after

    return pair


@concept("mirror and rotate")
def mirror_over_line(p: Draws) -> Maker:
    """The object moves to its mirror image on the other side of a line."""
    line, body = p.colours(2)

    def pair(d: Draws) -> Pair:
        height, width = d.between(7, 11), d.between(5, 7)
        half = blank(height, width)
        place(d, half, lopsided(d, body))
        if d.chance(50):
            source, target = half, flip(half)
            return (
                [[*row, line, *([0] * width)] for row in source],
                [[*([0] * width), line, *row] for row in target],
            )
        return (
            [[*([0] * width), line, *row] for row in flip(half)],
            [[*row, line, *([0] * width)] for row in half],
        )

    return pair


@concept("horizontal and vertical")
def bars_turn(p: Draws) -> Maker:
    """Bars are rotated by a quarter turn about their middle cell."""
    n = p.between(2, 3)

    def pair(d: Draws) -> Pair:
        grid = field(d, 11, 16)
        after = copy(grid)
        for colour in d.colours(n):
            half = d.between(1, 2)
            r, c = place(d, grid, blank(2 * half + 1, 2 * half + 1))
            bar = rect(1, 2 * half + 1, colour)
            if not is_free(grid, r, c, 2 * half + 1, 2 * half + 1):
                raise Retry
            paste(grid, bar, r + half, c)
            paste(after, transpose(bar), r, c + half)
        return grid, after

    return pair


@concept("same and different")
def align_twins(p: Draws) -> Maker:
    """The object moves beside the one of the same height, to the same rows."""
    still, moving = p.colours(2)

    def pair(d: Draws) -> Pair:
        height = d.between(2, 4)
        a, b = rect(height, d.between(1, 3), still), rect(height, d.between(1, 3), moving)
        grid, [(r, c), (y, x)] = scene(d, [a, b], 11, 15)
        if abs(r - y) < height or not (c + len(a[0]) < x or x + len(b[0]) < c):
            raise Retry
        after = blank(len(grid), len(grid[0]))
        paste(after, a, r, c)
        paste(after, b, r, x)
        return grid, after

    return pair


@concept("order and rank")
def sort_bars(p: Draws) -> Maker:
    """Bars that stand on an edge are sorted by length."""
    n = p.between(4, 5)

    def pair(d: Draws) -> Pair:
        heights = d.sample(range(1, 9), n)
        distinct(heights)
        bars = list(zip(heights, d.colours(n), strict=True))
        if bars == sorted(bars):
            raise Retry
        height = max(heights) + d.between(1, 3)

        def draw(order: list[tuple[int, int]]) -> Grid:
            grid = blank(height, 2 * n - 1)
            for number, (size, colour) in enumerate(order):
                paste(grid, rect(size, 1, colour), height - size, 2 * number)
            return grid

        return draw(bars), draw(sorted(bars))

    return pair
