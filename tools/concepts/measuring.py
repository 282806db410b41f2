"""Rules in which counts, marks or orders decide where to crop, how often to copy, what is odd."""

from __future__ import annotations

from concepts.draws import Draws, Retry
from concepts.grids import (
    Grid,
    blank,
    blob,
    bulky,
    copy,
    crop,
    dense,
    distinct,
    field,
    frame,
    noise,
    paste,
    place,
    recolour,
    rect,
    scene,
    specks,
    trim,
)
from concepts.puzzle import Maker, Pair, concept


def _noisy(d: Draws, height: int, width: int, colours: list[int]) -> Grid:
    return noise(d, height, width, colours, 60)


@concept("crop")
def crop_around_mark(p: Draws) -> Maker:
    """The three by three cells around the mark."""
    mark, *rest = p.colours(4)

    def pair(d: Draws) -> Pair:
        grid = _noisy(d, d.between(7, 12), d.between(7, 12), rest)
        r, c = d.between(1, len(grid) - 2), d.between(1, len(grid[0]) - 2)
        grid[r][c] = mark
        return grid, crop(grid, r - 1, c - 1, 3, 3)

    return pair


@concept("above and below")
def crop_below_line(p: Draws) -> Maker:
    """The output is what lies below the line."""
    line, *rest = p.colours(4)

    def pair(d: Draws) -> Pair:
        grid = _noisy(d, d.between(8, 12), d.between(5, 9), rest)
        r = d.between(2, len(grid) - 4)
        grid[r] = [line] * len(grid[0])
        return grid, grid[r + 1 :]

    return pair


@concept("crop")
def crop_between_lines(p: Draws) -> Maker:
    """The output is what lies between two lines of a colour."""
    line, *rest = p.colours(4)

    def pair(d: Draws) -> Pair:
        grid = _noisy(d, d.between(11, 15), d.between(5, 9), rest)
        top = d.between(1, 4)
        bottom = d.between(top + 3, len(grid) - 2)
        grid[top] = [line] * len(grid[0])
        grid[bottom] = [line] * len(grid[0])
        return grid, grid[top + 1 : bottom]

    return pair


@concept("tile")
def tile_framed(p: Draws) -> Maker:
    """Two by two copies of the grid, with lines between and around them."""
    line, *rest = p.colours(4)

    def pair(d: Draws) -> Pair:
        grid = dense(d, d.between(2, 4), d.between(2, 4), [0, *rest])
        rows = [[line, *row, line, *row, line] for row in grid]
        full = [line] * len(rows[0])
        return grid, [full, *rows, full, *rows, full]

    return pair


@concept("count")
def repeat_object_by_count(p: Draws) -> Maker:
    """The object is cropped and repeated side by side, as often as there are specks."""
    mark = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        shape, n = bulky(d, d.colours(1, [mark])[0]), d.between(2, 5)
        grid, _ = scene(d, [shape], 10, 13)
        specks(d, grid, n, mark)
        return grid, [row * n for row in shape]

    return pair


