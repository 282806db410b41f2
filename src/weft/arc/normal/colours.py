"""The view that renames colours: what varies from example to example is named by its role.

Colours that every training input has, and those that outputs add to their inputs, keep their
names; so does black. The others of an input are ordered and take the free names in that order.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.arc.fitted.rule import COLOUR
from weft.arc.normal.view import BASE, Sight
from weft.arc.task import Pair
from weft.arc.turns import COLOURS, Turn, renamed
from weft.arc.values import Grid

BLACK = 0


class ByCount(Sight):
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
        kept = sorted(common | added | {BLACK})
        return "".join(map(str, kept))

    def turn(self, parameters: str, given: Grid) -> Turn:
        free = [colour for colour in range(COLOURS) if str(colour) not in parameters]
        cells = given.cells
        present = [colour for colour in free if colour in cells]
        present.sort(key=lambda colour: (-cells.count(colour), cells.index(colour)))
        absent = [colour for colour in free if colour not in cells]
        names = list(range(COLOURS))
        for name, colour in zip(free, (*present, *absent), strict=True):
            names[colour] = name
        return renamed(self.name, tuple(names))

    def turned(self, parameters: str, turn: Turn) -> str:
        kept = (turn.there(Grid(1, 1, bytes((int(symbol),)))) for symbol in parameters)
        return "".join(sorted(str(grid.cells[0]) for grid in kept))

    def price(self, parameters: str) -> int:
        return BASE + COLOUR * len(parameters.strip("0"))

    def is_valid(self, parameters: str) -> bool:
        own = parameters.startswith("0") and parameters.isascii() and parameters.isdigit()
        return own and list(parameters) == sorted(set(parameters))
