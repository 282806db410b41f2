"""Rules that draw lines to edges, obstacles and other cells, or fill areas."""

from __future__ import annotations

from concepts.draws import Draws, Retry
from concepts.grids import (
    blank,
    blob,
    bulky,
    component,
    components,
    copy,
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
    specks,
)
from concepts.puzzle import Maker, Pair, concept


@concept("extend")
def extend_to_border(p: Draws) -> Maker:
    """Each speck becomes a line to the edge."""
    n = p.between(3, 4)

    def pair(d: Draws) -> Pair:
        grid = field(d, 8, 14)
        columns = d.sample(range(len(grid[0])), n)
        after = copy(grid)
        for c, colour in zip(columns, d.colours(n), strict=True):
            r = d.between(1, len(grid) - 3)
            grid[r][c] = colour
            for y in range(r, len(grid)):
                after[y][c] = colour
        return grid, after

    return pair


@concept("extend")
def extend_to_obstacle(p: Draws) -> Maker:
    """Each speck becomes a line up to a wall, or to the edge where no wall is in its way."""
    dot, wall = p.colours(2)

    def pair(d: Draws) -> Pair:
        grid = field(d, 9, 14)
        for _ in range(2):
            place(d, grid, rect(1, d.between(2, 4), wall), 1, 3)
        after = copy(grid)
        for c in d.sample(range(len(grid[0])), 4):
            if grid[0][c]:
                raise Retry
            r = 0
            grid[0][c] = dot
            while r < len(grid) and grid[r][c] != wall:
                after[r][c] = dot
                r += 1
        return grid, after

    return pair


@concept("extend", turns=False)
def extend_bars(p: Draws) -> Maker:
    """Bars are extended along their own axis to both edges."""
    lying, standing = p.colours(2)

    def pair(d: Draws) -> Pair:
        grid = field(d, 9, 14)
        r, c = place(d, grid, rect(1, d.between(2, 4), lying), 1, 1)
        y, x = place(d, grid, rect(d.between(2, 4), 1, standing), 1, 1)
        del c, y
        after = copy(grid)
        for row in after:
            row[x] = standing
        after[r] = [lying] * len(grid[0])
        return grid, after

    return pair


@concept("extend")
def extend_diagonally(p: Draws) -> Maker:
    """Each speck draws a diagonal line to the edge."""
    n = p.between(1, 2)

    def pair(d: Draws) -> Pair:
        grid = field(d, 8, 13)
        after = copy(grid)
        for colour in d.colours(n):
            r, c = place(d, grid, [[colour]], 1, 1)
            while r < len(grid) and c < len(grid[0]):
                if after[r][c]:
                    raise Retry
                after[r][c] = colour
                r, c = r + 1, c + 1
        return grid, after

    return pair


@concept("extend")
def extend_cross(p: Draws) -> Maker:
    """Each speck extends to its row and its column, in a colour."""
    dot, new = p.colours(2)

    def pair(d: Draws) -> Pair:
        grid = field(d, 8, 14)
        cells = specks(d, grid, d.between(1, 2), dot)
        after = [
            [new if any(r == y or c == x for y, x in cells) else 0 for c in range(len(grid[0]))]
            for r in range(len(grid))
        ]
        for r, c in cells:
            after[r][c] = dot
        return grid, after

    return pair


@concept("extend")
def extend_from_edge(p: Draws) -> Maker:
    """Cells on an edge draw lines to the opposite edge, crossing what is there."""
    del p

    def pair(d: Draws) -> Pair:
        grid = field(d, 8, 14)
        colours = d.colours(3)
        rows = d.sample(range(len(grid)), 3)
        after = copy(grid)
        for r, colour in zip(rows, colours, strict=True):
            grid[r][0] = colour
            after[r] = [colour] * len(grid[0])
        return grid, after

    return pair


@concept("connect")
def connect_pairs(p: Draws) -> Maker:
    """Two cells of a colour in one row or column are connected in another colour."""
    dot, new = p.colours(2)

    def pair(d: Draws) -> Pair:
        grid = field(d, 9, 15)
        r, s = d.sample(range(1, len(grid) - 1), 2)
        a, b = sorted(d.sample(range(len(grid[0])), 2))
        c, e = sorted(d.sample(range(len(grid[0])), 2))
        if b - a < 3 or e - c < 3 or abs(r - s) < 2 or {a, b} & {c, e}:
            raise Retry
        after = copy(grid)
        for row, left, right in ((r, a, b), (s, c, e)):
            after[row][left : right + 1] = [new] * (right - left + 1)
            for x in (left, right):
                grid[row][x] = after[row][x] = dot
        return grid, after

    return pair


