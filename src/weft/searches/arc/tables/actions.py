"""What may become of an object: it stays, goes, moves, changes colour, or adds cells.

    slide south      until something is in its way
    paint touching   in the colour that touches it
    ray east         and a line from it until something is in its way

An action is words: its name and what it takes. It gives layers of cells, first those that lie
below other objects, or None where it does not apply.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from weft.searches.arc.tables.colours import colour_of
from weft.searches.arc.tables.scene import SIDES, STEPS, Body, Layer, Scene
from weft.searches.arc.tables.sides import goal_of, side_of, side_towards
from weft.searches.arc.values import Piece


@dataclass(frozen=True, slots=True)
class Drawn:
    """What an object becomes, and what is drawn below all objects."""

    body: tuple[Layer, ...]
    below: tuple[Layer, ...] = ()


Action = tuple[str, ...]
Apply = Callable[[Scene, Body, Sequence[str]], "Drawn | None"]
RAYS: dict[str, tuple[str, ...]] = {
    **{side: (side,) for side in STEPS},
    "row": ("west", "east"),
    "column": ("north", "south"),
    "cross": SIDES,
    "diagonals": tuple(STEPS)[4:],
    "star": tuple(STEPS),
}
LEAVE, IN = "leave", "in"
"""Before a move: the object also stays. Behind one: in which colour."""


def _stay(_: Scene, body: Body, __: Sequence[str]) -> Drawn | None:
    return Drawn(body.layers)


def _gone(_: Scene, __: Body, ___: Sequence[str]) -> Drawn | None:
    return Drawn(())


def _placed(layers: tuple[Layer, ...] | None) -> Drawn | None:
    return None if layers is None else Drawn(layers)


def _slid(scene: Scene, body: Body, step: tuple[int, int], stop: int) -> tuple[int, int]:
    """How far an object moves before it would leave the grid or meet a mask."""
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


def _slide(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    side = side_of(scene, body, words[0])
    if side is None:
        return None
    return _placed(scene.shifted(body, *_slid(scene, body, STEPS[side], scene.others(body))))


def _edge(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    side = side_of(scene, body, words[0])
    return (
        None if side is None else _placed(scene.shifted(body, *_slid(scene, body, STEPS[side], 0)))
    )


def _shift(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    return _placed(scene.shifted(body, int(words[0]), int(words[1])))


def _by(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Move by as many cells as it measures."""
    side, far = side_of(scene, body, words[0]), _length(body, words[1])
    if side is None:
        return None
    return _placed(scene.shifted(body, STEPS[side][0] * far, STEPS[side][1] * far))


def _length(body: Body, measure: str) -> int:
    lengths = {"height": body.piece.height, "width": body.piece.width}
    return lengths.get(measure, body.mask.bit_count())


