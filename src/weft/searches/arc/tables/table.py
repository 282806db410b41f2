"""A decision table over objects, as a value and as text, and its result on a scene."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from weft.searches.arc.tables.actions import Action, applied
from weft.searches.arc.tables.measures import check_column, column_price, columns_of
from weft.searches.arc.tables.scene import Drawn, Layer, Scene, places
from weft.searches.arc.tables.vocabulary import check, price
from weft.searches.arc.values import Grid

VALUE = 3322
"""The price of one value of a measure, in thousandths of a bit."""
ELSE, JOIN = "else", "&"
MOST_COLUMNS = 3
Values = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ObjectTable:
    """The actions of objects by the values of some measures; `rest` is that of all others."""

    columns: tuple[str, ...]
    groups: tuple[tuple[Values, Action], ...]
    rest: Action

    @property
    def actions(self) -> list[Action]:
        """The action of each group, and that of the rest."""
        return [*(action for _, action in self.groups), self.rest]

    @property
    def millibits(self) -> int:
        """The price of the fitted table."""
        groups = sum(VALUE * len(values) + price(action) for values, action in self.groups)
        return groups + price(self.rest) + sum(map(column_price, self.columns))

    def text(self) -> str:
        """Return the text used in programs: `by colour 1 slide north, 2 gone, else stay`."""
        groups = [
            f"{JOIN.join(map(str, values))} {' '.join(action)}" for values, action in self.groups
        ]
        by = f"by {JOIN.join(self.columns)} " if groups else ""
        return by + ", ".join([*groups, f"{ELSE} {' '.join(self.rest)}"])

    def action(self, values: Values) -> Action:
        """Return the action for the values of an object."""
        return dict(self.groups).get(values, self.rest)


def parse(text: str) -> ObjectTable:
    """Undo `ObjectTable.text`; raises ValueError or KeyError for other texts."""
    *groups, rest = text.split(", ")
    columns: list[str] = []
    if groups:
        by, names, groups[0] = groups[0].split(" ", 2)
        columns = names.split(JOIN)
        if by != "by" or len(columns) > MOST_COLUMNS:
            raise ValueError(text)
    for column in columns:
        check_column(column)
    otherwise, *last = rest.split(" ")
    if otherwise != ELSE:
        raise ValueError(text)
    split = [
        (tuple(map(int, values.split(JOIN))), check(action))
        for values, *action in map(str.split, groups)
    ]
    if any(len(values) != len(columns) for values, _ in split):
        raise ValueError(text)
    return ObjectTable(tuple(columns), tuple(split), check(last))


def drawn(scene: Scene, table: ObjectTable) -> Grid | None:
    """Return the result of a table on a scene; None if an action does not apply."""
    measured = columns_of(scene) if table.columns else {}
    results = [
        applied(scene, body, table.action(tuple(measured[name][n] for name in table.columns)))
        for n, body in enumerate(scene.bodies)
    ]
    known = [result for result in results if result is not None]
    return composed(scene, known) if len(known) == len(results) else None


def composed(scene: Scene, results: Sequence[Drawn]) -> Grid:
    """Draw the layers below all objects, the objects, then the layers above, each in order."""
    cells = bytearray(scene.height * scene.width)
    order = (
        *(body.layers for body in scene.fixed),
        *_below(results),
        *(result.body for result in results),
        *(result.above for result in results),
    )
    for layers in order:
        for colour, mask in layers:
            for place in places(mask):
                cells[place] = colour
    return Grid(scene.height, scene.width, bytes(cells))


def _below(results: Sequence[Drawn]) -> Iterator[tuple[Layer, ...]]:
    """Yield the layers below objects, deepest first: the last layers of all objects come last.

    So the order of objects in the grid does not matter for layers of different depth.
    """
    deepest = max((len(result.below) for result in results), default=0)
    for depth in range(deepest, 0, -1):
        yield from ((own.below[-depth],) for own in results if len(own.below) >= depth)
