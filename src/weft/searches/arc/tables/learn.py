"""Learn decision tables: which action for objects of which measure.

    by colour: 1 slide north, 2 slide south; else stay

An action is consistent with a target where everything that it draws is there. A table fits if all
its actions are consistent and together draw every cell of the targets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from operator import and_, or_

from weft.searches.arc.tables.actions import Drawn, applied
from weft.searches.arc.tables.measures import column_price, columns_of
from weft.searches.arc.tables.scene import Scene, masks_of, places
from weft.searches.arc.tables.table import ObjectTable, Values, drawn
from weft.searches.arc.tables.vocabulary import actions, price
from weft.searches.arc.values import Grid

MOST_OBJECTS = 40
MOST_GROUPS = 6
MOST_SHIFTS = 12
JOINED, MOST_JOINED = 60, 3
"""Measures tried together with another, and how many values such a one has at most."""


@dataclass(frozen=True, slots=True)
class _Row:
    """One object of a training pair."""

    pair: int
    covers: dict[int, int]
    """By the number of a consistent action: which target cells it draws."""
    consistent: int
    """Those actions, as bits."""


class TableSearch:
    """Finds tables for scenes with targets."""

    def __init__(self, scenes: Sequence[Scene], targets: Sequence[Grid]) -> None:
        self.scenes, self.targets = scenes, targets
        self.actions = list(actions(_new_colours(scenes, targets), _shifts(scenes, targets)))
        self.prices = [price(action) for action in self.actions]
        self.masks = [masks_of(target) for target in targets]
        self.need = [
            scene.everything & ~masks[0] for scene, masks in zip(scenes, self.masks, strict=True)
        ]
        self.rows: list[_Row] = []
        self.is_feasible = all(self._try_actions(pair) for pair in range(len(scenes)))
        self._distinct = self._cheapest_alike() if self.is_feasible else 0

    def _try_actions(self, pair: int) -> bool:
        """Try every action on every object; whether together they could draw the target."""
        scene, masks, left = self.scenes[pair], self.masks[pair], self.need[pair]
        kept = _kept(scene.grid, masks)
        for body in scene.bodies:
            tried = (_cover(applied(scene, body, each), masks, kept) for each in self.actions)
            covers = {n: cover for n, cover in enumerate(tried) if cover is not None}
            for cover in covers.values():
                left &= ~cover
            self.rows.append(_Row(pair, covers, sum(1 << n for n in covers)))
        return not left

    def _cheapest_alike(self) -> int:
        """The actions, as bits, without those that draw what a cheaper one draws everywhere."""
        alike: dict[tuple[int | None, ...], int] = {}
        for n in sorted(range(len(self.actions)), key=lambda n: (self.prices[n], n)):
            alike.setdefault(tuple(row.covers.get(n) for row in self.rows), n)
        return sum(1 << n for n in alike.values())

    def fitting(self) -> list[ObjectTable]:
        """Return the tables that make the targets of the scenes, cheapest first."""
        both = list(zip(self.scenes, self.targets, strict=True))
        tables = [
            table
            for table in (self.tables() if self.is_feasible else ())
            if all(drawn(scene, table) == target for scene, target in both)
        ]
        return sorted(tables, key=lambda table: (table.millibits, table.text()))

    def tables(self) -> Iterator[ObjectTable]:
        """Yield tables that fit, one for each way to divide the objects.

        Two measures together divide them where no single one does.
        """
        divisions = self._divisions()
        single = [self._table([()] * len(self.rows), ())]
        single += [self._table([(v,) for v in values], (name,)) for values, name in divisions]
        fits = [table for table in single if table is not None]
        yield from fits
        few = [each for each in divisions if len(set(each[0])) <= MOST_JOINED]
        for (first, name), (second, other) in () if fits else combinations(few[:JOINED], 2):
            table = self._table(list(zip(first, second, strict=True)), (name, other))
            if table is not None:
                yield table

    def _divisions(self) -> list[tuple[tuple[int, ...], str]]:
        """The ways to divide the objects by a measure, cheapest first; of equal ones the first."""
        each = [columns_of(scene) for scene in self.scenes]
        divisions: dict[tuple[int, ...], str] = {}
        for column in sorted(each[0], key=column_price):
            values = tuple(value for columns in each for value in columns[column])
            if 1 < len(set(values)) <= MOST_GROUPS:
                divisions.setdefault(values, column)
        return list(divisions.items())

    def _table(self, values: Sequence[Values], columns: tuple[str, ...]) -> ObjectTable | None:
        """The cheapest actions for groups of objects with the same values; None if they miss."""
        groups: dict[Values, list[_Row]] = {}
        for row, own in zip(self.rows, values, strict=True):
            groups.setdefault(own, []).append(row)
        common = {own: self._common(rows) for own, rows in groups.items()}
        if not all(common.values()):
            return None
        options = {own: self._options(rows, common[own]) for own, rows in groups.items()}
        chosen = {own: found[0] for own, found in options.items()}
        if not self._covered([covers for _, covers in chosen.values()]):
            return None
        for own, found in options.items():
            others = [covers for other, (_, covers) in chosen.items() if other != own]
            cheap = sorted(found, key=lambda option: (self.prices[option[0]], option[0]))
            chosen[own] = next(o for o in cheap if self._covered([*others, o[1]]))
        most = max(groups, key=lambda own: (len(groups[own]), own))
        named = {own: self.actions[n] for own, (n, _) in sorted(chosen.items())}
        rest = named.pop(most)
        return ObjectTable(columns if named else (), tuple(named.items()), rest)

    def _common(self, rows: Sequence[_Row]) -> int:
        """The actions, as bits, that are consistent with all rows."""
        return reduce(and_, (row.consistent for row in rows), self._distinct)

    def _options(self, rows: Sequence[_Row], common: int) -> list[tuple[int, list[int]]]:
        """Some actions with the cells that they draw, by pair; those that draw most first."""
        options = []
        for n in places(common):
            covers = [0] * len(self.scenes)
            for row in rows:
                covers[row.pair] |= row.covers[n]
            drawn_cells = sum(cover.bit_count() for cover in covers)
            options.append((-drawn_cells, self.prices[n], n, covers))
        return [(n, covers) for _, _, n, covers in sorted(options)]

    def _covered(self, covers: Sequence[Sequence[int]]) -> bool:
        """Whether the targets are drawn; `covers` has the cells of each group, by pair."""
        together = [reduce(or_, of_pair) for of_pair in zip(*covers, strict=True)]
        return all(not need & ~own for need, own in zip(self.need, together, strict=True))


def _cover(result: Drawn | None, masks: Sequence[int], kept: int) -> int | None:
    """The target cells that an action draws; None where it draws others."""
    if result is None:
        return None
    cover = 0
    for colour, mask in result.body:
        if mask & ~masks[colour]:
            return None
        cover |= mask
    for colour, mask in result.below:
        if mask & ~masks[colour] & ~kept:
            return None
        cover |= mask & masks[colour]
    return cover


def _kept(grid: Grid, masks: Sequence[int]) -> int:
    """The cells that are not black and stay as they are."""
    kept = 0
    for before, after in zip(masks_of(grid)[1:], masks[1:], strict=True):
        kept |= before & after
    return kept


def _new_colours(scenes: Sequence[Scene], targets: Sequence[Grid]) -> list[int]:
    """The colours but black that cells of targets have and those of their inputs have not."""
    cells = (
        (before, after)
        for scene, target in zip(scenes, targets, strict=True)
        for before, after in zip(scene.grid.cells, target.cells, strict=True)
    )
    return sorted({after for before, after in cells if after not in (0, before)})


def _shifts(scenes: Sequence[Scene], targets: Sequence[Grid]) -> list[tuple[int, int]]:
    """Shifts by which some object of every pair is found in its target, the commonest first."""
    counts: dict[tuple[int, int], int] = {}
    common: set[tuple[int, int]] | None = None
    for scene, target in zip(scenes, targets, strict=True):
        masks, found = masks_of(target), dict[tuple[int, int], int]()
        for body in scene.bodies:
            top, left, bottom, right = body.box
            for down in range(-top, scene.height - bottom + 1):
                for along in range(-left, scene.width - right + 1):
                    layers = scene.shifted(body, down, along)
                    if (down or along) and layers and all(not m & ~masks[c] for c, m in layers):
                        found[down, along] = found.get((down, along), 0) + 1
        common = set(found) if common is None else common & set(found)
        for shift, count in found.items():
            counts[shift] = counts.get(shift, 0) + count
    return sorted(common or (), key=lambda shift: (-counts[shift], shift))[:MOST_SHIFTS]
