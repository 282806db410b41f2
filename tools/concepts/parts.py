"""Rules that split grids into parts and combine, compare or choose them; rules on layers."""

from __future__ import annotations

from concepts.draws import Draws, Retry
from concepts.grids import (
    Grid,
    blank,
    combined,
    copy,
    count,
    distinct,
    field,
    noise,
    paste,
    place,
    rect,
    scene,
    some_rect,
    tiled,
)
from concepts.puzzle import Maker, Pair, concept


def _beside(a: Grid, b: Grid, line: int) -> Grid:
    return [[*p, line, *q] for p, q in zip(a, b, strict=True)]


def _halves(d: Draws, a: int, b: int) -> tuple[Grid, Grid]:
    height, width = d.between(3, 6), d.between(3, 5)
    first, second = (noise(d, height, width, [colour], 50) for colour in (a, b))
    kinds = {(bool(x), bool(y)) for p, q in zip(first, second) for x, y in zip(p, q)}  # noqa: B905
    if len(kinds) < 4:
        raise Retry
    return first, second


@concept("split and combine")
def parts_and(p: Draws) -> Maker:
    """Cells that both parts have, in a colour."""
    line, a, b, new = p.colours(4)

    def pair(d: Draws) -> Pair:
        first, second = _halves(d, a, b)
        both = combined(first, second, lambda x, y: new if x and y else 0)
        return _beside(first, second, line), both

    return pair


@concept("split and combine")
def parts_or(p: Draws) -> Maker:
    """Cells that either part has, in a colour."""
    line, a, b, new = p.colours(4)

    def pair(d: Draws) -> Pair:
        first, second = _halves(d, a, b)
        either = combined(first, second, lambda x, y: new if x or y else 0)
        return _beside(first, second, line), either

    return pair


@concept("split and combine")
def parts_xor(p: Draws) -> Maker:
    """Cells that only one part has, in a colour."""
    line, a, b, new = p.colours(4)

    def pair(d: Draws) -> Pair:
        first, second = _halves(d, a, b)
        combination = combined(first, second, lambda x, y: new if bool(x) != bool(y) else 0)
        return _beside(first, second, line), combination

    return pair


@concept("split and combine")
def parts_none(p: Draws) -> Maker:
    """Cells that neither part has, in a colour; no line divides the parts."""
    a, b, new = p.colours(3)

    def pair(d: Draws) -> Pair:
        first, second = _halves(d, a, b)
        neither = combined(first, second, lambda x, y: 0 if x or y else new)
        return [p + q for p, q in zip(first, second, strict=True)], neither

    return pair


@concept("split and combine")
def parts_overlay(p: Draws) -> Maker:
    """The first part is laid over the second."""
    line, a, b = p.colours(3)

    def pair(d: Draws) -> Pair:
        first, second = _halves(d, a, b)
        return _beside(first, second, line), combined(first, second, lambda x, y: x or y)

    return pair


@concept("split and combine")
def parts_of_three(p: Draws) -> Maker:
    """Of three parts, the first is laid over the second, and both over the third."""
    line, *colours = p.colours(4)

    def pair(d: Draws) -> Pair:
        height, width = d.between(3, 5), d.between(3, 4)
        a, b, c = (noise(d, height, width, [colour], 45) for colour in colours)
        top = combined(combined(a, b, lambda x, y: x or y), c, lambda x, y: x or y)
        return _beside(_beside(a, b, line), c, line), top

    return pair


@concept("split and combine")
def fullest_part(p: Draws) -> Maker:
    """The part with the most cells."""
    line, ink = p.colours(2)

    def pair(d: Draws) -> Pair:
        height, width = d.between(3, 5), d.between(3, 5)
        parts = [noise(d, height, width, [ink], percent) for percent in (30, 60, 45)]
        counts = [count(part) for part in parts]
        if counts.count(max(counts)) > 1:
            raise Retry
        first = parts[counts.index(max(counts))]
        a, b, c = d.shuffled(parts)
        return _beside(_beside(a, b, line), c, line), first

    return pair


