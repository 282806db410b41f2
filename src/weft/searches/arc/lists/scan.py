"""Decision lists that fill a grid cell by cell and read the cells already filled.

    bottom_left: made_back=8 & own=0 -> 8; else own

Cells are decided in raster order from a corner: the row that begins there, then the next one.
Such a list can be learned from the true outputs: if it is right about every cell given the true
cells before it, it is right from the first cell to the last.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from weft.searches.arc.lists.cells import UNDECIDED, CellList, Clause
from weft.searches.arc.lists.features import U8
from weft.searches.arc.lists.neighbours import NONE
from weft.searches.arc.lists.words import MADE
from weft.searches.arc.ops.operator import BIT
from weft.searches.arc.values import Grid

CORNERS: dict[str, tuple[int, int]] = {
    "top_left": (1, 1),
    "top_right": (1, -1),
    "bottom_left": (-1, 1),
    "bottom_right": (-1, -1),
}
"""Where a scan begins, with its steps from row to row and from column to column."""
OPPOSITE: dict[str, str] = dict(zip(CORNERS, reversed(CORNERS), strict=True))
PRICE = 2 * BIT
"""Cost of one of four corners."""
BEFORE = ": "
"""Separator between a corner and its list."""
STEPS: dict[str, tuple[int, int]] = dict(
    zip(MADE, ((0, -1), (0, -2), (-1, 0), (-2, 0), (-1, -1), (-1, 1)), strict=True)
)
"""Offsets, in lines and places of the scan, of the cell that each feature reads."""
COMPARED: dict[str, Callable[[int, int], bool]] = {
    "=": operator.eq, "!=": operator.ne, ">=": operator.ge, "<": operator.lt,
}  # fmt: skip
_FAR = 2
"""The largest of these offsets."""


@dataclass(frozen=True, slots=True)
class Layer:
    """A list, and the corner from which it scans; without a corner it decides all cells at once."""

    corner: str
    cells: CellList

    def text(self) -> str:
        """Return the notation used in programs."""
        return self.cells.text() if not self.corner else self.corner + BEFORE + self.cells.text()

    @property
    def millibits(self) -> int:
        """The cost in thousandths of a bit."""
        return self.cells.millibits + (PRICE if self.corner else 0)

    @property
    def is_own(self) -> bool:
        """Whether it has no corner or reads filled cells; any other scan equals a plain list."""
        return not self.corner or any(source in MADE for source in self.cells.sources())

    def decide(self, columns: Mapping[str, U8], sizes: Sequence[tuple[int, int]]) -> U8:
        """Return the cells of all grids, concatenated; UNDECIDED where no clause applies."""
        if not self.corner:
            return self.cells.decide(columns.__getitem__, sum(h * w for h, w in sizes))
        sources = [source for source in self.cells.sources() if source not in MADE]
        parts, at = [], 0
        for height, width in sizes:
            end = at + height * width
            own = {source: columns[source][at:end] for source in sources}
            parts.append(scan(self.cells, own, (height, width), self.corner))
            at = end
        return np.concatenate(parts)


def made_of(grid: Grid, corner: str) -> dict[str, U8]:
    """Return the features that read filled cells, for a scan whose output is this grid."""
    down, right = CORNERS[corner]
    cells = np.frombuffer(grid.cells, np.uint8).reshape(grid.height, grid.width)
    around = np.pad(cells[::down, ::right], _FAR, constant_values=NONE)
    columns = {}
    for name, (lines, places) in STEPS.items():
        top, left = _FAR + lines, _FAR + places
        window = around[top : top + grid.height, left : left + grid.width]
        columns[name] = window[::down, ::right].ravel()
    return columns


def scan(cell_list: CellList, columns: Mapping[str, U8], size: tuple[int, int], corner: str) -> U8:
    """Fill a grid by a list; UNDECIDED from the first cell that no clause decides.

    Whatever does not depend on filled cells is computed beforehand for all cells; `plain_scan` is
    the definition.
    """
    height, width = size
    down, right = CORNERS[corner]
    cells, stride = height * width, width + 2 * _FAR

    def in_scan_order(numbers: U8) -> list[int]:
        ordered: list[int] = numbers.reshape(height, width)[::down, ::right].ravel().tolist()
        return ordered

    clauses = [
        _prepared(clause, columns, cells, stride, in_scan_order)
        for clause in (*cell_list.clauses, Clause((), cell_list.otherwise))
    ]
    output = [NONE] * (stride * (height + _FAR))
    decided = np.full(cells, UNDECIDED, np.uint8)
    for cell in range(cells):
        place = (cell // width + _FAR) * stride + cell % width + _FAR
        colour = _decided(clauses, cell, place, output)
        if colour == UNDECIDED:
            break
        output[place] = decided[cell] = colour
    return decided.reshape(height, width)[::down, ::right].ravel()


@dataclass(frozen=True, slots=True)
class _PreparedClause:
    """A clause prepared for a scan: results known beforehand, and tests that read filled cells."""

    applies: list[int]
    """For each cell, whether all tests that do not read filled cells hold."""
    tests: tuple[tuple[int, Callable[[int, int], bool], int], ...]
    """The other tests: offset of the cell that is read, relation, number."""
    colours: list[int] | None
    """The action's colours; None if it copies a filled cell."""
    step: int
    lay: bool


