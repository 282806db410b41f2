"""All actions that are tried, their prices, and the check that words are an action."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from weft.searches.arc.ops.operator import BIT
from weft.searches.arc.tables.actions import ADDING, AND, IN, LEAVE, ONLY, Action, parts_of
from weft.searches.arc.tables.colours import OWN, PAINTED, RELATED
from weft.searches.arc.tables.completing import SYMMETRIES
from weft.searches.arc.tables.images import IMAGES
from weft.searches.arc.tables.likeness import SAME
from weft.searches.arc.tables.lines import RAYS
from weft.searches.arc.tables.moves import BOX_SIDES, GRID
from weft.searches.arc.tables.openings import SPILLS
from weft.searches.arc.tables.placing import DOCKED
from weft.searches.arc.tables.routes import CRAWL
from weft.searches.arc.tables.scene import SIDES, STEPS
from weft.searches.arc.tables.sides import (
    CORNERS,
    FROM_COLOUR,
    KIN,
    OTHER_GOALS,
    TO_COLOUR,
    TOWARDS,
    TOWARDS_ALL,
)
from weft.searches.arc.tables.stairs import FIRST, TREADS
from weft.searches.arc.tables.surroundings import COVERED, PLACES
from weft.searches.arc.tables.tallies import COUNTED, HOW, TALLY

LENGTHS = ("height", "width", "cells", "colours")
TURNS = ("across", "down", "half", "transposed", "left", "right")
_PRICES = {
    "stay": BIT, "gone": 2 * BIT,
    **dict.fromkeys(("pile", "align", "settle", "mirror", "image", "axis", "tile", "reach", "elbow",
                     "cut", "cover", "pack", "dock", "trail", "bounce", "complete",
                     "restore", "share", "imitate", "crawl", "stairs", "spill", "march",
                     "tally"), 5 * BIT),
}  # fmt: skip


def price(action: Action) -> int:
    """Return the price of an action: its name and its arguments."""
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
    *,
    has_tallies: bool = True,
) -> Iterator[Action]:
    """Yield all actions with the given colours to draw in, shifts, and colours of goals."""
    goals = (*map(str, goal_colours), *OTHER_GOALS)
    ways = (*TOWARDS_ALL, KIN, *(TO_COLOUR[colour] for colour in goal_colours))
    back = [FROM_COLOUR[colour] for colour in goal_colours]
    yield from (("stay",), ("gone",))
    named = [*map(str, colours)]
    inks = (OWN, *named, *RELATED)
    yield from (("paint", colour) for colour in (*inks[1:], *PAINTED))
    for move in _moves(shifts, goals, ways, back):
        yield move
        yield (LEAVE, *move)
        yield from ((*move, IN, colour) for colour in named)
    for side in (*SIDES, *TOWARDS):
        yield from (("reflect", side), ("copies", side, "0"), ("copies", side, "1"))
    yield from (("turn", how) for how in TURNS)
    yield ("trail",)
    yield ("restore",)
    yield ("share",)
    yield from (("march", side) for side in STEPS)
    yield from _shapes(named, goal_colours)
    yield from (("pack", side) for side in (*SIDES, KIN))
    for rays in (*RAYS, *TOWARDS_ALL):
        yield from ((name, rays, ink) for name in ("ray", "beam", "cut") for ink in (OWN, *named))
    yield from (("ray", side, ink) for side in back for ink in (OWN, *named))
    for rays in ("row", "column", "cross", "diagonals", "star"):
        yield from (("link", rays, ends, ink) for ends in ("any", "same") for ink in (OWN, *named))
    plain = (OWN, *named)
    yield from (("bounce", side, ink) for side in (*SIDES, *TOWARDS) for ink in plain)
    yield from ((CRAWL, str(goal), ink) for goal in goal_colours for ink in plain)
    for corner in CORNERS:
        ways_up = product(FIRST, TREADS, plain)
        yield from (("stairs", corner, *words) for words in ways_up)
    yield from (("spill", how, ink) for how in SPILLS for ink in inks)
    yield from (("cover", place, ink) for place in COVERED for ink in plain)
    yield from (("add", place, ink) for place in PLACES for ink in inks)
    yield from (("add", side, ink) for side in (*STEPS, *ways) for ink in plain)
    yield from ((ONLY, "add", place, ink) for place in PLACES for ink in plain)
    yield from (("tile", side, gap) for side in SIDES for gap in ("0", "1"))
    for side in (*SIDES, *TOWARDS):
        yield from (("reach", side, length, ink) for length in LENGTHS for ink in plain)
    for words in product(SIDES, HOW, COUNTED if has_tallies else ()):
        yield from ((TALLY, *words, ink) for ink in plain)
    for goal in goals:
        yield from (("align", side, goal) for side in BOX_SIDES)
        yield from (("mirror", edge, goal) for edge in ("near", "far"))
        yield from (("image", how, goal) for how in IMAGES)
        yield ("axis", goal)
        for first in ("row", "column"):
            yield from (("elbow", first, goal, ink) for ink in plain)


def _shapes(named: Sequence[str], goal_colours: Sequence[int]) -> Iterator[Action]:
    """Yield the actions that draw a whole object: another one, a symmetric one, or a copy."""
    for goal in (*map(str, goal_colours), "largest"):
        yield from (("imitate", goal, ink) for ink in (OWN, SAME))
    yield from (("complete", how) for how in SYMMETRIES)
    yield from (("complete", how, ink) for how in SYMMETRIES for ink in named)
    for side in SIDES:
        yield from (("beside", side, gap, ink) for gap in ("0", "1") for ink in (OWN, *named))


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
    yield from (("settle", goal) for goal in (GRID, *goals) if goal not in OTHER_GOALS)
    yield from (("dock", how) for how in DOCKED)


def check(words: Sequence[str]) -> Action:
    """Return words as an action; raises ValueError if they are not one."""
    action = tuple(words)
    if AND in action:
        for part in parts_of(action):
            if check(part)[0] not in ADDING:
                raise ValueError(" ".join(words))
        return action
    if "shift" in action:
        at = action.index("shift")
        down, along = (int(far) for far in action[at + 1 : at + 3])
        known = frozenset(actions(range(10), [(down, along)], has_tallies=False))
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
