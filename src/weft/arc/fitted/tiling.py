"""Rules that make a larger grid: the node laid side by side, scaled, framed, continued."""

from __future__ import annotations

from collections.abc import Iterator

from weft.arc.fitted.rule import BASE, Examples, Rule, number
from weft.arc.ops.moves import turn
from weft.arc.ops.operator import BIT, Shape
from weft.arc.values import MAX_SIDE, Grid

BLANK = 8
MAX_BLOCKS = 36
BLOCKS = "01234567."


class TileLayout(Rule):
    """Parameters: rows, columns, then per block a symmetry (as in ops.moves) or 8 for black."""

    name = "tile_layout"
    doc = (
        "The grid laid out R×C times, block by block: 0 as it is, 1 columns mirrored, 2 rows "
        "mirrored, 3 both, 4 to 7 the same and transposed, . black."
    )
    shape = Shape.GROW

    def propose(self, examples: Examples) -> Iterator[bytes]:
        pairs = examples.pairs()
        rows = pairs[0][1].height // pairs[0][0].height
        columns = pairs[0][1].width // pairs[0][0].width
        if not 2 <= rows * columns <= MAX_BLOCKS or any(
            (t.height, t.width) != (rows * v.height, columns * v.width) for v, t in pairs
        ):
            return
        choices = [
            [how for how in range(9) if all(_block(v, how) == _cut(t, v, *place) for v, t in pairs)]
            for place in ((r, c) for r in range(rows) for c in range(columns))
        ]
        if not all(choices):
            return
        first = bytes((rows, columns, *(options[0] for options in choices)))
        yield first
        for block, options in enumerate(choices, start=2):
            for how in options[1:]:
                yield first[:block] + bytes((how,)) + first[block + 1 :]

    def apply(self, params: bytes, value: Grid, given: Grid) -> Grid | None:
        rows, columns = params[0], params[1]
        if rows * value.height > MAX_SIDE or columns * value.width > MAX_SIDE:
            return None
        blocks = [_block(value, how) for how in params[2:]]
        cells = bytearray()
        for r in range(rows * value.height):
            for block in blocks[r // value.height * columns :][:columns]:
                if block is None:
                    return None
                start = r % value.height * value.width
                cells += block.cells[start : start + value.width]
        return Grid(rows * value.height, columns * value.width, bytes(cells))

    def price(self, params: bytes) -> int:
        return BASE + 4 * BIT + sum(BIT if how == 0 else 3 * BIT for how in params[2:])

    def show(self, params: bytes) -> str:
        text = "".join(BLOCKS[how] for how in params[2:])
        lines = [text[at : at + params[1]] for at in range(0, len(text), params[1])]
        return f"{params[0]}x{params[1]} " + "/".join(lines)

    def read(self, text: str) -> bytes:
        size, layout = text.split(" ")
        rows, columns = (number(part, 1, MAX_BLOCKS) for part in size.split("x"))
        blocks = [BLOCKS.index(symbol) for symbol in layout.replace("/", "")]
        if len(blocks) != rows * columns or len(blocks) > MAX_BLOCKS:
            raise ValueError(text)
        return bytes((rows, columns, *blocks))


def _block(value: Grid, how: int) -> Grid | None:
    """One of the eight symmetries, None if it changes the size; or as many black cells."""
    if how == BLANK:
        return Grid(value.height, value.width, bytes(len(value.cells)))
    if how & 4 and value.height != value.width:
        return None
    turned = turn(value, value, how, 0)
    assert isinstance(turned, Grid)
    return turned


def _cut(target: Grid, value: Grid, row: int, col: int) -> Grid:
    """The target's block at a row and column of blocks as large as the value."""
    cells = b"".join(
        target.cells[r * target.width + col * value.width :][: value.width]
        for r in range(row * value.height, (row + 1) * value.height)
    )
    return Grid(value.height, value.width, cells)
