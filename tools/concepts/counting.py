"""Rules in which a count determines cells, bars, a size or a choice."""

from __future__ import annotations

import itertools

from concepts.draws import Draws, Retry
from concepts.grids import (
    blank,
    bulky,
    copy,
    field,
    inked,
    noise,
    paste,
    place,
    rect,
    scene,
    some_rect,
    specks,
)
from concepts.puzzle import Maker, Pair, concept


@concept("count")
def count_to_row(p: Draws) -> Maker:
    """As many cells in a row as there are objects."""
    body = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        n = d.between(2, 6)
        grid, _ = scene(d, [some_rect(d, body, 1, 3) for _ in range(n)], 10, 14)
        return grid, [[body] * n]

    return pair


@concept("count")
def count_to_square(p: Draws) -> Maker:
    """A square whose side is the number of objects."""
    body, new = p.colours(2)

    def pair(d: Draws) -> Pair:
        n = d.between(2, 5)
        grid, _ = scene(d, [some_rect(d, body, 1, 3) for _ in range(n)], 10, 14)
        return grid, rect(n, n, new)

    return pair


@concept("count")
def count_to_diagonal(p: Draws) -> Maker:
    """As many cells on the diagonal of a grid as there are specks."""
    dot = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        n = d.between(2, 6)
        grid = field(d, 5, 9)
        specks(d, grid, n, dot)
        after = blank(n, n)
        for k in range(n):
            after[k][k] = dot
        return grid, after

    return pair


@concept("count", turns=False)
def count_in_nine(p: Draws) -> Maker:
    """As many cells of a three by three grid, row by row, as there are objects."""
    body, new = p.colours(2)

    def pair(d: Draws) -> Pair:
        n = d.between(1, 8)
        grid, _ = scene(d, [some_rect(d, body, 1, 2) for _ in range(n)], 10, 13)
        return grid, [[new if 3 * r + c < n else 0 for c in range(3)] for r in range(3)]

    return pair


@concept("count", turns=False)
def count_to_bars(p: Draws) -> Maker:
    """A column for each of three colours, as long as there are specks of it."""
    colours = p.colours(3)

    def pair(d: Draws) -> Pair:
        grid, after = field(d, 8, 11), blank(6, 3)
        for column, colour in enumerate(colours):
            n = d.between(1, 6)
            specks(d, grid, n, colour, 0)
            for r in range(6 - n, 6):
                after[r][column] = colour
        return grid, after

    return pair


@concept("count")
def more_of_two(p: Draws) -> Maker:
    """One cell in the colour that has more objects."""
    a, b = p.colours(2)

    def pair(d: Draws) -> Pair:
        m, n = d.sample(range(1, 6), 2)
        grid = field(d, 9, 13)
        specks(d, grid, m, a)
        specks(d, grid, n, b)
        return grid, [[a if m > n else b]]

    return pair


@concept("count")
def colours_by_count(p: Draws) -> Maker:
    """A column of the colours, the most common first."""
    n = p.between(3, 4)

    def pair(d: Draws) -> Pair:
        colours, grid = d.colours(n), field(d, 8, 12)
        sizes = sorted(d.sample(range(1, 10), n), reverse=True)
        for colour, size in zip(colours, sizes, strict=True):
            specks(d, grid, size, colour, 0)
        return grid, [[colour] for colour in colours]

    return pair


@concept("count")
def colours_by_size(p: Draws) -> Maker:
    """A row of the objects' colours, the largest first."""
    n = p.between(3, 4)

    def pair(d: Draws) -> Pair:
        colours = d.colours(n)
        sizes = sorted(d.sample([(1, 2), (2, 2), (2, 3), (3, 3), (3, 4)], n), reverse=True)
        shapes = [rect(h, w, c) for (h, w), c in zip(sizes, colours, strict=True)]
        grid, _ = scene(d, d.shuffled(shapes), 11, 15)
        return grid, [list(colours)]

    return pair


