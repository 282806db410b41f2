"""The view interface and the views: a symmetry for each example, determined by its input alone.

    training pairs ──fit──► parameters                what the view keeps unchanged
    parameters, an input ──symmetry──► apply, undo    for this example's grids, output included

A program with a view runs on the viewed input, and the view is undone on its output.
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
"""Cost of using a view and naming it; about that of an operator."""
BLACK = 0


class ViewDefinition(ABC):
    """A view; it has no parameters unless its class states otherwise."""

    name: ClassVar[str]
    doc: ClassVar[str]
    more: ClassVar[int] = 0
    """Additional cost in bits over the simplest view, because it chooses among more symmetries."""
    shows_objects: ClassVar[bool] = False
    """Whether its short search also learns actions on objects, which takes long."""

    def fit(self, train: Sequence[Pair]) -> str:
        """Return the parameters determined by the training pairs."""
        return ""

    @abstractmethod
    def symmetry(self, parameters: str, given: Grid) -> Symmetry:
        """Return the symmetry for an example with the input `given`."""

    def under(self, parameters: str, symmetry: Symmetry) -> str:
        """Return the parameters for a task whose grids have all been transformed by a symmetry."""
        return ""

    def price(self, parameters: str) -> int:
        """Return the cost of the view and its parameters, in thousandths of a bit."""
        return BASE + self.more * BIT

    def is_valid(self, parameters: str) -> bool:
        """Whether `fit` could have returned these parameters."""
        return parameters == ""

    def parse(self, text: str) -> str:
        """Check parameters read from a program; raises ValueInvalid if they are invalid."""
        if not self.is_valid(text):
            raise ValueInvalid(
                f"{text!r} is not a parameter of {self.name}",
                hint=f"see docs/arc-language.md: {self.doc}",
            )
        return text


class ByCount(ViewDefinition):
    """Renames the colours that vary between examples by their roles.

    Parameters: the colours that keep their names, ascending: black, those that every training input
    has, and those that outputs add. An input's other colours get the free names in order.
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
    """Orients examples by their one-coloured lines."""

    name = "lines_lie"
    doc = "Transposes examples with more columns than rows of a single non-black colour."

    def symmetry(self, parameters: str, given: Grid) -> Symmetry:
        standing = _lines(TRANSPOSED.apply(given))
        return TRANSPOSED if standing > _lines(given) else SAME


class GroundBlack(ViewDefinition):
    """Exchanges black with the background, which operators and features treat as empty.

    Parameters: the background colour if it is the same for all inputs of a task (`ground`), else
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
    """`ground_black`, then `colours_by_count` with parameters fitted on grids on black."""

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
    """Return the most common colour; ties go to the lowest."""
    return max(range(COLOURS), key=grid.cells.count)


def _renamed(colours: str, symmetry: Symmetry) -> str:
    """Return the listed colours as a symmetry renames them."""
    grids = (symmetry.apply(Grid(1, 1, bytes((int(symbol),)))) for symbol in colours)
    return "".join(str(grid.cells[0]) for grid in grids)


_ALL = Grid(1, COLOURS, bytes(range(COLOURS)))


def _lines(grid: Grid) -> int:
    """Count the rows of a single non-black colour."""
    return sum(len(set(row)) == 1 and row[0] != 0 for row in grid.rows())
