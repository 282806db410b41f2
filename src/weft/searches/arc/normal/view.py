"""The contract of views, and the views: a symmetry for each example, determined by its input alone.

    training pairs ──fit──► parameters                what the view keeps as it is
    parameters, an input ──symmetry──► apply, undo    for this example's grids, output included

A program with a view runs on the viewed input, and the view is undone on what it returns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from weft.errors import ValueInvalid
from weft.searches.arc.fitted.rule import COLOUR
from weft.searches.arc.ops.operator import BIT
from weft.searches.arc.symmetries import COLOURS, SAME, TRANSPOSED, Symmetry, permuted
from weft.searches.arc.task import Pair
from weft.searches.arc.values import Grid

BASE = 6 * BIT
"""That there is a view, and which; about what an operator costs."""
BLACK = 0


class ViewDefinition(ABC):
    """One view; without parameters unless it says otherwise."""

    name: ClassVar[str]
    doc: ClassVar[str]
    more: ClassVar[int] = 0
    """Bits that it costs beyond the simplest view, as it chooses among more symmetries."""
    shows_objects: ClassVar[bool] = False
    """Whether its short search also asks what becomes of objects, which takes long."""

    def fit(self, train: Sequence[Pair]) -> str:
        """Return the parameters that training pairs determine."""
        return ""

    @abstractmethod
    def symmetry(self, parameters: str, given: Grid) -> Symmetry:
        """Return the symmetry for an example with this input."""

    def under(self, parameters: str, symmetry: Symmetry) -> str:
        """Return the parameters for a task whose grids were all transformed by a symmetry."""
        return ""

    def price(self, parameters: str) -> int:
        """Return what view and parameters cost, in thousandths of a bit."""
        return BASE + self.more * BIT

    def is_valid(self, parameters: str) -> bool:
        """Whether `fit` could have returned a text."""
        return parameters == ""

    def parse(self, text: str) -> str:
        """Return parameters as a program writes them, or refuse them."""
        if not self.is_valid(text):
            raise ValueInvalid(
                f"{text!r} is not a parameter of {self.name}",
                hint=f"see docs/arc-language.md: {self.doc}",
            )
        return text


class ByCount(ViewDefinition):
    """Names what varies from example to example by its role.

    Parameters: the colours that keep their names, ascending: black, those that every training
    input has, and those that outputs add. An input's others take the free names in order.
    """

    name, shows_objects = "colours_by_count", True
    doc = (
        "Renames colours by how often they occur in the input, the most common first (ties: the "
        "one that occurs first), to the lowest colours that are not listed. Listed colours keep "
        "their names (`05`: black and 5)."
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
        return "".join(sorted(_renamed(parameters, symmetry)))

    def price(self, parameters: str) -> int:
        return BASE + COLOUR * len(parameters.strip("0"))

    def is_valid(self, parameters: str) -> bool:
        own = parameters.startswith("0") and parameters.isascii() and parameters.isdigit()
        return own and list(parameters) == sorted(set(parameters))


class LinesLie(ViewDefinition):
    """By whole lines."""

    name = "lines_lie"
    doc = "Transposes examples with more columns than rows of a single non-black colour."

    def symmetry(self, parameters: str, given: Grid) -> Symmetry:
        standing = _lines(TRANSPOSED.apply(given))
        return TRANSPOSED if standing > _lines(given) else SAME


class GroundBlack(ViewDefinition):
    """By the ground: what operators and features take for empty.

    Parameters: the colour of the ground where all inputs of a task have the same (`ground`), else
    none.
    """

    name, more = "ground_black", -3
    doc = (
        "Swaps black with the input's most common colour (ties: the lowest), so that a coloured "
        "background is treated as one; with a parameter (`8`) with that colour. That costs "
        "nothing, as the puzzle alone decides it, and another view may follow."
    )

    def symmetry(self, parameters: str, given: Grid) -> Symmetry:
        ground = int(parameters) if parameters else ground_of(given)
        names = list(range(COLOURS))
        names[BLACK], names[ground] = ground, BLACK
        return permuted(self.name, tuple(names))

    def under(self, parameters: str, symmetry: Symmetry) -> str:
        return _renamed(parameters, symmetry)

    def price(self, parameters: str) -> int:
        return 0 if parameters else super().price(parameters)

    def is_valid(self, parameters: str) -> bool:
        return parameters == "" or (len(parameters) == 1 and parameters in "123456789")


class GroundByCount(ByCount):
    """`ground_black`, then `colours_by_count`; parameters as there, of grids on black ground."""

    name, more, shows_objects = "ground_by_count", 3, False
    doc = "`ground_black`, then `colours_by_count`."
    _ground = GroundBlack()

    def fit(self, train: Sequence[Pair]) -> str:
        on_black = [self._ground.symmetry("", pair.input) for pair in train]
        return super().fit(
            [
                Pair(s.apply(p.input), s.apply(p.output))
                for s, p in zip(on_black, train, strict=True)
            ]
        )

    def symmetry(self, parameters: str, given: Grid) -> Symmetry:
        ground = self._ground.symmetry("", given)
        by_count = super().symmetry(parameters, ground.apply(given))
        return permuted(self.name, tuple(by_count.apply(ground.apply(_ALL)).cells))

    def price(self, parameters: str) -> int:
        return super().price(parameters) + self.more * BIT


def ground_of(grid: Grid) -> int:
    """Return the commonest colour, of equals the lowest."""
    return max(range(COLOURS), key=grid.cells.count)


def _renamed(colours: str, symmetry: Symmetry) -> str:
    """Return what a symmetry makes of listed colours."""
    grids = (symmetry.apply(Grid(1, 1, bytes((int(symbol),)))) for symbol in colours)
    return "".join(str(grid.cells[0]) for grid in grids)


_ALL = Grid(1, COLOURS, bytes(range(COLOURS)))


def _lines(grid: Grid) -> int:
    """How many rows have one colour that is not black."""
    return sum(len(set(row)) == 1 and row[0] != 0 for row in grid.rows())
