"""All actions that are tried, what each costs, and what words mean one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weft.searches.arc.ops.operator import BIT
from weft.searches.arc.tables.actions import ADDING, AND, IN, LEAVE, ONLY, Action, parts_of
from weft.searches.arc.tables.colours import OWN, RELATED
from weft.searches.arc.tables.completing import SYMMETRIES
from weft.searches.arc.tables.images import IMAGES
from weft.searches.arc.tables.lines import RAYS
from weft.searches.arc.tables.moves import BOX_SIDES
from weft.searches.arc.tables.placing import DOCKED
from weft.searches.arc.tables.scene import SIDES, STEPS
from weft.searches.arc.tables.sides import (
    FROM_COLOUR,
    KIN,
    OTHER_GOALS,
    TO_COLOUR,
    TOWARDS,
    TOWARDS_ALL,
)
from weft.searches.arc.tables.surroundings import COVERED, PLACES

WORDS = (
    "`stay`, `gone`, `slide` to a side or corner until something is in its way, `edge`: to the "
    "edge, `shift` by rows and columns, `by` its `height`, `width`, `cells`, `colours` or `one` "
    "cell to a side, `meet`: in its row or column to the nearest object of a colour, the `nearest`"
    " or the `largest`, `pile`: the same behind those of its own colour, `align` the `top`, "
    "`bottom`, `left` or `right` of its box with that of another, `settle` in the middle of the "
    "box around a colour, `pack`: fall to a side together with those of its colour, through all "
    "others, `dock`: over the objects that are like its cells of another colour, `plain` or "
    "mirrored (`across`, `down`, `half`), `mirror` to the other side of another, at its `near` or "
    "`far` edge, `paint` in a colour, `turn` (`across`, `down`, `half`, `transposed`, `left`, "
    "`right`), `reflect` on a side, `image` (`across`, `down`, `half`, `fourfold`) about the "
    "middle of another or where its lines cross, `complete`: with what it lacks to be symmetric "
    "(`across`, `down`, `half`, `quarter`, `fourfold`, `eightfold`) about the centre where that is"
    " least, `restore`: to a copy, in any of eight positions, of the largest object of several "
    "colours that it is a part of, `copies` on a side with a gap of 0 or 1, `tile`: copies up to "
    "the edge, the last cut off, `trail`: copies up to the edge in the colour of each smaller "
    "object that marks where the first one lies, `ray` to a side, a `row`, `column`, `cross`, "
    "`diagonals` or `star` in a colour until something is in its way, `beam`: below what is in its"
    " way, `cut`: over it, `reach`: as far as it measures, `link` by lines along a `row`, `column`"
    " or more to `any` object or one of the `same` colour, `elbow`: by a line with one bend, along"
    " its `row` or its `column` first, `bounce`: from a single cell by a line of diagonal steps to"
    " a side that turns back beside edges and objects, `add` in a colour the black cells of its "
    "`box`, `holes`, `outline`, `sides`, `corners`, the `frame` around its box, the `ring` half as"
    " thick as it is wide, or those next to it on a side, `cover` a box, outline, frame or ring "
    "whatever is there. A side may also be `ahead` (where its rarest colour lies) or `behind`, "
    "`toward` the nearest object or `away`, to the largest (`main`) or `off`, `outward` to the "
    "nearest edge or `inward`, to the `centre` of the grid, to the `notch` (the one empty corner "
    "of its box), to the largest of its `kin` (of its colour), `to_3`, a colour, or away from it, "
    "`from_3`. `leave` before a move draws the moved one beside it, `in` behind it recolours it, "
    "`only` before `add` leaves the object out, `and` adds several things"
)
"""For the language page."""
LENGTHS = ("height", "width", "cells", "colours")
TURNS = ("across", "down", "half", "transposed", "left", "right")
_PRICES = {
    "stay": BIT, "gone": 2 * BIT,
    **dict.fromkeys(("pile", "align", "settle", "mirror", "image", "tile", "reach", "elbow", "cut",
                     "cover", "pack", "dock", "trail", "bounce", "complete",
                     "restore"), 5 * BIT),
}  # fmt: skip


def price(action: Action) -> int:
    """Return what an action costs: its name, and what it takes."""
    return sum(
        _PRICES.get(part[0], 3 * BIT) + sum(_word_price(word) for word in part[1:])
        for part in parts_of(action)
    )


def _word_price(word: str) -> int:
    return BIT if word == OWN else 3322


def actions(
    colours: Sequence[int],
    shifts: Sequence[tuple[int, int]],
    goal_colours: Sequence[int] = range(1, 10),
) -> Iterator[Action]:
    """Yield all actions with some colours to draw in, shifts, and colours of objects to meet."""
    goals = (*map(str, goal_colours), *OTHER_GOALS)
    ways = (*TOWARDS_ALL, KIN, *(TO_COLOUR[colour] for colour in goal_colours))
    back = [FROM_COLOUR[colour] for colour in goal_colours]
    yield from (("stay",), ("gone",))
    named = [*map(str, colours)]
    inks = (OWN, *named, *RELATED)
    yield from (("paint", colour) for colour in inks[1:])
    for move in _moves(shifts, goals, ways, back):
        yield move
        yield (LEAVE, *move)
        yield from ((*move, IN, colour) for colour in named)
    for side in (*SIDES, *TOWARDS):
        yield from (("reflect", side), ("copies", side, "0"), ("copies", side, "1"))
    yield from (("turn", how) for how in TURNS)
    yield ("trail",)
    yield ("restore",)
    yield from (("complete", how) for how in SYMMETRIES)
    yield from (("pack", side) for side in (*SIDES, KIN))
    for rays in (*RAYS, *TOWARDS_ALL):
        yield from ((name, rays, ink) for name in ("ray", "beam", "cut") for ink in (OWN, *named))
    yield from (("ray", side, ink) for side in back for ink in (OWN, *named))
    for rays in ("row", "column", "cross", "diagonals", "star"):
        yield from (("link", rays, ends, ink) for ends in ("any", "same") for ink in (OWN, *named))
    plain = (OWN, *named)
    yield from (("bounce", side, ink) for side in (*SIDES, *TOWARDS) for ink in plain)
    yield from (("cover", place, ink) for place in COVERED for ink in plain)
    yield from (("add", place, ink) for place in PLACES for ink in inks)
    yield from (("add", side, ink) for side in (*STEPS, *ways) for ink in plain)
    yield from ((ONLY, "add", place, ink) for place in PLACES for ink in plain)
    yield from (("tile", side, gap) for side in SIDES for gap in ("0", "1"))
    for side in (*SIDES, *TOWARDS):
        yield from (("reach", side, length, ink) for length in LENGTHS for ink in plain)
    for goal in goals:
        yield from (("align", side, goal) for side in BOX_SIDES)
        yield from (("mirror", edge, goal) for edge in ("near", "far"))
        yield from (("image", how, goal) for how in IMAGES)
        for first in ("row", "column"):
            yield from (("elbow", first, goal, ink) for ink in plain)


def _moves(
    shifts: Sequence[tuple[int, int]],
    goals: Sequence[str],
    ways: Sequence[str],
    back: Sequence[str],
) -> Iterator[Action]:
    """Yield the actions that only move an object."""
    for side in (*STEPS, *TOWARDS_ALL, *back):
        yield from (("slide", side), ("edge", side))
    yield from (("shift", str(down), str(along)) for down, along in shifts)
    for side in (*SIDES, *TOWARDS_ALL):
        yield from (("by", side, measure) for measure in LENGTHS)
    yield from ((name, goal) for name in ("meet", "pile") for goal in goals)
    yield from (("by", side, "one") for side in ways)
    yield from (("settle", goal) for goal in goals if goal not in OTHER_GOALS)
    yield from (("dock", how) for how in DOCKED)


def check(words: Sequence[str]) -> Action:
    """Return words as an action; ValueError where they are none."""
    action = tuple(words)
    if AND in action:
        for part in parts_of(action):
            if check(part)[0] not in ADDING:
                raise ValueError(" ".join(words))
        return action
    if "shift" in action:
        at = action.index("shift")
        down, along = (int(far) for far in action[at + 1 : at + 3])
        known = frozenset(actions(range(10), [(down, along)]))
    else:
        known = _KNOWN
    if action not in known:
        raise ValueError(" ".join(words))
    return action


def is_action(words: Sequence[str]) -> bool:
    """Whether words are an action."""
    try:
        check(words)
    except ValueError:
        return False
    return True


_KNOWN = frozenset(actions(range(10), ()))
