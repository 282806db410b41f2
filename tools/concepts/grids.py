"""Grids as lists of rows with black (0) as the background, and shapes to place on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from concepts.draws import Draws, Retry

Grid = list[list[int]]
Cell = tuple[int, int]
Box = tuple[int, int, int, int]
SIDES = ((-1, 0), (1, 0), (0, -1), (0, 1))
AROUND = (*SIDES, (-1, -1), (-1, 1), (1, -1), (1, 1))
TRIES = 60


def blank(height: int, width: int, colour: int = 0) -> Grid:
    """Return a grid of one colour."""
    return [[colour] * width for _ in range(height)]


def field(d: Draws, low: int = 9, high: int = 15) -> Grid:
    """Return an empty grid of random size."""
    return blank(d.between(low, high), d.between(low, high))


def copy(grid: Grid) -> Grid:
    """Return a copy."""
    return [list(row) for row in grid]


def transpose(grid: Grid) -> Grid:
    """Swap rows and columns."""
    return [list(row) for row in zip(*grid, strict=True)]


def flip(grid: Grid) -> Grid:
    """Mirror left to right."""
    return [row[::-1] for row in grid]


def turn(grid: Grid, quarters: int = 1) -> Grid:
    """Rotate clockwise by quarters."""
    for _ in range(quarters % 4):
        grid = [list(row) for row in zip(*grid[::-1], strict=True)]
    return grid


def inked(grid: Grid) -> Iterator[tuple[int, int, int]]:
    """Yield the cells that are not black, with their colours."""
    for r, row in enumerate(grid):
        for c, colour in enumerate(row):
            if colour:
                yield r, c, colour


def paste(grid: Grid, shape: Grid, r: int, c: int) -> None:
    """Draw the non-black cells of a shape that are inside the grid."""
    for y, x, colour in inked(shape):
        if 0 <= r + y < len(grid) and 0 <= c + x < len(grid[0]):
            grid[r + y][c + x] = colour


def erase(grid: Grid, shape: Grid, r: int, c: int) -> None:
    """Set the cells of a shape to black."""
    for y, x, _ in inked(shape):
        grid[r + y][c + x] = 0


def crop(grid: Grid, r: int, c: int, height: int, width: int) -> Grid:
    """Return a rectangle of a grid."""
    return [row[c : c + width] for row in grid[r : r + height]]


def box_of(cells: Sequence[Cell]) -> Box:
    """Return top, left, height and width of the bounding box of cells."""
    top, left = min(r for r, _ in cells), min(c for _, c in cells)
    return top, left, max(r for r, _ in cells) - top + 1, max(c for _, c in cells) - left + 1


def trim(grid: Grid) -> Grid:
    """Crop to the bounding box of the non-black cells."""
    return crop(grid, *box_of([(r, c) for r, c, _ in inked(grid)]))


def recolour(shape: Grid, colour: int) -> Grid:
    """Give all non-black cells the same colour."""
    return [[colour if cell else 0 for cell in row] for row in shape]


def count(shape: Grid) -> int:
    """Return the number of non-black cells."""
    return sum(1 for _ in inked(shape))


def zoom(grid: Grid, rows: int, columns: int) -> Grid:
    """Enlarge each cell to a block."""
    return [[cell for cell in row for _ in range(columns)] for row in grid for _ in range(rows)]


def tiled(grid: Grid, rows: int, columns: int) -> Grid:
    """Return `rows` by `columns` copies of a grid as one grid."""
    return [row * columns for _ in range(rows) for row in grid]


def combined(a: Grid, b: Grid, rule: Callable[[int, int], int]) -> Grid:
    """Apply a rule to the cells of two grids."""
    pairs = zip(a, b, strict=True)
    return [[rule(x, y) for x, y in zip(p, q, strict=True)] for p, q in pairs]


def component(grid: Grid, r: int, c: int, steps: Sequence[Cell] = SIDES) -> list[Cell]:
    """Return the connected component that contains a cell."""
    colour, cells = grid[r][c], [(r, c)]
    for y, x in cells:
        for v, u in steps:
            q = (y + v, x + u)
            if is_in(grid, *q) and grid[q[0]][q[1]] == colour and q not in cells:
                cells.append(q)
    return cells


def components(grid: Grid, colour: int, steps: Sequence[Cell] = SIDES) -> list[list[Cell]]:
    """Return the connected components of a colour."""
    parts: list[list[Cell]] = []
    for r, row in enumerate(grid):
        for c, cell in enumerate(row):
            if cell == colour and not any((r, c) in cells for cells in parts):
                parts.append(component(grid, r, c, steps))
    return parts


def is_in(grid: Grid, r: int, c: int) -> bool:
    """Whether a position is inside the grid."""
    return 0 <= r < len(grid) and 0 <= c < len(grid[0])


def is_free(grid: Grid, r: int, c: int, height: int, width: int, gap: int = 1) -> bool:
    """Whether a rectangle is inside the grid and, with a gap around it, black."""
    if r < 0 or c < 0 or r + height > len(grid) or c + width > len(grid[0]):
        return False
    rows = range(max(r - gap, 0), min(r + height + gap, len(grid)))
    columns = range(max(c - gap, 0), min(c + width + gap, len(grid[0])))
    return all(grid[y][x] == 0 for y in rows for x in columns)


def place(d: Draws, grid: Grid, shape: Grid, gap: int = 1, inset: int = 0) -> Cell:
    """Draw a shape at a free position, at least `inset` from the edge; return the position."""
    height, width = len(shape), len(shape[0])
    rows, columns = len(grid) - height - inset, len(grid[0]) - width - inset
    if rows < inset or columns < inset:
        raise Retry
    for _ in range(TRIES):
        r, c = d.between(inset, rows), d.between(inset, columns)
        if is_free(grid, r, c, height, width, gap):
            paste(grid, shape, r, c)
            return r, c
    raise Retry


def rect(height: int, width: int, colour: int) -> Grid:
    """Return a filled rectangle."""
    return blank(height, width, colour)


def some_rect(d: Draws, colour: int, low: int = 2, high: int = 4) -> Grid:
    """Return a filled rectangle of random size."""
    return rect(d.between(low, high), d.between(low, high), colour)


def frame(height: int, width: int, colour: int, inner: int = 0) -> Grid:
    """Return a rectangular outline filled with a colour."""
    grid = rect(height, width, colour)
    for r in range(1, height - 1):
        grid[r][1:-1] = [inner] * (width - 2)
    return grid


def some_frame(d: Draws, colour: int, low: int = 3, high: int = 5, inner: int = 0) -> Grid:
    """Return an outline of random size."""
    return frame(d.between(low, high), d.between(low, high), colour, inner)


def blob(d: Draws, cells: int, colour: int, most: int = 4) -> Grid:
    """Return a random 4-connected shape without holes that fits into a square of side `most`."""
    body = [(0, 0)]
    for _ in range(cells * 12):
        if len(body) == cells:
            break
        r, c = d.pick(body)
        v, u = d.pick(SIDES)
        grown = [*body, (r + v, c + u)]
        if (r + v, c + u) not in body and max(box_of(grown)[2:]) <= most:
            body = grown
    top, left, height, width = box_of(body)
    shape = blank(height, width)
    for r, c in body:
        shape[r - top][c - left] = colour
    if len(body) != cells or has_hole(shape):
        raise Retry
    return shape


def bulky(d: Draws, colour: int, low: int = 4, high: int = 7) -> Grid:
    """Return a random shape that is neither a line nor a rectangle."""
    shape = blob(d, d.between(low, high), colour, 3)
    if min(len(shape), len(shape[0])) < 2 or count(shape) == len(shape) * len(shape[0]):
        raise Retry
    return shape


def lopsided(d: Draws, colour: int, low: int = 4, high: int = 6) -> Grid:
    """Return a random shape whose 8 orientations all differ."""
    shape = bulky(d, colour, low, high)
    if len({str(turn(each, n)) for each in (shape, flip(shape)) for n in range(4)}) < 8:
        raise Retry
    return shape


def even_sided(d: Draws, colour: int) -> Grid:
    """Return a random shape that is symmetric left to right, but not top to bottom."""
    half = blob(d, d.between(3, 5), colour, 3)
    shape = [row[::-1] + row[1:] for row in half]
    if shape == shape[::-1] or len(shape) < 2 or not all(row[0] for row in half[:1]):
        raise Retry
    return shape


def has_hole(shape: Grid) -> bool:
    """Whether a shape encloses black cells."""
    padded = padded_by(shape, 1)
    return len(component(padded, 0, 0)) != sum(row.count(0) for row in padded)


def padded_by(grid: Grid, n: int, colour: int = 0) -> Grid:
    """Return a grid with n rows and columns added on each side."""
    width = len(grid[0]) + 2 * n
    rows = [[colour] * n + row + [colour] * n for row in grid]
    return [*blank(n, width, colour), *rows, *blank(n, width, colour)]


def noise(d: Draws, height: int, width: int, colours: Sequence[int], percent: int) -> Grid:
    """Return a grid in which about `percent` of the cells have one of the colours."""
    return [
        [d.pick(colours) if d.chance(percent) else 0 for _ in range(width)] for _ in range(height)
    ]


def dense(d: Draws, height: int, width: int, colours: Sequence[int]) -> Grid:
    """Return a grid whose cells all have one of the colours."""
    return noise(d, height, width, colours, 100)


def specks(d: Draws, grid: Grid, n: int, colour: int, gap: int = 1, inset: int = 0) -> list[Cell]:
    """Draw n single cells at free positions."""
    return [place(d, grid, [[colour]], gap, inset) for _ in range(n)]


def distinct(values: Sequence[object]) -> None:
    """Raise Retry if two values are equal."""
    if len({str(value) for value in values}) < len(values):
        raise Retry


def most_common(grid: Grid) -> int:
    """Return the most common colour other than black; raises Retry if two are equally common."""
    ranks = Counter(colour for _, _, colour in inked(grid)).most_common(2)
    if len(ranks) > 1 and ranks[0][1] == ranks[1][1]:
        raise Retry
    return ranks[0][0]


def scene(
    d: Draws, shapes: Sequence[Grid], low: int = 10, high: int = 15, gap: int = 1, inset: int = 0
) -> tuple[Grid, list[Cell]]:
    """Place shapes apart from each other on an empty grid; return it and their positions."""
    grid = field(d, low, high)
    return grid, [place(d, grid, shape, gap, inset) for shape in shapes]


def colour_of(shape: Grid) -> int:
    """Return the colour of a shape that has only one."""
    return max(map(max, shape))
