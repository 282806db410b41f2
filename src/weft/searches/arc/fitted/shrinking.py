"""Rules that produce a smaller grid: blocks reduced to cells, a window, parts combined."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from weft.searches.arc.fitted.rule import BASE, COLOUR, Examples, FittedRule, digit, number
from weft.searches.arc.ops.operator import BIT, ShapeEffect
from weft.searches.arc.values import MAX_SIDE, Grid

MODES = ("only", "common", "marked", "first", "full")
CORNERS = ("top_left", "top_right", "bottom_left", "bottom_right", "margins")
MARGINS = 4
FEW_CELLS = 8
"""With fewer cells in all targets together, blocks fit by chance."""
LAYOUTS = ((1, 2), (2, 1), (1, 3), (3, 1), (2, 2), (1, 4), (4, 1))
"""Rows and columns of parts that a grid may have."""


class BlockReduce(FittedRule):
    """Parameters: mode, 0 if the block's size is given or 1 if the result's is, rows, columns."""

    name = "block_reduce"
    doc = (
        "Each block becomes one cell: its `only` colour, its most `common` colour (ties: the "
        "lowest), its most common non-black colour (`marked`), its `first` non-black colour, or "
        "its colour if it is `full` of one, else black. `block 3x3` is the size of a block, `into "
        "3x3` that of the result."
    )
    shape = ShapeEffect.SHRINK

    def propose(self, examples: Examples) -> Iterator[bytes]:
        value, target = examples.pairs()[0]
        if value.height % target.height or value.width % target.width:
            return
        high, wide = value.height // target.height, value.width // target.width
        for mode in range(len(MODES)):
            yield bytes((mode, 0, high, wide))
            yield bytes((mode, 1, target.height, target.width))

    def apply(self, params: bytes, value: Grid, given: Grid) -> Grid | None:
        mode, kind, high, wide = params
        if value.height % high or value.width % wide:
            return None
        if kind == 1:
            high, wide = value.height // high, value.width // wide
        cells = bytearray()
        for r in range(0, value.height, high):
            for c in range(0, value.width, wide):
                block = bytes(
                    value.at(y, x) for y in range(r, r + high) for x in range(c, c + wide)
                )
                cell = _reduced(mode, block)
                if cell is None:
                    return None
                cells.append(cell)
        return Grid(value.height // high, value.width // wide, bytes(cells))

    def covers(self, params: bytes, examples: Examples) -> bool:
        return sum(len(target.cells) for target in examples.expected) >= FEW_CELLS

    def price(self, params: bytes) -> int:
        return BASE + 7 * BIT

    def show(self, params: bytes) -> str:
        return f"{MODES[params[0]]} {('block', 'into')[params[1]]} {params[2]}x{params[3]}"

    def read(self, text: str) -> bytes:
        mode, kind, size = text.split(" ")
        high, wide = (number(part, 1, MAX_SIDE) for part in size.split("x"))
        return bytes((MODES.index(mode), ("block", "into").index(kind), high, wide))


def _reduced(mode: int, block: bytes) -> int | None:
    """Return the colour that stands for a block; None if the mode gives none."""
    name, first = MODES[mode], next((cell for cell in block if cell), 0)
    alone = len(set(block)) == 1
    if name == "only":
        return block[0] if alone else None
    if name == "full":
        return block[0] if alone else 0
    if name == "first" or not any(block):
        return first
    colours = range(name == "marked", 10)
    return max(colours, key=lambda colour: (block.count(colour), -colour))


class WindowRule(FittedRule):
    """Parameters: corner, distance in rows and columns from it, height, width; or four margins.

    Not fitted unless it passes leave-one-out cross-validation: every window that fits all pairs
    but one must fit that one too, or fail on it.
    """

    name = "window"
    doc = (
        "A rectangle of the grid: a corner, the distance from it in rows and columns, and the "
        "size; or what is inside `margins` (top, left, bottom, right)."
    )
    shape = ShapeEffect.SHRINK

    def propose(self, examples: Examples) -> Iterator[bytes]:
        pairs = examples.pairs()
        if any(v.height < t.height or v.width < t.width for v, t in pairs):
            return
        if len(pairs) > 1 and all(
            self._loo_passes(pairs[e], pairs[:e] + pairs[e + 1 :]) for e in range(len(pairs))
        ):
            yield from _windows(*pairs[0])

    def _loo_passes(self, pair: tuple[Grid, Grid], others: list[tuple[Grid, Grid]]) -> bool:
        """Whether every window that fits the others fits the pair, or fails on it."""
        for params in _windows(*others[0]):
            prediction = self.apply(params, pair[0], pair[0])
            if prediction not in (None, pair[1]) and all(
                self.apply(params, value, value) == target for value, target in others[1:]
            ):
                return False
        return True

    def apply(self, params: bytes, value: Grid, given: Grid) -> Grid | None:
        kind, row, col, height, width = params
        if kind == MARGINS:
            height, width = value.height - row - height, value.width - col - width
        elif kind & 2:
            row = value.height - height - row
        if kind != MARGINS and kind & 1:
            col = value.width - width - col
        if min(row, col) < 0 or row + height > value.height or col + width > value.width:
            return None
        return _window(value, row, col, height, width) if min(height, width) > 0 else None

    def price(self, params: bytes) -> int:
        return BASE + 2 * BIT + sum(BIT * (2 + n.bit_length()) for n in params[1:])

    def show(self, params: bytes) -> str:
        kind, row, col, height, width = params
        size = f"{height} {width}" if kind == MARGINS else f"{height}x{width}"
        return f"{CORNERS[kind]} {row} {col} {size}"

    def read(self, text: str) -> bytes:
        corner, row, col, *rest = text.split(" ")
        size = rest if corner == "margins" else rest[0].split("x")
        height, width = (number(part, 0, MAX_SIDE) for part in size)
        return bytes((CORNERS.index(corner), number(row), number(col), height, width))


def _windows(value: Grid, target: Grid) -> Iterator[bytes]:
    """Yield every window of a grid that equals the target, described in all ways."""
    down, right = value.height - target.height, value.width - target.width
    for row in range(down + 1):
        for col in range(right + 1):
            if _window(value, row, col, target.height, target.width) == target:
                far = (row, down - row), (col, right - col)
                for corner in range(MARGINS):
                    place = far[0][corner >> 1], far[1][corner & 1]
                    yield bytes((corner, *place, target.height, target.width))
                yield bytes((MARGINS, row, col, down - row, right - col))


def _window(grid: Grid, row: int, col: int, height: int, width: int) -> Grid:
    rows = [grid.cells[r * grid.width + col :][:width] for r in range(row, row + height)]
    return Grid(height, width, b"".join(rows))


class TableOfParts(FittedRule):
    """Parameters: layout, 1 if lines separate the parts, then (cells of the parts…, out) sorted.

    A combination is trusted in a test grid only if it occurs at least twice in training.
    """

    name = "table_of_parts"
    doc = (
        "Splits the grid into equal parts, `1x2` side by side or `2x1` stacked, with `+` "
        "separated by one-coloured lines of one cell. A table maps the colours that the parts "
        "have at a position to the result's colour; combinations that are not listed fail."
    )
    shape = ShapeEffect.SHRINK

    def propose(self, examples: Examples) -> Iterator[bytes]:
        for layout in range(len(LAYOUTS)):
            for lines in range(2):
                split = [(parts_of(v, layout, lines), t) for v, t in examples.pairs()]
                table: dict[tuple[int, ...], int] = {}
                for parts, target in split:
                    if parts is None or parts[0].size != target.size:
                        break
                    table.update(zip(_together(parts), target.cells, strict=True))
                else:
                    entries = (symbol for key in sorted(table) for symbol in (*key, table[key]))
                    yield bytes((layout, lines, *entries))

    def apply(self, params: bytes, value: Grid, given: Grid) -> Grid | None:
        parts = parts_of(value, params[0], params[1])
        if parts is None:
            return None
        table = _entries(params)
        cells = [table.get(key) for key in _together(parts)]
        known = bytes(cell for cell in cells if cell is not None)
        return Grid(parts[0].height, parts[0].width, known) if len(known) == len(cells) else None

    def covers(self, params: bytes, examples: Examples) -> bool:
        split = [parts_of(value, params[0], params[1]) for value in examples.values]
        train = len(examples.expected)
        trained = [key for parts in split[:train] if parts for key in _together(parts)]
        tested = [key for parts in split[train:] if parts for key in _together(parts)]
        count = Counter(trained)
        return all(count[key] > 1 for key in tested)

    def price(self, params: bytes) -> int:
        rows, columns = LAYOUTS[params[0]]
        return BASE + 4 * BIT + len(_entries(params)) * (rows * columns * BIT + COLOUR)

    def show(self, params: bytes) -> str:
        rows, columns = LAYOUTS[params[0]]
        entries = ["".join(map(str, key)) + f":{new}" for key, new in _entries(params).items()]
        return " ".join([f"{rows}x{columns}" + "+" * params[1], *entries])

    def read(self, text: str) -> bytes:
        size, *entries = text.split(" ")
        rows, columns = size.removesuffix("+").split("x")
        layout = LAYOUTS.index((number(rows), number(columns)))
        params = bytearray((layout, size.endswith("+")))
        for key, new in sorted(entry.split(":") for entry in entries):
            if len(key) != LAYOUTS[layout][0] * LAYOUTS[layout][1]:
                raise ValueError(key)
            params += bytes(digit(symbol) for symbol in (*key, new))
        return bytes(params)


def parts_of(grid: Grid, layout: int, lines: int) -> list[Grid] | None:
    """Split into equal parts, row by row; None if that is impossible.

    With `lines`, the lines between the parts must have one colour.
    """
    rows, columns = LAYOUTS[layout]
    if (grid.height + lines) % rows or (grid.width + lines) % columns:
        return None
    high, wide = (grid.height + lines) // rows, (grid.width + lines) // columns
    if lines in (high, wide):
        return None
    between = {
        grid.at(r, c)
        for r in range(grid.height)
        for c in range(grid.width)
        if lines and (r % high == high - 1 or c % wide == wide - 1)
    }
    if len(between) > 1:
        return None
    return [
        _window(grid, r * high, c * wide, high - lines, wide - lines)
        for r in range(rows)
        for c in range(columns)
    ]


def _together(parts: list[Grid]) -> list[tuple[int, ...]]:
    return list(zip(*(part.cells for part in parts), strict=True))


def _entries(params: bytes) -> dict[tuple[int, ...], int]:
    step = LAYOUTS[params[0]][0] * LAYOUTS[params[0]][1] + 1
    return {
        tuple(params[at : at + step - 1]): params[at + step - 1]
        for at in range(2, len(params), step)
    }
