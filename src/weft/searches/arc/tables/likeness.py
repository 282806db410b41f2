"""Objects that resemble another: they take its shape, or its colour if shapes are alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from weft.searches.arc.fitted.relations import common_form
from weft.searches.arc.ops.objectparts import shape_of
from weft.searches.arc.tables.scene import Body, Drawn, Scene
from weft.searches.arc.tables.sides import goal_of
from weft.searches.arc.values import Piece

OWN, SAME = "own", "same"
"""In the object's own colour, or in the colours of the object that it imitates."""


def alike(scene: Scene, body: Body) -> int | None:
    """Return the commonest colour of other objects of its shape, in any orientation, or its own."""
    form = common_form(shape_of(body.piece))
    others = [other for other in scene.objects if other.colour != body.colour]
    colours = Counter(o.colour for o in others if common_form(shape_of(o.piece)) == form)
    return min(colours, key=lambda colour: (-colours[colour], colour), default=body.colour)


def imitate(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Become a larger object, about the same centre, in its own or in that object's colours."""
    goal = goal_of(scene, body, words[0])
    if goal is None or goal.mask.bit_count() <= body.mask.bit_count():
        return None
    p, large = body.piece, goal.piece
    down, along = p.height - large.height, p.width - large.width
    if down % 2 or along % 2:
        return None
    row, column = p.row + down // 2, p.col + along // 2
    copy = scene.body(Piece(row, column, large.height, large.width, large.cells))
    return Drawn(copy.layers if words[1] == SAME else ((body.colour, copy.mask),))
