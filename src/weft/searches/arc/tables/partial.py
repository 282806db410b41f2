"""Learn tables that explain a part: objects of one value of a measure act, all others stay.

    by colour 6 gone, else stay

What they make brings most training grids nearer to their targets and breaks no right cell;
the rest is left to a second table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_

from weft.searches.arc.tables.actions import KEEPING, Action
from weft.searches.arc.tables.groupactions import Row
from weft.searches.arc.tables.learn import TableSearch
from weft.searches.arc.tables.scene import Scene, masks_of, places
from weft.searches.arc.tables.table import ObjectTable, drawn
from weft.searches.arc.values import Grid

STAY: Action = ("stay",)
MOST_DRAWN = 40
"""Tables that are drawn: those that promise most."""
Promise = tuple[int, int, str, ObjectTable]
"""Minus the wrong cells that a table may right, its price, its text, itself."""


@dataclass(frozen=True, slots=True)
class PartialTable:
    """A table, what it makes of all scenes, and how many training cells are still wrong."""

    table: ObjectTable
    grids: tuple[Grid, ...]
    wrong: int

    @property
    def order(self) -> tuple[int, int, str]:
        """Those that explain most first, then the cheapest."""
        return self.wrong, self.table.millibits, self.table.text()


def partial_tables(search: TableSearch, scenes: Sequence[Scene]) -> list[PartialTable]:
    """Return tables that explain a part of a search's targets, the best first.

    `scenes` are those of the search, then those of the tests. Of tables that make the same the
    first is returned.
    """
    by_grids: dict[tuple[Grid, ...], PartialTable] = {}
    for _, _, _, table in sorted(_promising(search), key=lambda own: own[:3])[:MOST_DRAWN]:
        partial = _nearer(table, scenes, search.targets)
        if partial is not None:
            best = by_grids.setdefault(partial.grids, partial)
            by_grids[partial.grids] = min(best, partial, key=lambda own: own.order)
    return sorted(by_grids.values(), key=lambda own: own.order)


def _promising(search: TableSearch) -> Iterator[Promise]:
    """Every kind of objects with every action that is consistent with all of the kind."""
    rows, cells = search.every_row(), _Cells.of(search)
    kinds: set[tuple[int, ...]] = set()  # for membership only
    for values, column in ((tuple(0 for _ in rows), ""), *search.divisions()):
        for value in sorted(set(values)):
            kind = tuple(n for n, own in enumerate(values) if own == value)
            if kind in kinds:
                continue
            kinds.add(kind)
            own_rows = [rows[number] for number in kind]
            for n, gain in cells.gains(kind, own_rows, search):
                table = _table(column, value, search.actions[n])
                yield -gain, table.millibits, table.text(), table


@dataclass(frozen=True, slots=True)
class _Cells:
    """Sets of cells of all pairs, each in one number."""

    right: int
    """Those that inputs and targets share."""
    black: int
    """Those that are black in targets."""
    objects: Sequence[int]
    """Those of each object."""

    @staticmethod
    def of(search: TableSearch) -> _Cells:
        """Return those of a search."""
        black, right, objects = 0, 0, list[int]()
        for number, (scene, masks) in enumerate(zip(search.scenes, search.masks, strict=True)):
            offset = search.offsets[number]
            same = (own & other for own, other in zip(masks_of(scene.grid), masks, strict=True))
            right |= reduce(or_, same) << offset
            black |= masks[0] << offset
            objects += [body.mask << offset for body in scene.bodies]
        return _Cells(right, black, objects)

    def gains(
        self, kind: Sequence[int], rows: Sequence[Row], search: TableSearch
    ) -> list[tuple[int, int]]:
        """Return the actions that may right cells: of those that draw the same the cheapest."""
        actions, prices = search.actions, search.prices
        alike: dict[tuple[int, bool], int] = {}
        for n, drawn_cells in _consistent(rows):
            key = (drawn_cells, actions[n][0] in KEEPING)
            if actions[n] != STAY and (key not in alike or prices[n] < prices[alike[key]]):
                alike[key] = n
        each = ((n, self._gain(kind, *key)) for key, n in alike.items())
        return [(n, gain) for n, gain in each if gain]

    def _gain(self, kind: Sequence[int], drawn_cells: int, keeps: bool) -> int:
        """How many cells an action may right; 0 if objects that do not stay leave right ones."""
        undrawn = 0 if keeps else reduce(or_, (self.objects[n] for n in kind)) & ~drawn_cells
        if undrawn & self.right:
            return 0
        return ((drawn_cells | undrawn & self.black) & ~self.right).bit_count()


def _consistent(rows: Sequence[Row]) -> Iterator[tuple[int, int]]:
    """The actions that are consistent with all rows, and which target cells each draws."""
    for n in places(reduce(and_, (row.consistent for row in rows))):
        yield n, reduce(or_, (row.covers[n] for row in rows))


def _table(column: str, value: int, action: Action) -> ObjectTable:
    if not column:
        return ObjectTable((), (), action)
    return ObjectTable((column,), (((value,), action),), STAY)


def _nearer(
    table: ObjectTable, scenes: Sequence[Scene], targets: Sequence[Grid]
) -> PartialTable | None:
    """What a table makes, if it rights cells of most pairs, though not all, and breaks none."""
    grids: list[Grid] = []
    for scene in scenes:
        grid = drawn(scene, table)
        if grid is None or not any(grid.cells):
            return None
        grids.append(grid)
    before = [scene.grid for scene in scenes]
    if any(_breaks(*cells) for cells in zip(before, grids, targets, strict=False)):
        return None
    wrong = [_wrong(*pair) for pair in zip(grids, targets, strict=False)]
    first = [_wrong(*pair) for pair in zip(before, targets, strict=False)]
    nearer = sum(now < then for now, then in zip(wrong, first, strict=True))
    is_partial = 2 * nearer > len(targets) and any(wrong)
    return PartialTable(table, tuple(grids), sum(wrong)) if is_partial else None


def _breaks(before: Grid, after: Grid, target: Grid) -> bool:
    """Whether a cell was right and is not any more."""
    cells = zip(before.cells, after.cells, target.cells, strict=True)
    return any(old == true != new for old, new, true in cells)


def _wrong(grid: Grid, target: Grid) -> int:
    return sum(cell != true for cell, true in zip(grid.cells, target.cells, strict=True))
