"""Views that rotate or transpose each example, as its input determines."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from weft.searches.arc.normal.view import BASE, ViewDefinition
from weft.searches.arc.ops.operator import BIT
from weft.searches.arc.symmetries import QUARTERS, SAME, TRANSPOSED, Symmetry
from weft.searches.arc.task import Pair
from weft.searches.arc.values import Grid


class Orientation(ViewDefinition):
    """No parameters."""

    more: ClassVar[int]
    """Bits that it costs beyond the simplest view, as it chooses among more orientations."""

    @abstractmethod
    def choose(self, given: Grid) -> Symmetry:
        """Return the symmetry for an example."""

    def fit(self, train: Sequence[Pair]) -> str:
        return ""

    def symmetry(self, parameters: str, given: Grid) -> Symmetry:
        return self.choose(given)

    def under(self, parameters: str, symmetry: Symmetry) -> str:
        return ""

    def price(self, parameters: str) -> int:
        return BASE + self.more * BIT

    def is_valid(self, parameters: str) -> bool:
        return parameters == ""


class LinesLie(Orientation):
    """By whole lines."""

    name, more = "lines_lie", 0
    doc = "Grids are transposed where more columns than rows have one colour that is not black."

    def choose(self, given: Grid) -> Symmetry:
        standing = _lines(TRANSPOSED.apply(given))
        return TRANSPOSED if standing > _lines(given) else SAME


class InkOnTop(Orientation):
    """By halves."""

    name, more = "ink_on_top", 2
    doc = (
        "Grids are rotated clockwise by no, one, two or three quarters, the first by which the "
        "upper half has the most cells that are not black; a middle row is in neither half."
    )

    def choose(self, given: Grid) -> Symmetry:
        return max(QUARTERS, key=lambda symmetry: _ink_above(symmetry.apply(given)))


def _lines(grid: Grid) -> int:
    """How many rows have one colour that is not black."""
    return sum(len(set(row)) == 1 and row[0] != 0 for row in grid.rows())


def _ink_above(grid: Grid) -> int:
    """Cells of the upper half that are not black."""
    upper = grid.cells[: grid.height // 2 * grid.width]
    return len(upper) - upper.count(0)
