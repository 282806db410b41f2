"""Lists that fill a grid cell by cell and read the cells they have filled.

    bottom_left: made_back=8 & own=0 -> 8; else own

Cells are decided line by line from a corner: the row that begins there, then the next one. To
learn such a list it is enough to show it the true outputs: one that is right about every cell,
given those before it, is right from the first cell to the last.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weft.searches.arc.lists.cells import UNDECIDED, Action, CellList, Clause, Test
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
"""Where a scan begins, and its steps from row to row and from column to column."""
OPPOSITE: dict[str, str] = dict(zip(CORNERS, reversed(CORNERS), strict=True))
PRICE = 2 * BIT
"""One corner of four."""
BEFORE = ": "
"""Between a corner and its list."""
STEPS: dict[str, tuple[int, int]] = dict(
    zip(MADE, ((0, -1), (0, -2), (-1, 0), (-2, 0), (-1, -1), (-1, 1)), strict=True)
)
"""Lines and places from a cell to the one that each feature reads."""
COMPARED: dict[str, Callable[[int, int], bool]] = {
    "=": operator.eq, "!=": operator.ne, ">=": operator.ge, "<": operator.lt,
}  # fmt: skip
_FAR = 2
"""The farthest of them."""


@dataclass(frozen=True, slots=True)
class Layer:
    """A list, and the corner from which it scans; without one it decides all cells at once."""

    corner: str
    cells: CellList

    def text(self) -> str:
        """As programs write it."""
        return self.cells.text() if not self.corner else self.corner + BEFORE + self.cells.text()

    @property
    def millibits(self) -> int:
        """What it costs."""
        return self.cells.millibits + (PRICE if self.corner else 0)

    @property
    def is_own(self) -> bool:
        """Whether a scan reads filled cells; else it is a plain list in disguise."""
        return not self.corner or any(source in MADE for source in self.cells.sources())

    def decide(self, columns: Mapping[str, U8], sizes: Sequence[tuple[int, int]]) -> U8:
        """The cells of grids, concatenated; UNDECIDED where no clause applies."""
        if not self.corner:
            return self.cells.decide(columns.__getitem__, sum(h * w for h, w in sizes))
        asked = [source for source in self.cells.sources() if source not in MADE]
        parts, at = [], 0
        for height, width in sizes:
            end = at + height * width
            own = {source: columns[source][at:end] for source in asked}
            parts.append(scan(self.cells, own, (height, width), self.corner))
            at = end
        return np.concatenate(parts)


def made_of(grid: Grid, corner: str) -> dict[str, U8]:
    """Return the features of the cells filled before each cell, if the scan makes a grid."""
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
    """Make a grid by a list; UNDECIDED from the first cell that no clause decides."""
    height, width = size
    down, right = CORNERS[corner]
    known = {
        source: columns[source].tolist() for source in cell_list.sources() if source not in MADE
    }
    clauses = (*cell_list.clauses, Clause((), cell_list.otherwise))
    output = np.full((height + _FAR, width + 2 * _FAR), NONE).tolist()
    cells = np.full((height, width), UNDECIDED, np.uint8)
    for line in range(height):
        for place in range(width):
            row = line if down > 0 else height - 1 - line
            column = place if right > 0 else width - 1 - place
            sees = _Cell(known, row * width + column, output, line + _FAR, place + _FAR)
            colour = next((c for c in map(sees.colour, clauses) if c != UNDECIDED), UNDECIDED)
            if colour == UNDECIDED:
                return cells.ravel()
            output[line + _FAR][place + _FAR] = colour
            cells[row, column] = colour
    return cells.ravel()


class _Cell:
    """One cell while it is decided: the features it can read."""

    __slots__ = ("_at", "_known", "_line", "_output", "_place")

    def __init__(
        self,
        known: Mapping[str, list[int]],
        at: int,
        output: list[list[int]],
        line: int,
        place: int,
    ) -> None:
        self._known, self._at = known, at
        self._output, self._line, self._place = output, line, place

    def colour(self, clause: Clause) -> int:
        """The colour that a clause gives it; UNDECIDED where it does not apply."""
        if all(self._holds(test) for test in clause.tests):
            return self._colour_of(clause.action)
        return UNDECIDED

    def _number(self, source: str) -> int:
        step = STEPS.get(source)
        if step is None:
            return self._known[source][self._at]
        return self._output[self._line + step[0]][self._place + step[1]]

    def _holds(self, test: Test) -> bool:
        return bool(COMPARED[test.relation](self._number(test.source), test.value))

    def _colour_of(self, action: Action) -> int:
        if not action.source:
            return action.colour
        colour = self._number(action.source)
        return UNDECIDED if colour >= NONE or (action.lay and colour == 0) else colour
