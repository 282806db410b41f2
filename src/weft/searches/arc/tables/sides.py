"""Sides and other objects relative to an object: towards the nearest, ahead, to the edge."""

from __future__ import annotations

from collections.abc import Callable

from weft.searches.arc.tables.scene import SIDES, STEPS, Body, Scene, places

Side = Callable[[Scene, Body], str | None]
Goal = Callable[[Scene, Body, str], Body | None]
CORNERS = tuple(STEPS)[4:]
NOTCH, KIN = "notch", "kin"
TO_COLOUR = {colour: f"to_{colour}" for colour in range(1, 10)}
FROM_COLOUR = {colour: f"from_{colour}" for colour in range(1, 10)}
OPPOSITE = {
    side: other for side, (r, c) in STEPS.items() for other, s in STEPS.items() if s == (-r, -c)
}


def side_of(scene: Scene, body: Body, which: str) -> str | None:
    """Return the side or corner that a word means for an object; None if it means none."""
    return which if which in STEPS else WAYS[which](scene, body)


def _ahead(scene: Scene, body: Body) -> str | None:
    """Return the side on which the object's rarest colour lies, seen from its middle."""
    if len(body.layers) < 2:
        return None
    _, rare = min(body.layers, key=lambda layer: (layer[1].bit_count(), layer[0]))
    down, along = _offset(scene, rare, body.mask)
    return _direction(down, along)


def _offset(scene: Scene, mask: int, other: int) -> tuple[int, int]:
    """Return the offset of a mask's middle from that of another, scaled by both sizes."""
    (row, column, cells), (row_2, column_2, cells_2) = (_sums(scene, m) for m in (mask, other))
    return row * cells_2 - row_2 * cells, column * cells_2 - column_2 * cells


def _sums(scene: Scene, mask: int) -> tuple[int, int, int]:
    rows, columns = zip(*(divmod(place, scene.width) for place in places(mask)), strict=True)
    return sum(rows), sum(columns), len(rows)


def _direction(down: int, along: int) -> str | None:
    """Return the side of the larger component; None if both are equal."""
    if abs(down) == abs(along):
        return None
    if abs(down) > abs(along):
        return "south" if down > 0 else "north"
    return "east" if along > 0 else "west"


def _toward(scene: Scene, body: Body) -> str | None:
    """Return the side on which the nearest other object lies, in the same rows or columns."""
    goal = goal_of(scene, body, "nearest")
    return None if goal is None else side_towards(body, goal)


def _to_main(scene: Scene, body: Body) -> str | None:
    """Return the side on which the largest other object lies, in the same rows or columns."""
    goal = goal_in_line(scene, body, "largest")
    return None if goal is None else side_towards(body, goal)


def side_towards(body: Body, goal: Body) -> str | None:
    """Return the side on which another object lies; None if they share no row and no column.

    If the boxes overlap, it is the side to which the other's middle is farther, or north in a tie.
    """
    top, left, bottom, right = body.box
    up, back, down, on = goal.box
    shares_columns, shares_rows = left < on and back < right, top < down and up < bottom
    if shares_columns and shares_rows:
        return _direction(up + down - top - bottom, back + on - left - right) or "north"
    if shares_columns:
        return "south" if up >= bottom else "north"
    if shares_rows:
        return "east" if back >= right else "west"
    return None


def _to_edge(scene: Scene, body: Body) -> str | None:
    """Return the side of the nearest edge; None in a tie."""
    top, left, bottom, right = body.box
    gaps = {"north": top, "south": scene.height - bottom, "west": left, "east": scene.width - right}
    nearest = [side for side, gap in gaps.items() if gap == min(gaps.values())]
    return nearest[0] if len(nearest) == 1 else None


def _opposite(side: Side) -> Side:
    def other(scene: Scene, body: Body) -> str | None:
        direction = side(scene, body)
        return None if direction is None else OPPOSITE[direction]

    return other


def _to_centre(scene: Scene, body: Body) -> str | None:
    """Return the side or corner towards the middle of the grid; None in the middle."""
    top, left, bottom, right = body.box
    down, along = scene.height - top - bottom, scene.width - left - right
    rows = "south" if down > 0 else "north" if down else ""
    return rows + ("east" if along > 0 else "west" if along else "") or None


def _notch(scene: Scene, body: Body) -> str | None:
    """Return the only empty corner of the object's box; None if there is not exactly one."""
    empty = [side for side in CORNERS if not body.mask & corner_of(scene, body, side)]
    return empty[0] if len(empty) == 1 else None


def corner_of(scene: Scene, body: Body, side: str) -> int:
    """Return the cell in a corner of the object's box."""
    (down, along), (top, left, bottom, right) = STEPS[side], body.box
    row, column = bottom - 1 if down > 0 else top, right - 1 if along > 0 else left
    return 1 << (row * scene.width + column)


