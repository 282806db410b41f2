"""The view that permutes colours: what varies from example to example is named by its role.

Colours that every training input has, and those that outputs add to their inputs, keep their
names; so does black. The others of an input are ordered and take the free names in that order.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.searches.arc.fitted.rule import COLOUR
from weft.searches.arc.normal.view import BASE, ViewDefinition
from weft.searches.arc.symmetries import COLOURS, Symmetry, permuted
from weft.searches.arc.task import Pair
from weft.searches.arc.values import Grid

BLACK = 0


class ByCount(ViewDefinition):
    """Parameters: the colours that keep their names, ascending; black is always one."""

    name = "colours_by_count"
    doc = (
        "Colours get new names by how many cells of the input have them, the commonest first, of "
        "equals the one that comes first: the lowest colours that are not listed. Those listed "
        "keep their names (`05`: black and 5)."
    )

    def fit(self, train: Sequence[Pair]) -> str:
        common = set(range(COLOURS)).intersection(*(pair.input.cells for pair in train))
        added = set[int]().union(*(set(p.output.cells) - set(p.input.cells) for p in train))
        fixed = sorted(common | added | {BLACK})
        return "".join(map(str, fixed))

    def symmetry(self, parameters: str, given: Grid) -> Symmetry:
        free = [colour for colour in range(COLOURS) if str(colour) not in parameters]
        cells = given.cells
        present = [colour for colour in free if colour in cells]
        present.sort(key=lambda colour: (-cells.count(colour), cells.index(colour)))
        absent = [colour for colour in free if colour not in cells]
        names = list(range(COLOURS))
        for name, colour in zip(free, (*present, *absent), strict=True):
            names[colour] = name
        return permuted(self.name, tuple(names))

    def under(self, parameters: str, symmetry: Symmetry) -> str:
        fixed = (symmetry.apply(Grid(1, 1, bytes((int(symbol),)))) for symbol in parameters)
        return "".join(sorted(str(grid.cells[0]) for grid in fixed))

    def price(self, parameters: str) -> int:
        return BASE + COLOUR * len(parameters.strip("0"))

    def is_valid(self, parameters: str) -> bool:
        own = parameters.startswith("0") and parameters.isascii() and parameters.isdigit()
        return own and list(parameters) == sorted(set(parameters))
