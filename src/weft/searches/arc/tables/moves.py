"""Actions that move an object: to something, by one of its measures, level with another object."""

from __future__ import annotations

from collections.abc import Sequence

from weft.searches.arc.tables.scene import STEPS, Body, Drawn, Layer, Scene
from weft.searches.arc.tables.sides import (
    TOWARDS_COLOUR,
    goal_in_line,
    goal_of,
    side_of,
    side_towards,
)
from weft.searches.arc.values import Piece

BOX_SIDES = ("top", "left", "bottom", "right")
GRID = "grid"
"""The word for settling in the middle of the grid instead of at a colour."""


def _placed(layers: tuple[Layer, ...] | None) -> Drawn | None:
    return None if layers is None else Drawn(layers)


def slid(scene: Scene, body: Body, step: tuple[int, int], stop: int) -> tuple[int, int]:
    """Return the rows and columns an object moves before it leaves the grid or meets `stop`."""
    top, left, bottom, right = body.box
    down, along = step
    mask, moves = body.mask, 0
    while True:
        top, left, bottom, right = top + down, left + along, bottom + down, right + along
        if top < 0 or left < 0 or bottom > scene.height or right > scene.width:
            return moves * down, moves * along
        mask = scene.moved(mask, step)
        if mask & stop:
            return moves * down, moves * along
        moves += 1


def slide(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Move until something is in its way."""
    side = side_of(scene, body, words[0])
    if side is None:
        return None
    return _placed(scene.shifted(body, *slid(scene, body, STEPS[side], scene.others(body))))


def edge(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Move to the edge, over other objects."""
    side = side_of(scene, body, words[0])
    return (
        None if side is None else _placed(scene.shifted(body, *slid(scene, body, STEPS[side], 0)))
    )


def shift(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Move by rows and columns."""
    return _placed(scene.shifted(body, int(words[0]), int(words[1])))


def by(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Move by one of the object's measures; cells that leave the grid are cut off."""
    side, far = side_of(scene, body, words[0]), length(body, words[1])
    if side is None:
        return Drawn(body.layers) if words[0] in TOWARDS_COLOUR else None
    (down, along), p = STEPS[side], body.piece
    moved = Piece(p.row + down * far, p.col + along * far, p.height, p.width, p.cells)
    return Drawn(scene.body(moved).layers)


def length(body: Body, measure: str) -> int:
    """Return a measure of an object; for an unknown measure, its number of cells."""
    lengths = {
        "height": body.piece.height, "width": body.piece.width, "colours": len(body.layers),
        "one": 1,
    }  # fmt: skip
    return lengths.get(measure, body.mask.bit_count())


def meet(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Move along the row or column until the object meets another; stay if there is none."""
    if words[0] == str(body.colour):
        return None
    goal = goal_in_line(scene, body, words[0])
    side = None if goal is None else side_towards(body, goal)
    if goal is None or side is None:
        return Drawn(body.layers)
    return _placed(scene.shifted(body, *slid(scene, body, STEPS[side], goal.mask)))


def pile(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Meet an object, but stop behind objects of the same colour that lie between."""
    goal = goal_in_line(scene, body, words[0])
    side = None if goal is None else side_towards(body, goal)
    if goal is None or side is None or goal.colour == body.colour:
        return None
    down, along = STEPS[side]
    far = max(map(abs, slid(scene, body, (down, along), goal.mask)))
    path, front = 0, body.mask
    for _ in range(far):
        front = scene.moved(front, (down, along))
        path |= front
    between = [o for o in scene.objects if o is not body and o.mask & path]
    if any(other.colour != body.colour for other in between):
        return None
    far -= sum(o.piece.height if down else o.piece.width for o in between)
    return _placed(scene.shifted(body, down * far, along * far))


def align(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Move until a side of the box is level with the same side of another object's box."""
    goal, side = goal_of(scene, body, words[1]), BOX_SIDES.index(words[0])
    if goal is None or (goal.colour == body.colour and words[1].isdigit()):
        return None
    far = goal.box[side] - body.box[side]
    return _placed(scene.shifted(body, 0, far) if side % 2 else scene.shifted(body, far, 0))


def settle(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Move to the middle of the grid, or of the box around all objects of a colour."""
    if words[0] == GRID:
        boxes = [(0, 0, scene.height, scene.width)]
    else:
        boxes = [other.box for other in scene.objects if other.colour == int(words[0])]
    if not boxes or words[0] == str(body.colour):
        return None
    tops, lefts, bottoms, rights = zip(*boxes, strict=True)
    top, left, bottom, right = body.box
    down, odd = divmod(min(tops) + max(bottoms) - top - bottom, 2)
    along, odd_2 = divmod(min(lefts) + max(rights) - left - right, 2)
    return None if odd or odd_2 else _placed(scene.shifted(body, down, along))