@concept("connect")
def connect_same_colour(p: Draws) -> Maker:
    """Two cells of equal colour in a row are connected in that colour; single ones stay."""
    n = p.between(2, 3)

    def pair(d: Draws) -> Pair:
        grid = field(d, 9, 15)
        rows = d.sample(range(0, len(grid), 2), n + 1)
        after = copy(grid)
        *pairs, alone = d.colours(n + 1)
        for r, colour in zip(rows, pairs, strict=False):
            left, right = sorted(d.sample(range(len(grid[0])), 2))
            if right - left < 3:
                raise Retry
            grid[r][left] = grid[r][right] = colour
            after[r][left : right + 1] = [colour] * (right - left + 1)
        c = d.below(len(grid[0]))
        grid[rows[-1]][c] = after[rows[-1]][c] = alone
        return grid, after

    return pair


@concept("connect")
def connect_diagonal(p: Draws) -> Maker:
    """Two cells on a diagonal are connected in a colour."""
    dot, new = p.colours(2)

    def pair(d: Draws) -> Pair:
        grid, n = field(d, 9, 14), d.between(3, 6)
        r, c = d.below(len(grid) - n), d.below(len(grid[0]) - n)
        after = copy(grid)
        for k in range(n + 1):
            after[r + k][c + k] = new
        for k in (0, n):
            grid[r + k][c + k] = after[r + k][c + k] = dot
        return grid, after

    return pair


@concept("connect")
def connect_bend(p: Draws) -> Maker:
    """Two cells are connected by a line with one bend, along a row first."""
    start, end, new = p.colours(3)

    def pair(d: Draws) -> Pair:
        grid = field(d, 8, 14)
        [(r, c)], [(y, x)] = (specks(d, grid, 1, colour, 2) for colour in (start, end))
        if r == y or c == x:
            raise Retry
        after = copy(grid)
        for u in range(min(c, x), max(c, x) + 1):
            after[r][u] = new
        for v in range(min(r, y), max(r, y) + 1):
            after[v][x] = new
        after[r][c], after[y][x] = start, end
        return grid, after

    return pair


@concept("connect")
def connect_rectangles(p: Draws) -> Maker:
    """Two rectangles of equal height are joined by a band of a colour."""
    new = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        height, gap = d.between(2, 4), d.between(2, 5)
        a, b = d.colours(2, [new])
        shape = [[a] * 3 + [0] * gap + [b] * 3 for _ in range(height)]
        grid = field(d, 12, 16)
        r, c = place(d, grid, shape)
        after = copy(grid)
        paste(after, rect(height, gap, new), r, c + 3)
        return grid, after

    return pair


@concept("boxes and lines")
def box_around_all(p: Draws) -> Maker:
    """An outline in a colour is drawn around all cells together."""
    dot, new = p.colours(2)

    def pair(d: Draws) -> Pair:
        grid = field(d, 10, 15)
        cells = specks(d, grid, d.between(4, 6), dot, 0, 1)
        top, left = min(r for r, _ in cells) - 1, min(c for _, c in cells) - 1
        height, width = max(r for r, _ in cells) - top + 2, max(c for _, c in cells) - left + 2
        after = copy(grid)
        paste(after, frame(height, width, new), top, left)
        return grid, after

    return pair


@concept("boxes and lines")
def box_around_each(p: Draws) -> Maker:
    """A rectangular outline in a colour is drawn around each object."""
    body, new = p.colours(2)

    def pair(d: Draws) -> Pair:
        grid, shapes = field(d, 12, 17), [bulky(d, body) for _ in range(d.between(2, 3))]
        positions = [place(d, grid, shape, 3, 1) for shape in shapes]
        after = copy(grid)
        for s, (r, c) in zip(shapes, positions, strict=True):
            paste(after, frame(len(s) + 2, len(s[0]) + 2, new), r - 1, c - 1)
        return grid, after

    return pair


@concept("boxes and lines")
def corners_around(p: Draws) -> Maker:
    """The four corners of each speck's surroundings get a colour."""
    dot, new = p.colours(2)

    def pair(d: Draws) -> Pair:
        grid = field(d, 8, 13)
        cells = specks(d, grid, d.between(2, 4), dot, 2, 1)
        after = copy(grid)
        for r, c in cells:
            for v in (-1, 1):
                after[r + v][c - 1] = after[r + v][c + 1] = new
        return grid, after

    return pair


@concept("boxes and lines")
def line_below_each(p: Draws) -> Maker:
    """A line as wide as the object is drawn on one side of each object."""
    new = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        grid = field(d, 12, 16)
        after = copy(grid)
        for colour in d.colours(d.between(2, 3), [new]):
            shape = some_rect(d, colour, 2, 4)
            r, c = place(d, grid, [*shape, [0] * len(shape[0])])
            paste(after, [*shape, [new] * len(shape[0])], r, c)
        return grid, after

    return pair


@concept("boxes and lines")
def shadow(p: Draws) -> Maker:
    """Each object casts a shadow in a colour, one step diagonally."""
    new = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        grid = field(d, 12, 16)
        shapes = [some_rect(d, c, 2, 4) for c in d.colours(d.between(2, 3), [new])]
        positions = [place(d, grid, shape, 2, 1) for shape in shapes]
        after = blank(len(grid), len(grid[0]))
        for s, (r, c) in zip(shapes, positions, strict=True):
            paste(after, recolour(s, new), r + 1, c + 1)
        for s, position in zip(shapes, positions, strict=True):
            paste(after, s, *position)
        return grid, after

    return pair