def _to_kin(scene: Scene, body: Body) -> str | None:
    """Return the side on which the largest object of the same colour lies; None for that object.

    None also if they share no row and no column.
    """
    size = body.mask.bit_count()
    kin = [o for o in scene.objects if o.colour == body.colour and o.mask.bit_count() > size]
    largest = max(kin, key=lambda other: other.mask.bit_count(), default=None)
    return None if largest is None else side_towards(body, largest)


def _to_colour(colour: int) -> Side:
    """Return a function that gives the only side on which a colour touches an object.

    If there is not exactly one, it gives the side of the nearest object of that colour in the same
    rows or columns, or else the corner towards the nearest object of that colour.
    """

    def side(scene: Scene, body: Body) -> str | None:
        if body.colour == colour:
            return None
        touched = _touched(scene, body, colour)
        if len(touched) == 1:
            return touched[0]
        goal = goal_in_line(scene, body, str(colour))
        if goal is not None:
            return side_towards(body, goal)
        goal = goal_of(scene, body, str(colour))
        return None if goal is None else _corner_towards(body, goal)

    return side


def _touched(scene: Scene, body: Body, colour: int) -> list[str]:
    """Return the sides on which cells of a colour touch the object."""
    cells = scene.masks[colour] & ~body.mask
    return [side for side in SIDES if scene.moved(body.mask, STEPS[side]) & cells]


def _corner_towards(body: Body, goal: Body) -> str:
    """Return the corner towards an object that shares no row and no column."""
    rows = "south" if goal.box[0] >= body.box[2] else "north"
    return rows + ("east" if goal.box[1] >= body.box[3] else "west")


TOWARDS: dict[str, Side] = {
    "ahead": _ahead, "behind": _opposite(_ahead), "toward": _toward, "away": _opposite(_toward),
    "outward": _to_edge, "inward": _opposite(_to_edge), "main": _to_main,
    "off": _opposite(_to_main),
}  # fmt: skip
TOWARDS_ALL: dict[str, Side] = {**TOWARDS, "centre": _to_centre, NOTCH: _notch}
"""Directions without a colour, including those that may be corners."""
TOWARDS_COLOUR: dict[str, Side] = {
    KIN: _to_kin,
    **{name: _to_colour(colour) for colour, name in TO_COLOUR.items()},
    **{name: _opposite(_to_colour(colour)) for colour, name in FROM_COLOUR.items()},
}
WAYS = {**TOWARDS_ALL, **TOWARDS_COLOUR}
OTHER_GOALS = ("nearest", "largest")
"""Goals other than colours."""


def goal_of(scene: Scene, body: Body, which: str) -> Body | None:
    """Return the nearest other object of a kind: `nearest`, `largest`, or a colour.

    Of equally near objects, those that touch by sides come first. None if there is no such object.
    """
    return _remembered(scene, body, which, _goal_of)


def goal_in_line(scene: Scene, body: Body, which: str) -> Body | None:
    """Return the nearest other object of a kind that shares a row or a column with an object."""
    return _remembered(scene, body, which, _goal_in_line)


def _remembered(scene: Scene, body: Body, which: str, search: Goal) -> Body | None:
    """Search once for each object of a scene and each word."""
    key = (search.__name__, body.mask, which)
    if key not in scene.goals:
        scene.goals[key] = search(scene, body, which)
    return scene.goals[key]


def _goal_of(scene: Scene, body: Body, which: str) -> Body | None:
    others = [other for other in scene.objects if other is not body]
    if which == "largest":
        others = sorted(others, key=lambda other: -other.mask.bit_count())[:1]
    elif which != "nearest":
        others = [other for other in others if other.colour == int(which)]
    near = scene.dilated(body.mask, False)

    def order(other: Body) -> tuple[int, bool, int]:
        return gap(body, other), not near & other.mask, offset(body, other)

    return min(others, key=order, default=None)


def _goal_in_line(scene: Scene, body: Body, which: str) -> Body | None:
    others = [other for other in scene.objects if other is not body and side_towards(body, other)]
    if which == "largest":
        largest = goal_of(scene, body, which)
        others = [other for other in others if other is largest]
    elif which != "nearest":
        others = [other for other in others if other.colour == int(which)]
    return min(others, key=lambda other: (gap(body, other), offset(body, other)), default=None)


def gap(body: Body, other: Body) -> int:
    """Return the number of rows and columns between two boxes."""
    top, left, bottom, right = body.box
    up, back, down, on = other.box
    return max(0, up - bottom, top - down) + max(0, back - right, left - on)


def offset(body: Body, other: Body) -> int:
    """Return the distance between the centres of two boxes, as the square of twice the distance."""
    top, left, bottom, right = body.box
    up, back, down, on = other.box
    return (up + down - top - bottom) ** 2 + (back + on - left - right) ** 2
