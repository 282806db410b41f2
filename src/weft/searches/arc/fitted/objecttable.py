"""The rule that segments a grid into objects and decides what becomes of each by a measure."""

from __future__ import annotations

from weft.searches.arc.fitted.rule import BASE, Composed
from weft.searches.arc.ops.operator import ShapeEffect
from weft.searches.arc.tables import measures, segmentation, vocabulary
from weft.searches.arc.tables.colours import RELATED
from weft.searches.arc.tables.table import ObjectTable, drawn
from weft.searches.arc.tables.table import parse as parse_table
from weft.searches.arc.values import Grid

BEFORE = ": "


class Objects(Composed):
    """Parameters: the segmentation, and the table."""

    name = "objects"
    doc = (
        "The grid is segmented into objects, and each becomes what a table says, on black ground: "
        "`objects_8: by colour 8 stay, 3 meet 2, else meet 1`. Actions: " + vocabulary.WORDS + ". "
        "Colours are numbers, `own` or found: " + ", ".join(f"`{c}`" for c in RELATED)
        + ". Objects may also be " + segmentation.WORDS
        + "; areas stay or are painted. The measure is one of those of `choose`, or "
        + measures.WORDS + "."
    )  # fmt: skip
    shape = ShapeEffect.KEEP

    def apply(self, params: bytes, value: Grid, given: Grid) -> Grid | None:
        name, table = _read(params.decode())
        scene = segmentation.scene_of(name, value)
        return None if scene is None else drawn(scene, table)

    def price(self, params: bytes) -> int:
        name, table = _read(params.decode())
        return BASE + segmentation.price(name) + table.millibits

    def read(self, text: str) -> bytes:
        return parameters(*_read(text)).encode()


def parameters(name: str, table: ObjectTable) -> str:
    """Write what the rule takes."""
    return f"{name}{BEFORE}{table.text()}"


def _read(text: str) -> tuple[str, ObjectTable]:
    name, table = text.split(BEFORE)
    segmentation.check(name)
    return name, parse_table(table)
