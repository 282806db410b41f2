"""Actions that add the cells of a place: an object's box, its holes, its surroundings."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.searches.arc.tables.colours import colour_of
from weft.searches.arc.tables.lines import front_of
from weft.searches.arc.tables.scene import STEPS, Body, Drawn, Scene
from weft.searches.arc.tables.sides import CORNERS, corner_of, side_of

NOWHERE = -1
"""Returned instead of cells if a side means nothing for an object."""


def add(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Add the black cells of a place, in a colour."""
    colour = colour_of(scene, body, words[1])
    if colour is None:
        return None
    place = scene.once(body, "add", words[0], lambda: _place(scene, body, words[0]))
    return None if place == NOWHERE else Drawn(body.layers, ((colour, place & ~scene.ink),))


def cover(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Cover the cells of a place, whatever they contain."""
    colour = colour_of(scene, body, words[1])
    place = scene.once(body, "add", words[0], lambda: _place(scene, body, words[0]))
    return None if colour is None else Drawn(body.layers, (), ((colour, place & ~body.mask),))


def _place(scene: Scene, body: Body, which: str) -> int:
    """Return the cells of a place, or those next to the object on a side or at a box corner."""
    if which in PLACES:
        return PLACES[which](scene, body)
    side = side_of(scene, body, which)
    return NOWHERE if side is None else scene.moved(front_of(scene, body, side), STEPS[side])


def _around_box(scene: Scene, body: Body) -> int:
    top, left, bottom, right = body.box
    return scene.box_mask(top - 1, left - 1, bottom + 1, right + 1) & ~scene.box_mask(*body.box)


def _rim(scene: Scene, body: Body) -> int:
    """Return the outermost cells of the object's box."""
    top, left, bottom, right = body.box
    return scene.box_mask(*body.box) & ~scene.box_mask(top + 1, left + 1, bottom - 1, right - 1)


def _ring(scene: Scene, body: Body) -> int:
    """Return the cells around the object, half as far from its box as the box is long."""
    top, left, bottom, right = body.box
    far = max(1, max(body.piece.height, body.piece.width) // 2)
    return scene.box_mask(top - far, left - far, bottom + far, right + far) & ~body.mask


def _wings(scene: Scene, body: Body) -> int:
    """Return the cells around the object's box that touch its four corners by sides."""
    corners = sum({corner_of(scene, body, side) for side in CORNERS})
    return scene.dilated(corners, False) & _around_box(scene, body)


def _fence(scene: Scene, body: Body) -> int:
    """Return the frame just inside the box of all other objects, if it surrounds this object."""
    boxes = [other.box for other in scene.objects if other is not body]
    if not boxes:
        return 0
    top, left = (min(box[n] for box in boxes) + 1 for n in (0, 1))
    bottom, right = (max(box[n] for box in boxes) - 1 for n in (2, 3))
    inner = scene.box_mask(top + 1, left + 1, bottom - 1, right - 1)
    frame = scene.box_mask(top, left, bottom, right) & ~inner
    return 0 if body.mask & ~inner else frame


PLACES: dict[str, Callable[[Scene, Body], int]] = {
    "box": lambda scene, body: scene.box_mask(*body.box),
    "holes": lambda scene, body: scene.enclosed(body.mask),
    "outline": lambda scene, body: scene.dilated(body.mask, True),
    "sides": lambda scene, body: scene.dilated(body.mask, False),
    "corners": lambda scene, body: (
        scene.dilated(body.mask, True) & ~scene.dilated(body.mask, False)
    ),
    "frame": _around_box,
    "ring": _ring,
    "rim": _rim,
    "wings": _wings,
    "fence": _fence,
}
COVERED = ("box", "outline", "frame", "ring")
"""Places that may hide other objects."""
