"""The rule that redraws the blocks of a divided grid from one of them, the key.

    least rest: spread     each cell of the block with the fewest marks fills the block at its place
    most count_4: at 4     the block with the most yellow, drawn at the places of its yellow cells
    most rest: copy        the block with the most marks, drawn in every block

Full rows and columns of one colour, which stay, divide the grid into equal blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weft.searches.arc.fitted.choose import MEASURES, Criterion, measurements_of, segment
from weft.searches.arc.fitted.rule import BASE, Composed
from weft.searches.arc.ops.operator import BIT, ShapeEffect
from weft.searches.arc.values import EMPTY, Grid, Piece

COMPARED = ("most", "least", "odd")
CRITERIA: tuple[Criterion, ...] = tuple(
    Criterion(relation, measure) for relation in COMPARED for measure in MEASURES
)
"""The criteria that may select the key, cheapest first."""
DRAWING = 4 * BIT
"""Cost of one of eleven ways to draw."""
SPLIT = "split_lines"
SPREAD, COPY, AT = "spread", "copy", "at"
DRAWINGS = (SPREAD, COPY, *(f"{AT} {colour}" for colour in range(1, 10)))


@dataclass(frozen=True, slots=True)
class DividedGrid:
    """A grid divided into equal blocks."""

    grid: Grid
    blocks: Sequence[Piece]
    rows: Sequence[int]
    """Where the rows of blocks begin."""
    columns: Sequence[int]

    def keys(self) -> dict[Criterion, int]:
        """Return the block that each criterion singles out, for those that do."""
        measured = measurements_of(self.blocks, self.grid)
        assert measured is not None, "blocks lie in their grid"
        chosen = {criterion: criterion.chosen(measured) for criterion in CRITERIA}
        return {criterion: place for criterion, place in chosen.items() if place is not None}

    def drawn(self, key: int, drawing: str) -> Grid | None:
        """Redraw all blocks from one; None if SPREAD or AT needs another number of cells."""
        block = self.blocks[key]
        has_cells = (block.height, block.width) == (len(self.rows), len(self.columns))
        if drawing != COPY and not has_cells:
            return None
        cells = bytearray(self.grid.cells)
        for row, top in enumerate(self.rows):
            for column, left in enumerate(self.columns):
                lines = _lines(block, row, column, drawing)
                for n, line in enumerate(lines):
                    start = (top + n) * self.grid.width + left
                    cells[start : start + block.width] = line
        return Grid(self.grid.height, self.grid.width, bytes(cells))


def divided(grid: Grid) -> DividedGrid | None:
    """Divide a grid by its lines; None if there are fewer than two blocks or they are not equal."""
    blocks = segment(SPLIT, grid)
    rows = sorted({block.row for block in blocks})
    columns = sorted({block.col for block in blocks})
    is_regular = len({(block.height, block.width) for block in blocks}) == 1
    if len(blocks) < 2 or not is_regular or len(blocks) != len(rows) * len(columns):
        return None
    return DividedGrid(grid, blocks, rows, columns)


def _lines(block: Piece, row: int, column: int, drawing: str) -> list[bytes]:
    """Return the rows of cells to draw in the block at a row and column of blocks."""
    cells = bytes(0 if colour == EMPTY else colour for colour in block.cells)
    lines = [cells[n * block.width : (n + 1) * block.width] for n in range(block.height)]
    if drawing == COPY:
        return lines
    own = lines[row][column]
    if drawing == SPREAD:
        return [bytes((own,)) * block.width] * block.height
    is_there = drawing == f"{AT} {own}"
    return lines if is_there else [bytes(block.width)] * block.height


class KeyBlock(Composed):
    """Parameters: the criterion for the key, and how blocks are drawn from it."""

    name = "key_block"
    doc = (
        "Full rows and columns of one colour, which stay, divide the grid into equal blocks, and "
        "one of them, the key, decides how all are drawn: `least rest: spread`. The key has the "
        "`most` or `least` of a measure of `choose`, or the `odd` value, unlike all others. "
        "`spread` fills each block with the colour of the key's cell at the block's position; "
        "`copy` draws the key in every block; `at 4` draws it in the blocks at the positions of "
        "its cells of a colour, and blackens the others. It fails if `spread` or `at` finds more "
        "or fewer blocks than cells."
    )
    shape = ShapeEffect.KEEP

    def apply(self, params: bytes, value: Grid, given: Grid) -> Grid | None:
        criterion, drawing = read_key(params.decode())
        division = divided(value)
        key = None if division is None else division.keys().get(criterion)
        return None if division is None or key is None else division.drawn(key, drawing)

    def price(self, params: bytes) -> int:
        criterion, _ = read_key(params.decode())
        return BASE + criterion.millibits + DRAWING

    def read(self, text: str) -> bytes:
        return parameters(*read_key(text)).encode()


def parameters(criterion: Criterion, drawing: str) -> str:
    """Return the rule's parameters as text."""
    return f"{criterion.text()}: {drawing}"


def read_key(text: str) -> tuple[Criterion, str]:
    """Invert `parameters`; raises ValueError if the text is invalid."""
    words, drawing = text.split(": ")
    relation, measure = words.split(" ")
    criterion = Criterion(relation, measure)
    if criterion not in CRITERIA or drawing not in DRAWINGS:
        raise ValueError(text)
    return criterion, drawing
