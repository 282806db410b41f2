"""The rule that continues a repeating pattern to another size, or fills its holes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from weft.searches.arc.fitted.rule import (
    BASE,
    COLOUR,
    Examples,
    FittedRule,
    changing_colours,
    digit,
    sizes_equal,
)
from weft.searches.arc.ops.operator import BIT, ShapeEffect
from weft.searches.arc.values import MAX_SIDE, Grid

NO_HOLE = 10
LOW = 64
"""Added to the summand of a size formula, which may be negative."""
FACTORS = 4


class ExtendPeriod(FittedRule):
    """Parameters: colour of holes or 10; factor and summand + 64 of the height; of the width."""

    name = "extend_period"
    doc = (
        "Finds the smallest tile (by rows × columns, then rows) of which the grid consists, and "
        "repeats it over a grid of height `1h+3` and width `2w+0`. `hole 0` fills cells of a "
        "colour instead of reading them; it fails if the tile leaves a cell open."
    )
    shape = ShapeEffect.GROW

    def propose(self, examples: Examples) -> Iterator[bytes]:
        pairs = examples.pairs()
        if any(t.height < v.height or t.width < v.width for v, t in pairs):
            return
        holes = changing_colours(examples) if sizes_equal(examples) else [NO_HOLE]
        if len(holes) != 1:
            return
        for hole in holes:
            for rows in _formulas([(v.height, t.height) for v, t in pairs]):
                for columns in _formulas([(v.width, t.width) for v, t in pairs]):
                    yield bytes((hole, *rows, *columns))

    def apply(self, params: bytes, value: Grid, given: Grid) -> Grid | None:
        height = params[1] * value.height + params[2] - LOW
        width = params[3] * value.width + params[4] - LOW
        tile = smallest_tile(value, params[0])
        if tile is None or not (1 <= height <= MAX_SIDE and 1 <= width <= MAX_SIDE):
            return None
        places = [[(r % tile.height, c % tile.width) for c in range(width)] for r in range(height)]
        return Grid.of([[tile.at(*place) for place in row] for row in places])

    def price(self, params: bytes) -> int:
        hole = BIT if params[0] == NO_HOLE else BIT + COLOUR
        sides = ((params[1], params[2] - LOW), (params[3], params[4] - LOW))
        costs = (1 if side == (1, 0) else 3 + abs(side[1]).bit_length() for side in sides)
        return BASE + hole + BIT * sum(costs)

    def show(self, params: bytes) -> str:
        hole, a, b, c, d = params
        size = f"{a}h{b - LOW:+d} {c}w{d - LOW:+d}"
        return size if hole == NO_HOLE else f"{size} hole {hole}"

    def read(self, text: str) -> bytes:
        rows, columns, *rest = text.split(" ")
        hole = digit(rest[1]) if rest else NO_HOLE
        parts = [*rows.split("h"), *columns.split("w")]
        a, b, c, d = (int(part) for part in parts)
        if max(a, c) >= FACTORS or max(abs(b), abs(d)) >= LOW:
            raise ValueError(text)
        return bytes((hole, a, b + LOW, c, d + LOW))


def _formulas(sides: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return every factor and summand that give all targets' sides, those with factor 1 first."""
    formulas = []
    for factor in (1, 0, *range(2, FACTORS)):
        added = {new - factor * old for old, new in sides}
        if len(added) == 1 and abs(min(added)) < LOW:
            formulas.append((factor, min(added) + LOW))
    return formulas


@lru_cache(maxsize=64)
def smallest_tile(grid: Grid, hole: int) -> Grid | None:
    """Return the tile with the fewest cells, then rows, that repeats over all cells but holes."""
    sizes = ((p, q) for p in range(1, grid.height + 1) for q in range(1, grid.width + 1))
    for p, q in sorted(sizes, key=lambda size: (size[0] * size[1], size[0])):
        tile = _tile(grid, hole, p, q)
        if tile is not None:
            return tile
    return None


def _tile(grid: Grid, hole: int, p: int, q: int) -> Grid | None:
    cells = [hole] * (p * q)
    for at, cell in enumerate(grid.cells):
        place = at // grid.width % p * q + at % grid.width % q
        if cell == hole:
            continue
        if cells[place] not in (hole, cell):
            return None
        cells[place] = cell
    if hole in cells:
        return None
    return Grid(p, q, bytes(cells))
