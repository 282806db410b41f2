"""What may become of an object: it stays, goes, moves, changes colour, or adds cells.

    slide south      until something is in its way
    paint touching   in the colour that touches it
    ray east         and a line from it until something is in its way

An action is words: its name and what it takes. It gives layers of cells, first those that lie
below other objects, or None where it does not apply.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from weft.searches.arc.ops.objectparts import shape_of
from weft.searches.arc.ops.operator import BIT
from weft.searches.arc.tables.scene import SIDES, STEPS, Body, Layer, Scene
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
OWN = "own"


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
    return _placed(scene.shifted(body, *_slid(scene, body, STEPS[words[0]], scene.others(body))))


def _edge(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    return _placed(scene.shifted(body, *_slid(scene, body, STEPS[words[0]], 0)))


def _shift(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    return _placed(scene.shifted(body, int(words[0]), int(words[1])))


def _by(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Move by as many cells as it measures."""
    (down, along), far = STEPS[words[0]], _length(body, words[1])
    return _placed(scene.shifted(body, down * far, along * far))


def _length(body: Body, measure: str) -> int:
    lengths = {"height": body.piece.height, "width": body.piece.width}
    return lengths.get(measure, body.mask.bit_count())


def _meet(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Move in a row or a column until it meets an object, the nearest or one of a colour."""
    goal = _goal(scene, body, words[0])
    if goal is None or (goal.colour == body.colour and words[0] != "nearest"):
        return None
    top, left, bottom, right = body.box
    up, back, down, on = goal.box
    if left < on and back < right:
        step = STEPS["south" if up >= bottom else "north"]
    elif top < down and up < bottom:
        step = STEPS["east" if back >= right else "west"]
    else:
        return None
    return _placed(scene.shifted(body, *_slid(scene, body, step, goal.mask)))


def _goal(scene: Scene, body: Body, which: str) -> Body | None:
    others = [other for other in scene.bodies if other is not body]
    if which == "largest":
        others = sorted(others, key=lambda other: -other.mask.bit_count())[:1]
    elif which != "nearest":
        others = [other for other in others if other.colour == int(which)]
    return min(others, key=lambda other: _gap(body, other), default=None)


def _gap(body: Body, other: Body) -> int:
    """Steps by sides between two boxes."""
    top, left, bottom, right = body.box
    up, back, down, on = other.box
    return max(0, up - bottom, top - down) + max(0, back - right, left - on)


def _paint(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    colour = _colour(scene, body, words[0])
    return None if colour is None else Drawn(((colour, body.mask),))


def _colour(scene: Scene, body: Body, which: str) -> int | None:
    """The colour that a word means for an object."""
    if which.isdigit():
        return int(which)
    return body.colour if which == OWN else RELATED[which](scene, body)


def _touching(scene: Scene, body: Body) -> int | None:
    around = scene.dilated(body.mask, True) & ~body.mask
    counts = Counter(
        {o.colour: (around & o.mask).bit_count() for o in scene.bodies if o is not body}
    )
    return _commonest(counts)


def _commonest(counts: Counter[int]) -> int | None:
    best = max(counts.items(), key=lambda item: (item[1], -item[0]), default=(0, 0))
    return best[0] if best[1] else None


def _nearest(scene: Scene, body: Body) -> int | None:
    others = [other for other in scene.bodies if other is not body and other.colour != body.colour]
    nearest = min(others, key=lambda other: _gap(body, other), default=None)
    return None if nearest is None else nearest.colour


def _inner(scene: Scene, body: Body) -> int | None:
    """The commonest other colour in its box."""
    box = scene.box_mask(*body.box)
    counts: Counter[int] = Counter()
    for other in scene.bodies:
        for colour, mask in other.layers:
            if colour != body.colour:
                counts[colour] += (mask & box).bit_count()
    return _commonest(counts)


def _twin(scene: Scene, body: Body) -> int | None:
    """The colour of another object of its shape."""
    shape = shape_of(body.piece)
    colours = [
        o.colour for o in scene.bodies if o.colour != body.colour and shape_of(o.piece) == shape
    ]
    return _commonest(Counter(colours))


def _seen(side: str) -> Callable[[Scene, Body], int | None]:
    def colour(scene: Scene, body: Body) -> int | None:
        ray, others = body.mask, scene.others(body)
        while ray:
            ray = scene.moved(ray, STEPS[side])
            if ray & others:
                return _commonest(
                    Counter(
                        {
                            o.colour: (ray & o.mask).bit_count()
                            for o in scene.bodies
                            if o is not body
                        }
                    )
                )
        return None

    return colour


RELATED: dict[str, Callable[[Scene, Body], int | None]] = {
    "touching": _touching, "nearest": _nearest, "inner": _inner, "twin": _twin,
    **{f"sees_{side}": _seen(side) for side in SIDES},
}  # fmt: skip


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
    (down, along), p = STEPS[words[0]], body.piece
    image = _turned(p, "down" if down else "across")
    image = Piece(p.row + down * p.height, p.col + along * p.width, p.height, p.width, image.cells)
    return Drawn(body.layers, scene.body(image).layers)


def _copies(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Add copies on a side until one would leave the grid or meet something."""
    (down, along), gap = STEPS[words[0]], int(words[1])
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
    colour, cells = _colour(scene, body, words[1]), 0
    for side in RAYS[words[0]]:
        front = body.mask if side in SIDES else _corner(scene, body, side)
        while front:
            front = scene.moved(front, STEPS[side]) & ~stop
            cells |= front
    return None if colour is None else Drawn(body.layers, ((colour, cells & ~body.mask),))


def _corner(scene: Scene, body: Body, side: str) -> int:
    (down, along), (top, left, bottom, right) = STEPS[side], body.box
    row, column = bottom - 1 if down > 0 else top, right - 1 if along > 0 else left
    return body.mask & 1 << (row * scene.width + column)


def _add(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Add the cells of a place, those that are black, in a colour."""
    colour, cells = _colour(scene, body, words[1]), PLACES[words[0]](scene, body) & ~scene.ink
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
    "ray": _ray, "beam": _beam, "add": _add,
}  # fmt: skip
WORDS = (
    "`stay`, `gone`, `slide` to a side or corner until something is in its way, `edge`: to the "
    "edge, `shift` by rows and columns, `by` its `height`, `width` or `cells` to a side, `meet`: "
    "in its row or column to the nearest object of a colour, the `nearest` or the `largest`, "
    "`paint` in a colour, `turn` (`across`, `down`, `half`, `transposed`), `reflect` on a side, "
    "`copies` on a side with a gap of 0 or 1, `ray` to a side, a `row`, `column`, `cross`, "
    "`diagonals` or `star` in a colour until something is in its way, `beam`: below what is in "
    "its way, `add` in a colour the black cells of its `box`, `holes`, `outline`, `sides`, "
    "`corners` or the `frame` around its box"
)
"""For the language page."""
_PRICES = {"stay": BIT, "gone": 2 * BIT}


def price(action: Action) -> int:
    """Return what an action costs: its name, and what it takes."""
    return _PRICES.get(action[0], 3 * BIT) + sum(_word_price(word) for word in action[1:])


def _word_price(word: str) -> int:
    return BIT if word == OWN else 3322


def applied(scene: Scene, body: Body, action: Action) -> Drawn | None:
    """Return what becomes of an object."""
    return ACTIONS[action[0]](scene, body, action[1:])


def actions(colours: Sequence[int], shifts: Sequence[tuple[int, int]]) -> Iterator[Action]:
    """Yield all actions with some colours and shifts."""
    yield from (("stay",), ("gone",))
    named = [*map(str, colours)]
    yield from (("paint", colour) for colour in (*named, *RELATED))
    for side in STEPS:
        yield from (("slide", side), ("edge", side))
    yield from (("shift", str(down), str(along)) for down, along in shifts)
    for side in SIDES:
        yield from (("by", side, measure) for measure in ("height", "width", "cells"))
        yield from (("reflect", side), ("copies", side, "0"), ("copies", side, "1"))
    yield from (("meet", goal) for goal in (*map(str, range(1, 10)), "nearest", "largest"))
    yield from (("turn", how) for how in ("across", "down", "half", "transposed"))
    inks = (OWN, *named, *RELATED)
    yield from (
        (name, rays, ink) for name in ("ray", "beam") for rays in RAYS for ink in (OWN, *named)
    )
    yield from (("add", place, ink) for place in PLACES for ink in inks)


def check(words: Sequence[str]) -> Action:
    """Return words as an action; ValueError where they are none."""
    action, shift = tuple(words), words[1:] if words[:1] == ["shift"] else ()
    known = _KNOWN if not shift else {("shift", *(str(int(far)) for far in shift))}
    if action not in known or len(shift) not in (0, 2):
        raise ValueError(" ".join(words))
    return action


_KNOWN = frozenset(actions(range(10), ()))
