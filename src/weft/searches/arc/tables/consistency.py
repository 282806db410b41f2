"""Which actions are consistent with an object's target, and which of its cells each draws.

    slide north  ──► leave slide north, slide north in 3
    ray east own ──► ray east 3, ray east 5

Most actions differ from another one only in the colour that they draw in, or draw the moved object
beside the first one. Such a family is applied once. `plain_covers` is the definition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weft.searches.arc.tables.actions import IN, KEEPING, LEAVE, ONLY, Action, applied
from weft.searches.arc.tables.colours import OWN, colour_of
from weft.searches.arc.tables.scene import Body, Drawn, Layer, Scene

OF_AREAS = ("stay", "paint")
"""Actions of black areas."""
INKED = frozenset((
    "ray", "beam", "cut", "reach", "tally", "link", "elbow", "crawl", "bounce", "stairs", "spill",
    "add", "cover",
))  # fmt: skip
"""Actions that end with the colour in which they draw one set of cells."""
Covers = dict[int, int]
"""By the number of a consistent action: which target cells it draws."""
Known = dict[Action, Drawn | None]
Variant = tuple[int, str, str]
"""The number of an action, how it differs from the first of its family, and its colour."""
Families = dict[Action, list[Variant]]


def families_of(actions: Sequence[Action]) -> Families:
    """Group actions by the one that they are variants of."""
    families: Families = {}
    for n, action in enumerate(actions):
        first, how, ink = _variant(action)
        families.setdefault(first, []).append((n, how, ink))
    return families


def _variant(action: Action) -> tuple[Action, str, str]:
    """The action that it is a variant of, how, and the colour."""
    if action[0] == LEAVE:
        return action[1:], LEAVE, ""
    if action[0] == ONLY:
        return (*action[1:-1], OWN), ONLY, action[-1]
    if len(action) > 2 and action[-2] == IN:
        return action[:-2], IN, action[-1]
    if action[0] in INKED:
        return (*action[:-1], OWN), OWN, action[-1]
    return action, "", ""


@dataclass(frozen=True, slots=True)
class TargetMasks:
    """What of a target actions may draw, and where they may differ from it."""

    masks: Sequence[int]
    """By colour: the cells that have it."""
    covered: int
    """Where what lies below objects may differ."""
    hidden: int
    """Where objects may differ."""

    def cover(self, layers: Sequence[Layer], other: int = 0) -> int | None:
        """Return the target cells that layers draw; None where they draw others."""
        cover = 0
        for colour, mask in layers:
            if mask & ~self.masks[colour] & ~other:
                return None
            cover |= mask & self.masks[colour]
        return cover


def covers(
    scene: Scene, body: Body, families: Families, known: Known, target: TargetMasks
) -> Covers:
    """Return what each consistent action draws; `known` gets what some actions make of a body."""
    stays, covered = target.cover(body.layers, target.hidden), Covers()
    for first, variants in families.items():
        if not body.colour and first[0] not in OF_AREAS:
            continue
        if stays is None and first[0] in KEEPING and all(how != ONLY for _, how, _ in variants):
            continue
        if first not in known:
            known[first] = applied(scene, body, first)
        result = known[first]
        if result is not None:
            for n, how, ink in variants:
                cover = _cover(scene, body, result, how, ink, stays, target)
                if cover is not None:
                    covered[n] = cover
    return covered


def _cover(
    scene: Scene,
    body: Body,
    result: Drawn,
    how: str,
    ink: str,
    stays: int | None,
    target: TargetMasks,
) -> int | None:
    """The target cells that a variant draws if the first of its family gives a result."""
    if not how:
        return _whole_cover(result, target)
    if how == LEAVE:
        copy = None if stays is None else target.cover(result.body, target.covered)
        return None if stays is None or copy is None else stays | copy
    colour = colour_of(scene, body, ink)
    if colour is None:
        return None
    if how == IN:
        return target.cover([(colour, mask) for _, mask in result.body], target.hidden)
    if how != ONLY and stays is None:
        return None
    ((_, cells),) = result.below or result.above
    added = target.cover(((colour, cells),), target.covered if result.below else 0)
    return added if added is None or how == ONLY or stays is None else stays | added


def _whole_cover(result: Drawn, target: TargetMasks) -> int | None:
    cover = 0
    for layers, other in (
        (result.body, target.hidden),
        (result.below, target.covered),
        (result.above, 0),
    ):
        own = target.cover(layers, other)
        if own is None:
            return None
        cover |= own
    return cover


def plain_covers(
    scene: Scene, body: Body, actions: Sequence[Action], target: TargetMasks
) -> Covers:
    """Do the same slowly: action by action."""
    results = {
        n: applied(scene, body, action)
        for n, action in enumerate(actions)
        if body.colour or action[0] in OF_AREAS
    }
    each = {n: _whole_cover(result, target) for n, result in results.items() if result is not None}
    return {n: cover for n, cover in each.items() if cover is not None}
