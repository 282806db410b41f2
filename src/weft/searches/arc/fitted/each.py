"""The rule that divides a grid into parts and runs one short program on each of them.

    single_rows: cells own=7 -> 0; else touching      every row separately
    blobs_8: mirror_rows|colour_map 1:2 keep          the bounding box of every blob

Cells in no part stay; if all parts change their size, they are placed side by side. With `colours`
a part is all cells of one colour, shown in blue, and the results are overlaid. A part's program
sees only the part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weft.searches.arc.fitted.choose import segment
from weft.searches.arc.fitted.rule import BASE, Composed, FittedRule
from weft.searches.arc.ops.operator import BIT, ShapeEffect
from weft.searches.arc.ops.registry import BY_NAME, apply_chain
from weft.searches.arc.values import MAX_SIDE, Box, Grid, ValueStage

WAYS: tuple[str, ...] = (
    "single_rows", "single_columns", "split_lines", "split_black_lines", "quarters", "blobs_8",
    "objects_8", "objects_4",
)  # fmt: skip
"""Segmentations that divide a grid."""
COLOURS, INK = "colours", 1
"""The name of division by colour, and the colour in which each part is shown."""
LAYERS = "layers"
"""The operator whose cost is that of dividing by colour."""
BEFORE, CHAINED = ": ", "|"
"""Separators of segmentation and program, and of the program's operations."""
DIVIDED = 8 * BIT
"""Cost of dividing besides the segmentation: more programs fit small pairs."""


@dataclass(frozen=True, slots=True)
class PartProgram:
    """The program of a part: operators, then optionally a rule with its parameters as text."""

    chain: tuple[str, ...]
    rule: str = ""
    parameters: str = ""

    def text(self) -> str:
        """Return the notation used in programs."""
        head = CHAINED.join((*self.chain, self.rule) if self.rule else self.chain)
        return f"{head} {self.parameters}" if self.rule else head


class Each(Composed):
    """Parameters: the segmentation and the program of a part."""

    name = "each"
    doc = (
        "Divides the grid (`single_rows`, `split_lines`, `blobs_8`, …) and applies one program to "
        "the box of each part: `single_rows: mirror_columns|cells own=7 -> 0; else touching`. "
        "Operators run in order; a rule with its parameters may be the last. Cells in no part "
        "stay; results of a different size than their parts are placed side by side. With "
        "`colours` a part is all cells of one colour, recoloured to 1, and the results are "
        "overlaid."
    )
    shape = ShapeEffect.ANY

    def __init__(self, rules: Sequence[FittedRule]) -> None:
        self.rules: Mapping[str, FittedRule] = {rule.name: rule for rule in rules}

    def apply(self, params: bytes, value: Grid, given: Grid) -> Grid | None:
        way, program = self._read(params.decode())
        if way == COLOURS:
            colours = colours_of(value)
            return overlaid(colours, [self._run(program, layer(value, c)) for c in colours])
        boxes = boxes_of(way, value)
        if boxes is None:
            return None
        parts = [self._run(program, cut(value, box)) for box in boxes]
        return put_together(value, boxes, parts)

    def _run(self, program: PartProgram, part: Grid) -> Grid | None:
        grid = apply_chain(program.chain, part, part)
        if isinstance(grid, Grid) and program.rule:
            rule = self.rules[program.rule]
            return rule.apply(rule.parse(program.parameters), grid, part)
        return grid if isinstance(grid, Grid) else None

    def price(self, params: bytes) -> int:
        way, program = self._read(params.decode())
        names = (LAYERS if way == COLOURS else way, *program.chain)
        cost = BASE + DIVIDED + sum(BY_NAME[name].millibits for name in names)
        if program.rule:
            rule = self.rules[program.rule]
            cost += rule.price(rule.parse(program.parameters))
        return cost

    def read(self, text: str) -> bytes:
        way, program = self._read(text)
        if program.rule:
            self.rules[program.rule].parse(program.parameters)
        return parameters(way, program).encode()

    def _read(self, text: str) -> tuple[str, PartProgram]:
        way, rest = text.split(BEFORE, 1)
        head, _, rule_parameters = rest.partition(" ")
        names = tuple(head.split(CHAINED))
        rule = names[-1] if names[-1] in self.rules else ""
        chain = names[:-1] if rule else names
        if (
            way not in (*WAYS, COLOURS)
            or not _is_chain(chain)
            or bool(rule) != bool(rule_parameters)
        ):
            raise ValueError(text)
        return way, PartProgram(chain, rule, rule_parameters)