def _prepared(
    clause: Clause, columns: Mapping[str, U8], cells: int, stride: int,
    in_scan_order: Callable[[U8], list[int]],
) -> _PreparedClause:  # fmt: skip
    steps = {name: lines * stride + places for name, (lines, places) in STEPS.items()}
    applies = np.ones(cells, np.bool_)
    for test in clause.tests:
        if test.source not in steps:
            applies &= test.holds(columns[test.source])
    reading = tuple(
        (steps[test.source], COMPARED[test.relation], test.value)
        for test in clause.tests
        if test.source in steps
    )
    action, colours = clause.action, None
    if action.source not in steps:
        colours = in_scan_order(action.colours(columns.__getitem__, cells))
    known = in_scan_order(applies.astype(np.uint8))
    return _PreparedClause(known, reading, colours, steps.get(action.source, 0), action.lay)


def _decided(clauses: Sequence[_PreparedClause], cell: int, place: int, output: list[int]) -> int:
    """Return a cell's colour by the first clause that has one; else UNDECIDED."""
    for clause in clauses:
        if not clause.applies[cell] or not all(
            compare(output[place + step], value) for step, compare, value in clause.tests
        ):
            continue
        if clause.colours is not None:
            colour = clause.colours[cell]
        else:
            colour = output[place + clause.step]
            if colour >= NONE or (clause.lay and colour == 0):
                continue
        if colour != UNDECIDED:
            return colour
    return UNDECIDED


def plain_scan(
    cell_list: CellList, columns: Mapping[str, U8], size: tuple[int, int], corner: str
) -> U8:
    """Slow twin of `scan`: every clause for every cell."""
    height, width = size
    rows, places = range(height)[:: CORNERS[corner][0]], range(width)[:: CORNERS[corner][1]]
    sources = [source for source in cell_list.sources() if source not in MADE]
    known: dict[str, list[int]] = {source: columns[source].tolist() for source in sources}
    output: list[list[int]] = np.full((height + _FAR, width + 2 * _FAR), NONE).tolist()
    cells = np.full((height, width), UNDECIDED, np.uint8)

    def number(line: int, place: int, source: str) -> int:
        if source not in STEPS:
            return known[source][rows[line] * width + places[place]]
        down, right = STEPS[source]
        return output[line + _FAR + down][place + _FAR + right]

    clauses = (*cell_list.clauses, Clause((), cell_list.otherwise))
    for line, place in product(range(height), range(width)):
        colours = (_colour(clause, partial(number, line, place)) for clause in clauses)
        colour = next((c for c in colours if c != UNDECIDED), UNDECIDED)
        if colour == UNDECIDED:
            break
        output[line + _FAR][place + _FAR] = cells[rows[line], places[place]] = colour
    return cells.ravel()


def _colour(clause: Clause, number: Callable[[str], int]) -> int:
    """Return the colour that a clause gives a cell with these numbers; UNDECIDED if it has none."""
    if not all(COMPARED[t.relation](number(t.source), t.value) for t in clause.tests):
        return UNDECIDED
    action = clause.action
    if not action.source:
        return action.colour
    colour = number(action.source)
    return UNDECIDED if colour >= NONE or (action.lay and colour == 0) else colour
