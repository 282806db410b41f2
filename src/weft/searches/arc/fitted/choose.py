"""The rule that segments a grid into objects and returns the one that a measure singles out.

    objects_4 crop: most count_2      the input in the bounding box of the object with the most red
    thirds_down alone: odd mirrors    the third whose symmetry differs from that of the others

Measures describe the input's cells in an object's bounding box, and compare it with the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from weft.searches.arc.fitted.relations import RELATIVE, relations_of
from weft.searches.arc.fitted.rule import BASE, Composed, number
from weft.searches.arc.ops.objectparts import (
    as_objects,
    colour_of,
    commonest,
    grid_cells,
    groups,
    holes_of,
    inked,
    mirrors,
    shape_of,
)
from weft.searches.arc.ops.operator import BIT, ShapeEffect
from weft.searches.arc.ops.registry import BY_NAME, REGISTRY
from weft.searches.arc.values import Grid, Piece, ValueStage

SEGMENTATIONS: tuple[str, ...] = tuple(
    o.name for o in REGISTRY if o.takes is ValueStage.GRID and o.gives is ValueStage.OBJECTS
)
AS: dict[str, str] = {"crop": "object_crop", "alone": "object_grid"}
"""How an object is returned: the input's cells in its bounding box, or its own on black."""
COLOURS = range(10)
MEASURES: tuple[str, ...] = (
    "cells", "room", "height", "width", "colours", "main", "rest", "parts", "specks", "holes",
    "mirrors", "copies", "likes", "kin", "border", "top", "left", "bottom", "right",
    *(f"count_{colour}" for colour in COLOURS),
)  # fmt: skip
CHOSEN = (*MEASURES, *RELATIVE)
"""The measures of this rule; other rules use fewer, or relate objects in their own way."""
SAME = "same"
"""Name of a measure: the index of the first object with equal cells and equal box contents."""
MEASURE, RELATION, VALUE, RETURNED = 5 * BIT, 2 * BIT, 3 * BIT, BIT
"""Costs of a measure, a relation, a value, and the form in which the object is returned."""
MOST_VALUE = 99
_Mark = TypeVar("_Mark")


@dataclass(frozen=True, slots=True)
class Criterion:
    """Selects an object: by the most, the least, the odd or a given value of a measure."""

    relation: str
    measure: str
    value: int = 0

    def text(self) -> str:
        """Return the notation used in programs."""
        return f"{self.relation} {self.measure}" + (f" {self.value}" if self._is_exact else "")

    @property
    def millibits(self) -> int:
        """The cost in thousandths of a bit."""
        return MEASURE + RELATION + (VALUE if self._is_exact else 0)

    @property
    def _is_exact(self) -> bool:
        return self.relation == "is"

    def chosen(self, measured: dict[str, list[int]]) -> int | None:
        """Return the index of the object it selects; None if it selects none, or unequal ones."""
        values = measured[self.measure]
        expected = RELATIONS[self.relation](values, self.value)
        places = [place for place, value in enumerate(values) if value == expected]
        kinds = measured.get(SAME, range(len(values)))
        return places[0] if places and len({kinds[place] for place in places}) == 1 else None


def _odd(values: Sequence[int], _: int) -> int | None:
    """Return the rarer of two values, if three or more objects have exactly two."""
    different = sorted(set(values), key=values.count)
    return different[0] if len(different) == 2 and len(values) > 2 else None


RELATIONS: dict[str, Callable[[Sequence[int], int], int | None]] = {
    "most": lambda values, _: max(values, default=None),
    "least": lambda values, _: min(values, default=None),
    "odd": _odd,
    "is": lambda _, value: value,
}


def criteria(measured: Sequence[dict[str, list[int]]]) -> Iterator[Criterion]:
    """Yield all criteria that could single out an object of the first set, cheapest first."""
    for relation in ("most", "least", "odd"):
        yield from (Criterion(relation, measure) for measure in CHOSEN)
    for measure in CHOSEN:
        values = measured[0][measure]
        yield from (Criterion("is", measure, v) for v in sorted(set(values)) if v <= MOST_VALUE)


@lru_cache(maxsize=512)
def segment(name: str, value: Grid) -> tuple[Piece, ...]:
    """Segment a grid; empty if that fails. Cached: several learners segment the same grids."""
    objects = BY_NAME[name].plain(value, value)
    return () if objects is None else as_objects(objects)


