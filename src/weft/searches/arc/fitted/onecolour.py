"""The rule that paints the non-black cells of a grid in the colour of one object of the input.

    objects_8: least cells     in the colour of the smallest object
    layers: odd mirrors        in the colour whose symmetry differs from that of all others

A colour that all training pairs share needs only a colour map; here it varies, and a measure
selects it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from weft.searches.arc.fitted.choose import MEASURES, Criterion, measurements_of, segment
from weft.searches.arc.fitted.rule import BASE, Examples, Proposed
from weft.searches.arc.ops.objectparts import colour_of
from weft.searches.arc.ops.operator import ShapeEffect
from weft.searches.arc.ops.registry import BY_NAME
from weft.searches.arc.values import Grid

SEGMENTATIONS = ("layers", "objects_8", "blobs_8")
RELATIONS = ("most", "least", "odd")
MOST_OBJECTS = 30
Named = dict[Criterion, int]
"""The colour that each criterion selects."""
CRITERIA: tuple[Criterion, ...] = tuple(
    Criterion(relation, measure) for relation in RELATIONS for measure in MEASURES
)
_PAINTED = bytes((0, *[1] * 255))


@lru_cache(maxsize=64)
def colours_named(segmentation: str, given: Grid) -> Named:
    """Return the colours of the objects that criteria single out."""
    objects = segment(segmentation, given)
    measured = measurements_of(objects, given) if 1 < len(objects) <= MOST_OBJECTS else None
    if measured is None:
        return {}
    colours = [colour_of(piece) for piece in objects]
    named: Named = {}
    for criterion in CRITERIA:
        values = measured[criterion.measure]
        places = {n for n in range(len(values)) if _is_chosen(criterion, values, n)}
        own = {colours[n] for n in places}
        if len(own) == 1:
            named[criterion] = min(own)
    return named


def _is_chosen(criterion: Criterion, values: list[int], n: int) -> bool:
    """Whether an object has the most, the least or the odd value."""
    if criterion.relation == "odd":
        return len(values) > 2 and len(set(values)) == 2 and values.count(values[n]) == 1
    return values[n] == (max if criterion.relation == "most" else min)(values)


class OneColour(Proposed):
    """Parameters: the segmentation of the input, and the criterion for the object."""

    name = "one_colour"
    doc = (
        "Paints all non-black cells of the grid in the colour of an object of the input: "
        "`objects_8: least cells`. The object (of `objects_8`, `blobs_8` or `layers`) has the "
        "`most` or `least` of a measure of `choose`, or the `odd` value, unlike all others. It "
        "fails if there is none, or if several have different colours."
    )
    shape = ShapeEffect.KEEP

    def settings(self, examples: Examples) -> Iterator[str]:
        pairs = examples.pairs()
        if any(v.size != t.size or _mask(v) != _mask(t) for v, t in pairs):
            return
        inks = [set(target.cells) - {0} for _, target in pairs]
        if any(len(own) != 1 for own in inks) or len({min(own) for own in inks}) == 1:
            return
        for criterion in CRITERIA:
            for segmentation in SEGMENTATIONS:
                each = [colours_named(segmentation, given) for given in examples.given]
                if all(own.get(criterion) in ink for own, ink in zip(each, inks, strict=False)):
                    yield parameters(segmentation, criterion)

    def apply(self, params: bytes, value: Grid, given: Grid) -> Grid | None:
        segmentation, criterion = read_colour(params.decode())
        colour = colours_named(segmentation, given).get(criterion)
        if colour is None:
            return None
        cells = bytes(colour if cell else 0 for cell in value.cells)
        return Grid(value.height, value.width, cells)

    def price(self, params: bytes) -> int:
        segmentation, criterion = read_colour(params.decode())
        return BASE + BY_NAME[segmentation].millibits + criterion.millibits

    def read(self, text: str) -> bytes:
        return parameters(*read_colour(text)).encode()


def _mask(grid: Grid) -> bytes:
    return grid.cells.translate(_PAINTED)


def parameters(segmentation: str, criterion: Criterion) -> str:
    """Return the rule's parameters as text."""
    return f"{segmentation}: {criterion.text()}"


def read_colour(text: str) -> tuple[str, Criterion]:
    """Invert `parameters`; raises ValueError if the text is invalid."""
    segmentation, words = text.split(": ")
    relation, measure = words.split(" ")
    criterion = Criterion(relation, measure)
    if segmentation not in SEGMENTATIONS or criterion not in CRITERIA:
        raise ValueError(text)
    return segmentation, criterion
