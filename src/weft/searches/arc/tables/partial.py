"""Learn tables that explain a part: objects with one value of a measure act, all others stay.

    by colour 6 gone, else stay

Their results are nearer to the targets in most training pairs and break no right cell; the rest is
left to a second table.
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
"""Most tables that are drawn: the most promising ones."""
Promise = tuple[int, int, str, ObjectTable]
"""Minus the number of wrong cells that a table may correct, its price, its text, the table."""


@dataclass(frozen=True, slots=True)
class PartialTable:
    """A table, its results on all scenes, and the number of training cells that are still wrong."""

    table: ObjectTable
    grids: tuple[Grid, ...]
    wrong: int

    @property
    def order(self) -> tuple[int, int, str]:
        """Sort key: tables that explain most first, then the cheapest."""
        return self.wrong, self.table.millibits, self.table.text()


def partial_tables(search: TableSearch, scenes: Sequence[Scene]) -> list[PartialTable]:
    """Return tables that explain a part of a search's targets, the best first.

    `scenes` are those of the search, then those of the tests. Of tables with equal results the
    cheapest is returned.
    """
    by_grids: dict[tuple[Grid, ...], PartialTable] = {}
    for _, _, _, table in sorted(_promising(search), key=lambda own: own[:3])[:MOST_DRAWN]:
        partial = _nearer(table, scenes, search.targets)
        if partial is not None:
            best = by_grids.setdefault(partial.grids, partial)
            by_grids[partial.grids] = min(best, partial, key=lambda own: own.order)
    return sorted(by_grids.values(), key=lambda own: own.order)


def _promising(search: TableSearch) -> Iterator[Promise]:
    """Yield a table for every kind of objects and every action consistent with all of the kind."""
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
    """Sets of cells of all pairs, each as the bits of one integer."""

    right: int
    """Cells that are the same in inputs and targets."""
    black: int
    """Cells that are black in targets."""
    objects: Sequence[int]
    """Cells of each object."""

    @staticmethod
    def of(search: TableSearch) -> _Cells:
        """Return the cells of a search."""
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
        """Return the actions that may correct cells, and how many; of equal ones the cheapest."""
        actions, prices = search.actions, search.prices
        alike: dict[tuple[int, bool], int] = {}
        for n, drawn_cells in _consistent(rows):
            key = (drawn_cells, actions[n][0] in KEEPING)
            if actions[n] != STAY and (key not in alike or prices[n] < prices[alike[key]]):
                alike[key] = n
        each = ((n, self._gain(kind, *key)) for key, n in alike.items())
        return [(n, gain) for n, gain in each if gain]

    def _gain(self, kind: Sequence[int], drawn_cells: int, keeps: bool) -> int:
        """Return how many cells an action may correct; 0 if it removes cells that are right."""
        undrawn = 0 if keeps else reduce(or_, (self.objects[n] for n in kind)) & ~drawn_cells
        if undrawn & self.right:
            return 0
        return ((drawn_cells | undrawn & self.black) & ~self.right).bit_count()


def _consistent(rows: Sequence[Row]) -> Iterator[tuple[int, int]]:
    """Yield the actions that are consistent with all rows, and the target cells each draws."""
    for n in places(reduce(and_, (row.consistent for row in rows))):
        yield n, reduce(or_, (row.covers[n] for row in rows))


def _table(column: str, value: int, action: Action) -> ObjectTable:
    if not column:
        return ObjectTable((), (), action)
    return ObjectTable((column,), (((value,), action),), STAY)


def _nearer(
    table: ObjectTable, scenes: Sequence[Scene], targets: Sequence[Grid]
) -> PartialTable | None:
    """Return a table with its results, if it breaks no cell and corrects some in most pairs.

    None also if no cell remains wrong, or if it fails or leaves only black on some scene.
    """
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
    """Whether a cell that was right no longer is."""
    cells = zip(before.cells, after.cells, target.cells, strict=True)
    return any(old == true != new for old, new, true in cells)


def _wrong(grid: Grid, target: Grid) -> int:
    return sum(cell != true for cell, true in zip(grid.cells, target.cells, strict=True))