@concept("split and combine")
def odd_part(p: Draws) -> Maker:
    """The only part that differs from the others."""
    line = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        height, width = d.between(3, 4), d.between(3, 4)
        usual, odd = (noise(d, height, width, d.colours(2, [line]), 60) for _ in range(2))
        distinct([usual, odd])
        a, b, c = d.shuffled([usual, odd, usual])
        return _beside(_beside(a, b, line), c, line), odd

    return pair


@concept("same and different")
def mark_differences(p: Draws) -> Maker:
    """The cells in which two halves differ get a colour in the second half."""
    line, ink, new = p.colours(3)

    def pair(d: Draws) -> Pair:
        first = noise(d, d.between(4, 7), d.between(3, 6), [ink], 50)
        second = copy(first)
        for _ in range(d.between(2, 3)):
            r, c = d.below(len(first)), d.below(len(first[0]))
            second[r][c] = 0 if second[r][c] else ink
        marked = combined(first, second, lambda x, y: y if x == y else new)
        return _beside(first, second, line), _beside(first, marked, line)

    return pair


@concept("same and different")
def same_or_not(p: Draws) -> Maker:
    """One cell shows whether two halves are equal."""
    line, ink, equal, unequal = p.colours(4)

    def pair(d: Draws) -> Pair:
        first = noise(d, d.between(3, 4), d.between(3, 4), [ink], 50)
        second = copy(first)
        same = d.chance(50)
        if not same:
            r, c = d.below(len(first)), d.below(len(first[0]))
            second[r][c] = 0 if second[r][c] else ink
        return _beside(first, second, line), [[equal if same else unequal]]

    return pair


@concept("split and combine")
def cell_for_each_part(p: Draws) -> Maker:
    """Lines divide the grid into squares; each becomes one cell of its colour, or stays empty."""
    line = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        rows, columns, size = d.between(2, 3), d.between(2, 4), d.between(2, 3)
        small = noise(d, rows, columns, d.colours(3, [line]), 65)
        big = blank(rows * (size + 1) - 1, columns * (size + 1) - 1, line)
        for r, row in enumerate(small):
            for c, colour in enumerate(row):
                for y in range(size):
                    left = c * (size + 1)
                    big[r * (size + 1) + y][left : left + size] = [colour] * size
        return big, small

    return pair


@concept("split and combine")
def copy_to_all_parts(p: Draws) -> Maker:
    """The content of one part is copied to all parts."""
    line, ink = p.colours(2)

    def pair(d: Draws) -> Pair:
        size, n = d.between(3, 4), d.between(2, 3)
        part = noise(d, size, size, [ink], 50)
        if not any(map(any, part)):
            raise Retry
        chosen = d.below(n)
        source: Grid = [[] for _ in range(size)]
        target: Grid = [[] for _ in range(size)]
        for number in range(n):
            for y in range(size):
                edge = [line] if number else []
                source[y] += edge + (part[y] if number == chosen else [0] * size)
                target[y] += edge + part[y]
        return source, target

    return pair


@concept("split and combine")
def first_column_of_parts(p: Draws) -> Maker:
    """Three parts of equal size: the output is the symmetric one."""
    ink = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        half = noise(d, 4, 2, [ink], 55)
        even = [row + row[::-1] for row in half]
        others = [noise(d, 4, 4, [ink], 50) for _ in range(2)]
        if any(g in ([row[::-1] for row in g], g[::-1]) for g in others) or not any(map(any, even)):
            raise Retry
        a, b, c = d.shuffled([even, *others])
        line = 5 if ink != 5 else 1
        return _beside(_beside(a, b, line), c, line), even

    return pair


