"""Actions that move an object to where others leave room for it, or onto its marks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_

from weft.searches.arc.tables.images import turned
from weft.searches.arc.tables.moves import slid
from weft.searches.arc.tables.scene import STEPS, Body, Drawn, Scene, places
from weft.searches.arc.tables.sides import side_of

PLAIN = "plain"
DOCKED = (PLAIN, "across", "down", "half")


def pack(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Fall to a side with the objects of the same colour, through all others."""
    side = side_of(scene, body, words[0])
    if side is None:
        return Drawn(body.layers)
    (down, along), ground = STEPS[side], 0
    ahead = 2 if down > 0 else 0 if down else 3 if along > 0 else 1
    own = [other for other in scene.objects if other.colour == body.colour]
    for other in sorted(own, key=lambda other: -other.box[ahead] * (down + along)):
        layers = scene.shifted(other, *slid(scene, other, (down, along), ground))
        if other is body:
            return None if layers is None else Drawn(layers)
        ground = reduce(or_, (mask for _, mask in layers or ()), ground)
    return None


def dock(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Move, as it is or mirrored, so that its marks lie on equal objects; stay if there are none.

    Marks are the object's cells of one colour, if other objects have that colour and their shape.
    """
    if len(body.layers) < 2:
        return Drawn(body.layers)
    image = body if words[0] == PLAIN else scene.body(turned(body.piece, words[0]))
    for colour, mask in sorted(image.layers, key=lambda layer: (layer[1].bit_count(), layer[0])):
        equal = [o.mask for o in scene.objects if o is not body and _is_only(o, colour)]
        copies = [
            layers
            for other in equal
            if (layers := scene.shifted(image, *_offset(scene, mask, other))) is not None
            and (colour, other) in layers
        ]
        if copies and colour != body.colour:
            return Drawn(tuple(layer for layers in copies for layer in layers))
    return Drawn(body.layers)


def _is_only(body: Body, colour: int) -> bool:
    return len(body.layers) == 1 and body.colour == colour


def _offset(scene: Scene, mask: int, other: int) -> tuple[int, int]:
    """Return the offset from the first cell of a mask to that of another."""
    (row, column), (row_2, column_2) = (divmod(next(places(m)), scene.width) for m in (mask, other))
    return row_2 - row, column_2 - column
