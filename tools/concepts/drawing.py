"""Rules that add cells: they complete shapes and patterns, or copy objects."""

from __future__ import annotations

from concepts.draws import Draws, Retry
from concepts.grids import (
    blank,
    bulky,
    copy,
    dense,
    even_sided,
    field,
    frame,
    inked,
    lopsided,
    paste,
    place,
    recolour,
    rect,
    scene,
    some_frame,
    some_rect,
    specks,
    tiled,
)
from concepts.puzzle import Maker, Pair, concept


@concept("complete a shape")
def complete_frames(p: Draws) -> Maker:
    """Gaps in outlines are closed in a colour."""
    edge, new = p.colours(2)

    def pair(d: Draws) -> Pair:
        grid = field(d, 12, 17)
        after = copy(grid)
        for _ in range(d.between(2, 3)):
            shape = some_frame(d, edge, 4, 6)
            whole = copy(shape)
            for _ in range(2):
                c = d.between(1, len(shape[0]) - 2)
                r = d.pick([0, len(shape) - 1])
                shape[r][c], whole[r][c] = 0, new
            paste(after, whole, *place(d, grid, shape))
        return grid, after

    return pair


@concept("complete a shape")
def complete_rectangles(p: Draws) -> Maker:
    """Holes and dents of rectangles are filled in their colours."""
    colours = p.colours(3)

    def pair(d: Draws) -> Pair:
        grid = field(d, 12, 17)
        after = copy(grid)
        for _ in range(d.between(2, 3)):
            whole = some_rect(d, d.pick(colours), 4, 6)
            shape = copy(whole)
            shape[d.between(1, len(shape) - 2)][d.between(1, len(shape[0]) - 2)] = 0
            shape[0][d.between(1, len(shape[0]) - 2)] = 0
            paste(after, whole, *place(d, grid, shape))
        return grid, after

    return pair