@concept("count")
def repeat_by_count(p: Draws) -> Maker:
    """The grid is repeated side by side, once for each cell of a mark's colour."""
    mark, ink = p.colours(2)

    def pair(d: Draws) -> Pair:
        n = d.between(2, 4)
        grid = noise(d, 3, 3, [ink], 40)
        cells = d.sample([(r, c) for r in range(3) for c in range(3)], n)
        for r, c in cells:
            grid[r][c] = mark
        return grid, [row * n for row in grid]

    return pair


@concept("count")
def mark_fullest_row(p: Draws) -> Maker:
    """The row with the most cells gets a colour."""
    ink, new = p.colours(2)

    def pair(d: Draws) -> Pair:
        grid = noise(d, d.between(5, 9), d.between(6, 10), [ink], 40)
        counts = [sum(map(bool, row)) for row in grid]
        if counts.count(max(counts)) > 1:
            raise Retry
        after = copy(grid)
        best = counts.index(max(counts))
        after[best] = [new if cell else 0 for cell in grid[best]]
        return grid, after

    return pair


@concept("order and rank")
def colours_from_top(p: Draws) -> Maker:
    """A column of the objects' colours, in their order along an axis."""
    n = p.between(3, 4)

    def pair(d: Draws) -> Pair:
        shapes = [bulky(d, c) for c in d.colours(n)]
        grid, positions = scene(d, shapes, 12, 16)
        tops = sorted(r for r, _ in positions)
        if min(b - a for a, b in itertools.pairwise(tops)) < 2:
            raise Retry
        order = sorted(zip(positions, shapes, strict=True), key=lambda entry: entry[0])
        return grid, [[max(map(max, shape))] for _, shape in order]

    return pair


@concept("count")
def keep_counted(p: Draws) -> Maker:
    """Rows with exactly two specks stay; the others become empty."""
    ink = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        rows = []
        for _ in range(d.between(5, 7)):
            row = [0] * 7
            for c in d.sample(range(7), d.between(1, 4)):
                row[c] = ink
            rows.append(row)
        output = [[cell if row.count(ink) == 2 else 0 for cell in row] for row in rows]
        if not any(map(any, output)):
            raise Retry
        return rows, output

    return pair


@concept("count")
def bars_for_objects(p: Draws) -> Maker:
    """Each rectangle's number of marks is drawn as a bar beside it, in the marks' colour."""
    mark = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        grid = field(d, 13, 16)
        after = copy(grid)
        for colour in d.colours(2, [mark]):
            n = d.between(1, 3)
            shape = rect(4, 4, colour)
            for r, c in d.sample([(r, c) for r in range(4) for c in range(4)], n):
                shape[r][c] = mark
            wide = [[*row, 0, 0] for row in shape]
            y, x = place(d, grid, wide)
            paste(after, shape, y, x)
            for r in range(n):
                after[y + 3 - r][x + 4] = mark
        return grid, after

    return pair


@concept("same and different")
def odd_one_out(p: Draws) -> Maker:
    """Each row has one cell of another colour: a column of these cells."""
    del p

    def pair(d: Draws) -> Pair:
        width, rows, odd = d.between(4, 6), [], []
        for _ in range(d.between(3, 5)):
            a, b = d.colours(2)
            row = [a] * width
            row[d.below(width)] = b
            rows.append(row)
            odd.append([b])
        return rows, odd

    return pair


@concept("clean up")
def drop_empty_rows(p: Draws) -> Maker:
    """Empty rows are removed."""
    colours = p.colours(3)

    def pair(d: Draws) -> Pair:
        grid = noise(d, d.between(6, 10), d.between(4, 8), colours, 45)
        for r in d.sample(range(len(grid)), d.between(2, 3)):
            grid[r] = [0] * len(grid[0])
        output = [row for row in grid if any(row)]
        if any(not any(column) for column in zip(*grid, strict=True)) or not list(inked(grid)):
            raise Retry
        return grid, output

    return pair
