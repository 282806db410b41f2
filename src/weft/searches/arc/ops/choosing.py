"""Operations on ordered sets of objects (choose, sort, label, change, sum up): definitions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from weft.searches.arc.codes import sets as k
from weft.searches.arc.ops.altering import alter
from weft.searches.arc.ops.objectparts import Cell, as_objects, cells_of, grid_cells, measures
from weft.searches.arc.values import EMPTY, Grid, Piece, Value, ValueStage, fits


def pick(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """Return the object with the largest (MOST) or smallest (LEAST) measure p.

    Returns None if several share it; FIRST_MOST and FIRST_LEAST return the first of them.
    """
    objects = as_objects(value)
    values = measures(objects, p, given)
    if not values:
        return None
    best = max(values) if q in (k.MOST, k.FIRST_MOST) else min(values)
    if q in (k.MOST, k.LEAST) and values.count(best) > 1:
        return None
    return objects[values.index(best)]


def keep(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """Return the objects whose measure p is or is not the largest or smallest, is 0, or is above 0.

    Returns None if none is left.
    """
    objects = as_objects(value)
    values = measures(objects, p, given)
    if not values:
        return None
    least, most = min(values), max(values)
    rules: dict[int, Callable[[int], bool]] = {
        k.IS_MOST: lambda v: v == most,
        k.IS_LEAST: lambda v: v == least,
        k.IS_ZERO: lambda v: v == 0,
        k.IS_SOME: lambda v: v > 0,
        k.NOT_MOST: lambda v: v != most,
        k.NOT_LEAST: lambda v: v != least,
    }
    predicate = rules[q]
    return tuple(o for o, v in zip(objects, values, strict=True) if predicate(v)) or None


def order(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """Sort all objects by measure p, ascending or descending; the sort is stable."""
    objects = as_objects(value)
    sign = 1 if q == k.UP else -1
    values = [sign * measured for measured in measures(objects, p, given)]
    return tuple(objects[i] for i in sorted(range(len(objects)), key=values.__getitem__)) or None


def label(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """Recolour each object with its measure p, or with the rank of that measure.

    Ranks number the distinct values from 1, from the largest down or from the smallest up. Labels
    above 9 become 9, those below 0 become 0.
    """
    objects = as_objects(value)
    values = measures(objects, p, given)
    if q != k.BY_VALUE:
        ranked = sorted(set(values), reverse=q == k.BY_RANK_DOWN)
        values = [1 + ranked.index(measured) for measured in values]
    named = zip(objects, values, strict=True)
    return tuple(_coloured(piece, min(max(name, 0), 9)) for piece, name in named) or None


def _coloured(piece: Piece, colour: int) -> Piece:
    cells = bytes(EMPTY if cell == EMPTY else colour for cell in piece.cells)
    return replace(piece, cells=cells)


def each(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """Alter every object, leaving out those that cannot be altered; None if none remains."""
    altered = [alter(piece, given, p, q) for piece in as_objects(value)]
    return tuple(o for o in altered if o is not None and fits(ValueStage.OBJECT, o)) or None


def shift(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """Let objects fall down, up, left or right (p = 0 … 3) until they rest on others or the border.

    They move in order, each as far as it can, repeatedly until none moves. Returns None if there
    are no objects, or if one has no cells or lies outside the input.
    """
    down, right = ((1, 0), (-1, 0), (0, -1), (0, 1))[p]
    inside = set(grid_cells(given))
    pieces = list(as_objects(value))
    if not pieces or not all(cells_of(o) and set(cells_of(o)) <= inside for o in pieces):
        return None
    moved = True
    while moved:
        moved = False
        for i, piece in enumerate(pieces):
            others = {cell for j, o in enumerate(pieces) if j != i for cell in cells_of(o)}
            steps = _free_steps(set(cells_of(piece)), inside - others, down, right)
            pieces[i] = replace(piece, row=piece.row + steps * down, col=piece.col + steps * right)
            moved = moved or steps > 0
    return tuple(pieces)


def _free_steps(cells: set[Cell], free: set[Cell], down: int, right: int) -> int:
    """Return the number of steps that the cells can move through free places."""
    steps = 0
    while {(r + (steps + 1) * down, c + (steps + 1) * right) for r, c in cells} <= free:
        steps += 1
    return steps


def total(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """Return the number of objects, or for USUAL the colour of most objects; None if it is tied."""
    colours = measures(as_objects(value), p, given)
    if q == k.HOW_MANY:
        return len(colours)
    best = [c for c in range(10) if colours.count(c) == max(map(colours.count, range(10)))]
    return best[0] if len(best) == 1 else None
