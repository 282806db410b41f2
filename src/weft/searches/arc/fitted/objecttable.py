"""The rule that segments a grid into objects and decides by a table what happens to each.

    layers: by colour 6 gone, else stay then objects_4: else by away colours

A second table decides about the objects in the output of the first one.
"""

from __future__ import annotations

from weft.searches.arc.fitted.rule import BASE, Composed
from weft.searches.arc.ops.operator import ShapeEffect
from weft.searches.arc.tables import segmentation
from weft.searches.arc.tables.table import ObjectTable, drawn
from weft.searches.arc.tables.table import parse as parse_table
from weft.searches.arc.values import Grid

BEFORE, THEN = ": ", " then "
MOST_STEPS = 2


class Objects(Composed):
    """Parameters: the segmentation and the table, repeated for a second step."""

    name = "objects"
    doc = (
        "Segments the grid into objects and decides by a table what happens to each, on a black "
        "background: `objects_8: by colour 8 stay, 3 meet 2, else meet 1`. Actions and measures "
        "are listed under Tables over objects."
    )
    shape = ShapeEffect.KEEP

    def apply(self, params: bytes, value: Grid, given: Grid) -> Grid | None:
        result: Grid | None = value
        for name, table in _read(params.decode()):
            scene = None if result is None else segmentation.scene_of(name, result)
            result = None if scene is None else drawn(scene, table)
        return result

    def price(self, params: bytes) -> int:
        steps = _read(params.decode())
        priced = (segmentation.price(name) + table.millibits for name, table in steps)
        return BASE * len(steps) + sum(priced)

    def read(self, text: str) -> bytes:
        return THEN.join(parameters(*step) for step in _read(text)).encode()


def parameters(name: str, table: ObjectTable) -> str:
    """Return the parameters of one step as text."""
    return f"{name}{BEFORE}{table.text()}"


def _read(text: str) -> list[tuple[str, ObjectTable]]:
    steps = text.split(THEN)
    if len(steps) > MOST_STEPS:
        raise ValueError(text)
    return [_read_step(step) for step in steps]


def _read_step(text: str) -> tuple[str, ObjectTable]:
    name, table = text.split(BEFORE)
    segmentation.check(name)
    return name, parse_table(table)
