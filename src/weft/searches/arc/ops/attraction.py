"""How objects of a set are drawn to one of them: the plain definition."""

from __future__ import annotations

from dataclasses import replace

from weft.searches.arc.codes import attraction as k
from weft.searches.arc.ops.objectparts import as_objects, cells_of, colour_of, inked
from weft.searches.arc.values import Grid, Piece, Value


def attract(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """Move objects straight towards one of them; those that stay come first.

    TO_LARGEST, TO_SMALLEST: all towards the object with the most or fewest cells, which must be
    one; TO_OWN: each towards the object of its colour with the most cells, the first of equals,
    unless it has as many; those of the fewest cells that have nowhere to go are left out. They
    pass over others. TOUCH: until the next step would meet a cell of
    it; ENTER: that step too. An object that would never meet it stays. Fails when none moves.
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
    """Where each object is drawn; None for those that stay, or where there is no largest."""
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
    """The object moved to its target; None if it does not meet it, or touches it already.

    A step goes along every axis on which the boxes have no line in common; once they have one on
    both, as the last step did.
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
    """The step along one axis that brings a range nearer to another; 0 if they overlap."""
    return (start + length <= other) - (other + other_length <= start)
