"""Actions on an object: it stays, disappears, moves, changes colour, or adds cells.

    slide south      moves until something is in its way
    paint touching   gets the colour that touches it
    ray east own     adds a line until something is in the way

An action is a tuple of words: its name and its arguments. Its result has the object's cells and
those drawn below and above all objects, as layers, or is None if the action does not apply.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from weft.searches.arc.tables import (
    completing,
    images,
    likeness,
    lines,
    moves,
    openings,
    placing,
    routes,
    sequences,
    sharing,
    stairs,
    surroundings,
    tallies,
)
from weft.searches.arc.tables.colours import colour_of
from weft.searches.arc.tables.scene import Body, Drawn, Scene

Action = tuple[str, ...]
EMPTY: Mapping[Action, Drawn | None] = MappingProxyType({})
Apply = Callable[[Scene, Body, Sequence[str]], Drawn | None]
LEAVE, ONLY, IN, AND = "leave", "only", "in", "and"
"""Modifiers: before a move, the object also stays; before an action that adds cells, the object
disappears; after a move, the colour that the object gets; between actions that add cells.
"""
COVERING = ("cut", "cover")
"""Actions that hide other objects."""
ADDING = (
    "reflect", "copies", "beside", "tile", "trail", "image", "axis", "complete", "restore",
    "share", "march", "ray", "beam", "reach", "tally", "link", "elbow", "crawl", "bounce", "stairs",
    "spill", "add", ONLY, *COVERING,
)  # fmt: skip
"""Actions that add cells."""
KEEPING = frozenset((LEAVE, *ADDING)) - {ONLY}
"""Actions and modifiers that also draw the object as it is."""


def _stay(_: Scene, body: Body, __: Sequence[str]) -> Drawn | None:
    return Drawn(body.layers)


def _gone(_: Scene, __: Body, ___: Sequence[str]) -> Drawn | None:
    return Drawn(())


def _paint(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    colour = colour_of(scene, body, words[0])
    return None if colour is None else Drawn(((colour, body.mask),))


ACTIONS: dict[str, Apply] = {
    "stay": _stay,
    "gone": _gone,
    "slide": moves.slide,
    "edge": moves.edge,
    "shift": moves.shift,
    "by": moves.by,
    "meet": moves.meet,
    "pile": moves.pile,
    "align": moves.align,
    "settle": moves.settle,
    "pack": placing.pack,
    "dock": placing.dock,
    "mirror": images.mirror,
    "paint": _paint,
    "turn": images.turn,
    "reflect": images.reflect,
    "copies": images.copies,
    "beside": images.beside,
    "tile": images.tile,
    "image": images.image,
    "axis": images.axis,
    "trail": images.trail,
    "march": sequences.march,
    "complete": completing.complete,
    "restore": completing.restore,
    "share": sharing.share,
    "imitate": likeness.imitate,
    "ray": lines.ray,
    "beam": lines.beam,
    "reach": lines.reach,
    tallies.TALLY: tallies.tally,
    "link": lines.link,
    "elbow": lines.elbow,
    "bounce": lines.bounce,
    "crawl": routes.crawl,
    "stairs": stairs.stairs,
    "spill": openings.spill,
    "add": surroundings.add,
    "cut": lines.cut,
    "cover": surroundings.cover,
}


def applied(
    scene: Scene, body: Body, action: Action, known: Mapping[Action, Drawn | None] = EMPTY
) -> Drawn | None:
    """Return the result of an action on an object; `known` has results of some actions on it."""
    if AND in action:
        return _together(scene, body, action)
    if action[0] == LEAVE:
        copy = _known(scene, body, action[1:], known)
        return None if copy is None else Drawn(body.layers, copy.body)
    if action[0] == ONLY:
        added = _known(scene, body, action[1:], known)
        return None if added is None else Drawn((), added.below)
    if len(action) > 2 and action[-2] == IN:
        moved = _known(scene, body, action[:-2], known)
        colour = colour_of(scene, body, action[-1])
        if moved is None or colour is None:
            return None
        return Drawn(tuple((colour, mask) for _, mask in moved.body))
    return ACTIONS[action[0]](scene, body, action[1:])


def _known(
    scene: Scene, body: Body, action: Action, known: Mapping[Action, Drawn | None]
) -> Drawn | None:
    return known[action] if action in known else applied(scene, body, action)


def _together(scene: Scene, body: Body, action: Action) -> Drawn | None:
    """Add what several actions add; None if one of them does not apply."""
    results = [applied(scene, body, part) for part in parts_of(action)]
    known = [result for result in results if result is not None]
    if len(known) < len(results):
        return None
    below = tuple(layer for result in known for layer in result.below)
    above = tuple(layer for result in known for layer in result.above)
    return Drawn(known[0].body, below, above)


def parts_of(action: Action) -> list[Action]:
    """Return the actions that `and` joins."""
    parts: list[list[str]] = [[]]
    for word in action:
        if word == AND:
            parts.append([])
        else:
            parts[-1].append(word)
    return [tuple(part) for part in parts]
