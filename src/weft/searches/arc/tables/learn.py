"""Learn decision tables: an action for the objects of each value of a measure.

    by colour 1 slide north, 2 slide south, else stay

An action is consistent with a target if everything that it draws is there. A table fits if all its
actions are consistent and together draw every cell of the targets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import reduce
from itertools import combinations, islice, product
from operator import or_

from weft.searches.arc.tables.actions import AND, COVERING, Action, applied
from weft.searches.arc.tables.colours import OWN, colour_of
from weft.searches.arc.tables.consistency import OF_AREAS, TargetMasks, covers, families_of
from weft.searches.arc.tables.groupactions import GroupActions, Row
from weft.searches.arc.tables.measures import AREA, column_price, columns_of
from weft.searches.arc.tables.routes import CRAWL, is_thin
from weft.searches.arc.tables.scene import Drawn, Scene, masks_of
from weft.searches.arc.tables.surroundings import COVERED
from weft.searches.arc.tables.table import ObjectTable, Values, drawn
from weft.searches.arc.tables.tallies import is_tallied
from weft.searches.arc.tables.vocabulary import actions, is_action, price
from weft.searches.arc.values import Grid

MOST_OBJECTS = 40
MOST_GROUPS = 6
MOST_SHIFTS = 12
MOST_VARIANTS = 8
MOST_FITTING = 40
JOINED, MOST_JOINED = 60, 3
"""Most measures that are combined in pairs, and most values of such a measure."""


class TableSearch:
    """Finds tables for scenes with targets."""

    def __init__(self, scenes: Sequence[Scene], targets: Sequence[Grid]) -> None:
        self.scenes, self.targets = scenes, targets
        self.actions = _actions(scenes, targets)
        self.prices = [price(action) for action in self.actions]
        self.masks = [masks_of(target) for target in targets]
        self.need = [
            scene.everything & ~masks[0] & ~_fixed(scene, masks)
            for scene, masks in zip(scenes, self.masks, strict=True)
        ]
        sizes = [scene.height * scene.width for scene in scenes]
        self.offsets = [sum(sizes[:pair]) for pair in range(len(scenes))]
        self.rows: list[Row] = []
        self._families = families_of(self.actions)
        self.is_feasible = self._try_pairs()
        self._group_actions = GroupActions(self.actions, self.prices, self.rows, self._everywhere())

    def _try_pairs(self) -> bool:
        """Build the rows, pairs with the fewest objects first; return whether a table could fit."""
        rows: dict[int, list[Row]] = {}
        for pair in sorted(range(len(self.scenes)), key=lambda n: len(self.scenes[n].bodies)):
            rows[pair] = self._try_actions(pair)
            drawn_cells = reduce(or_, (row.everything for row in rows[pair]), 0)
            if self.need[pair] << self.offsets[pair] & ~drawn_cells:
                return False
        self.rows = [row for _, own in sorted(rows.items()) for row in own]
        return True

    def every_row(self) -> list[Row]:
        """Return the rows of all pairs, even if no table could fit."""
        if self.is_feasible:
            return self.rows
        return [row for pair in range(len(self.scenes)) for row in self._try_actions(pair)]

    def _everywhere(self) -> int:
        """Return the cells that targets need, those of all pairs in one integer."""
        return sum(need << self.offsets[pair] for pair, need in enumerate(self.need))

    def _try_actions(self, pair: int) -> list[Row]:
        """Try every action on every object of a pair; return its rows."""
        scene, masks, offset = self.scenes[pair], self.masks[pair], self.offsets[pair]
        unchanged, hidden = _kept(scene.grid, masks), self._hidden(pair)
        target, rows = TargetMasks(masks, unchanged | hidden, hidden & scene.ink & ~unchanged), []
        for number, body in enumerate(scene.bodies):
            known = scene.results.setdefault(number, {})
            own = covers(scene, body, self._families, known, target)
            shifted = {n: cover << offset for n, cover in own.items()}
            rows.append(Row(shifted, sum(1 << n for n in shifted)))
        return rows

    def _hidden(self, pair: int) -> int:
        """Return the cells that some action may cover."""
        scene, hidden = self.scenes[pair], 0
        covering = {
            first: [ink for _, how, ink in variants if how == OWN]
            for first, variants in self._families.items()
            if first[0] in COVERING
        }
        for number, body in enumerate(scene.objects):
            known = scene.results.setdefault(number, {}) if covering else {}
            for first, inks in covering.items():
                if first not in known:
                    known[first] = applied(scene, body, first)
                result = known[first]
                if result is not None:
                    colours = {colour_of(scene, body, ink) for ink in inks}
                    hidden |= _drawable(result, colours, self.masks[pair])
        return hidden

    def fitting(self) -> list[ObjectTable]:
        """Return the cheapest tables that give the targets of the scenes, cheapest first."""
        if not self.is_feasible:
            return []
        exact = self._cheapest_exact(self._single())
        if all(any(AND in action for action in table.actions) for table in exact):
            exact += self._cheapest_exact(self._double())
        return sorted(exact, key=_order)[:MOST_FITTING]

    def _cheapest_exact(self, tables: Iterable[ObjectTable | None]) -> list[ObjectTable]:
        cheap = sorted((table for table in tables if table is not None), key=_order)
        exact = (self._exact(table) for table in cheap)
        return list(islice((table for table in exact if table is not None), MOST_FITTING))

    def _exact(self, table: ObjectTable) -> ObjectTable | None:
        """Return a table if it gives the targets, or else its first variant that covers objects."""
        both = list(zip(self.scenes, self.targets, strict=True))
        for variant in (table, *_covering(table)):
            if all(drawn(scene, variant) == target for scene, target in both):
                return variant
        return None

    def _single(self) -> Iterator[ObjectTable | None]:
        """Yield the table without a measure and one for each measure; None if there is none."""
        yield self._table([()] * len(self.rows), ())
        for values, name in self.divisions():
            yield self._by({name: values})

    def _double(self) -> Iterator[ObjectTable | None]:
        """Yield a table for each two measures with few values; None if there is none."""
        few = [each for each in self.divisions() if len(set(each[0])) <= MOST_JOINED]
        for (first, name), (second, other) in combinations(few[:JOINED], 2):
            yield self._by({name: first, other: second})

    def _by(self, columns: Mapping[str, tuple[int, ...]]) -> ObjectTable | None:
        """Return the table for some measures; separately for objects and rooms, if both occur."""
        if self.scenes[0].is_mixed:
            kinds = tuple(kind for scene in self.scenes for kind in columns_of(scene)[AREA])
            columns = {AREA: kinds, **columns}
        return self._table(list(zip(*columns.values(), strict=True)), tuple(columns))

    def divisions(self) -> list[tuple[tuple[int, ...], str]]:
        """Return the divisions of objects by a measure, cheapest first; of equal ones the first."""
        each = [columns_of(scene) for scene in self.scenes]
        divisions: dict[tuple[int, ...], str] = {}
        for column in sorted(each[0], key=column_price):
            values = tuple(value for columns in each for value in columns[column])
            if 1 < len(set(values)) <= MOST_GROUPS:
                divisions.setdefault(values, column)
        return list(divisions.items())

    def _table(self, values: Sequence[Values], columns: tuple[str, ...]) -> ObjectTable | None:
        """Return the table with the cheapest actions for each tuple of values, if one fits."""
        groups: dict[Values, int] = {}
        for n, own in enumerate(values):
            groups[own] = groups.get(own, 0) | 1 << n
        choice = self._group_actions.choice(tuple(groups.values()), may_join=len(columns) < 2)
        if choice is None:
            return None
        most = max(groups, key=lambda own: (groups[own].bit_count(), own))
        named = {own: choice[groups[own]] for own in sorted(groups)}
        rest = named.pop(most)
        return ObjectTable(columns if named else (), tuple(named.items()), rest)


def _actions(scenes: Sequence[Scene], targets: Sequence[Grid]) -> list[Action]:
    """Return the actions that could matter; only those of areas if objects stay.

    Only the colours that objects have are goals.
    """
    colours = new_colours(scenes, targets)
    if any(scene.fixed for scene in scenes):
        return [
            action
            for action in actions(colours, (), (), has_tallies=False)
            if action[0] in OF_AREAS
        ]
    goals = sorted({b.colour for scene in scenes for b in scene.objects if b.colour})
    left_out = () if is_thin(scenes, targets) else (CRAWL,)
    shifts, has_tallies = _shifts(scenes, targets), is_tallied(scenes, targets)
    every = actions(colours, shifts, goals, has_tallies=has_tallies)
    return [action for action in every if action[0] not in left_out]


def _fixed(scene: Scene, masks: Sequence[int]) -> int:
    """Return the cells of the fixed objects of a scene that the target also has."""
    layers = (layer for body in scene.fixed for layer in body.layers)
    return reduce(or_, (mask & masks[colour] for colour, mask in layers), 0)


def _drawable(result: Drawn, colours: Set[int | None], masks: Sequence[int]) -> int:
    """Return the cells drawn above all objects, if the target has them all in one of `colours`."""
    cells = reduce(or_, (mask for _, mask in result.above), 0)
    is_there = any(colour is not None and not cells & ~masks[colour] for colour in colours)
    return cells if is_there else 0


def _order(table: ObjectTable) -> tuple[int, str]:
    return table.millibits, table.text()


def _covering(table: ObjectTable) -> Iterator[ObjectTable]:
    """Yield variants of a table that draw some of its lines and places above other objects."""
    actions = table.actions
    higher = [above(action) for action in actions]
    for which in islice(product((False, True), repeat=len(actions)), 1, MOST_VARIANTS):
        if all(
            action != other
            for action, other, is_above in zip(actions, higher, which, strict=True)
            if is_above
        ):
            *named, rest = (
                b if is_above else a for a, b, is_above in zip(actions, higher, which, strict=True)
            )
            groups = zip((values for values, _ in table.groups), named, strict=True)
            yield ObjectTable(table.columns, tuple(groups), rest)


def above(action: Action) -> Action:
    """Return the action that draws the same above other objects, or the action itself."""
    higher = action
    if action[0] in ("beam", "ray"):
        higher = ("cut", *action[1:])
    elif action[0] == "add" and action[1] in COVERED:
        higher = ("cover", *action[1:])
    return higher if is_action(higher) else action


def _kept(grid: Grid, masks: Sequence[int]) -> int:
    """Return the non-black cells that stay as they are."""
    unchanged = 0
    for before, after in zip(masks_of(grid)[1:], masks[1:], strict=True):
        unchanged |= before & after
    return unchanged


def new_colours(scenes: Sequence[Scene], targets: Sequence[Grid]) -> list[int]:
    """Return the non-black colours to which some cell changes in a target."""
    cells = (
        (before, after)
        for scene, target in zip(scenes, targets, strict=True)
        for before, after in zip(scene.grid.cells, target.cells, strict=True)
    )
    return sorted({after for before, after in cells if after not in (0, before)})


def _shifts(scenes: Sequence[Scene], targets: Sequence[Grid]) -> list[tuple[int, int]]:
    """Return the shifts by which objects occur in their targets, those in most pairs first."""
    counts: dict[tuple[int, int], int] = {}
    pairs: dict[tuple[int, int], int] = {}
    for scene, target in zip(scenes, targets, strict=True):
        masks, by_shift = masks_of(target), dict[tuple[int, int], int]()
        for body in scene.objects:
            top, left, bottom, right = body.box
            for down in range(-top, scene.height - bottom + 1):
                for along in range(-left, scene.width - right + 1):
                    layers = scene.shifted(body, down, along)
                    if (down or along) and layers and all(not m & ~masks[c] for c, m in layers):
                        by_shift[down, along] = by_shift.get((down, along), 0) + 1
        for shift, count in by_shift.items():
            counts[shift] = counts.get(shift, 0) + count
            pairs[shift] = pairs.get(shift, 0) + 1
    return sorted(counts, key=lambda shift: (-pairs[shift], -counts[shift], shift))[:MOST_SHIFTS]
