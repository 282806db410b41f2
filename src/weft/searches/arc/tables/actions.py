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
from weft.searches.arc.tables.scene import SIDES, STEPS, Body, Layer, Scene, places
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


def side_of(scene: Scene, body: Body, which: str) -> str | None:
    """The side or corner that a word means for an object."""
    return which if which in STEPS else TOWARDS[which](scene, body)


def _ahead(scene: Scene, body: Body) -> str | None:
    """Where its rarest colour lies, seen from its middle."""
    if len(body.layers) < 2:
        return None
    _, rare = min(body.layers, key=lambda layer: (layer[1].bit_count(), layer[0]))
    down, along = _offset(scene, rare, body.mask)
    return _direction(down, along)


def _offset(scene: Scene, mask: int, other: int) -> tuple[int, int]:
    """How far the middle of a mask is from that of another, scaled by both sizes."""
    (row, column, cells), (row_2, column_2, cells_2) = (_sums(scene, m) for m in (mask, other))
    return row * cells_2 - row_2 * cells, column * cells_2 - column_2 * cells


def _sums(scene: Scene, mask: int) -> tuple[int, int, int]:
    rows, columns = zip(*(divmod(place, scene.width) for place in places(mask)), strict=True)
    return sum(rows), sum(columns), len(rows)


def _direction(down: int, along: int) -> str | None:
    """The side that is farther; None where neither is."""
    if abs(down) == abs(along):
        return None
    if abs(down) > abs(along):
        return "south" if down > 0 else "north"
    return "east" if along > 0 else "west"


def _toward(scene: Scene, body: Body) -> str | None:
    """Where the nearest other object lies, in its row or column."""
    goal = _goal(scene, body, "nearest")
    if goal is None:
        return None
    top, left, bottom, right = body.box
    up, back, down, on = goal.box
    if left < on and back < right:
        return "south" if up >= bottom else "north"
    if top < down and up < bottom:
        return "east" if back >= right else "west"
    return None


def _to_edge(scene: Scene, body: Body) -> str | None:
    """The edge that is nearest; None where two are."""
    top, left, bottom, right = body.box
    gaps = {"north": top, "south": scene.height - bottom, "west": left, "east": scene.width - right}
    nearest = [side for side, gap in gaps.items() if gap == min(gaps.values())]
    return nearest[0] if len(nearest) == 1 else None


OPPOSITE = {
    "north": "south", "south": "north", "west": "east", "east": "west",
}  # fmt: skip


def _opposite(side: Callable[[Scene, Body], str | None]) -> Callable[[Scene, Body], str | None]:
    def other(scene: Scene, body: Body) -> str | None:
        found = side(scene, body)
        return None if found is None else OPPOSITE[found]

    return other


TOWARDS: dict[str, Callable[[Scene, Body], str | None]] = {
    "ahead": _ahead, "behind": _opposite(_ahead), "toward": _toward, "away": _opposite(_toward),
    "outward": _to_edge, "inward": _opposite(_to_edge),
}  # fmt: skip


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
    return _commonest(_tally(scene, body, around))