@concept("flood fill")
def fill_rooms(p: Draws) -> Maker:
    """Lines divide the grid into rooms; each is filled with the colour of the speck in it."""
    line = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        grid = field(d, 9, 14)
        cut, across = d.between(3, len(grid) - 4), d.between(3, len(grid[0]) - 4)
        grid[cut] = [line] * len(grid[0])
        for row in grid:
            row[across] = line
        after = copy(grid)
        for cells, colour in zip(components(grid, 0), d.colours(4, [line]), strict=True):
            r, c = d.pick(cells)
            grid[r][c] = colour
            for y, x in cells:
                after[y][x] = colour
        return grid, after

    return pair


@concept("flood fill")
def fill_seeded_room(p: Draws) -> Maker:
    """Only the rooms with a seed are filled with its colour."""
    line, seed = p.colours(2)

    def pair(d: Draws) -> Pair:
        grid = field(d, 10, 15)
        cut, across = d.between(3, len(grid) - 4), d.between(3, len(grid[0]) - 4)
        grid[cut] = [line] * len(grid[0])
        for row in grid:
            row[across] = line
        after = copy(grid)
        for cells in d.sample(components(grid, 0), d.between(1, 3)):
            r, c = d.pick(cells)
            grid[r][c] = seed
            for y, x in cells:
                after[y][x] = seed
        return grid, after

    return pair


@concept("flood fill")
def fill_from_seed(p: Draws) -> Maker:
    """A seed's colour fills the winding area that it can reach."""
    wall, seed = p.colours(2)

    def pair(d: Draws) -> Pair:
        grid = field(d, 9, 13)
        for r, row in enumerate(grid):
            for c in range(len(row)):
                if d.chance(38):
                    grid[r][c] = wall
        cells = max(components(grid, 0), key=len)
        if len(cells) < 12 or len(components(grid, 0)) < 3:
            raise Retry
        r, c = d.pick(cells)
        after = copy(grid)
        for y, x in component(grid, r, c):
            after[y][x] = seed
        grid[r][c] = seed
        return grid, after

    return pair


@concept("flood fill")
def fill_largest_room(p: Draws) -> Maker:
    """The largest of the enclosed areas is filled with a colour."""
    wall, new = p.colours(2)

    def pair(d: Draws) -> Pair:
        sizes = d.sample([(3, 3), (4, 4), (5, 5), (4, 6), (3, 5)], 3)
        shapes = [frame(h, w, wall) for h, w in sizes]
        grid, positions = scene(d, shapes, 13, 17)
        areas = [(h - 2) * (w - 2) for h, w in sizes]
        first = areas.index(max(areas))
        after = copy(grid)
        h, w = sizes[first]
        paste(after, rect(h - 2, w - 2, new), positions[first][0] + 1, positions[first][1] + 1)
        return grid, after

    return pair


@concept("mirror and rotate")
def mirror_beside(p: Draws) -> Maker:
    """Each object gets its mirror image beside it, touching it."""
    del p

    def pair(d: Draws) -> Pair:
        grid = field(d, 11, 16)
        after = copy(grid)
        for colour in d.colours(d.between(1, 2)):
            shape = lopsided(d, colour)
            r, c = place(d, grid, [row + [0] * len(row) for row in shape])
            paste(after, shape, r, c)
            paste(after, flip(shape), r, c + len(shape[0]))
        return grid, after

    return pair


@concept("complete a pattern")
def fill_chessboard(p: Draws) -> Maker:
    """The empty cells of a rectangle are filled like a chessboard."""
    edge, a, b = p.colours(3)

    def pair(d: Draws) -> Pair:
        height, width = d.between(5, 8), d.between(5, 8)
        grid, [(r, c)] = scene(d, [frame(height, width, edge)], 10, 14)
        after = copy(grid)
        for y in range(1, height - 1):
            for x in range(1, width - 1):
                after[r + y][c + x] = a if (y + x) % 2 == 0 else b
        return grid, after

    return pair


@concept("count")
def draw_as_long_as_count(p: Draws) -> Maker:
    """Each rectangle draws a line to one side, as long as it is wide."""
    new = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        grid = field(d, 13, 17)
        after = copy(grid)
        for colour in d.colours(2, [new]):
            n = d.between(2, 4)
            wide = [[colour] * n + [0] * (n + 1)]
            r, c = place(d, grid, wide)
            paste(after, [[colour] * n + [new] * n], r, c)
        return grid, after

    return pair


@concept("copy")
def copy_shape_to_frame(p: Draws) -> Maker:
    """The object's shape is drawn into an empty frame of its size."""
    edge = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        shape = blob(d, d.between(4, 6), d.colours(1, [edge])[0], 3)
        holder = frame(len(shape) + 2, len(shape[0]) + 2, edge)
        grid, positions = scene(d, [shape, holder], 11, 15)
        after = copy(grid)
        paste(after, shape, positions[1][0] + 1, positions[1][1] + 1)
        return grid, after

    return pair