def _meet(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Move in a row or a column until it meets an object, the nearest or one of a colour."""
    goal = goal_of(scene, body, words[0])
    if goal is None or (goal.colour == body.colour and words[0] != "nearest"):
        return None
    side = side_towards(body, goal)
    if side is None:
        return None
    return _placed(scene.shifted(body, *_slid(scene, body, STEPS[side], goal.mask)))


def _paint(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    colour = colour_of(scene, body, words[0])
    return None if colour is None else Drawn(((colour, body.mask),))


def _turn(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    return Drawn(scene.body(_turned(body.piece, words[0])).layers)


def _turned(piece: Piece, how: str) -> Piece:
    h, w = piece.height, piece.width
    rows = [piece.cells[r * w : (r + 1) * w] for r in range(h)]
    if how in ("across", "half"):
        rows = [row[::-1] for row in rows]
    if how in ("down", "half"):
        rows = rows[::-1]
    if how == "transposed":
        return Piece(piece.row, piece.col, w, h, b"".join(piece.cells[c::w] for c in range(w)))
    return Piece(piece.row, piece.col, h, w, b"".join(rows))


def _reflect(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Add its mirror image on a side."""
    side, p = side_of(scene, body, words[0]), body.piece
    if side is None:
        return None
    down, along = STEPS[side]
    image = _turned(p, "down" if down else "across")
    image = Piece(p.row + down * p.height, p.col + along * p.width, p.height, p.width, image.cells)
    return Drawn(body.layers, scene.body(image).layers)


def _copies(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Add copies on a side until one would leave the grid or meet something."""
    side, gap = side_of(scene, body, words[0]), int(words[1])
    if side is None:
        return None
    down, along = STEPS[side]
    down, along = down * (body.piece.height + gap), along * (body.piece.width + gap)
    layers, others, far = list[Layer](), scene.others(body), 1
    while (copy := scene.shifted(body, far * down, far * along)) is not None:
        if any(mask & others for _, mask in copy):
            break
        layers += copy
        far += 1
    return Drawn(body.layers, tuple(layers))


def _ray(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    return _beamed(scene, body, words, scene.others(body))


def _beam(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    return _beamed(scene, body, words, 0)


def _beamed(scene: Scene, body: Body, words: Sequence[str], stop: int) -> Drawn | None:
    """Add lines from it until they meet a mask; diagonal ones from the corners of its box."""
    colour, cells = colour_of(scene, body, words[1]), 0
    for side in _sides(scene, body, words[0]):
        front = body.mask if side in SIDES else _corner(scene, body, side)
        while front:
            front = scene.moved(front, STEPS[side]) & ~stop
            cells |= front
    return None if colour is None else Drawn(body.layers, ((colour, cells & ~body.mask),))


def _sides(scene: Scene, body: Body, which: str) -> Sequence[str]:
    side = None if which in RAYS else side_of(scene, body, which)
    return RAYS[which] if side is None and which in RAYS else (side,) if side else ()


def _link(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Add the lines from it that end at another object, any or one of its colour."""
    others, cells = scene.others(body), 0
    ends = [
        o for o in scene.bodies if o is not body and (words[1] == "any" or o.colour == body.colour)
    ]
    colour = colour_of(scene, body, words[2])
    for side in RAYS[words[0]]:
        front, line, step = body.mask, 0, STEPS[side]
        while front and not (front := scene.moved(front, step)) & others:
            line |= front
        if any(front & end.mask for end in ends):
            cells |= (
                line if front & others == front else _reaching(scene, line, front & others, step)
            )
    return None if colour is None else Drawn(body.layers, ((colour, cells & ~body.mask),))


def _reaching(scene: Scene, line: int, ends: int, step: tuple[int, int]) -> int:
    """The part of a line that leads to its ends."""
    back, kept = (-step[0], -step[1]), 0
    while ends := scene.moved(ends, back) & line:
        kept |= ends
    return kept


def _corner(scene: Scene, body: Body, side: str) -> int:
    (down, along), (top, left, bottom, right) = STEPS[side], body.box
    row, column = bottom - 1 if down > 0 else top, right - 1 if along > 0 else left
    return body.mask & 1 << (row * scene.width + column)


def _add(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Add the cells of a place, those that are black, in a colour."""
    colour, cells = colour_of(scene, body, words[1]), PLACES[words[0]](scene, body) & ~scene.ink
    return None if colour is None else Drawn(body.layers, ((colour, cells),))


def _around_box(scene: Scene, body: Body) -> int:
    top, left, bottom, right = body.box
    return scene.box_mask(top - 1, left - 1, bottom + 1, right + 1) & ~scene.box_mask(*body.box)


PLACES: dict[str, Callable[[Scene, Body], int]] = {
    "box": lambda scene, body: scene.box_mask(*body.box),
    "holes": lambda scene, body: scene.enclosed(body.mask),
    "outline": lambda scene, body: scene.dilated(body.mask, True),
    "sides": lambda scene, body: scene.dilated(body.mask, False),
    "corners": lambda scene, body: (
        scene.dilated(body.mask, True) & ~scene.dilated(body.mask, False)
    ),
    "frame": _around_box,
}
ACTIONS: dict[str, Apply] = {
    "stay": _stay, "gone": _gone, "slide": _slide, "edge": _edge, "shift": _shift, "by": _by,
    "meet": _meet, "paint": _paint, "turn": _turn, "reflect": _reflect, "copies": _copies,
    "ray": _ray, "beam": _beam, "link": _link, "add": _add,
}  # fmt: skip


def applied(scene: Scene, body: Body, action: Action) -> Drawn | None:
    """Return what becomes of an object."""
    if action[0] == LEAVE:
        copy = applied(scene, body, action[1:])
        return None if copy is None else Drawn(body.layers, copy.body)
    if len(action) > 2 and action[-2] == IN:
        moved, colour = applied(scene, body, action[:-2]), colour_of(scene, body, action[-1])
        if moved is None or colour is None:
            return None
        return Drawn(tuple((colour, mask) for _, mask in moved.body))
    return ACTIONS[action[0]](scene, body, action[1:])
