"""Ways to turn or recolour a grid that leave a puzzle's meaning as it is, with their ways back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from weft.arc.values import Grid

Change = Callable[[Grid], Grid]
COLOURS = 10


@dataclass(frozen=True, slots=True)
class Turn:
    """A change of a whole task; `back` undoes what `there` does."""

    name: str
    there: Change
    back: Change


def transposed(grid: Grid) -> Grid:
    """Rows become columns."""
    w = grid.width
    return Grid(w, grid.height, b"".join(grid.cells[c::w] for c in range(w)))


def flipped(grid: Grid) -> Grid:
    """Top to bottom."""
    h, w = grid.height, grid.width
    return Grid(h, w, b"".join(grid.cells[r * w : (r + 1) * w] for r in reversed(range(h))))


def turned(grid: Grid) -> Grid:
    """Half a turn."""
    return Grid(grid.height, grid.width, grid.cells[::-1])


def _then(*changes: Change) -> Change:
    def change(grid: Grid) -> Grid:
        for each in changes:
            grid = each(grid)
        return grid

    return change


def renamed(name: str, colours: tuple[int, ...]) -> Turn:
    """Rename colours: colour c becomes `colours[c]`."""

    def by(names: bytes) -> Change:
        table = names + bytes(range(COLOURS, 256))
        return lambda grid: Grid(grid.height, grid.width, grid.cells.translate(table))

    return Turn(name, by(bytes(colours)), by(bytes(colours.index(c) for c in range(COLOURS))))


_mirrored = _then(flipped, turned)
_quarter, _back_quarter = _then(transposed, _mirrored), _then(transposed, flipped)
_across = _then(turned, transposed)

SAME = Turn("as it is", lambda grid: grid, lambda grid: grid)
TRANSPOSED = Turn("transposed", transposed, transposed)
HALF = Turn("half a turn", turned, turned)
QUARTER = Turn("a quarter turn", _quarter, _back_quarter)
BACK = Turn("a quarter turn back", _back_quarter, _quarter)
QUARTERS = (SAME, QUARTER, HALF, BACK)
TURNS = (
    Turn("top to bottom", flipped, flipped),
    Turn("left to right", _mirrored, _mirrored),
    HALF,
    TRANSPOSED,
    QUARTER,
    BACK,
    Turn("on the other diagonal", _across, _across),
    renamed("colours in reverse", (0, 9, 8, 7, 6, 5, 4, 3, 2, 1)),
    renamed("colours shifted", (0, 4, 5, 6, 7, 8, 9, 1, 2, 3)),
)
"""The symmetries of the square, and two orders of the colours; black stays black."""