def _is_chain(names: Sequence[str]) -> bool:
    """Whether operators form a chain from a grid to a grid."""
    stage = ValueStage.GRID
    for name in names:
        if BY_NAME[name].takes is not stage:
            return False
        stage = BY_NAME[name].gives
    return stage is ValueStage.GRID


def parameters(way: str, program: PartProgram) -> str:
    """Return the rule's parameters as text."""
    return f"{way}{BEFORE}{program.text()}"


def boxes_of(way: str, grid: Grid) -> tuple[Box, ...] | None:
    """Return the boxes of a grid's parts that lie in no other; None if none exist or they overlap.

    A box inside another one belongs to the outer part.
    """
    pieces = segment(way, grid)
    boxes = [Box(piece.row, piece.col, piece.height, piece.width) for piece in pieces]
    outer = dict.fromkeys(box for box in boxes if not any(_holds(b, box) for b in boxes))
    covered = np.zeros(grid.size, np.int64)
    for box in outer:
        covered[box.row : box.row + box.height, box.col : box.col + box.width] += 1
    return None if not outer or covered.max() > 1 else tuple(outer)


def _holds(outer: Box, inner: Box) -> bool:
    """Whether a box contains another, different one."""
    return (
        outer != inner
        and outer.row <= inner.row
        and outer.col <= inner.col
        and outer.row + outer.height >= inner.row + inner.height
        and outer.col + outer.width >= inner.col + inner.width
    )


def cut(grid: Grid, box: Box) -> Grid:
    """Return the part of a grid in a box."""
    rows = range(box.row, box.row + box.height)
    starts = (row * grid.width + box.col for row in rows)
    cells = b"".join(grid.cells[start : start + box.width] for start in starts)
    return Grid(box.height, box.width, cells)


def assembled(grid: Grid, boxes: Sequence[Box], parts: Sequence[Grid | None]) -> Grid | None:
    """Return a grid with its boxes replaced by parts; None if one is missing or does not fit."""
    cells = np.frombuffer(grid.cells, np.uint8).reshape(grid.size).copy()
    for box, part in zip(boxes, parts, strict=True):
        if part is None or part.size != (box.height, box.width):
            return None
        own = np.frombuffer(part.cells, np.uint8).reshape(part.size)
        cells[box.row : box.row + box.height, box.col : box.col + box.width] = own
    return Grid(grid.height, grid.width, cells.tobytes())


def put_together(grid: Grid, boxes: Sequence[Box], parts: Sequence[Grid | None]) -> Grid | None:
    """Place parts in their boxes, or side by side if all have one other size."""
    same = assembled(grid, boxes, parts)
    return arranged(boxes, parts) if same is None else same


def lattice_of(boxes: Sequence[Box]) -> tuple[int, int] | None:
    """Return the numbers of rows and columns of boxes; None if they do not fill a lattice."""
    rows, columns = sorted({box.row for box in boxes}), sorted({box.col for box in boxes})
    places = [(row, column) for row in rows for column in columns]
    return (len(rows), len(columns)) if [(b.row, b.col) for b in boxes] == places else None


def arranged(boxes: Sequence[Box], parts: Sequence[Grid | None]) -> Grid | None:
    """Place parts of one size side by side like their boxes; None if that is impossible."""
    lattice, first = lattice_of(boxes), parts[0]
    if lattice is None or first is None:
        return None
    (rows, columns), (height, width) = lattice, first.size
    if max(rows * height, columns * width) > MAX_SIDE:
        return None
    cells = np.zeros((rows * height, columns * width), np.uint8)
    for n, part in enumerate(parts):
        if part is None or part.size != first.size:
            return None
        own = np.frombuffer(part.cells, np.uint8).reshape(part.size)
        top, left = n // columns * height, n % columns * width
        cells[top : top + height, left : left + width] = own
    return Grid(*cells.shape, cells.tobytes())


def colours_of(grid: Grid) -> list[int]:
    """Return the non-black colours of a grid, ascending."""
    return sorted(set(grid.cells) - {0})


def layer(grid: Grid, colour: int) -> Grid:
    """Return a grid with the cells of one colour in INK and all others black."""
    return Grid(grid.height, grid.width, bytes(INK * (cell == colour) for cell in grid.cells))


def overlaid(colours: Sequence[int], layers: Sequence[Grid | None]) -> Grid | None:
    """Draw each layer's non-black cells in its colour, the last on top; None if sizes differ."""
    known = [each for each in layers if each is not None]
    if not known or len(known) < len(layers) or len({each.size for each in known}) > 1:
        return None
    cells = bytearray(len(known[0].cells))
    for colour, own in zip(colours, known, strict=True):
        for place, cell in enumerate(own.cells):
            cells[place] = colour if cell else cells[place]
    return Grid(known[0].height, known[0].width, bytes(cells))