@concept("complete a shape")
def complete_symmetry(p: Draws) -> Maker:
    """A cell missing from a symmetric object is added in a colour."""
    body, new = p.colours(2)

    def pair(d: Draws) -> Pair:
        grid = field(d, 10, 15)
        after = copy(grid)
        for _ in range(2):
            shape = even_sided(d, body)
            r, c = d.pick([(y, x) for y, x, _ in inked(shape) if x > len(shape[0]) // 2])
            whole = copy(shape)
            shape[r][c], whole[r][c] = 0, new
            paste(after, whole, *place(d, grid, shape, 2))
        return grid, after

    return pair


@concept("complete a shape")
def join_corners(p: Draws) -> Maker:
    """Four cells are the corners of an outline; its sides are drawn in a colour."""
    dot, new = p.colours(2)

    def pair(d: Draws) -> Pair:
        grid = field(d, 11, 16)
        after = copy(grid)
        for _ in range(d.between(1, 2)):
            height, width = d.between(4, 7), d.between(4, 7)
            corners = blank(height, width)
            for r in (0, -1):
                corners[r][0] = corners[r][-1] = dot
            position = place(d, grid, corners)
            paste(after, frame(height, width, new), *position)
            paste(after, corners, *position)
        return grid, after

    return pair


@concept("complete a shape")
def join_dashes(p: Draws) -> Maker:
    """Broken lines across the grid become whole."""
    colours = p.colours(3)

    def pair(d: Draws) -> Pair:
        grid = field(d, 9, 15)
        after = copy(grid)
        rows = d.sample(range(0, len(grid), 2), 3)
        for r, colour in zip(rows, colours, strict=True):
            after[r] = [colour] * len(grid[0])
            grid[r] = [colour if d.chance(65) else 0 for _ in grid[0]]
            grid[r][0] = grid[r][-1] = colour
        return grid, after

    return pair


@concept("complete a pattern", grounds=False)
def fill_tiling(p: Draws) -> Maker:
    """A tiling has a hole, which is filled."""
    size = p.between(2, 3)

    def pair(d: Draws) -> Pair:
        after = tiled(dense(d, size, size, d.colours(3)), 4, 5)
        grid = copy(after)
        height, width = d.between(2, 3), d.between(2, 4)
        r, c = d.below(len(grid) - height), d.below(len(grid[0]) - width)
        for y in range(height):
            grid[r + y][c : c + width] = [0] * width
        return grid, after

    return pair


@concept("complete a pattern", grounds=False)
def fill_mirrored(p: Draws) -> Maker:
    """A grid that is symmetric both ways has a hole, which is filled."""
    size = p.between(5, 6)

    def pair(d: Draws) -> Pair:
        quarter = dense(d, size, size, d.colours(4))
        half = [row + row[::-1] for row in quarter]
        after = half + half[::-1]
        grid = copy(after)
        r, c = d.below(size - 2), d.below(size - 2)
        for y in range(3):
            grid[r + y][c : c + 3] = [0] * 3
        return grid, after

    return pair


@concept("complete a pattern")
def continue_stripes(p: Draws) -> Maker:
    """A sequence of coloured lines at one end continues to the other end."""
    n = p.between(2, 3)

    def pair(d: Draws) -> Pair:
        grid, colours = blank(d.between(10, 15), d.between(3, 7)), d.colours(n)
        after = [[colours[r % n]] * len(row) for r, row in enumerate(grid)]
        return [*after[: 2 * n], *grid[2 * n :]], after

    return pair


@concept("complete a pattern")
def continue_steps(p: Draws) -> Maker:
    """Three cells at equal distances continue to the edge."""
    colour = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        grid, step = blank(d.between(5, 8), d.between(13, 18)), d.between(2, 3)
        r, c = d.below(len(grid)), d.between(0, 2)
        after = copy(grid)
        for n, x in enumerate(range(c, len(grid[0]), step)):
            after[r][x] = colour
            if n < 3:
                grid[r][x] = colour
        return grid, after

    return pair


@concept("complete a pattern")
def continue_diagonal(p: Draws) -> Maker:
    """A diagonal of three cells continues to the edge."""
    colour, new = p.colours(2)

    def pair(d: Draws) -> Pair:
        grid = field(d, 9, 14)
        r, c = d.between(0, 2), d.between(0, 4)
        after = copy(grid)
        for n in range(min(len(grid) - r, len(grid[0]) - c)):
            after[r + n][c + n] = colour if n < 3 else new
            if n < 3:
                grid[r + n][c + n] = colour
        return grid, after

    return pair


@concept("copy")
def copy_to_marks(p: Draws) -> Maker:
    """The object is drawn in place of each mark, centred on it."""
    mark = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        a, b = d.colours(2, [mark])
        shape = rect(3, 3, 0)
        for r, c in d.sample([(r, c) for r in range(3) for c in range(3)], 5):
            shape[r][c] = d.pick([a, b])
        shape[1][1] = a
        if not all(any(row) for row in shape) or not all(map(any, zip(*shape, strict=True))):
            raise Retry
        grid, _ = scene(d, [shape], 12, 16)
        cells = specks(d, grid, d.between(2, 3), mark, 2, 1)
        after = copy(grid)
        for r, c in cells:
            after[r][c] = 0
            paste(after, shape, r - 1, c - 1)
        return grid, after

    return pair


@concept("copy")
def copy_beside(p: Draws) -> Maker:
    """Each object is copied beside itself, with a gap, in a colour."""
    body, new = p.colours(2)

    def pair(d: Draws) -> Pair:
        grid = field(d, 11, 16)
        after = copy(grid)
        for _ in range(d.between(1, 2)):
            shape = bulky(d, body)
            wide = [row + [0] * (len(row) + 1) for row in shape]
            r, c = place(d, grid, wide)
            paste(after, shape, r, c)
            paste(after, recolour(shape, new), r, c + len(shape[0]) + 1)
        return grid, after

    return pair


@concept("copy")
def copy_to_edge(p: Draws) -> Maker:
    """The object at one side is repeated up to the other, with a gap of one."""
    del p

    def pair(d: Draws) -> Pair:
        shape = bulky(d, d.colours(1)[0])
        step = len(shape[0]) + 1
        grid = blank(d.between(6, 9), step * d.between(3, 4) - 1)
        r = d.below(len(grid) - len(shape) + 1)
        paste(grid, shape, r, 0)
        after = copy(grid)
        for c in range(0, len(grid[0]), step):
            paste(after, shape, r, c)
        return grid, after

    return pair


@concept("copy")
def copy_across_line(p: Draws) -> Maker:
    """The content of one side of a line is copied to the other side, mirrored."""
    line = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        height, width = d.between(7, 11), d.between(4, 7)
        half = blank(height, width)
        for colour in d.colours(2, [line]):
            place(d, half, bulky(d, colour))
        source = [[*row, line, *([0] * width)] for row in half]
        return source, [[*row, line, *row[::-1]] for row in half]

    return pair


@concept("copy")
def copy_over_line(p: Draws) -> Maker:
    """The content of one side of a line is copied to the other side, unchanged."""
    line = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        height, width = d.between(7, 11), d.between(4, 7)
        half = blank(height, width)
        for colour in d.colours(2, [line]):
            place(d, half, lopsided(d, colour))
        source = [[*row, line, *([0] * width)] for row in half]
        return source, [[*row, line, *row] for row in half]

    return pair
