"""Choose the actions of groups of objects so that together they draw every cell of the targets.

A group is the set of its rows, as bits of an integer; so are the cells of all targets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_

from weft.searches.arc.tables.actions import ADDING, AND, Action
from weft.searches.arc.tables.scene import places

MOST_ADDED = 4
"""Most actions that add cells to one object."""
Option = tuple[int, int]
"""The number of an action, and the target cells that it draws for a group."""
Choice = dict[int, Action]
"""An action for each group."""


@dataclass(frozen=True, slots=True)
class Row:
    """One object of a training pair."""

    covers: dict[int, int]
    """The target cells that each consistent action draws, by the action's number."""
    consistent: int
    """The consistent actions, as bits."""

    @property
    def everything(self) -> int:
        """The target cells that any consistent action draws."""
        return reduce(or_, self.covers.values(), 0)


class GroupActions:
    """Finds the cheapest actions for groups of rows; caches the results."""

    def __init__(
        self, actions: Sequence[Action], prices: Sequence[int], rows: Sequence[Row], need: int
    ) -> None:
        self.actions, self.prices, self.rows, self.need = actions, prices, rows, need
        self._distinct = self._cheapest_alike()
        self._commons: dict[int, int] = {}
        self._options: dict[int, list[Option]] = {}
        self._hard: dict[int, list[tuple[int, int]]] = {}
        """Cells that some division could not draw, with the rows and actions that can, as bits."""
        self._choices: dict[tuple[int, ...], Choice | None] = {}

    def _cheapest_alike(self) -> int:
        """Return the actions, as bits, without those that always draw the same as a cheaper one."""
        alike: dict[tuple[int | None, ...], int] = {}
        consistent = {n for row in self.rows for n in row.covers}
        for n in sorted(consistent, key=lambda n: (self.prices[n], n)):
            alike.setdefault(tuple(row.covers.get(n) for row in self.rows), n)
        return sum(1 << n for n in alike.values())

    def choice(self, groups: Sequence[int], *, may_join: bool) -> Choice | None:
        """Return an action for each group so that all targets are drawn; None if impossible.

        With `may_join` the action of a group may join several that add cells.
        """
        division = tuple(sorted(groups))
        if division not in self._choices:
            self._choices[division] = self._chosen(division, may_join)
        return self._choices[division]

    def _chosen(self, division: Sequence[int], may_join: bool) -> Choice | None:
        commons = [(group, self._common(group)) for group in division]
        if not all(common for _, common in commons) or self._is_refused(commons):
            return None
        options = {group: self._options_of(group) for group in division}
        chosen = {group: every[0] for group, every in options.items()}
        if self._left(cells for _, cells in chosen.values()):
            uncovered = self._left(cells for every in options.values() for _, cells in every)
            if uncovered:
                self._learn_hard(uncovered)
            return self._joined(options) if may_join and not uncovered else None
        for group, every in options.items():
            others = [cells for other, (_, cells) in chosen.items() if other != group]
            uncovered = self._left(others)
            chosen[group] = next(
                option for option in self._cheap(every) if not uncovered & ~option[1]
            )
        return {group: self.actions[n] for group, (n, _) in chosen.items()}

    def _common(self, group: int) -> int:
        """Return the actions that are consistent with all rows of a group, as bits."""
        if group not in self._commons:
            rows = (self.rows[n].consistent for n in places(group))
            self._commons[group] = reduce(and_, rows, self._distinct)
        return self._commons[group]

    def _is_refused(self, commons: Sequence[tuple[int, int]]) -> bool:
        """Whether some cell known to be hard cannot be drawn by these groups either."""
        return any(
            not any(
                group & row and common & actions
                for row, actions in able
                for group, common in commons
            )
            for able in self._hard.values()
        )

    def _learn_hard(self, left: int) -> None:
        """Remember the first cell that was not drawn: a few cells make most divisions fail."""
        cell = left & -left
        self._hard[cell] = [
            (1 << n, sum(1 << action for action, cells in row.covers.items() if cells & cell))
            for n, row in enumerate(self.rows)
            if row.everything & cell
        ]

    def _options_of(self, group: int) -> list[Option]:
        """Return the actions common to a group with the cells they draw, those with most first."""
        if group not in self._options:
            covers = [self.rows[n].covers for n in places(group)]
            options = []
            for n in places(self._common(group)):
                cells = 0
                for own in covers:
                    cells |= own[n]
                options.append((n, cells))
            options.sort(key=lambda option: (-option[1].bit_count(), self.prices[option[0]]))
            self._options[group] = options
        return self._options[group]

    def _cheap(self, options: Sequence[Option]) -> list[Option]:
        return sorted(options, key=lambda option: (self.prices[option[0]], option[0]))

    def _left(self, drawn: Iterable[int]) -> int:
        """Return the needed target cells that are not drawn."""
        return self.need & ~reduce(or_, drawn, 0)

    def _joined(self, options: Mapping[int, Sequence[Option]]) -> Choice | None:
        """Join actions that add cells, greedily: each time the one that draws most of the rest."""
        adding = {
            group: [option for option in every if self.actions[option[0]][0] in ADDING]
            for group, every in options.items()
        }
        chosen: dict[int, list[int]] = {group: [] for group in options}
        uncovered = self._left(options[group][0][1] for group in options if not adding[group])
        while uncovered:
            gains = [
                ((cells & uncovered).bit_count(), -self.prices[n], -n, group, cells)
                for group, every in adding.items()
                if len(chosen[group]) < MOST_ADDED
                for n, cells in every
            ]
            gain, _, n, group, cells = max(gains, default=(0, 0, 0, 0, 0))
            if not gain:
                return None
            chosen[group].append(-n)
            uncovered &= ~cells
        return {
            group: self._together(numbers or [self._first(options[group], not adding[group])])
            for group, numbers in chosen.items()
        }

    def _first(self, options: Sequence[Option], most: bool) -> int:
        """Return the action that draws most, or without `most` the cheapest."""
        return options[0][0] if most else self._cheap(options)[0][0]

    def _together(self, numbers: Sequence[int]) -> Action:
        first, *others = (self.actions[n] for n in sorted(numbers))
        return reduce(lambda joined, action: (*joined, AND, *action), others, first)
