"""The rule that permutes colours: each is replaced by its neighbour in an order.

    clockwise next: 0 1 2    around the centre of the grid; black, blue and red stay as they are
    size reversed: 0         the most common colour and the rarest are swapped, and so on

The order is determined for every grid separately. It fails if two colours tie.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from weft.searches.arc.fitted.rule import BASE, COLOUR, Composed, digit
from weft.searches.arc.ops.operator import BIT, ShapeEffect
from weft.searches.arc.values import Grid

ORDER, STEP = 3 * BIT, 2 * BIT
"""Costs of one of five orders and of one of three steps."""
SEPARATOR = ":"
CLOCKWISE, REVERSED = "clockwise", "reversed"
Place = tuple[int, Fraction]
"""The sort key of a colour."""


def _off_centre(grid: Grid, colour: int) -> tuple[int, int]:
    """Return how far a colour's centre is below the grid's, and right of it, times a factor."""
    at = [divmod(n, grid.width) for n, own in enumerate(grid.cells) if own == colour]
    down = sum(2 * row - grid.height + 1 for row, _ in at)
    right = sum(2 * column - grid.width + 1 for _, column in at)
    return down, right


def _clockwise(grid: Grid, colour: int) -> Place | None:
    """Return the direction of a colour's centre from the grid's: a quarter and a slope in it."""
    down, right = _off_centre(grid, colour)
    for quarter in range(4):
        if down < 0 <= right:
            return quarter, Fraction(right, -down)
        down, right = -right, down  # a quarter turn anticlockwise
    return None


def _mean(axis: int) -> Callable[[Grid, int], Place | None]:
    def place(grid: Grid, colour: int) -> Place | None:
        return 0, Fraction(_off_centre(grid, colour)[axis], grid.cells.count(colour))

    return place


ORDERS: dict[str, Callable[[Grid, int], Place | None]] = {
    CLOCKWISE: _clockwise,
    "down": _mean(0),
    "right": _mean(1),
    "first": lambda grid, colour: (grid.cells.index(colour), Fraction(0)),
    "size": lambda grid, colour: (-grid.cells.count(colour), Fraction(0)),
}
STEPS: dict[str, Callable[[Sequence[int]], Sequence[int]]] = {
    "next": lambda order: (*order[1:], *order[:1]),
    "previous": lambda order: (*order[-1:], *order[:-1]),
    REVERSED: lambda order: order[::-1],
}
WAYS: tuple[tuple[str, str], ...] = tuple(
    (order, step)
    for order in ORDERS
    for step in STEPS
    if order != CLOCKWISE or step != REVERSED  # a circle has no end to reverse from
)


def cycled(grid: Grid, order: str, step: str, fixed: Sequence[int]) -> Grid | None:
    """Replace each colour that is not fixed by order and step; None if that is undetermined."""
    places: dict[Place, int] = {}
    for colour in sorted(set(grid.cells) - set(fixed)):
        place = ORDERS[order](grid, colour)
        if place is None or place in places:
            return None
        places[place] = colour
    if len(places) < 2:
        return None
    ordered = [places[place] for place in sorted(places)]
    table = bytearray(range(256))
    for old, new in zip(ordered, STEPS[step](ordered), strict=True):
        table[old] = new
    return Grid(grid.height, grid.width, grid.cells.translate(bytes(table)))


class CycleColours(Composed):
    """Parameters: the order, the step, and the fixed colours, ascending."""

    name = "cycle_colours"
    doc = (
        "Passes colours on: `clockwise next: 0 1` replaces each colour, except those listed, by "
        "the `next` or the `previous` one in an order, or by the one at its position in the "
        "`reversed` order. Colours are ordered by their centres, `clockwise` around the grid's "
        "centre from the top, `down` or `right`; by their `first` cell, row by row; or by `size`, "
        "the most common first. It fails if two are equal."
    )
    shape = ShapeEffect.KEEP

    def apply(self, params: bytes, value: Grid, given: Grid) -> Grid | None:
        return cycled(value, *_read(params.decode()))

    def price(self, params: bytes) -> int:
        _, _, fixed = _read(params.decode())
        return BASE + ORDER + STEP + COLOUR * len(fixed)

    def read(self, text: str) -> bytes:
        return parameters(*_read(text)).encode()


def parameters(order: str, step: str, fixed: Sequence[int]) -> str:
    """Return the rule's parameters as text."""
    return " ".join((order, step + SEPARATOR, *map(str, fixed)))


def _read(text: str) -> tuple[str, str, list[int]]:
    order, step, *fixed = text.split(" ")
    colours = [digit(symbol) for symbol in fixed]
    if (order, step.removesuffix(SEPARATOR)) not in WAYS or colours != sorted(set(colours)):
        raise ValueError(text)
    return order, step.removesuffix(SEPARATOR), colours
