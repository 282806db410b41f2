"""Symmetries of a puzzle: the dihedral group of the square, colour permutations, their inverses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from weft.searches.arc.values import Grid

Change = Callable[[Grid], Grid]
COLOURS = 10


@dataclass(frozen=True, slots=True)
class Symmetry:
    """A transformation of a whole task; `undo` is the inverse of `apply`."""

    name: str
    apply: Change
    undo: Change


def transposed(grid: Grid) -> Grid:
    """Return the grid with rows and columns exchanged."""
    w = grid.width
    return Grid(w, grid.height, b"".join(grid.cells[c::w] for c in range(w)))


def flipped(grid: Grid) -> Grid:
    """Return the grid flipped top to bottom."""
    h, w = grid.height, grid.width
    return Grid(h, w, b"".join(grid.cells[r * w : (r + 1) * w] for r in reversed(range(h))))


def rotated_half(grid: Grid) -> Grid:
    """Return the grid rotated by 180°."""
    return Grid(grid.height, grid.width, grid.cells[::-1])


def _then(*changes: Change) -> Change:
    def change(grid: Grid) -> Grid:
        for each in changes:
            grid = each(grid)
        return grid

    return change


def permuted(name: str, colours: tuple[int, ...]) -> Symmetry:
    """Return the symmetry that permutes colours: colour c becomes `colours[c]`."""

    def by(names: bytes) -> Change:
        table = names + bytes(range(COLOURS, 256))
        return lambda grid: Grid(grid.height, grid.width, grid.cells.translate(table))

    return Symmetry(name, by(bytes(colours)), by(bytes(colours.index(c) for c in range(COLOURS))))


def composed(first: Symmetry, second: Symmetry) -> Symmetry:
    """Return the symmetry that applies one symmetry, then another."""
    apply, undo = _then(first.apply, second.apply), _then(second.undo, first.undo)
    return Symmetry(f"{first.name}, {second.name}", apply, undo)


_mirrored = _then(flipped, rotated_half)
_quarter, _back_quarter = _then(transposed, _mirrored), _then(transposed, flipped)
_across = _then(rotated_half, transposed)

SAME = Symmetry("as it is", lambda grid: grid, lambda grid: grid)
TRANSPOSED = Symmetry("transposed", transposed, transposed)
HALF = Symmetry("half a turn", rotated_half, rotated_half)
QUARTER = Symmetry("a quarter turn", _quarter, _back_quarter)
BACK = Symmetry("a quarter turn back", _back_quarter, _quarter)
AUGMENTATIONS = (
    Symmetry("top to bottom", flipped, flipped),
    Symmetry("left to right", _mirrored, _mirrored),
    HALF,
    TRANSPOSED,
    QUARTER,
    BACK,
    Symmetry("on the other diagonal", _across, _across),
    permuted("colours in reverse", (0, 9, 8, 7, 6, 5, 4, 3, 2, 1)),
    permuted("colours shifted", (0, 4, 5, 6, 7, 8, 9, 1, 2, 3)),
)
"""The symmetries of the square, and two permutations of the colours that keep black."""
