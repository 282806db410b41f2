"""A decision table over objects as a value and as text, and what it makes of a scene."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weft.searches.arc.tables.actions import Action, Drawn, applied, check, price
from weft.searches.arc.tables.measures import check_column, column_price, columns_of
from weft.searches.arc.tables.scene import Scene, places
from weft.searches.arc.values import Grid

VALUE = 3322
"""One value of a measure, in thousandths of a bit."""
ELSE = "else"


@dataclass(frozen=True, slots=True)
class ObjectTable:
    """What becomes of objects by a measure; `rest` of those with another value."""

    column: str
    groups: tuple[tuple[int, Action], ...]
    rest: Action

    @property
    def millibits(self) -> int:
        """What was fitted."""
        own = sum(VALUE + price(action) for _, action in self.groups) + price(self.rest)
        return own + (column_price(self.column) if self.groups else 0)

    def text(self) -> str:
        """Write it as programs do: `by colour 1 slide north, 2 gone, else stay`."""
        groups = [f"{value} {' '.join(action)}" for value, action in self.groups]
        by = f"by {self.column} " if groups else ""
        return by + ", ".join([*groups, f"{ELSE} {' '.join(self.rest)}"])

    def action(self, value: int) -> Action:
        """Return the action for a value."""
        return dict(self.groups).get(value, self.rest)


def parse(text: str) -> ObjectTable:
    """Undo `ObjectTable.text`; ValueError or KeyError where it is none."""
    *groups, rest = text.split(", ")
    column = ""
    if groups:
        by, column, first = groups[0].split(" ", 2)
        check_column(column)
        groups[0] = first
        if by != "by":
            raise ValueError(text)
    otherwise, *last = rest.split(" ")
    if otherwise != ELSE:
        raise ValueError(text)
    pairs = [(int(value), check(action)) for value, *action in (g.split(" ") for g in groups)]
    return ObjectTable(column, tuple(pairs), check(last))


def drawn(scene: Scene, table: ObjectTable) -> Grid | None:
    """Return what a table makes of a scene; None where an action does not apply."""
    values = columns_of(scene)[table.column] if table.groups else [0] * len(scene.bodies)
    results = [
        applied(scene, body, table.action(value))
        for body, value in zip(scene.bodies, values, strict=True)
    ]
    known = [result for result in results if result is not None]
    return composed(scene, known) if len(known) == len(results) else None


def composed(scene: Scene, results: Sequence[Drawn]) -> Grid:
    """Draw what lies below all objects, then the objects, each in order."""
    cells = bytearray(scene.height * scene.width)
    for layers in (*(r.below for r in results), *(r.body for r in results)):
        for colour, mask in layers:
            for place in places(mask):
                cells[place] = colour
    return Grid(scene.height, scene.width, bytes(cells))