@concept("top and bottom layer")
def colour_on_top(p: Draws) -> Maker:
    """Two lines cross: one cell in the colour of the line on top."""
    del p

    def pair(d: Draws) -> Pair:
        grid, (a, b) = field(d, 6, 11), d.colours(2)
        r, c = d.between(1, len(grid) - 2), d.between(1, len(grid[0]) - 2)
        over = d.chance(50)
        grid[r] = [a] * len(grid[0])
        for y, row in enumerate(grid):
            if y != r or over:
                row[c] = b
        return grid, [[b if over else a]]

    return pair


@concept("top and bottom layer")
def swap_layers(p: Draws) -> Maker:
    """Two lines cross; the lower one moves to the top."""
    n = p.between(1, 2)

    def pair(d: Draws) -> Pair:
        grid, (a, *others) = field(d, 8, 13), d.colours(n + 1)
        r = d.between(1, len(grid) - 2)
        columns = d.sample(range(1, len(grid[0]) - 1, 2), n)
        grid[r] = [a] * len(grid[0])
        for c, colour in zip(columns, others, strict=True):
            for row in grid:
                row[c] = colour
        after = copy(grid)
        after[r] = [a] * len(grid[0])
        return (grid, after)

    return pair


@concept("top and bottom layer")
def remove_top(p: Draws) -> Maker:
    """Lines of one colour cover rectangles; they are removed and the rectangles completed."""
    line = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        shapes = [rect(d.between(3, 5), d.between(4, 6), c) for c in d.colours(2, [line])]
        after, positions = scene(d, shapes, 12, 16)
        grid = copy(after)
        for s, (_, c) in zip(shapes, positions, strict=True):
            for row in grid:
                row[c + len(s[0]) // 2] = line
        return grid, after

    return pair


@concept("top and bottom layer")
def rectangle_to_front(p: Draws) -> Maker:
    """Two rectangles overlap; the lower one moves to the top."""
    del p

    def pair(d: Draws) -> Pair:
        a, b = d.colours(2)
        first, second = some_rect(d, a, 3, 6), some_rect(d, b, 3, 6)
        grid = field(d, 10, 14)
        r, c = place(d, grid, first)
        y, x = r + d.between(1, len(first) - 1), c + d.between(1, len(first[0]) - 1)
        if y + len(second) > len(grid) or x + len(second[0]) > len(grid[0]):
            raise Retry
        if y + len(second) <= r + len(first) or x + len(second[0]) <= c + len(first[0]):
            raise Retry
        after = copy(grid)
        paste(grid, second, y, x)
        paste(after, second, y, x)
        paste(after, first, r, c)
        return (grid, after)

    return pair


@concept("top and bottom layer")
def order_of_layers(p: Draws) -> Maker:
    """Bars lie across a pole, one above the other: their colours in order, as a column."""
    pole = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        n = d.between(2, 4)
        grid = blank(3 * n + 1, d.between(6, 9))
        c = d.between(2, len(grid[0]) - 3)
        for row in grid:
            row[c] = pole
        colours = d.colours(n, [pole])
        for number, colour in enumerate(colours):
            grid[3 * number + 1] = [colour] * len(grid[0])
        return grid, [[colour] for colour in colours]

    return pair


@concept("complete a pattern", grounds=False)
def restore_covered_tiling(p: Draws) -> Maker:
    """A rectangle of one colour hides part of a tiling: the output is what it hides."""
    cover = p.colours(1)[0]

    def pair(d: Draws) -> Pair:
        tile = noise(d, 3, 3, d.colours(3, [cover]), 100)
        whole = tiled(tile, 4, 4)
        height, width = d.between(2, 4), d.between(2, 4)
        r, c = d.below(len(whole) - height), d.below(len(whole[0]) - width)
        grid = copy(whole)
        for y in range(height):
            grid[r + y][c : c + width] = [cover] * width
        return grid, [row[c : c + width] for row in whole[r : r + height]]

    return pair