def _tally(scene: Scene, body: Body, cells: int) -> Counter[int]:
    """How many of some cells belong to other objects of each colour."""
    counts: Counter[int] = Counter()
    for other in scene.bodies:
        if other is not body:
            counts[other.colour] += (cells & other.mask).bit_count()
    return counts


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
                return _commonest(_tally(scene, body, ray))
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
    colour, cells = _colour(scene, body, words[1]), 0
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
    colour = _colour(scene, body, words[2])
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
    "ray": _ray, "beam": _beam, "link": _link, "add": _add,
}  # fmt: skip
WORDS = (
    "`stay`, `gone`, `slide` to a side or corner until something is in its way, `edge`: to the "
    "edge, `shift` by rows and columns, `by` its `height`, `width` or `cells` to a side, `meet`: "
    "in its row or column to the nearest object of a colour, the `nearest` or the `largest`, "
    "`paint` in a colour, `turn` (`across`, `down`, `half`, `transposed`), `reflect` on a side, "
    "`copies` on a side with a gap of 0 or 1, `ray` to a side, a `row`, `column`, `cross`, "
    "`diagonals` or `star` in a colour until something is in its way, `beam`: below what is in "
    "its way, `add` in a colour the black cells of its `box`, `holes`, `outline`, `sides`, "
    "`corners` or the `frame` around its box, `link` by lines along a `row`, `column` or more to "
    "`any` object or one of the `same` colour. A side may also be `ahead` (where its rarest colour "
    "lies) or `behind`, `toward` the nearest object or `away`, `outward` to the nearest edge or "
    "`inward`. `leave` before a move draws the moved one beside it, `in` behind it recolours it"
)
"""For the language page."""
_PRICES = {"stay": BIT, "gone": 2 * BIT}


def price(action: Action) -> int:
    """Return what an action costs: its name, and what it takes."""
    return _PRICES.get(action[0], 3 * BIT) + sum(_word_price(word) for word in action[1:])


def _word_price(word: str) -> int:
    return BIT if word == OWN else 3322


MOVES = ("slide", "edge", "shift", "by", "meet")
LEAVE, IN = "leave", "in"


def applied(scene: Scene, body: Body, action: Action) -> Drawn | None:
    """Return what becomes of an object."""
    if action[0] == LEAVE:
        copy = applied(scene, body, action[1:])
        return None if copy is None else Drawn(body.layers, copy.body)
    if len(action) > 2 and action[-2] == IN:
        moved, colour = applied(scene, body, action[:-2]), _colour(scene, body, action[-1])
        if moved is None or colour is None:
            return None
        return Drawn(tuple((colour, mask) for _, mask in moved.body))
    return ACTIONS[action[0]](scene, body, action[1:])


def actions(colours: Sequence[int], shifts: Sequence[tuple[int, int]]) -> Iterator[Action]:
    """Yield all actions with some colours and shifts."""
    yield from (("stay",), ("gone",))
    named = [*map(str, colours)]
    inks = (OWN, *named, *RELATED)
    yield from (("paint", colour) for colour in inks[1:])
    for move in _moves(shifts):
        yield move
        yield (LEAVE, *move)
        yield from ((*move, IN, colour) for colour in named)
    for side in (*SIDES, *TOWARDS):
        yield from (("reflect", side), ("copies", side, "0"), ("copies", side, "1"))
    yield from (("turn", how) for how in ("across", "down", "half", "transposed"))
    for rays in (*RAYS, *TOWARDS):
        yield from ((name, rays, ink) for name in ("ray", "beam") for ink in (OWN, *named))
    for rays in ("row", "column", "cross", "diagonals", "star"):
        yield from (("link", rays, ends, ink) for ends in ("any", "same") for ink in (OWN, *named))
    yield from (("add", place, ink) for place in PLACES for ink in inks)


def _moves(shifts: Sequence[tuple[int, int]]) -> Iterator[Action]:
    """Yield the actions that only move an object."""
    for side in (*STEPS, *TOWARDS):
        yield from (("slide", side), ("edge", side))
    yield from (("shift", str(down), str(along)) for down, along in shifts)
    for side in (*SIDES, *TOWARDS):
        yield from (("by", side, measure) for measure in ("height", "width", "cells"))
    yield from (("meet", goal) for goal in (*map(str, range(1, 10)), "nearest", "largest"))


def check(words: Sequence[str]) -> Action:
    """Return words as an action; ValueError where they are none."""
    action = tuple(words)
    if "shift" in action:
        at = action.index("shift")
        down, along = (int(far) for far in action[at + 1 : at + 3])
        known = frozenset(actions(range(10), [(down, along)]))
    else:
        known = _KNOWN
    if action not in known:
        raise ValueError(" ".join(words))
    return action


_KNOWN = frozenset(actions(range(10), ()))
