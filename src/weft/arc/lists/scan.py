"""Lists that make a grid cell by cell and see what they have made.

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

from weft.arc.lists.cells import UNDECIDED, Action, CellList, Clause, Test
from weft.arc.lists.features import U8
from weft.arc.lists.looks import NONE
from weft.arc.lists.words import MADE
from weft.arc.ops.operator import BIT
from weft.arc.values import Grid

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
"""Lines and places from a cell to the one that each feature tells."""
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
        """Whether it looks at what is made, if it scans: else it is a plain list in disguise."""
        return not self.corner or any(source in MADE for source in self.cells.sources())

    def decide(self, columns: Mapping[str, U8], sizes: Sequence[tuple[int, int]]) -> U8:
        """The cells of grids, one behind the other; UNDECIDED where nothing speaks."""
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
    """Return what each cell sees of those made before it, if the scan makes a grid."""
    down, right = CORNERS[corner]
    cells = np.frombuffer(grid.cells, np.uint8).reshape(grid.height, grid.width)
    around = np.pad(cells[::down, ::right], _FAR, constant_values=NONE)
    found = {}
    for name, (lines, places) in STEPS.items():
        top, left = _FAR + lines, _FAR + places
        seen = around[top : top + grid.height, left : left + grid.width]
        found[name] = seen[::down, ::right].ravel()
    return found


def scan(found: CellList, columns: Mapping[str, U8], size: tuple[int, int], corner: str) -> U8:
    """Make a grid by a list; UNDECIDED from the first cell of which nothing speaks."""
    height, width = size
    down, right = CORNERS[corner]
    known = {source: columns[source].tolist() for source in found.sources() if source not in MADE}
    clauses = (*found.clauses, Clause((), found.otherwise))
    made = np.full((height + _FAR, width + 2 * _FAR), NONE).tolist()
    cells = np.full((height, width), UNDECIDED, np.uint8)
    for line in range(height):
        for place in range(width):
            row = line if down > 0 else height - 1 - line
            column = place if right > 0 else width - 1 - place
            sees = _Cell(known, row * width + column, made, line + _FAR, place + _FAR)
            colour = next((c for c in map(sees.colour, clauses) if c != UNDECIDED), UNDECIDED)
            if colour == UNDECIDED:
                return cells.ravel()
            made[line + _FAR][place + _FAR] = colour
            cells[row, column] = colour
    return cells.ravel()


class _Cell:
    """One cell while it is made: what it can ask."""

    __slots__ = ("_at", "_known", "_line", "_made", "_place")

    def __init__(
        self, known: Mapping[str, list[int]], at: int, made: list[list[int]], line: int, place: int
    ) -> None:
        self._known, self._at = known, at
        self._made, self._line, self._place = made, line, place

    def colour(self, clause: Clause) -> int:
        """What a clause says of it; UNDECIDED where it does not speak."""
        if all(self._holds(test) for test in clause.tests):
            return self._said(clause.action)
        return UNDECIDED

    def _number(self, source: str) -> int:
        step = STEPS.get(source)
        if step is None:
            return self._known[source][self._at]
        return self._made[self._line + step[0]][self._place + step[1]]

    def _holds(self, test: Test) -> bool:
        return bool(COMPARED[test.relation](self._number(test.source), test.value))

    def _said(self, action: Action) -> int:
        if not action.source:
            return action.colour
        colour = self._number(action.source)
        return UNDECIDED if colour >= NONE or (action.lay and colour == 0) else colour
