"""Views that turn each example as its input says."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from weft.arc.normal.view import BASE, Sight
from weft.arc.ops.operator import BIT
from weft.arc.task import Pair
from weft.arc.turns import QUARTERS, SAME, TRANSPOSED, Turn
from weft.arc.values import Grid


class Turned(Sight):
    """No parameters."""

    more: ClassVar[int]
    """Bits that it costs more than the simplest view, as it can turn an example in more ways."""

    @abstractmethod
    def choose(self, given: Grid) -> Turn:
        """Return how an example is turned."""

    def fit(self, train: Sequence[Pair]) -> str:
        return ""

    def turn(self, parameters: str, given: Grid) -> Turn:
        return self.choose(given)

    def turned(self, parameters: str, turn: Turn) -> str:
        return ""

    def price(self, parameters: str) -> int:
        return BASE + self.more * BIT

    def is_valid(self, parameters: str) -> bool:
        return parameters == ""


class LinesLie(Turned):
    """By whole lines."""

    name, more = "lines_lie", 0
    doc = "Grids are transposed where more columns than rows have one colour that is not black."

    def choose(self, given: Grid) -> Turn:
        standing = _lines(TRANSPOSED.there(given))
        return TRANSPOSED if standing > _lines(given) else SAME


class InkOnTop(Turned):
    """By halves."""

    name, more = "ink_on_top", 2
    doc = (
        "Grids are turned clockwise by no, one, two or three quarters, the first by which the "
        "upper half has the most cells that are not black; a middle row is in neither half."
    )

    def choose(self, given: Grid) -> Turn:
        return max(QUARTERS, key=lambda turn: _ink_above(turn.there(given)))


def _lines(grid: Grid) -> int:
    """How many rows have one colour that is not black."""
    return sum(len(set(row)) == 1 and row[0] != 0 for row in grid.rows())


def _ink_above(grid: Grid) -> int:
    """Cells of the upper half that are not black."""
    upper = grid.cells[: grid.height // 2 * grid.width]
    return len(upper) - upper.count(0)
