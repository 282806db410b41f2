"""All fitted rules, in the order that numbers them, and the function that tries them all."""

from __future__ import annotations

from weft.searches.arc.fitted.arrange import Arrange
from weft.searches.arc.fitted.celllist import Cells, Layered, OnCanvas, Scanned
from weft.searches.arc.fitted.chart import ObjectChart
from weft.searches.arc.fitted.choose import Choose
from weft.searches.arc.fitted.cropat import CropAt
from weft.searches.arc.fitted.cycle import CycleColours
from weft.searches.arc.fitted.drawing import Stamp
from weft.searches.arc.fitted.each import Each
from weft.searches.arc.fitted.extend import ExtendLines
from weft.searches.arc.fitted.gates import survivors
from weft.searches.arc.fitted.inlay import Inlay
from weft.searches.arc.fitted.keyblock import KeyBlock
from weft.searches.arc.fitted.local import Neighbours
from weft.searches.arc.fitted.objecttable import Objects
from weft.searches.arc.fitted.onecolour import OneColour
from weft.searches.arc.fitted.overview import ObjectOverview
from weft.searches.arc.fitted.period import ExtendPeriod
from weft.searches.arc.fitted.recolour import CellTable, ColourMap
from weft.searches.arc.fitted.repeat import Repeat
from weft.searches.arc.fitted.rule import Composed, EncodedExamples, FittedRule, RuleFit
from weft.searches.arc.fitted.shrinking import BlockReduce, TableOfParts, WindowRule
from weft.searches.arc.fitted.sort import Sort
from weft.searches.arc.fitted.tiling import Border, Scale, TileLayout

RULES: tuple[FittedRule, ...] = (
    ColourMap(), CellTable(), Neighbours(), TileLayout(), BlockReduce(), Scale(), WindowRule(),
    Border(), Stamp(), ExtendPeriod(), TableOfParts(),
)  # fmt: skip
"""A rule's index is its bit in the result of `survivors`."""
COMPOSED: tuple[Composed, ...] = (
    Cells(), OnCanvas(), Scanned(), Layered(), Choose(), Objects(), Each((*RULES, Cells())),
    ObjectChart(), Arrange(), ExtendLines(), Inlay(), ObjectOverview(), CycleColours(), KeyBlock(),
    CropAt(), Repeat(), Sort(), OneColour(),
)  # fmt: skip
"""Rules that are learned from many vectors at the end of a phase, not from one."""
BY_NAME: dict[str, FittedRule] = {rule.name: rule for rule in (*RULES, *COMPOSED)}
assert len(BY_NAME) == len(RULES) + len(COMPOSED), "two rules have one name"


def finish(view: EncodedExamples) -> list[RuleFit]:
    """Return the fit of every rule that maps the vector to the targets, in the registry's order."""
    bits = survivors(
        view.src, view.offsets, view.inp, view.inp_offsets, view.targets, view.target_offsets
    )
    if bits == 0:
        return []
    fits = (rule.fit(view) for place, rule in enumerate(RULES) if bits >> place & 1)
    return [fitted for fitted in fits if fitted is not None]