def returned(piece: Piece, given: Grid, how: str) -> Grid | None:
    """Return an object as a grid."""
    grid = BY_NAME[AS[how]].plain(piece, given)
    assert grid is None or isinstance(grid, Grid)
    return grid


def compared(objects: Sequence[Piece], given: Grid) -> dict[str, list[int]] | None:
    """Measure and relate all objects of a set; None if one lies outside the input."""
    measured = measurements_of(objects, given)
    if measured is None:
        return None
    marks = [(returned(piece, given, "crop"), piece.cells) for piece in objects]
    return {**measured, **relations_of(objects), SAME: [marks.index(mark) for mark in marks]}


def measurements_of(objects: Sequence[Piece], given: Grid) -> dict[str, list[int]] | None:
    """Measure all objects of a set; None if one lies outside the input."""
    crops = [returned(piece, given, "crop") for piece in objects]
    within = [crop for crop in crops if crop is not None]
    if len(within) < len(objects):
        return None
    each = [_own(piece, crop, given) for piece, crop in zip(objects, within, strict=True)]
    measurements = (
        {measure: [measures[measure] for measures in each] for measure in each[0]} if each else {}
    )
    measurements["copies"] = _alike([shape_of(piece) for piece in objects])
    measurements["likes"] = _alike(within)
    measurements["kin"] = _alike([colour_of(piece) for piece in objects])
    return measurements


def _alike(marks: Sequence[_Mark]) -> list[int]:
    """Return, for each object, the number of objects with the same mark."""
    return [marks.count(mark) for mark in marks]


def _own(piece: Piece, crop: Grid, given: Grid) -> dict[str, int]:
    """Return the measures of a single object."""
    main = commonest(crop.cells)
    bottom, right = piece.row + piece.height, piece.col + piece.width
    sides = (piece.row, piece.col, given.height - bottom, given.width - right)
    cells = grid_cells(crop)
    return {
        "cells": len(inked(piece)),
        "room": len(crop.cells),
        "height": crop.height,
        "width": crop.width,
        "colours": len(set(crop.cells)),
        "main": crop.cells.count(main),
        "rest": len(crop.cells) - crop.cells.count(main),
        "parts": len(groups({place: 1 for place, c in cells.items() if c}, eight=True)),
        "specks": len(groups({place: 1 for place, c in cells.items() if c != main}, eight=True)),
        "holes": len(holes_of(piece)),
        "mirrors": mirrors(Piece(0, 0, crop.height, crop.width, crop.cells)),
        "border": sum(side == 0 for side in sides),
        **dict(zip(("top", "left", "bottom", "right"), sides, strict=True)),
        **{f"count_{colour}": crop.cells.count(colour) for colour in COLOURS},
    }


class Choose(Composed):
    """Parameters: the segmentation, how the object is returned, and the criterion."""

    name = "choose"
    doc = (
        "Segments the grid by an operator and returns one object: the input's cells in its box "
        "(`crop`), or the object `alone` on black: `objects_4 crop: most count_2`. It is the one "
        "with the `most` or `least` of a measure, the `odd` one (all others have the same value), "
        "or the only one whose value `is` a number (`is holes 2`). It fails if there is none, or "
        "several that are not equal."
    )
    shape = ShapeEffect.ANY

    def apply(self, params: bytes, value: Grid, given: Grid) -> Grid | None:
        name, how, criterion = _read(params.decode())
        objects = segment(name, value)
        measured = compared(objects, given) if objects else None
        place = None if measured is None else criterion.chosen(measured)
        return None if place is None else returned(objects[place], given, how)

    def price(self, params: bytes) -> int:
        name, _, criterion = _read(params.decode())
        return BASE + BY_NAME[name].millibits + RETURNED + criterion.millibits

    def read(self, text: str) -> bytes:
        name, how, criterion = _read(text)
        return parameters(name, how, criterion).encode()


def parameters(name: str, how: str, criterion: Criterion) -> str:
    """Return the rule's parameters as text."""
    return f"{name} {how}: {criterion.text()}"


def _read(text: str) -> tuple[str, str, Criterion]:
    before, after = text.split(": ")
    name, how = before.split(" ")
    relation, measure, *value = after.split(" ")
    if (
        name not in SEGMENTATIONS
        or how not in AS
        or relation not in RELATIONS
        or measure not in CHOSEN
    ):
        raise ValueError(text)
    if len(value) != (relation == "is"):
        raise ValueError(text)
    return name, how, Criterion(relation, measure, *(number(symbol) for symbol in value))
