"""A grid as objects on a black background, with cells as bits of integers.

Black areas may be bodies too: rooms.

Bit r·w + c of a mask is the cell in row r and column c. Shifting, joining or comparing masks takes
one operation, so hundreds of actions can be tried on every object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from weft.searches.arc.ops.objectparts import cells_of, commonest
from weft.searches.arc.values import EMPTY, Grid, Piece

Layer = tuple[int, int]
"""A colour and the cells that have it."""
STEPS: dict[str, tuple[int, int]] = {
    "north": (-1, 0), "south": (1, 0), "west": (0, -1), "east": (0, 1),
    "northwest": (-1, -1), "northeast": (-1, 1), "southwest": (1, -1), "southeast": (1, 1),
}  # fmt: skip
SIDES = ("north", "south", "west", "east")


@dataclass(frozen=True)
class Body:
    """An object or black area of a scene."""

    piece: Piece
    layers: tuple[Layer, ...]
    mask: int

    @cached_property
    def colour(self) -> int:
        """The body's most common colour; ties go to the lowest."""
        return commonest(self.piece.cells)

    @cached_property
    def box(self) -> tuple[int, int, int, int]:
        """The first row and column, and the ones after the last."""
        p = self.piece
        return p.row, p.col, p.row + p.height, p.col + p.width


@dataclass(frozen=True, slots=True)
class Drawn:
    """The result of an action: the object's layers, and those below and above all objects."""

    body: tuple[Layer, ...]
    below: tuple[Layer, ...] = ()
    above: tuple[Layer, ...] = ()


class Scene:
    """A grid's objects; black is the background, and areas of it may be `rooms`."""

    def __init__(
        self,
        grid: Grid,
        pieces: Sequence[Piece],
        rooms: Sequence[Piece] | None = None,
        *,
        is_fixed: bool = False,
    ) -> None:
        self.grid, self.height, self.width = grid, grid.height, grid.width
        self.masks = masks_of(grid)
        """The cells of each colour."""
        self.objects = tuple(self.body(piece) for piece in pieces)
        self.fixed = self.objects if is_fixed else ()
        """Objects that stay as they are."""
        self.bodies = (*(() if is_fixed else self.objects), *map(self._room, rooms or ()))
        """The objects and areas about which a table decides."""
        self.areas = len(rooms or ())
        self.is_mixed = rooms is not None and not is_fixed
        self.everything = (1 << (self.height * self.width)) - 1
        first = sum(1 << (r * self.width) for r in range(self.height))
        self._inner = {
            -1: self.everything & ~first,
            1: self.everything & ~(first << self.width - 1),
        }
        self.goals: dict[tuple[str, int, str], Body | None] = {}
        """Cache of `sides`, by kind of goal, cells of an object, and word."""
        self.colours: dict[tuple[int, str], int | None] = {}
        """Cache of `colours`, by cells of an object and word."""
        self.cells: dict[tuple[int, str, str], int] = {}
        """Cache of cells drawn by actions, by cells of an object and two words; see `once`."""
        self.results: dict[int, dict[tuple[str, ...], Drawn | None]] = {}
        """Cache of actions' results by number of the body: tables are learned from several
        selections of pairs."""
        self.columns: dict[str, list[int]] = {}
        """Cache of `measures`."""
        self.ink = 0
        for body in self.objects:
            self.ink |= body.mask

    def body(self, piece: Piece) -> Body:
        """Return an object as masks; parts outside the grid are cut off."""
        layers: dict[int, int] = {}
        for n, colour in enumerate(piece.cells):
            r, c = piece.row + n // piece.width, piece.col + n % piece.width
            if colour not in (0, EMPTY) and 0 <= r < self.height and 0 <= c < self.width:
                layers[colour] = layers.get(colour, 0) | 1 << (r * self.width + c)
        mask = 0
        for own in layers.values():
            mask |= own
        return Body(piece, tuple(sorted(layers.items())), mask)

    def _room(self, piece: Piece) -> Body:
        mask = sum(1 << (r * self.width + c) for r, c in cells_of(piece))
        return Body(piece, (), mask)

    @cached_property
    def equals(self) -> dict[tuple[int, int, bytes], list[Body]]:
        """The objects grouped by their cells."""
        equals: dict[tuple[int, int, bytes], list[Body]] = {}
        for body in self.objects:
            equals.setdefault(cells_in_box(body.piece), []).append(body)
        return equals

    def others(self, body: Body) -> int:
        """Return the cells of all other objects."""
        return self.ink & ~body.mask

    def once(self, body: Body, what: str, where: str, cells: Callable[[], int]) -> int:
        """Return cells that depend on an object and two words; computed once."""
        key = (body.mask, what, where)
        if key not in self.cells:
            self.cells[key] = cells()
        return self.cells[key]

    def moved(self, mask: int, step: tuple[int, int]) -> int:
        """Return a mask moved by one step; cells that leave the grid are cut off."""
        down, along = step
        if along:
            mask &= self._inner[along]
        by = down * self.width + along
        return (mask << by if by >= 0 else mask >> -by) & self.everything

    def shifted(self, body: Body, down: int, along: int) -> tuple[Layer, ...] | None:
        """Return the layers of an object moved as a whole; None if it would leave the grid."""
        top, left, bottom, right = body.box
        if top + down < 0 or left + along < 0:
            return None
        if bottom + down > self.height or right + along > self.width:
            return None
        by = down * self.width + along
        return tuple((c, m << by if by >= 0 else m >> -by) for c, m in body.layers)

    def box_mask(self, top: int, left: int, bottom: int, right: int) -> int:
        """Return the cells of a box that lie in the grid."""
        top, left = max(top, 0), max(left, 0)
        bottom, right = min(bottom, self.height), min(right, self.width)
        if right <= left:
            return 0
        line = ((1 << right - left) - 1) << left
        return sum(line << (r * self.width) for r in range(top, bottom))

    def dilated(self, mask: int, eight: bool) -> int:
        """Return a mask with its neighbours."""
        steps = STEPS.values() if eight else [STEPS[side] for side in SIDES]
        grown = mask
        for step in steps:
            grown |= self.moved(mask, step)
        return grown

    def enclosed(self, mask: int) -> int:
        """Return the cells that a mask encloses: without a 4-connected path to the border."""
        free = self.everything & ~mask
        border = self.everything & ~self.box_mask(1, 1, self.height - 1, self.width - 1)
        outside, grown = 0, border & free
        while grown != outside:
            outside, grown = grown, self.dilated(grown, False) & free
        return free & ~outside


def cells_in_box(piece: Piece) -> tuple[int, int, bytes]:
    """Return a key that an object shares with its copies elsewhere."""
    return piece.height, piece.width, piece.cells


def masks_of(grid: Grid) -> list[int]:
    """Return the cells of each colour."""
    masks = [0] * 10
    for place, colour in enumerate(grid.cells):
        masks[colour] |= 1 << place
    return masks


def places(mask: int) -> Iterator[int]:
    """Yield the numbers of a mask's cells, in ascending order."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
