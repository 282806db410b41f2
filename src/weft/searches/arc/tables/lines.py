"""Actions that add lines from an object: to a side, to another object, or with a bend."""

from __future__ import annotations

from collections.abc import Sequence

from weft.searches.arc.tables.colours import colour_of
from weft.searches.arc.tables.moves import length
from weft.searches.arc.tables.scene import SIDES, STEPS, Body, Drawn, Scene
from weft.searches.arc.tables.sides import CORNERS, NOTCH, corner_of, goal_of, side_of

RAYS: dict[str, tuple[str, ...]] = {
    **{side: (side,) for side in STEPS},
    "row": ("west", "east"),
    "column": ("north", "south"),
    "cross": SIDES,
    "diagonals": CORNERS,
    "star": tuple(STEPS),
    "mid_row": ("west", "east"),
    "mid_column": ("north", "south"),
    "mid_cross": SIDES,
}
MIDDLE = ("mid_row", "mid_column", "mid_cross")
"""Lines only from the middle row or column of an object."""


def ray(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Add lines from the object until something is in their way."""
    return _beamed(scene, body, words, scene.others(body))


def beam(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Add lines from the object to the edge, below what is in their way."""
    return _beamed(scene, body, words, 0)


def cut(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Add lines from the object to the edge that cover what is in their way."""
    lines = _beamed(scene, body, words, 0)
    return None if lines is None else Drawn(body.layers, (), lines.below)


def _beamed(scene: Scene, body: Body, words: Sequence[str], stop: int) -> Drawn | None:
    """Add lines from the object until they meet `stop`; diagonal ones start from box corners."""
    colour = colour_of(scene, body, words[1])
    name = "ray" if stop else "beam"
    cells = _lines_of(scene, body, name, words[0], stop)
    return None if colour is None else Drawn(body.layers, ((colour, cells & ~body.mask),))


def _lines_of(scene: Scene, body: Body, name: str, which: str, stop: int) -> int:
    """Return the cells of such lines, cached; for a thin object all lines are from the middle."""
    if which == "mid_cross":
        return _lines_of(scene, body, name, "mid_row", stop) | _lines_of(
            scene, body, name, "mid_column", stop
        )
    is_thin = (body.piece.height if which == "mid_row" else body.piece.width) == 1
    if which in MIDDLE and is_thin:
        which = which.removeprefix("mid_")
    return scene.once(body, name, which, lambda: _line_cells(scene, body, which, stop))


def _line_cells(scene: Scene, body: Body, which: str, stop: int) -> int:
    cells = 0
    for side in _sides(scene, body, which):
        front = corner_of(scene, body, side) if which == NOTCH else front_of(scene, body, side)
        if which in MIDDLE:
            front &= middle_of(scene, body, side)
        while front:
            front = scene.moved(front, STEPS[side]) & ~stop
            cells |= front
    return cells


def _sides(scene: Scene, body: Body, which: str) -> Sequence[str]:
    side = None if which in RAYS else side_of(scene, body, which)
    return RAYS[which] if side is None and which in RAYS else (side,) if side else ()


def reach(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Add lines from the object to a side, with the length of one of its measures."""
    side, colour = side_of(scene, body, words[0]), colour_of(scene, body, words[2])
    if side is None or colour is None:
        return None
    cells = scene.once(body, words[1], side, lambda: _reached(scene, body, side, words[1]))
    return Drawn(body.layers, ((colour, cells & ~body.mask),))


def _reached(scene: Scene, body: Body, side: str, measure: str) -> int:
    cells = front_of(scene, body, side)
    for _ in range(length(body, measure)):
        cells |= scene.moved(cells, STEPS[side])
    return cells


def link(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Add the lines from the object that end at another object, any or one of its colour."""
    colour = colour_of(scene, body, words[2])
    cells = scene.once(body, words[1], words[0], lambda: _link_cells(scene, body, *words[:2]))
    return None if colour is None else Drawn(body.layers, ((colour, cells & ~body.mask),))


def _link_cells(scene: Scene, body: Body, which: str, to: str) -> int:
    """Return the cells of lines that end at other objects."""
    others, cells = scene.others(body), 0
    ends = [o for o in scene.objects if o is not body and (to == "any" or o.colour == body.colour)]
    for side in RAYS[which]:
        front, line, step = front_of(scene, body, side), 0, STEPS[side]
        while front and not (front := scene.moved(front, step)) & others:
            line |= front
        if any(front & end.mask for end in ends):
            cells |= (
                line if front & others == front else _reaching(scene, line, front & others, step)
            )
    return cells


def _reaching(scene: Scene, line: int, ends: int, step: tuple[int, int]) -> int:
    """Return the part of a line that leads to its ends."""
    back, reached = (-step[0], -step[1]), 0
    while ends := scene.moved(ends, back) & line:
        reached |= ends
    return reached


def front_of(scene: Scene, body: Body, side: str) -> int:
    """Return the cells of an object from which lines to a side start; at most one for a corner."""
    if side in SIDES:
        return body.mask
    return body.mask & corner_of(scene, body, side)


def middle_of(scene: Scene, body: Body, side: str) -> int:
    """Return the middle row or column of the box, two if there are two, from which lines start."""
    (down, _), (top, left, bottom, right) = STEPS[side], body.box
    if down:
        return scene.box_mask(top, (left + right - 1) // 2, bottom, (left + right) // 2 + 1)
    return scene.box_mask((top + bottom - 1) // 2, left, (top + bottom) // 2 + 1, right)


def elbow(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Add a line with one bend from the middle of the object's box to that of another's."""
    goal, colour = goal_of(scene, body, words[1]), colour_of(scene, body, words[2])
    if goal is None or colour is None or (goal.colour == body.colour and words[1].isdigit()):
        return None
    (row, column), (row_2, column_2) = _middle(body), _middle(goal)
    bend = (row, column_2) if words[0] == "row" else (row_2, column)
    cells = _straight(scene, (row, column), bend) | _straight(scene, bend, (row_2, column_2))
    return Drawn(body.layers, ((colour, cells & ~body.mask & ~goal.mask),))


def _middle(body: Body) -> tuple[int, int]:
    top, left, bottom, right = body.box
    return (top + bottom - 1) // 2, (left + right - 1) // 2


def _straight(scene: Scene, first: tuple[int, int], last: tuple[int, int]) -> int:
    rows, columns = sorted((first[0], last[0])), sorted((first[1], last[1]))
    return scene.box_mask(rows[0], columns[0], rows[1] + 1, columns[1] + 1)


def bounce(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Add a diagonal line towards a side that turns back at edges and objects beside it."""
    side, colour = side_of(scene, body, words[0]), colour_of(scene, body, words[1])
    if side not in SIDES or colour is None or body.mask.bit_count() > 1:
        return None
    cells = scene.once(body, "bounce", side, lambda: _bounced(scene, body, side))
    return Drawn(body.layers, ((colour, cells & ~body.mask),))


def _bounced(scene: Scene, body: Body, side: str) -> int:
    """Return the cells of such a line from a single cell; it starts towards the larger space."""
    (down, along), cells, front = STEPS[side], 0, body.mask
    free, (top, left, bottom, right) = ~scene.others(body), body.box
    more = scene.width - right > left if down else scene.height - bottom > top
    turn = 1 if more else -1
    while front:
        cells |= front
        steps = [(down or way, along or way) for way in (turn, -turn)]
        ends = [scene.moved(front, step) & free for step in steps]
        turn, front = (turn, ends[0]) if ends[0] else (-turn, ends[1])
    return cells
