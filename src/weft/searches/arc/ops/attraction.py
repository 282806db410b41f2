"""Moving the objects of a set towards one of them: the plain definition."""

from __future__ import annotations

from dataclasses import replace

from weft.searches.arc.codes import attraction as k
from weft.searches.arc.ops.objectparts import as_objects, cells_of, colour_of, inked
from weft.searches.arc.values import Grid, Piece, Value


def attract(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """Move objects straight towards one of them; in the result, those that stay come first.

    TO_LARGEST, TO_SMALLEST: all move towards the object with the most or fewest cells, which must
    be unique. TO_OWN: each moves towards the largest object of its colour (ties: the first), unless
    it is as large; of the objects with nowhere to go, those with the fewest cells are left out.
    Objects pass over others. TOUCH: they stop before the step that would overlap the target; ENTER:
    after it. An object that would never meet its target stays. Returns None if none moves.
    """
    objects = as_objects(value)
    targets = _targets(objects, p)
    if not targets:
        return None
    moved = [
        None if target is None else drawn(piece, target, q == k.ENTER)
        for piece, target in zip(objects, targets, strict=True)
    ]
    fewest = min(len(inked(piece)) for piece in objects)
    staying = [
        piece
        for piece, target, new in zip(objects, targets, moved, strict=True)
        if new is None and (p != k.TO_OWN or target or len(inked(piece)) > fewest)
    ]
    moving = [new for new in moved if new is not None]
    return (*staying, *moving) if moving else None


def _targets(objects: tuple[Piece, ...], p: int) -> list[Piece | None] | None:
    """Return each object's target, None if it stays; None if the extreme object is not unique."""
    sizes = [len(inked(piece)) for piece in objects]
    if p != k.TO_OWN:
        extreme = (max if p == k.TO_LARGEST else min)(sizes, default=0)
        best = [i for i, size in enumerate(sizes) if size == extreme]
        if len(best) != 1:
            return None
        return [None if i == best[0] else objects[best[0]] for i in range(len(objects))]
    targets: list[Piece | None] = []
    for piece, size in zip(objects, sizes, strict=True):
        alike = [i for i, other in enumerate(objects) if colour_of(other) == colour_of(piece)]
        largest = max(alike, key=lambda i: sizes[i])
        targets.append(objects[largest] if sizes[largest] > size else None)
    return targets


def drawn(piece: Piece, target: Piece, enter: bool) -> Piece | None:
    """Return the object moved to its target; None if it never meets it, or need not move.

    A step goes along every axis on which the boxes do not overlap; once they overlap on both axes,
    the last step is repeated.
    """
    meets, step, here = set(cells_of(target)), (0, 0), piece
    for _ in range(k.STEPS):
        new = (
            _towards(here.row, here.height, target.row, target.height),
            _towards(here.col, here.width, target.col, target.width),
        )
        step = step if new == (0, 0) else new
        if step == (0, 0):
            return None
        ahead = replace(here, row=here.row + step[0], col=here.col + step[1])
        if meets & set(cells_of(ahead)):
            moved = ahead if enter else here
            return None if moved == piece else moved
        here = ahead
    return None


def _towards(start: int, length: int, other: int, other_length: int) -> int:
    """Return the step along one axis that brings a range nearer to another; 0 if they overlap."""
    return (start + length <= other) - (other + other_length <= start)
