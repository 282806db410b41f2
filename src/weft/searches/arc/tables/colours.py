"""Colours that an object takes from others: those that touch it, are near, inside, or like it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from weft.searches.arc.ops.objectparts import shape_of
from weft.searches.arc.tables.likeness import alike
from weft.searches.arc.tables.scene import SIDES, STEPS, Body, Scene
from weft.searches.arc.tables.sides import gap, offset

OWN = "own"
Colour = Callable[[Scene, Body], int | None]


def colour_of(scene: Scene, body: Body, which: str) -> int | None:
    """Return the colour that a word means for an object; None if there is none."""
    if which.isdigit():
        return int(which)
    if which == OWN:
        return body.colour
    key = (body.mask, which)
    if key not in scene.colours:
        scene.colours[key] = (RELATED.get(which) or PAINTED[which])(scene, body)
    return scene.colours[key]


def _touching(scene: Scene, body: Body) -> int | None:
    around = scene.dilated(body.mask, True) & ~body.mask
    return _commonest(_tally(scene, body, around))


def _tally(scene: Scene, body: Body, cells: int) -> Counter[int]:
    """Count the given cells that belong to other objects, by colour."""
    counts: Counter[int] = Counter()
    for other in scene.objects:
        if other is not body:
            counts[other.colour] += (cells & other.mask).bit_count()
    return counts


def _commonest(counts: Counter[int]) -> int | None:
    best = max(counts.items(), key=lambda item: (item[1], -item[0]), default=(0, 0))
    return best[0] if best[1] else None


def _nearest(scene: Scene, body: Body) -> int | None:
    others = [other for other in scene.objects if other is not body and other.colour != body.colour]
    nearest = min(others, key=lambda other: (gap(body, other), offset(body, other)), default=None)
    return None if nearest is None else nearest.colour


def _inner(scene: Scene, body: Body) -> int | None:
    """Return the most common other colour in the object's box."""
    box = scene.box_mask(*body.box)
    counts: Counter[int] = Counter()
    for other in scene.objects:
        for colour, mask in other.layers:
            if colour != body.colour:
                counts[colour] += (mask & box).bit_count()
    return _commonest(counts)


def _twin(scene: Scene, body: Body) -> int | None:
    """Return the most common colour of other objects with the same shape."""
    shape = shape_of(body.piece)
    colours = [
        o.colour for o in scene.objects if o.colour != body.colour and shape_of(o.piece) == shape
    ]
    return _commonest(Counter(colours))


def _largest(scene: Scene, _: Body) -> int | None:
    """Return the colour of the object with the most cells; None in a tie."""
    sizes = sorted((-other.mask.bit_count(), other.colour) for other in scene.objects)
    is_single = len(sizes) < 2 or sizes[0][0] != sizes[1][0]
    return sizes[0][1] if sizes and is_single else None


def _outer(scene: Scene, body: Body) -> int | None:
    """Return the colour of the smallest other box that contains the object."""
    holders = [
        ((o.box[2] - o.box[0]) * (o.box[3] - o.box[1]), o.colour)
        for o in scene.objects
        if o is not body and not body.mask & ~scene.box_mask(*o.box)
    ]
    return min(holders)[1] if holders else None


def _seen(side: str) -> Colour:
    def colour(scene: Scene, body: Body) -> int | None:
        ray, others = body.mask, scene.others(body)
        while ray:
            ray = scene.moved(ray, STEPS[side])
            if ray & others:
                return _commonest(_tally(scene, body, ray))
        return None

    return colour


RELATED: dict[str, Colour] = {
    "touching": _touching, "nearest": _nearest, "inner": _inner, "twin": _twin,
    **{f"sees_{side}": _seen(side) for side in SIDES},
}  # fmt: skip
PAINTED: dict[str, Colour] = {"alike": alike, "largest": _largest, "outer": _outer}
"""Colours in which an object may be painted, but in which no cells are added."""