@concept("order and rank")
def sort_parts(p: Draws) -> Maker:
    """The parts between the lines are sorted by their number of filled cells."""
    line, ink = p.colours(2)

    def pair(d: Draws) -> Pair:
        n, side = d.between(3, 4), d.between(3, 4)
        counts = d.sample(range(1, 2 * side), n)
        parts = []
        for number in counts:
            part = blank(side, side)
            for cell in d.sample(range(side * side), number):
                part[cell // side][cell % side] = ink
            if any(all(column) for column in zip(*part, strict=True)):
                raise Retry
            parts.append(part)
        order = sorted(parts, key=lambda part: sum(map(sum, part)))

        def drawn(some: list[Grid]) -> Grid:
            return [
                [cell for n, part in enumerate(some) for cell in ([line] if n else []) + part[r]]
                for r in range(side)
            ]

        return drawn(parts), drawn(order)

    return pair


@concept("complete a pattern")
def continue_objects_diagonally(p: Draws) -> Maker:
    """Two equal objects on a diagonal: more follow at the same distance, to the edge."""
    colour = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        side, step = d.between(1, 2), d.between(3, 4)
        grid = blank(d.between(13, 17), d.between(13, 17))
        after = copy(grid)
        at = d.below(2)
        for n in range(6):
            shape = rect(side, side, colour)
            paste(after, shape, at + n * step, at + n * step)
            if n < 2:
                paste(grid, shape, at + n * step, at + n * step)
        return grid, after

    return pair


@concept("complete a pattern")
def continue_alternating(p: Draws) -> Maker:
    """Cells that alternate between two colours continue to the edge."""
    a, b = p.colours(2)

    def pair(d: Draws) -> Pair:
        grid, step = blank(d.between(4, 7), d.between(14, 20)), d.between(1, 2)
        r, after = d.below(len(grid)), copy(grid)
        for n, x in enumerate(range(0, len(grid[0]), step)):
            after[r][x] = (a, b)[n % 2]
            if n < 4:
                grid[r][x] = after[r][x]
        return grid, after

    return pair


@concept("same and different")
def mark_odd_row(p: Draws) -> Maker:
    """The row that differs from all others gets a colour."""
    a, b, new = p.colours(3)

    def pair(d: Draws) -> Pair:
        width = d.between(4, 8)
        usual, odd = ([d.pick([a, b]) for _ in range(width)] for _ in range(2))
        rows = [list(usual) for _ in range(d.between(4, 7))]
        at = d.below(len(rows))
        rows[at] = odd
        if usual == odd:
            raise Retry
        after = copy(rows)
        after[at] = [new] * width
        return rows, after

    return pair


@concept("same and different")
def mark_odd_cells(p: Draws) -> Maker:
    """Equal parts between lines: a cell that differs from the other parts gets a colour."""
    line, ink, new = p.colours(3)

    def pair(d: Draws) -> Pair:
        n, side = d.between(3, 4), d.between(3, 4)
        part = noise(d, side, side, [ink], 50)
        parts = [copy(part) for _ in range(n)]
        after = [copy(part) for _ in range(n)]
        which, r, c = d.below(n), d.below(side), d.below(side)
        parts[which][r][c] = 0 if part[r][c] else ink
        after[which][r][c] = new

        def drawn(some: list[Grid]) -> Grid:
            return [
                [cell for n, own in enumerate(some) for cell in ([line] if n else []) + own[r]]
                for r in range(side)
            ]

        return drawn(parts), drawn(after)

    return pair


@concept("extract")
def extract_in_mark_colour(p: Draws) -> Maker:
    """The object is cropped, in the colour of the single cell."""
    del p

    def pair(d: Draws) -> Pair:
        a, b = d.colours(2)
        shape = bulky(d, a, 5, 7)
        grid, _ = scene(d, [shape, [[b]]], 9, 12)
        return grid, recolour(shape, b)

    return pair


@concept("extend")
def middle_rays_to_obstacle(p: Draws) -> Maker:
    """A line runs from the middle of the square to the wall."""
    body, wall, new = p.colours(3)

    def pair(d: Draws) -> Pair:
        grid, n = field(d, 11, 15), 3
        width = len(grid[0])
        right = d.between(width - 3, width - 1)
        for row in grid:
            row[right] = wall
        r, c = d.between(0, len(grid) - n), d.between(0, right - n - 3)
        paste(grid, rect(n, n, body), r, c)
        after = copy(grid)
        for x in range(c + n, right):
            after[r + 1][x] = new
        return grid, after

    return pair


@concept("count", turns=False)
def count_objects_to_bars(p: Draws) -> Maker:
    """A row for each of three colours, as long as there are objects of it."""
    colours = p.colours(3)

    def pair(d: Draws) -> Pair:
        grid, after = field(d, 13, 16), blank(3, 5)
        for row, colour in enumerate(colours):
            n = d.between(1, 4)
            for _ in range(n):
                place(d, grid, rect(d.between(1, 2), d.between(1, 2), colour))
            after[row][:n] = [colour] * n
        return grid, after

    return pair


@concept("inside and outside")
def specks_inside_and_outside(p: Draws) -> Maker:
    """Specks in a frame get one colour, those outside another."""
    body, speck, one, two = p.colours(4)

    def pair(d: Draws) -> Pair:
        grid = field(d, 11, 15)
        height, width = d.between(5, 7), d.between(5, 7)
        r, c = place(d, grid, frame(height, width, body))
        after = copy(grid)
        inner = d.sample([(y, x) for y in range(1, height - 1) for x in range(1, width - 1)], 2)
        for y, x in inner:
            grid[r + y][c + x], after[r + y][c + x] = speck, one
        for y, x in specks(d, grid, 3, speck, 0):
            after[y][x] = one if r < y < r + height - 1 and c < x < c + width - 1 else two
        return grid, after

    return pair


@concept("centre")
def extract_central_object(p: Draws) -> Maker:
    """The output is the object in the centre of the grid."""
    del p

    def pair(d: Draws) -> Pair:
        grid = blank(11, 11)
        inks = d.colours(4)
        shape = bulky(d, inks[0])
        paste(grid, shape, 5 - len(shape) // 2, 5 - len(shape[0]) // 2)
        for colour in inks[1:]:
            place(d, grid, bulky(d, colour))
        return grid, shape

    return pair


@concept("order and rank")
def swap_two_objects(p: Draws) -> Maker:
    """Two objects exchange their places."""
    side = p.between(2, 3)

    def pair(d: Draws) -> Pair:
        a, b = d.colours(2)
        first, second = (blob(d, d.between(side + 1, side * side), x, side) for x in (a, b))
        if any((len(s), len(s[0])) != (side, side) for s in (first, second)):
            raise Retry
        grid, places = scene(d, [first, second], 8, 12)
        after = blank(len(grid), len(grid[0]))
        paste(after, first, *places[1])
        paste(after, second, *places[0])
        return grid, after

    return pair


@concept("order and rank")
def reverse_order(p: Draws) -> Maker:
    """Objects side by side are put in reverse order; none is mirrored."""
    n = p.between(3, 4)

    def pair(d: Draws) -> Pair:
        shapes = []
        for colour in d.colours(n):
            shape = bulky(d, colour)
            if (len(shape), len(shape[0])) != (3, 3):
                raise Retry
            shapes.append(shape)
        grid, after = blank(5, 4 * n), blank(5, 4 * n)
        for number, shape in enumerate(shapes):
            paste(grid, shape, 1, 4 * number)
            paste(after, shape, 1, 4 * (n - 1 - number))
        return grid, after

    return pair


@concept("clean up")
def remove_repeated_rows(p: Draws) -> Maker:
    """A row that is equal to an earlier one is removed."""
    inks = p.colours(3)

    def pair(d: Draws) -> Pair:
        width = d.between(3, 5)
        kinds = [[d.pick(inks) for _ in range(width)] for _ in range(d.between(3, 4))]
        distinct(kinds)
        rows = d.shuffled([*kinds, *(d.pick(kinds) for _ in range(d.between(2, 3)))])
        after: Grid = []
        for row in rows:
            if row not in after:
                after.append(row)
        return rows, after

    return pair


@concept("horizontal and vertical")
def horizontals_extend(p: Draws) -> Maker:
    """Horizontal bars extend to both edges, vertical ones stay."""
    lying, standing = p.colours(2)

    def pair(d: Draws) -> Pair:
        grid = field(d, 11, 15)
        for _ in range(2):
            place(d, grid, rect(1, d.between(2, 4), lying), 2)
        place(d, grid, rect(d.between(2, 4), 1, standing), 2)
        after = copy(grid)
        for r, row in enumerate(grid):
            if lying in row:
                after[r] = [cell or lying for cell in row]
        return grid, after

    return pair


@concept("copy")
def copy_over_middle(p: Draws) -> Maker:
    """One side of the middle line is copied to the other side, not mirrored."""
    line = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        half = noise(d, d.between(4, 7), d.between(3, 5), d.colours(2, [line]), 40)
        empty = [0] * len(half[0])
        trim(half)
        return [[*row, line, *empty] for row in half], [[*row, line, *row] for row in half]

    return pair


@concept("move")
def move_to_mark_corner(p: Draws) -> Maker:
    """The object moves into the corner of the grid that has the mark, and covers it."""
    mark = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        shape = rect(2, 2, d.colours(1, [mark])[0])
        grid, _ = scene(d, [shape], 9, 13, 1, 2)
        after = blank(len(grid), len(grid[0]))
        down, along = d.chance(50), d.chance(50)
        r, c = (len(grid) - 2) * down, (len(grid[0]) - 2) * along
        grid[r + down][c + along] = mark
        paste(after, shape, r, c)
        return grid, after

    return pair


@concept("count")
def holes_to_specks(p: Draws) -> Maker:
    """Below each object, as many specks are added as it has holes."""
    body, new = p.colours(2)

    def pair(d: Draws) -> Pair:
        n = d.between(2, 3)
        grid = blank(d.between(8, 10), 8 * n)
        after = copy(grid)
        for number in range(n):
            holes = d.between(1, 3)
            shape = rect(3, 7, body)
            for hole in range(holes):
                shape[1][1 + 2 * hole] = 0
            paste(grid, shape, 0, 8 * number)
            paste(after, shape, 0, 8 * number)
            for r in range(holes):
                after[3 + r][8 * number + 3] = new
        return grid, after

    return pair
