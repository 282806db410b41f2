"""Rules on positions: in the middle, above, below, in frames, parts and lattices."""

from __future__ import annotations

from concepts.draws import Draws, Retry
from concepts.grids import (
    Grid,
    blank,
    blob,
    copy,
    crop,
    distinct,
    erase,
    field,
    frame,
    inked,
    paste,
    place,
    recolour,
    rect,
    scene,
    some_frame,
    some_rect,
    specks,
    transpose,
)
from concepts.puzzle import Maker, Pair, concept


def _colour(shape: Grid) -> int:
    return max(map(max, shape))


@concept("centre")
def centre_of_frame(p: Draws) -> Maker:
    """A speck in the colour of the frame is added at the centre of each frame."""
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
    """A plus of lines runs from the object's centre to the edges, underneath the object."""
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
            source, target = shapes if filled else shapes[::-1]
            paste(after, target, *place(d, grid, source))
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
    """Cells of one colour fall; cells of another stay and do not stop them."""
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
    """The output is the one of four quarters that differs from the other three."""
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
    """Three parts side by side: the output is the one below the mark, without the mark."""
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
    """The object is repeated in every cell of a lattice that contains a mark."""
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
    """Each object moves onto the only mark of its colour, which becomes its corner."""
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
