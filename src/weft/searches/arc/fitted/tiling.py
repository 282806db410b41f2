"""Rules that produce a larger grid: copies side by side, scaled cells, or a frame."""

from __future__ import annotations

from collections.abc import Iterator

from weft.searches.arc.fitted.rule import BASE, COLOUR, Examples, FittedRule, digit, number
from weft.searches.arc.ops.moves import turned
from weft.searches.arc.ops.operator import BIT, ShapeEffect
from weft.searches.arc.values import MAX_SIDE, Grid

BLANK = 8
MAX_BLOCKS = 36
BLOCKS = "01234567."


class TileLayout(FittedRule):
    """Parameters: rows, columns, then per block a symmetry (as in ops.moves) or 8 for black."""

    name = "tile_layout"
    doc = (
        "R×C copies of the grid, each with its orientation: 0 unchanged, 1 mirrored left to "
        "right, 2 mirrored top to bottom, 3 both, 4 to 7 the same and transposed; . is a black "
        "copy."
    )
    shape = ShapeEffect.GROW

    def propose(self, examples: Examples) -> Iterator[bytes]:
        pairs = examples.pairs()
        rows = pairs[0][1].height // pairs[0][0].height
        columns = pairs[0][1].width // pairs[0][0].width
        if not 2 <= rows * columns <= MAX_BLOCKS or any(
            t.size != (rows * v.height, columns * v.width) for v, t in pairs
        ):
            return
        choices = [
            [
                how
                for how in range(9)
                if all(_block(v, how) == _block_at(t, v, *place) for v, t in pairs)
            ]
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
    """Return a symmetry of the grid, None if it changes the size; or a black grid of that size."""
    if how == BLANK:
        return Grid(value.height, value.width, bytes(len(value.cells)))
    if how & 4 and value.height != value.width:
        return None
    return Grid.of(turned(value.rows(), how))


def _block_at(target: Grid, value: Grid, row: int, col: int) -> Grid:
    """Return the target's block at a row and column of blocks as large as the value."""
    cells = b"".join(
        target.cells[r * target.width + col * value.width :][: value.width]
        for r in range(row * value.height, (row + 1) * value.height)
    )
    return Grid(value.height, value.width, cells)


class Scale(FittedRule):
    """Parameters: kind (0 fixed, else a measure), factor of rows, factor of columns (or 0, 0)."""

    name = "scale"
    doc = (
        "Each cell becomes a block: of a fixed size (`2x3`), with as many rows and columns as the "
        "grid has `colours`, `marks` (non-black colours), `cells` (non-black cells), `height` or "
        "`width`, or of the grid's `own` size."
    )
    shape = ShapeEffect.GROW

    def propose(self, examples: Examples) -> Iterator[bytes]:
        value, target = examples.pairs()[0]
        if target.height % value.height or target.width % value.width:
            return
        yield bytes((0, target.height // value.height, target.width // value.width))
        for kind in range(1, len(MEASURES)):
            yield bytes((kind, 0, 0))

    def apply(self, params: bytes, value: Grid, given: Grid) -> Grid | None:
        high, wide = measured(params[0], value) if params[0] else (params[1], params[2])
        if not (1 <= high * value.height <= MAX_SIDE and 1 <= wide * value.width <= MAX_SIDE):
            return None
        rows = [[cell for cell in row for _ in range(wide)] for row in value.rows()]
        return Grid.of([row for row in rows for _ in range(high)])

    def price(self, params: bytes) -> int:
        return BASE + 3 * BIT + (4 * BIT if params[0] == 0 else 0)

    def show(self, params: bytes) -> str:
        return MEASURES[params[0]] or f"{params[1]}x{params[2]}"

    def read(self, text: str) -> bytes:
        if text in MEASURES[1:]:
            return bytes((MEASURES.index(text), 0, 0))
        high, wide = (number(part, 1, MAX_SIDE) for part in text.split("x"))
        return bytes((0, high, wide))


MEASURES = ("", "colours", "marks", "cells", "height", "width", "own")


def measured(kind: int, grid: Grid) -> tuple[int, int]:
    """Return the rows and columns of a block that a measure gives."""
    name, colours = MEASURES[kind], set(grid.cells)
    if name == "own":
        return grid.size
    count = {
        "colours": len(colours),
        "marks": len(colours - {0}),
        "cells": sum(cell != 0 for cell in grid.cells),
        "height": grid.height,
        "width": grid.width,
    }[name]
    return count, count


class Border(FittedRule):
    """Parameters: thickness of the frame that is added, or 0 to recolour the rim; colour."""

    name = "border"
    doc = (
        "`add T C` puts a frame of thickness T and colour C around the grid; `rim C` recolours "
        "its outermost cells."
    )
    shape = ShapeEffect.GROW

    def propose(self, examples: Examples) -> Iterator[bytes]:
        value, target = examples.pairs()[0]
        more = target.height - value.height
        if more >= 0 and more % 2 == 0:
            yield bytes((more // 2, target.cells[0]))

    def apply(self, params: bytes, value: Grid, given: Grid) -> Grid | None:
        thick, colour = params
        height, width = value.height + 2 * thick, value.width + 2 * thick
        if max(height, width) > MAX_SIDE:
            return None
        edge = thick or 1
        rows = [[colour] * width for _ in range(height)]
        for r in range(edge, height - edge):
            for c in range(edge, width - edge):
                rows[r][c] = value.at(r - thick, c - thick)
        return Grid.of(rows)

    def price(self, params: bytes) -> int:
        return BASE + 3 * BIT + COLOUR

    def show(self, params: bytes) -> str:
        return f"add {params[0]} {params[1]}" if params[0] else f"rim {params[1]}"

    def read(self, text: str) -> bytes:
        kind, *numbers = text.split(" ")
        if kind == "rim":
            (colour,) = numbers
            return bytes((0, digit(colour)))
        thick, colour = numbers
        return bytes((number(thick, 1, MAX_SIDE), digit(colour)))
