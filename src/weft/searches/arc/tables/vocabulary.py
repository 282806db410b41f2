"""All actions that are tried, what each costs, and what words mean one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weft.searches.arc.ops.operator import BIT
from weft.searches.arc.tables.actions import IN, LEAVE, PLACES, RAYS, Action
from weft.searches.arc.tables.colours import OWN, RELATED
from weft.searches.arc.tables.scene import SIDES, STEPS
from weft.searches.arc.tables.sides import TOWARDS

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
